// Keeps a class's results, one file per graded submission.
#include "results_folder.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/sha256.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr const char *run_schema = "cuda-workbook-class-run/1";
constexpr const char *row_schema = "cuda-workbook-class-row/1";

// A file name that tells people whose it is. A hash follows it, since names can be long, strange
// and alike.
std::string readable(const std::string &name)
{
    constexpr std::size_t max_bytes = 60;
    std::string safe = name.substr(0, max_bytes);
    std::ranges::replace_if(
        safe, [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '-');
    return safe;
}

json read_json(const std::string &path)
{
    std::error_code none;
    return fs::is_regular_file(path, none) ? json::parse(read_text(path), nullptr, false) : json();
}

} // namespace

results_folder::results_folder(const std::string &path, const std::function<void()> &waiting)
    : path_(path)
{
    std::error_code problem;
    fs::create_directories(path, problem);
    if (!fs::is_directory(path))
        throw usage_error(fmt::format("cannot make the folder {} for the results: {}. Name another "
                                      "with --results FOLDER",
                                      shell_word(path), lower(problem.message())));
    // Another process may be about to begin a run here.
    lock_ = std::make_unique<file_lock>(path + "/.lock", waiting);
    const bool known = fs::exists(path + "/run.json");
    for (const fs::directory_entry &e : fs::directory_iterator(path)) {
        const std::string name = e.path().filename().string();
        // A process that was killed may have left "run.json.Xx1234".
        if (known || name.starts_with(".") || name.starts_with("run.json.")) continue;
        fs::remove(path + "/.lock");
        throw usage_error(fmt::format("{} holds other things than results, {} for instance. "
                                      "Name a new folder with --results",
                                      shell_word(path), on_one_line(name, 200)));
    }
}

void results_folder::sweep() const
{
    std::error_code none;
    for (const fs::directory_entry &e : fs::recursive_directory_iterator(path_ + "/rows", none))
        if (e.is_regular_file(none) && e.path().extension() != ".json") fs::remove(e.path(), none);
}

results_folder results_folder::of_task(const std::string &path)
{
    results_folder folder;
    folder.path_ = path;
    if (const auto run = folder.run()) folder.id_ = run->id;
    return folder;
}

std::optional<class_run> results_folder::run() const
{
    const std::string path = path_ + "/run.json";
    const json document = read_json(path);
    if (document.is_null()) return {};
    if (text_at(document, "schema") != run_schema)
        throw usage_error(
            fmt::format("{} is not of this version of the workbook. Name a new folder "
                        "with --results",
                        shell_word(path)));
    class_run r{text_at(document, "id"),
                text_at(document, "seed"),
                text_at(document, "backend"),
                text_at(document, "held_back_seed"),
                member(document, "without_sandbox") == true,
                {},
                text_at(document, "tool")};
    for (const auto &[lab, digest] : member(document, "graders").items())
        if (digest.is_string()) r.graders[lab] = digest;
    return r;
}

void results_folder::begin(const class_run &run)
{
    id_ = run.id;
    const json document = {{"schema", run_schema},
                           {"tool", run.tool},
                           {"id", run.id},
                           {"seed", run.seed},
                           {"backend", run.backend},
                           {"without_sandbox", run.without_sandbox},
                           {"held_back_seed", run.held_back_seed},
                           {"graders", run.graders}};
    write_atomically(path_ + "/run.json", document.dump(1) + "\n", durability::durable);
}

std::string results_folder::row_path(const class_work &w) const
{
    constexpr std::size_t digits = 16;
    const std::string key = w.owner + '\0' + w.row.lab + '\0' + w.row.sha256;
    return fmt::format("{}/rows/{}/{}.{}.json", path_, w.row.lab, readable(w.owner),
                       sha256(key).substr(0, digits));
}

void results_folder::restore(class_work &w, bool faults) const
{
    if (w.row.sha256.empty()) return;
    const json kept = read_json(row_path(w));
    if (text_at(kept, "schema") != row_schema) return;
    grade_row row = row_in(member(kept, "row"));
    if (row.handed_in.empty()) // it was not known then
        row.handed_in = w.row.handed_in, row.time_of_commit = w.row.time_of_commit;
    w.row.handed_in = row.handed_in, w.row.time_of_commit = row.time_of_commit;
    if (text_at(kept, "run") != id_) return;
    if (const json &part = member(kept, "simulator");
        part.is_object() && !(faults && row.without_grade())) {
        graded g;
        g.document = member(part, "document");
        g.status = static_cast<int>(number_at(part, "status"));
        g.from_grader = member(part, "from_grader") == true;
        g.said = text_at(part, "said");
        if (invalid(g.document).empty()) w.by_simulator = std::move(g);
        return;
    }
    if (row.status.empty() || (row.without_grade() && !faults)) return;
    // These depend on the dates and names of today.
    row.file = w.row.file, row.student = w.row.student, row.known_as = w.row.known_as,
    row.late_days = {};
    w.row = std::move(row);
    w.finished = true;
}

void results_folder::keep(const class_work &w) const
{
    if (w.row.sha256.empty()) return;
    json document = {{"schema", row_schema}, {"run", id_}, {"row", row_as_json(w.row)}};
    if (w.by_simulator && (!w.finished || w.row.without_grade()))
        document["simulator"] = {{"document", w.by_simulator->document},
                                 {"status", w.by_simulator->status},
                                 {"from_grader", w.by_simulator->from_grader},
                                 {"said", w.by_simulator->said}};
    const std::string path = row_path(w);
    make_folder(fs::path(path).parent_path().string());
    write_atomically(path, document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
                     durability::durable);
}

} // namespace cli
