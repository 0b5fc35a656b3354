// Runs cases one after the other, each to its result.
#include "run_cases.hpp"

#include "case_run.hpp"
#include "replay.hpp"
#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

namespace grading {

namespace {

// Several processes write such lines to one pipe. Each is shorter than PIPE_BUF, so none is torn.
void print_result(const case_record &r)
{
    const nlohmann::json line{{"case", r.name},
                              {"verdict", name(r.result)},
                              {"points", r.points},
                              {"max_points", r.max_points}};
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
}

// Only end_case ends a case early; anything else that is thrown is a fault of the grader.
void end_for_fault(case_record &r, const std::string &what)
{
    if (r.ended) return;
    r.ended = true;
    r.result = verdict::INFRA_ERROR;
    r.message = "The grader itself failed: " + what;
}

void run_current_case()
{
    case_record &r = current_case();
    const auto start = std::chrono::steady_clock::now();
    try {
        r.run();
    } catch (const case_ended &) {
    } catch (const std::exception &e) {
        end_for_fault(r, e.what());
    } catch (...) {
        end_for_fault(r, "unknown exception");
    }
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    r.duration_ms = taken.count();
    if (r.passed())
        r.points = r.speed && r.speed->offered > 0
                       ? r.max_points * r.speed->reached / r.speed->offered
                       : r.max_points;
    take_submission_text(r);
    if (!r.passed() || options().keep_replays) r.replay = keep_call();
    forget_call();
    using enum verdict;
    const bool harmless = r.result == PASS || r.result == WRONG_ANSWER || r.result == NOT_WRITTEN ||
                          r.result == PARTIALLY_WRITTEN || r.result == TOO_SLOW;
    if (!harmless) restart_workers();
}

} // namespace

void run_cases(const case_group &group)
{
    if (options().simulated) restart_workers();
    for (std::size_t i : group) {
        begin_case(i);
        run_current_case();
        print_result(current_case());
    }
}

} // namespace grading
