// Prints the findings of `check`, and compares its results with the table of verdicts.
#include "check_report.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace cli {

void check_tally::count(const std::string &lab, const check_finding &f)
{
    terminal out = detect_terminal(1);
    if (!f.skipped.empty()) {
        fmt::print("skip  {}  {}\n      {}\n", lab, f.what, f.skipped);
        return;
    }
    (f.fault.empty() ? passed : failed) += 1;
    if (f.fault.empty()) {
        fmt::print("{}    {}  {}\n", good(out, "ok"), lab, f.what);
        return;
    }
    std::string fault =
        fmt::format("{}  {}  {}\n      {}\n", bad(out, "FAIL"), lab, f.what, f.fault);
    fmt::print("{}", fault);
    faults += fault;
}

void check_tally::count(const check_task &work)
{
    for (const check_finding &f : work.findings) count(work.of->name, f);
}

int check_tally::finish() const
{
    if (!faults.empty()) fmt::print("\nWhat failed, once more:\n{}", faults);
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 ? exit_status::passed : exit_status::failed;
}

std::string tables_folder(const toolchain &t) { return t.source_root + "/grader/tests/verdicts"; }

table_of_lab::table_of_lab(const toolchain &t, const std::string &folder,
                           const std::string &backend, const std::string &lab)
    : path_(folder + "/" + lab + ".csv"),
      table_(read_table(path_, backend, lab)),
      changes_(read_changes(tables_folder(t) + "/changes.csv"))
{
}

verdict_comparison table_of_lab::compared(const std::vector<check_task> &tasks, bool planned) const
{
    struct gathered {
        graded_submission got;
        std::size_t tasks = 0, graded = 0;
    };
    std::map<std::string, gathered> by_submission;
    for (const check_task &work : tasks) {
        if (work.of->name != table_.lab) continue;
        gathered &g = by_submission[work.submission()];
        ++g.tasks;
        if (work.got.how == graded_submission::not_at_all) continue;
        g.got.rows.insert(g.got.rows.end(), work.got.rows.begin(), work.got.rows.end());
        g.got.how = graded_submission::some_cases;
        if (work.got.how == graded_submission::whole && (planned || work.whole())) ++g.graded;
    }
    std::vector<graded_submission> all;
    for (auto &[submission, g] : by_submission) {
        g.got.submission = submission;
        if (g.graded == g.tasks) g.got.how = graded_submission::whole;
        all.push_back(std::move(g.got));
    }
    return compare(table_, all, changes_);
}

void table_of_lab::write(const verdict_comparison &c) const
{
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    write_atomically(path_, as_csv(c.recorded));
}

std::string indented(std::string text)
{
    replace_all(text, "\n", "\n      ");
    return text;
}

} // namespace cli
