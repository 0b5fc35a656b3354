// Records pairs of timed runs on a GPU, for the test that noise decides no verdict.
#include "check.hpp"

#include "cli/support/errors.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Returns why nothing was recorded; empty: the file is there.
std::string record(const toolchain &t, const item &i, const std::string &case_name,
                   grade_options options)
{
    fs::remove(options.pairs_file); // an older recording is no result of this one
    options.pattern = case_name;
    options.only = "speed";
    const graded g = grade_one(t, *i.of, i.what, options);
    if (fs::exists(options.pairs_file)) return {};
    for (const lab_view &l : labs_of(g.document))
        for (const case_view &c : l.cases) return c.message;
    return g.said.empty() ? "its grader gave no reason" : without_line_ends(g.said);
}

} // namespace

int record_pairs_of(const toolchain &t, const std::vector<std::string> &names,
                    const grade_options &options, const check_options &wanted)
{
    if (options.backend != "gpu")
        throw usage_error("--record-pairs records what a GPU's clocks say, and none can be used "
                          "here: ./workbook doctor says what is missing");
    std::vector<item> all;
    for (const std::string &name : names) {
        const lab &l = lab_called(t, name);
        if (l.solutions && !l.test)
            for (const char *version : {"naive", "solution"})
                all.push_back({&l, implementation_of(t, l, version)});
    }
    progress_line progress;
    build_for_grading(t, all, options.backend, progress);
    fs::create_directories(wanted.pairs_folder);
    int status = passed;
    for (const item &i : all) {
        const std::string name = headline_cases(t, *i.of).timed;
        if (name.empty()) continue; // no case of the lab is timed
        grade_options of_this = options;
        of_this.record_pairs = wanted.pairs;
        of_this.pairs_file =
            (fs::absolute(wanted.pairs_folder) / fmt::format("{}.{}.csv", i.of->name, i.what.name))
                .string();
        progress.say(fmt::format("recording {} of {}", i.what.name, i.of->name));
        const auto start = std::chrono::steady_clock::now();
        const std::string problem = record(t, i, name, of_this);
        progress.clear();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        fmt::print("{}  {} {}: {}\n", problem.empty() ? "ok" : "--", i.of->name, i.what.name,
                   problem.empty() ? fmt::format("{} pairs of \"{}\" in {:.1f} s", wanted.pairs,
                                                 name, took.count())
                                   : sanitized(problem, 2000));
        if (!problem.empty()) status = failed;
    }
    return status;
}

} // namespace cli
