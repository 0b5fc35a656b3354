// Grades one student's file, without the GPU and then with it.
#include "class_work.hpp"

#include "cli/results/lab_names.hpp"
#include "cli/results/text_report.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

void fill_row(class_work &w, graded g, const todo_list &todos)
{
    grade_row &row = w.row;
    // The row's words may be passed on to the student; only row.document has the held-back cases.
    const json shown = without_held_back(g.document);
    const std::vector<lab_view> labs = labs_of(shown), all = labs_of(g.document);
    const lab_view &l = labs.at(0);
    row.status = all.at(0).status;
    row.points = l.points;
    if (l.max_points > 0) row.max_points = l.max_points; // a broken grader reports none
    row.open_points = l.open_points;
    if (l.clock.max_points > 0) row.clock = l.clock;
    if (l.held_back.max_points > 0) row.held_back = all.at(0).held_back;
    for (const std::string &note : open_notes(l)) row.open.push_back(on_one_line(note, 4000, ' '));
    for (const std::string &note : disputed_notes(l)) row.add_problem(note);
    for (const case_view &c : l.cases)
        if (member(*c.whole, "fault") == true) row.add_problem(c.name + ": " + c.message);
    for (const case_view &c : l.cases) ++row.verdicts[c.verdict];
    const case_view *f = first_to_mend(l, todos); // as watch orders them
    if (f) row.first_failure = fmt::format("{} in {}", f->verdict, f->name);
    if (f) row.add_problem(f->message.empty() ? f->hint : f->message);
    if (row.status != l.status)
        row.add_problem("a held-back case could not be graded; --json has why");
    row.document = std::move(g.document);
    w.finished = true;
}

// A student's file by a path that compilers and JSON take: a copy if its name is too long for them,
// or no text. What would be refused anyway, such as a link or a large file, is not copied.
class usual_path {
public:
    explicit usual_path(const std::string &file) : path_(file)
    {
        constexpr std::size_t max_name_bytes = 180;   // as a submission may have
        constexpr std::uintmax_t max_bytes = 1 << 24; // more than a submission may have
        const bool text = on_one_line(file, file.size() + 64) == file;
        std::error_code gone;
        if (text && fs::path(file).filename().string().size() <= max_name_bytes) return;
        if (!fs::is_regular_file(fs::symlink_status(file, gone)) ||
            fs::file_size(file, gone) > max_bytes)
            return;
        folder_.emplace();
        path_ = folder_->path() + "/stub.cu";
        write_atomically(path_, read_text(file));
    }
    const std::string &path() const { return path_; }

private:
    std::optional<scratch_folder> folder_;
    std::string path_;
};

// A fault in a case of the clock leaves the rest of the row right.
bool has_fault(const grade_row &row)
{
    for (const lab_view &l : labs_of(row.document))
        for (const case_view &c : l.cases)
            if (member(*c.whole, "fault") == true) return true;
    return row.without_grade();
}

// Tries twice. An error with one student's file, the student's or ours, ends only that row.
template <typename F> void fill_in(class_work &w, F part)
{
    constexpr int max_tries = 2;
    const grade_row before = w.row;
    for (int k = 0; k < max_tries && (k == 0 || has_fault(w.row)); ++k) {
        w.row = before;
        try {
            const usual_path file(w.row.file);
            part(file_of(file.path()));
        } catch (const stop_requested &) {
            throw;
        } catch (const std::exception &e) {
            w.row.status = "error";
            w.row.add_problem(e.what());
            w.finished = true;
        }
    }
}

// The digest names the row, so that no grade may be another file's.
void prepare_same_file(const toolchain &t, class_work &w, const subject &what,
                       const grade_options &options)
{
    prepared_grade p = prepare_grade(t, *w.of, what, options);
    if (!p.sha256.empty() && p.sha256 != w.row.sha256)
        throw machine_error("the file was changed while the class was graded; grade it again");
    w.prepared = std::move(p);
}

} // namespace

void grade_without_gpu(const toolchain &t, class_work &w, const grade_options &options,
                       const todo_list &todos)
{
    if (w.row.file.empty() || w.finished) return;
    fill_in(w, [&](const subject &what) {
        w.finished = false;
        prepare_same_file(t, w, what, options);
        const bool refused = !w.prepared.refused.is_null();
        if (options.backend == "gpu" && !refused) return;
        grade_options simulated = options;
        simulated.backend = "sim";
        graded g = grade_prepared(t, *w.of, what, w.prepared, simulated);
        if (options.backend == "sim" || refused || g.status == infrastructure)
            fill_row(w, std::move(g), todos);
        else
            w.by_simulator = std::move(g);
    });
}

void complete_on_gpu(const toolchain &t, class_work &w, const grade_options &options,
                     const todo_list &todos)
{
    if (w.row.file.empty() || w.finished) return;
    fill_in(w, [&](const subject &what) {
        // Another process may have compiled it; then this takes it from the cache.
        if (w.prepared.workers.empty()) prepare_same_file(t, w, what, options);
        fill_row(w, add_gpu(t, *w.of, what, w.prepared, w.by_simulator, options), todos);
    });
}

} // namespace cli
