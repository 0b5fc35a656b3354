// Makes the arrays that the speed cases of lab 06 scan, checks the sums, and states the gates.
#include "workloads.hpp"

#include "grader/grading.hpp"
#include "lab.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <type_traits>

using namespace grading;

// On a GPU 2^26 elements of 4 bytes and a ragged end, where seven times all arrays and naive's
// scratch fit the device.
int elements_to_scan(std::size_t element)
{
    if (simulated()) return 100000 - 35;
    double most = std::min(double(1 << 28), double(device().memory_bytes) / 30) / double(element);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

// Makes x in [-1, 1) larger. Any sum of neighbours fits T, and is exact in float, too.
template <class T> static T enlarged(float x)
{
    if (std::is_same_v<T, std::int64_t>) return static_cast<T>(x * 0x1p40f);
    return static_cast<T>(static_cast<int>(x * (std::is_same_v<T, float> ? 100.0f : 1000.0f)));
}

template <class T> static void fill(std::span<T> values, std::mt19937_64 &random)
{
    floats parts(values.size());
    fill_random(parts, random);
    for_all(values.size(), [&](std::size_t i) {
        values[i] = enlarged<T>(parts[i]);
        return true;
    });
}

// Returns whether b - a == difference; the elements of a wrong answer may not overflow on the way.
template <class T> static bool apart_by(T a, T b, T difference)
{
    if constexpr (std::is_same_v<T, float>)
        return b - a == difference;
    else
        return std::uint64_t(b) - std::uint64_t(a) == std::uint64_t(difference);
}

namespace {

template <class T, class F> class scanning : public workload {
public:
    scanning(std::mt19937_64 &random, const char *function, std::size_t n, bool exclusive = false)
        : function_(function), exclusive_(exclusive), in_(n), out_(n)
    {
        fill<T>(in_, random);
    }
    const char *function() const override { return function_; }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(in_.size());
        if constexpr (std::is_same_v<F, decltype(scan_block_inclusive)>)
            return remote<F>::arguments(in_, out_, n);
        else
            return remote<F>::arguments(in_, out_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::size_t count = std::min<std::size_t>(in_.size(), 4096);
        std::span<T> stretch = std::span(in_).subspan(random() % (in_.size() - count + 1), count);
        fill<T>(stretch, random);
        return {std::as_writable_bytes(stretch)};
    }
    // A first sum and every difference say as much as all sums.
    void check() override
    {
        const std::vector<T> &sums = out_.values;
        const T *difference = &in_[!exclusive_];
        auto right = [&](std::size_t i) { return apart_by(sums[i], sums[i + 1], difference[i]); };
        if (sums[0] == (exclusive_ ? T(0) : in_[0]) && for_all(in_.size() - 1, right)) return;
        expect_equal(out_, right_sums(in_, exclusive_), {},
                     [&] { return wrong_sums(in_, exclusive_, out_.values); });
    }
    double bytes() const override { return 2.0 * double(in_.size()) * sizeof(T); }

private:
    const char *function_;
    bool exclusive_;
    std::vector<T> in_;
    output<T> out_;
};

} // namespace

#define SCAN_BY(T, function, ...)                                                                  \
    workload_of<scanning<T, decltype(function)>>(#function, __VA_ARGS__)

make_workload scan_block() { return SCAN_BY(int, scan_block_exclusive, elements_of_block, true); }
make_workload scan_ints(int n) { return SCAN_BY(int, scan_inclusive, n); }
make_workload scan_ints_exclusive(int n) { return SCAN_BY(int, scan_exclusive, n, true); }
make_workload scan_longs(int n) { return SCAN_BY(std::int64_t, scan_inclusive_int64, n); }
make_workload scan_floats(int n) { return SCAN_BY(float, scan_inclusive_float, n); }

// Naive moves 210, in however few launches; blocks that each add up all before them, by tiles of
// 2048, 106; sums of blocks 17, and 44 where a thread loads four neighbours.
static counted_gate moved_per_element(double n, const steps &limit)
{
    return moved_bytes(
        "element", [n] { return n; }, limit,
        "An element that is loaded again moves again, within one launch too. Let no block load "
        "elements that another has added up, and let neighbouring lanes load neighbours.");
}

static counted_gate compulsory_per_element(double n, const steps &limit)
{
    return at_most("compulsory bytes per element", limit, "bytes",
                   "Every kernel that goes over all elements moves them once more. How often does "
                   "each of them pass through memory, and how often must it?",
                   per(n, &counted::compulsory_bytes));
}

// Sums of blocks load every element three times, CUB once. Blocks that each add up all before them
// load 28 bytes by tiles of 8192.
static counted_gate loaded_per_element(double n, double limit)
{
    return at_most(
        "bytes loaded per element", {limit}, "bytes",
        "Each element need be loaded only once, or twice if the sums of blocks are added "
        "afterwards. Let no block load elements that another has added up.",
        per(n, [](const counted &c) { return c.load_bytes + c.texture_bytes; }));
}

// Limits what is stored beyond one sum per element, per 1000 elements: two words of 8 bytes for
// each tile of 1024 elements are 16, for each of 2048 8; sums of blocks store every sum twice.
static counted_gate published(double n)
{
    return at_most(
        "bytes published per 1000 elements", {10}, "bytes",
        "Beyond the sums themselves a single-pass scan stores what its tiles publish: an aggregate "
        "and an inclusive prefix each. Let each thread have several elements, so that there are "
        "fewer tiles.",
        [n](const counted &c) { return 1000 * (double(c.store_bytes) / n - double(sizeof(int))); });
}

speed_gates gates_of_block()
{
    counted_gate conflicts = bank_conflicts(
        1.1,
        "At width w neighbouring pairs lie 2 w words apart, and for w = 16 all lanes of a warp "
        "access one of the 32 banks. Which words do the lanes access at that line? One word of "
        "padding after every 32 avoids the conflict, if every load and every store uses it.");
    conflicts.cause = {}; // a tree has no rows to be made longer
    speed_gates gates;
    gates.counted = {
        at_most("bytes loaded per element", {4.5}, "bytes",
                "Each element need be loaded from global memory only once. Keep the partial sums "
                "in shared memory or in registers.",
                per(elements_of_block, &counted::load_bytes)),
        // Naive moves 140; two neighbours a thread 16, 32 where loads and stores are not shared.
        moved_bytes(
            "element", [] { return double(elements_of_block); }, {64},
            "Partial sums in device memory pass through it for every distance. Keep them in shared "
            "memory or in registers."),
        at_most("load requests per element", {0.125}, "",
                "A request serves up to 32 lanes, but most of them have nothing to do. Let every "
                "thread of the block load its own elements.",
                per(elements_of_block, memory_requests)),
        conflicts, conflicts_per_element([] { return double(elements_of_block); }, 0.15),
        lanes_at_work()};
    return gates;
}

// Per element, in blocks of 1024 and by distances that double in shared memory: 1.6; the same with
// four elements per thread, between two buffers: 0.3; by shuffles 0.1.
static counted_gate few_barriers(double n)
{
    return at_most("barriers and passes over shared memory per element", {0, 1, 0}, "",
                   "Within a warp sums can pass from lane to lane by shuffles, without shared "
                   "memory or a barrier; only the sums of the warps need these. Or let each thread "
                   "add up several elements by itself first.",
                   per(n, [](const counted &c) { return c.barriers + c.shared_wavefronts; }));
}

speed_gates gates_of(std::size_t element, double one_pass)
{
    double times = double(element) / sizeof(int), n = elements_to_scan(element);
    speed_gates gates;
    gates.speedup = 3.5; // sums of blocks, which move twice as much, reach 6.5 on an H200
    gates.copy = {0, 0.55, 0};
    gates.counted = {compulsory_per_element(n, {17 * times, 0, one_pass * times}),
                     moved_per_element(n, {80 * times, 0, one_pass > 0 ? 40 * times : 0}),
                     loaded_per_element(n, 13.5 * times), blocks_share(5.1), lanes_at_work()};
    if (one_pass == 0) gates.counted.push_back(few_barriers(n));
    gates.too_slow =
        "Where does the time go? A scan by doubling distances goes over all elements some twenty "
        "times; a scan within blocks and then over the blocks' sums goes over them twice.";
    return gates;
}

speed_gates gates_of_one_pass(double n, double share)
{
    speed_gates gates;
    gates.counted = {compulsory_per_element(n, {8.5}), moved_per_element(n, {40}),
                     loaded_per_element(n, 7), blocks_share(share), lanes_at_work()};
    return gates;
}

speed_gates gates_of_large_tiles(double n)
{
    // One tile of four may have a third of the work, and no more than half.
    speed_gates gates = gates_of_one_pass(n, 2);
    gates.counted.push_back(published(n));
    return gates;
}
