// Calls naive with one set of arguments.
#include "alone_at_clock.hpp"
#include "api/counters.hpp"
#include "api/inputs.hpp"
#include "api/workload.hpp"
#include "argument_sets.hpp"
#include "runner/argument_images.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/parse_counters.hpp"
#include "runner/replay.hpp"
#include "runner/whole_file.hpp"
#include "speed.hpp"
#include "text/fnv1a.hpp"
#include "text/verdict.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>

namespace grading {

namespace {

using std::chrono::seconds;

// Calls `read`, which throws if what naive's simulator reported cannot be read.
template <class F> auto of_naive(F read)
{
    try {
        return read();
    } catch (const std::exception &e) {
        end_case(verdict::INFRA_ERROR,
                 fmt::format("Naive's counters cannot be read: {}.", printable(e.what())));
    }
}

// Returns the counters of naive's last call, as the simulator's JSON.
std::string counters_of_naive()
{
    worker &w = naive_worker();
    if (w.output().size() < report_bytes)
        end_case(verdict::INFRA_ERROR, "The simulator's report does not fit the shared memory.");
    const std::uint64_t at = (w.output().size() - report_bytes) / 256 * 256;
    answer a =
        w.ask(request{.what = command::report, .offset = at, .bytes = report_bytes}, seconds(30));
    require_trusted(a, "reading naive's counters");
    return of_naive([&] { return report_counters({w.output().data() + at, report_bytes}); });
}

// Returns the file that keeps the counters of naive's call with these arguments, or nothing if none
// are kept. Its name is a hash of all that they depend on.
std::string file_of_counters(workload &work)
{
    if (options().naive_counters_folder.empty()) return {};
    std::uint64_t hash =
        fnv1a(fmt::format("{} {} {}", lab_name(), current_case().name, work.function()));
    for (const argument &a : work.arguments()) {
        const argument_descriptor &s = a.wire;
        hash = fnv1a(fmt::format("{} {} {} {} {} {} {} {} {} {}", static_cast<int>(s.where),
                                 s.read_only, s.output, s.parts, s.misalign, s.scratch, s.last,
                                 s.element, s.bytes, s.repeated_to),
                     hash);
        const void *data = s.where == argument_memory::value ? a.value : a.data;
        if (data && !s.output) hash = fnv1a({static_cast<const char *>(data), s.bytes}, hash);
    }
    return fmt::format("{}/{:016x}.json", options().naive_counters_folder, hash);
}

// One set of arguments in naive's worker, for calls outside a benchmark.
class naive_call {
public:
    explicit naive_call(std::unique_ptr<workload> work)
        : set_(std::move(work), inputs(), image_start, 1)
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
    benchmark_set set_;
};

// Returns nothing if the file cannot be read.
std::string text_in(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<workload> first_work(const make_workload &make)
{
    std::mt19937_64 random(case_seed());
    return make(random);
}

} // namespace

counted count_naive(const make_workload &make)
{
    std::unique_ptr<workload> work = first_work(make);
    const std::string file = file_of_counters(*work);
    std::string text = text_in(file);
    const bool kept = !text.empty();
    if (!kept) {
        naive_call naive(std::move(work));
        naive.run(begin_counting);
        text = counters_of_naive();
        naive.leave();
    }
    counted c = of_naive([&] { return parse_counters(text); });
    // Counters that cannot be kept are counted again.
    if (!file.empty() && !kept) write_whole(file, [&](std::ostream &f) { f << text; });
    c.naive_serial_ticks = c.serial_ticks;
    return c;
}

double naive_cost(const make_workload &make)
{
    if (simulated()) return static_cast<double>(count_naive(make).ticks);
    constexpr int calls = 5; // the first warms up
    naive_call naive(first_work(make));
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
