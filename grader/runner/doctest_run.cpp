// Runs cases by doctest, whose progress it enters into the records.
#include "doctest_run.hpp"

#include "case_record.hpp"
#include "case_run.hpp"
#include "ladder_steps.hpp"
#include "replay.hpp"
#include "run_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <sstream>

namespace grading {

namespace {

// Escapes commas and backslashes, which are special in doctest's filters.
std::string as_filter(const std::string &name)
{
    std::string result;
    for (char c : name) {
        if (c == ',' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

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

// Enters the progress of doctest's run into the records.
struct case_listener : doctest::IReporter {
    explicit case_listener(const doctest::ContextOptions &) {}
    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats &) override {}
    void test_case_start(const doctest::TestCaseData &data) override
    {
        begin_case(data.m_name);
        start_ = std::chrono::steady_clock::now();
    }
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void test_case_end(const doctest::CurrentTestCaseStats &stats) override
    {
        case_record &r = current_case();
        r.duration_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
                .count();
        // Only end_case fails a case; any other failure seen by doctest is a fault of the grader.
        if (stats.failure_flags != 0 && !r.ended) {
            r.ended = true;
            r.result = verdict::INFRA_ERROR;
            r.message = "The grader itself failed: " + problem_;
        }
        problem_.clear();
        r.points = points_of(r);
        // Open points of the clock do not keep a lab from passing.
        if (r.what == kind::clock && r.result == verdict::SKIPPED) r.lacking = true;
        take_submission_text(r);
        if (!r.passed() || options().keep_replays) r.replay = keep_call();
        forget_call();
        static const std::set<verdict> harmless{verdict::PASS, verdict::WRONG_ANSWER,
                                                verdict::NOT_WRITTEN, verdict::PARTIALLY_WRITTEN,
                                                verdict::TOO_SLOW};
        // On a GPU a case is left open only by the grader, after its workers have answered.
        const bool left_open = r.result == verdict::SKIPPED && !options().simulated;
        if (!harmless.count(r.result) && !left_open) {
            // The other steps of a ladder go on with naive's worker, if it is not to blame.
            if (step_taken() && r.result != verdict::INFRA_ERROR)
                end_submission();
            else
                restart_workers();
        }
        print_result(r);
    }
    void test_case_exception(const doctest::TestCaseException &e) override
    {
        problem_ = e.error_string.c_str();
    }
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData &a) override
    {
        if (a.m_failed) problem_ = fmt::format("{} at {}:{}", a.m_expr, a.m_file, a.m_line);
    }
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &) override {}

private:
    std::chrono::steady_clock::time_point start_;
    std::string problem_;
};
REGISTER_REPORTER("records", 0, case_listener);

void run_by_doctest(const case_group &group)
{
    std::vector<std::string> names;
    for (std::size_t i : group) names.push_back(as_filter(records()[i].test));
    doctest::Context context;
    context.setOption("reporters", "records");
    context.setOption("order-by", "file");
    context.setOption("test-case", fmt::format("{}", fmt::join(names, ",")).c_str());
    std::ostringstream discarded;
    context.setCout(&discarded);
    context.run(); // its status is 0 if nothing matched, so the records decide
}

} // namespace

void run_cases(const case_group &group)
{
    if (options().simulated) restart_workers();
    const bool ladder = !options().steps.empty() && records()[group[0]].what == kind::clock;
    if (!ladder) return run_by_doctest(group);
    for (std::size_t i : group) run_steps(i, [i] { run_by_doctest({i}); });
}

} // namespace grading
