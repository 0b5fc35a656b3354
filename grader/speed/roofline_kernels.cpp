// Loads and times the kernels of worker/yardstick.cu in naive's worker.
#include "roofline_kernels.hpp"

#include "api/inputs.hpp"
#include "argument_sets.hpp"
#include "runner/case_run.hpp"
#include "statistics.hpp"
#include "text/verdict.hpp"
#include "worker/yardstick_work.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace grading {

namespace {

using std::chrono::seconds;

constexpr std::uint32_t copy_sets[] = {4000, 4001}, fma_set = 4002, null_set = 4003;
// 2^28 multiply-adds per SM, which take 1 to 3 ms at 64 or 128 per clock.
constexpr int iterations = 512;

void ask(const request &r)
{
    require_trusted(naive_worker().ask(r, seconds(60)), "preparing the grader's own kernels");
}

void load_set(std::uint32_t set, std::initializer_list<argument_descriptor> arguments)
{
    request r{.what = command::load, .set = set};
    r.argument_count = static_cast<std::uint32_t>(arguments.size());
    std::ranges::copy(arguments, r.arguments);
    ask(r);
}

} // namespace

roofline_kernels::roofline_kernels(std::uint64_t at) : at_(at)
{
    copy_bytes_ = std::max<std::uint64_t>(std::uint64_t{128} << 20, 2 * device().l2_bytes);
    copy_bytes_ = std::min(copy_bytes_, device().memory_bytes / 32) / 256 * 256;
    blocks_ = 8 * device().multiprocessors;
    if (end() > inputs().size())
        end_case(verdict::INFRA_ERROR, "The copy kernel's data do not fit the shared memory.");
}

void roofline_kernels::load()
{
    static unsigned loaded_in = 0; // naive's worker of this number has them
    naive_worker();
    if (loaded_in == naive_starts()) return;
    std::mt19937_64 random(at_);
    auto *values = reinterpret_cast<unsigned char *>(inputs().data() + at_);
    fill_random(std::span(values, copy_bytes_), random);
    // Two pairs of buffers alternate, so that no call finds its data in the L2.
    for (std::uint32_t set : copy_sets)
        load_set(set, {buffer(copy_bytes_, false), buffer(copy_bytes_, true),
                       value(0, copy_bytes_ / 16)});
    load_set(fma_set, {buffer(4 * static_cast<std::uint64_t>(yardstick::fma_floats(blocks_)), true),
                       value(1, blocks_), value(2, iterations)});
    load_set(null_set, {});
    loaded_in = naive_starts();
}

double roofline_kernels::copy_rate()
{
    constexpr int calls = 16; // runs about as long as the implementations, and as cold
    std::vector<std::uint32_t> sets;
    for (int i = 0; i < calls; ++i) sets.push_back(copy_sets[i % 2]);
    const request r = request_of_run("yardstick_copy", sets, flush_l2);
    return 2.0 * calls * static_cast<double>(copy_bytes_) / ms_of(run(r));
}

double roofline_kernels::fma_rate(int calls)
{
    return calls * yardstick::multiply_adds(blocks_, iterations) / ms_of(work(calls));
}

answer roofline_kernels::work(int calls)
{
    const std::vector<std::uint32_t> sets(static_cast<std::size_t>(calls), fma_set);
    return run(request_of_run("yardstick_fma", sets, 0));
}

double roofline_kernels::overhead()
{
    std::vector<double> beyond;
    for (int i = 0; i < 9; ++i) {
        ask(request_to_wake());
        answer a =
            naive_worker().ask(request_of_run("yardstick_null", {null_set}, flush_l2), seconds(10));
        require_trusted(a, "timing an empty run");
        beyond.push_back(a.parent_ms - a.value.event_ms);
    }
    return median(beyond);
}

answer roofline_kernels::run(const request &r)
{
    const answer a = naive_worker().ask(r, seconds(10));
    device_s_ += a.parent_ms / 1e3;
    worked_ = std::chrono::steady_clock::now();
    return a;
}

double roofline_kernels::ms_of(const answer &a)
{
    require_trusted(a, "timing the grader's own kernels");
    if (!(a.value.event_ms > 0))
        end_case(verdict::INFRA_ERROR, "The grader's own kernels took no time.",
                 "Run ./workbook doctor.");
    return a.value.event_ms;
}

argument_descriptor roofline_kernels::buffer(std::uint64_t bytes, bool output) const
{
    return {.where = argument_memory::device,
            .read_only = !output,
            .output = output,
            .element = 16,
            .bytes = bytes,
            .input = at_}; // any bytes will do
}

argument_descriptor roofline_kernels::value(std::uint64_t index, std::uint64_t v) const
{
    const std::uint64_t at = at_ + copy_bytes_ + 8 * index;
    std::memcpy(inputs().data() + at, &v, 8);
    // An int is the first four of the eight bytes.
    return {.where = argument_memory::value, .read_only = 1, .bytes = 8, .input = at};
}

} // namespace grading
