// What a student has reached, kept in .workbook/progress.json.
#include "progress.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr const char *schema = "cuda-workbook-progress/1";

std::string path_of(const toolchain &t) { return t.source_root + "/.workbook/progress.json"; }

template <class T> T field(const json &o, const char *key, T otherwise)
{
    auto at = o.find(key);
    if (at == o.end()) return otherwise;
    bool right = std::is_same_v<T, double> ? at->is_number() : at->is_string();
    return right ? at->template get<T>() : otherwise;
}

progress_entry entry_from(const json &o)
{
    progress_entry e;
    e.lab = field<std::string>(o, "lab", {});
    e.points = field<double>(o, "points", 0);
    e.max_points = field<double>(o, "max_points", 0);
    e.best = std::max(e.points, field<double>(o, "best", 0));
    e.backend = field<std::string>(o, "backend", {});
    e.when = field<std::string>(o, "when", {});
    e.verdict = field<std::string>(o, "verdict", {});
    e.case_name = field<std::string>(o, "case", {});
    return e;
}

json entry_to(const progress_entry &e)
{
    return {{"lab", e.lab},         {"points", e.points},   {"max_points", e.max_points},
            {"best", e.best},       {"backend", e.backend}, {"when", e.when},
            {"verdict", e.verdict}, {"case", e.case_name}};
}

std::string marks(const terminal &out, const progress_entry *e)
{
    constexpr int width = 10;
    double share = e && e->max_points > 0 ? e->best / e->max_points : 0;
    return padded(bar(out, share, width), width);
}

std::string state_of(const progress_entry *e)
{
    if (!e) return "not graded yet";
    std::string words = points_words(e->best, e->max_points);
    if (e->done()) return words + "  done";
    if (e->best > e->points) words += fmt::format("  (last {:g})", e->points);
    return e->verdict.empty() ? words : fmt::format("{}  {}", words, e->verdict);
}

std::string number_of(const std::string &lab) { return lab.substr(0, lab.find('_')); }

std::string what_next(const toolchain &t, const progress_record &record, const terminal &out)
{
    for (const lab &l : t.labs) {
        if (l.test) continue;
        const progress_entry *e = record.find(l.name);
        if (e && e->best >= e->max_points && e->max_points > 0) continue;
        std::string text =
            fmt::format("Next: read handouts/{0}.md, edit labs/{0}/stub.cu, then", l.name);
        return wrapped(text, out.width, 2) + "\n  " +
               bold(out, "./workbook grade " + number_of(l.name));
    }
    bool solutions = std::any_of(t.labs.begin(), t.labs.end(),
                                 [](const lab &l) { return !l.test && l.solutions; });
    return std::string("Every lab is done.") +
           (solutions ? " The worked ladders, to compare: ./workbook demo" : "");
}

} // namespace

const progress_entry *progress_record::find(const std::string &lab) const
{
    auto at = std::find_if(labs.begin(), labs.end(),
                           [&](const progress_entry &e) { return e.lab == lab; });
    return at == labs.end() ? nullptr : &*at;
}

progress_record read_progress(const toolchain &t)
{
    progress_record record;
    std::string path = path_of(t);
    if (!fs::exists(path)) return record;
    json document = json::parse(read_text(path), nullptr, false);
    bool right = document.is_object() && document.value("schema", json()) == schema &&
                 document.contains("labs") && document["labs"].is_array();
    if (!right) {
        record.warning = fmt::format("{} could not be understood; it is kept as {}.damaged",
                                     t.shown(path), t.shown(path));
        return record;
    }
    for (const json &o : document["labs"])
        if (o.is_object()) record.labs.push_back(entry_from(o));
    return record;
}

void keep_progress(const toolchain &t, const lab_view &graded, const std::string &backend)
{
    if (graded.status == "error" || graded.status == "skipped") return;
    std::string path = path_of(t);
    fs::create_directories(fs::path(path).parent_path());
    file_lock lock(path + ".lock");
    progress_record record = read_progress(t);
    if (!record.warning.empty()) fs::rename(path, path + ".damaged");
    auto at = std::find_if(record.labs.begin(), record.labs.end(),
                           [&](const progress_entry &e) { return e.lab == graded.lab; });
    if (at == record.labs.end())
        at = record.labs.insert(at, progress_entry{graded.lab, 0, 0, 0, {}, {}, {}, {}});
    at->points = graded.points;
    if (graded.max_points > 0) at->max_points = graded.max_points;
    at->best = std::max(at->best, graded.points);
    at->backend = backend;
    at->when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    const case_view *failure = graded.first_failure();
    at->verdict = failure ? failure->verdict : "";
    at->case_name = failure ? failure->name : "";
    json document = {{"schema", schema}, {"labs", json::array()}};
    for (const progress_entry &e : record.labs) document["labs"].push_back(entry_to(e));
    write_atomically(path, document.dump(2) + "\n");
}

std::string where_am_i(const toolchain &t, const progress_record &record, const terminal &out)
{
    std::string screen;
    if (!record.warning.empty()) screen += "note: " + record.warning + "\n\n";
    std::size_t width = 0, done = 0, count = 0;
    double points = 0, all = 0;
    for (const std::string &name : t.lab_names(false)) width = std::max(width, name.size());
    for (const std::string &name : t.lab_names(false)) {
        const progress_entry *e = record.find(name);
        ++count;
        done += e && e->done();
        points += e ? e->best : 0;
        all += e ? e->max_points : 0;
        screen += fmt::format("  {}  {}  {}\n", padded(name, static_cast<int>(width)),
                              marks(out, e), state_of(e));
    }
    screen += fmt::format("\n{} of {} done", done, plural(count, "lab"));
    if (all > 0) screen += fmt::format(", {} points of those graded", points_words(points, all));
    return screen + "\n" + what_next(t, record, out) + "\n";
}

} // namespace cli
