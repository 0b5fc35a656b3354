// Calls naive with one set of arguments.
#include "alone_at_clock.hpp"
#include "api/counters.hpp"
#include "api/inputs.hpp"
#include "api/workload.hpp"
#include "argument_sets.hpp"
#include "runner/argument_images.hpp"
#include "runner/case_run.hpp"
#include "runner/parse_counters.hpp"
#include "runner/replay.hpp"
#include "speed.hpp"
#include "text/verdict.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <random>

namespace grading {

namespace {

using std::chrono::seconds;

counted counters_of_naive()
{
    worker &w = naive_worker();
    if (w.output().size() < report_bytes)
        end_case(verdict::INFRA_ERROR, "The simulator's report does not fit the shared memory.");
    const std::uint64_t at = (w.output().size() - report_bytes) / 256 * 256;
    answer a =
        w.ask(request{.what = command::report, .offset = at, .bytes = report_bytes}, seconds(30));
    require_trusted(a, "reading naive's counters");
    try {
        return parse_counters(report_counters({w.output().data() + at, report_bytes}));
    } catch (const std::exception &e) {
        end_case(verdict::INFRA_ERROR,
                 fmt::format("Naive's counters cannot be read: {}.", printable(e.what())));
    }
}

// One set of arguments in naive's worker, for calls outside a benchmark.
class naive_call {
public:
    explicit naive_call(const make_workload &make)
        : random_(case_seed()), set_(make(random_), inputs(), image_start, 1)
    {
        claim_inputs();
        forget_call();
        set_.fill_image();
        ask(set_.load(), "handing over naive's arguments");
    }
    reply run(std::uint32_t flags)
    {
        return ask(request_of_run(set_.work().function(), {set_.number()}, flags), "calling naive");
    }
    void leave()
    {
        ask(request{.what = command::drop, .set = set_.number()}, "freeing naive's arguments");
    }

private:
    static reply ask(const request &r, const char *doing)
    {
        answer a = naive_worker().ask(r, seconds(60));
        require_trusted(a, doing);
        return a.value;
    }
    std::mt19937_64 random_;
    benchmark_set set_;
};

} // namespace

counted count_naive(const make_workload &make)
{
    naive_call naive(make);
    naive.run(begin_counting);
    counted c = counters_of_naive();
    c.naive_serial_ticks = c.serial_ticks;
    naive.leave();
    return c;
}

double naive_cost(const make_workload &make)
{
    if (simulated()) return static_cast<double>(count_naive(make).ticks);
    constexpr int calls = 5; // the first warms up
    naive_call naive(make);
    double shortest = std::numeric_limits<double>::infinity();
    wait_for_simulator(); // copies are what it is asked for
    {
        const alone_at_clock alone;
        for (int k = 0; k < calls; ++k) shortest = std::min(shortest, worker_time_ms(naive.run(0)));
    }
    naive.leave();
    return shortest;
}

} // namespace grading
