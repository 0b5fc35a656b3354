// Keeps the results of a ladder's steps apart, and writes them.
#include "ladder_steps.hpp"

#include "case_record.hpp"
#include "run_options.hpp"
#include "text/unwritable.hpp"
#include "whole_file.hpp"
#include "workers.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace grading {

namespace {

using results_by_case = std::map<std::string, case_result>;
std::vector<results_by_case> results_of_steps;
std::function<void()> end_of_steps;

} // namespace

void run_steps(std::size_t index_of_record, const std::function<void()> &run_case)
{
    case_record &r = records()[index_of_record];
    const case_record fresh = r;
    results_of_steps.resize(options().steps.size());
    start_steps();
    case_record own;
    for (std::size_t i = 0; i < results_of_steps.size(); ++i) {
        r = fresh;
        take_step(i);
        run_case();
        results_of_steps[i][r.name] = r;
        if (i == 0 || own.result != verdict::INFRA_ERROR) own = r;
    }
    if (end_of_steps) std::exchange(end_of_steps, {})();
    take_step(std::nullopt);
    r = own;
}

void at_end_of_steps(std::function<void()> end) { end_of_steps = std::move(end); }

bool write_step_results()
{
    const std::string graded = options().submission;
    const std::vector<case_record> all(records());
    results_of_steps.resize(options().steps.size());
    bool written = true;
    for (std::size_t i = 0; written && i < results_of_steps.size(); ++i) {
        const ladder_step &step = options().steps[i];
        for (case_record &r : records()) {
            const auto at = results_of_steps[i].find(r.name);
            if (at != results_of_steps[i].end())
                static_cast<case_result &>(r) = at->second;
            else
                r.started = r.started && step.submission == graded;
        }
        options().submission = step.submission;
        const int problem =
            write_whole(step.result_file, [](std::ostream &file) { file << result_json(); });
        written = problem == 0;
        if (!written)
            fmt::print(stderr, "{}: {}\n", lab_name(), cannot_write(step.result_file, problem));
        records() = all;
        options().submission = graded;
    }
    return written;
}

} // namespace grading
