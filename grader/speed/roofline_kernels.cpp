// Loads and times the kernels of worker/yardstick.cu in naive's worker.
#include "roofline_kernels.hpp"

#include "grading.hpp"
#include "runner/case_run.hpp"
#include "statistics.hpp"
#include "worker/yardstick_work.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <vector>

namespace grading {

namespace {

using std::chrono::seconds;

constexpr std::uint32_t copy_sets[] = {4000, 4001}, fma_set = 4002, null_set = 4003;
constexpr int iterations = 512; // about a millisecond on any device

request frame(command what, std::uint32_t set)
{
    request r;
    r.what = what;
    r.set = set;
    return r;
}

request run_of(const char *function, int calls)
{
    request r;
    r.what = command::run;
    r.calls = static_cast<std::uint32_t>(calls);
    std::strncpy(r.function, function, sizeof r.function - 1);
    return r;
}

void ask(const request &r)
{
    require_trusted(naive_worker().ask(r, seconds(60)), "preparing the grader's own kernels");
}

} // namespace

roofline_kernels::roofline_kernels(std::uint64_t at) : at_(at)
{
    copy_bytes_ = std::max<std::uint64_t>(std::uint64_t{128} << 20, 2 * device().l2_bytes);
    copy_bytes_ = std::min(copy_bytes_, device().memory_bytes / 32) / 256 * 256;
    blocks_ = 8 * device().multiprocessors;
    if (end() > inputs().size())
        end_case(verdict::INFRA_ERROR, "The copy kernel's data do not fit the shared memory.");
    std::mt19937_64 random(at);
    for (std::uint64_t i = 0; i < copy_bytes_; i += 8) {
        std::uint64_t bits = random();
        std::memcpy(inputs().data() + at_ + i, &bits, 8);
    }
}

void roofline_kernels::load()
{
    // Two pairs of buffers alternate, so that no call finds its data in the L2.
    for (std::uint32_t set : copy_sets) {
        request r = frame(command::load, set);
        r.argument_count = 3;
        r.arguments[0] = buffer(copy_bytes_, false);
        r.arguments[1] = buffer(copy_bytes_, true);
        r.arguments[2] = value(0, copy_bytes_ / 16);
        ask(r);
    }
    request r = frame(command::load, fma_set);
    r.argument_count = 3;
    r.arguments[0] = buffer(4 * static_cast<std::uint64_t>(yardstick::fma_floats(blocks_)), true);
    r.arguments[1] = value(1, blocks_);
    r.arguments[2] = value(2, iterations);
    ask(r);
    r = frame(command::load, null_set);
    ask(r);
}

void roofline_kernels::drop()
{
    for (std::uint32_t set : {copy_sets[0], copy_sets[1], fma_set, null_set})
        naive_worker().ask(frame(command::drop, set), seconds(10));
}

double roofline_kernels::copy_rate()
{
    constexpr int calls = 16; // runs about as long as the implementations, and as cold
    request r = run_of("yardstick_copy", calls);
    r.flags = flush_l2;
    for (int i = 0; i < calls; ++i) r.sets[i] = copy_sets[i % 2];
    return 2.0 * calls * static_cast<double>(copy_bytes_) / timed(r);
}

double roofline_kernels::fma_rate(int calls)
{
    request r = run_of("yardstick_fma", calls);
    std::fill_n(r.sets, calls, fma_set);
    return calls * yardstick::multiply_adds(blocks_, iterations) / timed(r);
}

double roofline_kernels::overhead()
{
    std::vector<double> beyond;
    for (int i = 0; i < 9; ++i) {
        request r = run_of("yardstick_null", 1);
        r.sets[0] = null_set;
        r.flags = flush_l2;
        ask(frame(command::wake, 0));
        answer a = naive_worker().ask(r, seconds(10));
        require_trusted(a, "timing an empty run");
        beyond.push_back(a.parent_ms - a.value.event_ms);
    }
    return median(beyond);
}

double roofline_kernels::timed(const request &r)
{
    answer a = naive_worker().ask(r, seconds(10));
    require_trusted(a, "timing the grader's own kernels");
    if (!(a.value.event_ms > 0))
        end_case(verdict::INFRA_ERROR, "The grader's own kernels took no time.",
                 "Run ./workbook doctor.");
    device_s_ += a.parent_ms / 1e3;
    return a.value.event_ms;
}

argument_descriptor roofline_kernels::buffer(std::uint64_t bytes, bool output) const
{
    argument_descriptor s;
    s.where = argument_memory::device;
    s.read_only = !output;
    s.output = output;
    s.element = 16;
    s.bytes = bytes;
    s.input = at_; // any bytes will do
    return s;
}

argument_descriptor roofline_kernels::value(std::uint64_t index, std::uint64_t v) const
{
    argument_descriptor s;
    s.where = argument_memory::value;
    s.read_only = 1;
    s.bytes = 8; // an int is its first four
    s.input = at_ + copy_bytes_ + 8 * index;
    std::memcpy(inputs().data() + s.input, &v, 8);
    return s;
}

} // namespace grading
