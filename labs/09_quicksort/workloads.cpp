// Makes the inputs and workloads of lab 09.
#include "workloads.hpp"

#include "grader/grading.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace grading;

// Makes each key larger than the one before, the first than `key`, by random steps; less than 2^31
// in all.
static void rise(std::span<unsigned> data, unsigned key, std::mt19937_64 &random)
{
    std::vector<unsigned char> steps(data.size());
    fill_random(steps, random);
    const std::uint64_t most = (1u << 31) / (data.size() + 1);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = key += 1 + static_cast<unsigned>((most - 1) * steps[i] / 255);
}

// More random keys than this are drawn on all cores.
constexpr std::size_t many_for_one_core = 1 << 22;

keys ordered(order o, std::size_t n, std::mt19937_64 &random)
{
    keys data(n);
    unsigned some[5];
    for (unsigned &key : some) key = static_cast<unsigned>(random());
    std::span<unsigned> all(data), up = all.first(o == order::organ_pipe ? n / 2 : n),
                                   down = all.subspan(up.size());
    switch (o) {
    case order::random:
        if (n > many_for_one_core)
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
        else
            for (unsigned &key : data) key = static_cast<unsigned>(random());
        break;
    case order::equal:
        std::fill(data.begin(), data.end(), some[0]);
        break;
    case order::few:
        if (n > many_for_one_core) {
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
            for_all(n, [&](std::size_t i) {
                data[i] = some[data[i] % 5];
                return true;
            });
        } else
            for (unsigned &key : data) key = some[random() % 5];
        break;
    case order::sorted:
    case order::reversed:
    case order::organ_pipe:
        // Where they fall again they end below the first, so that no key is in its place already.
        rise(down, some[0] / 4, random);
        rise(up, down.empty() ? some[0] / 4 : down[0], random);
        std::reverse(all.begin() + std::ptrdiff_t(o == order::reversed ? 0 : up.size()), all.end());
    }
    return data;
}

void call_sort(sort_function f, output<unsigned> &data, int at)
{
    const int n = int(data.size());
    if (f == sort_function::recursive)
        CALL(quicksort_recursive, misaligned(data, at), n, scratch);
    else
        CALL(quicksort, misaligned(data, at), n, scratch);
}

namespace {

class sorting : public workload {
public:
    sorting(std::mt19937_64 &random, sort_function f, order o, int n)
        : f_(f), order_(o), in_(ordered(o, std::size_t(n), random)), data_(0)
    {
        data_ = changed_in_place(in_);
    }
    const char *function() const override
    {
        return f_ == sort_function::recursive ? "quicksort_recursive" : "quicksort";
    }
    std::vector<argument> arguments() override
    {
        return remote<decltype(quicksort)>::arguments(data_, int(in_.size()), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (order_ == order::organ_pipe) {
            move_both_halves(random);
        } else { // as random, and as few, as they were
            auto bits = static_cast<unsigned>(random());
            change_each([bits](std::size_t, unsigned key) { return key ^ bits; });
        }
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        const keys &out = data_.values;
        bool in_order =
            for_all(out.size(), [&](std::size_t i) { return i == 0 || out[i - 1] <= out[i]; });
        if (!in_order ||
            !same_in_any_order(std::as_bytes(std::span(in_)), std::as_bytes(std::span(out))))
            expect_sorted(data_, in_);
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    // By different distances, so that other keys of the two come to lie beside each other. The last
    // key stays below the first, and the largest below 2^32.
    void move_both_halves(std::mt19937_64 &random)
    {
        const auto low = static_cast<unsigned>(random() % (1u << 29));
        const auto first = low + 1 + static_cast<unsigned>(random() % (1u << 29));
        const std::size_t half = in_.size() / 2;
        const unsigned rising = first - in_.front(), falling = low - in_.back();
        change_each(
            [=](std::size_t i, unsigned key) { return key + (i < half ? rising : falling); });
    }
    // In what the next call sorts, too.
    template <class F> void change_each(F changed)
    {
        for_all(in_.size(), [&](std::size_t i) {
            data_.values[i] = in_[i] = changed(i, in_[i]);
            return true;
        });
    }

    sort_function f_;
    order order_;
    keys in_;
    output<unsigned> data_;
};

} // namespace

make_workload sort_keys(sort_function f, order o, int n) { return workload_of<sorting>(f, o, n); }

counted_gate launches_by_the_host()
{
    return at_most("launches by the host", {1}, "",
                   "A loop on the host must wait for the device to know how to go on: let kernels "
                   "launch what follows.",
                   [](const counted &c) { return double(c.launches - c.launches_by_kernels); });
}

counted_gate work_of_launched()
{
    return at_least(
        "instructions of kernels that kernels launched", {0.5}, "%",
        "The size of a single grid is fixed before the parts are known, and its blocks wait for "
        "each other. Let kernels launch grids for the parts they find, as large as these are.",
        per(&counted::warp_instructions, &counted::instructions_by_kernels));
}

counted_gate launches(const steps &limit, const std::string &meaning)
{
    return at_most("launches", limit, "", meaning, &counted::launches);
}

// Of quicksort_recursive: ranks of all keys among all are 93 accesses per key; where a block ranks
// both sides, 47 to 80; by parts of 256 keys 7; of five values, with those equal to the pivot
// aside, 0.6.
counted_gate accesses_per_key(double limit, const std::string &meaning)
{
    return at_most("memory accesses of a warp per key", {limit}, "", meaning,
                   per(recursive_keys, accesses));
}

// In a quadratic sort a load can serve several keys, but no comparison can be left out: 750 for
// ranks of all among all, where quicksort_recursive takes 64 to 162; and 640 where each of eight
// blocks ranks a range of values, where quicksort takes 37.
counted_gate instructions_per_key(double keys, double limit)
{
    return at_most("instructions of warps per key", {limit}, "",
                   "Keys are compared with far too many others: within a part that is not split "
                   "any more, within a range of values, or all with all.",
                   per(keys, &counted::warp_instructions));
}

counted_gate launches_by_kernels()
{
    return at_least("launches by kernels", {2}, "",
                    "A kernel that has split its part launches itself for both sides.",
                    &counted::launches_by_kernels);
}

// 2^26 keys and a ragged end, where they fit the device seven times with scratch. Naive would take
// seconds: it sorts a 256th of them.
static int raced_keys()
{
    if (simulated()) return 30000 - 35;
    return static_cast<int>(std::min(double(1 << 26), double(device().memory_bytes) / 256)) - 35;
}

static int naive_keys() { return simulated() ? raced_keys() : raced_keys() / 256; }

static counted_gate lanes_at_work_on_parts()
{
    counted_gate gate = lanes_at_work(16);
    gate.meaning = "A warp has 32 lanes whether they work or not: let all threads of a block "
                   "together split a part, or sort a small one.";
    return gate;
}

// Of each launch the busiest block counts, so grids of one block add up, also side by side.
static counted_gate share_of_launches()
{
    counted_gate gate = blocks_share(2);
    gate.meaning =
        "The busiest block of each launch counts. If one block does nearly all of a launch's work, "
        "as in grids of one block, a large part takes as long as one multiprocessor needs for it, "
        "and at the beginning all parts are large. Let many blocks split a large part together.";
    return gate;
}

static counted_gate launches_of_levels()
{
    return launches({std::floor(8 * std::log2(raced_keys())), 40, 15},
                    "A launch costs as much as sorting a few thousand keys. One grid can split all "
                    "parts of a level: each block looks up which part its tile belongs to.");
}

// By one pivot a level moves each key that is not in a leaf yet: 66 to 78 bytes per key; by eight
// 36, by up to 256 42, and 30 where the keys of a bucket leave side by side. By one pivot and
// larger leaves 64, with 4096 keys, or 48, with 8192: then one block does most of the launches'
// work, 1 of 1.5 parts, and share_of_launches fails.
static counted_gate bytes_per_key(const steps &max, const std::string &meaning)
{
    return moved_bytes(
        "key", [] { return double(raced_keys()); }, max, meaning);
}

void race_levels(order o)
{
    speed_gates gates;
    // By parts, a block each, 19 to 32 on an H200; level by level 900, less on a smaller GPU, for
    // naive waits for launches only.
    gates.speedup = 60;
    gates.counted = {lanes_at_work_on_parts(),
                     share_of_launches(),
                     launches_by_the_host(),
                     launches_of_levels(),
                     work_of_launched(),
                     instructions_per_key(raced_keys(), 300),
                     bytes_per_key({0, 50, 0},
                                   "Each level moves every key to another place. Use more pivots, "
                                   "or larger leaves, and there are fewer levels.")};
    gates.too_slow = "Which unit works on the largest parts, at the beginning: a thread, a block, "
                     "or the whole device?";
    gates.copy = {0.004, 0.02, 0};
    gates.naive_share = double(naive_keys()) / raced_keys();
    race(sort_keys(sort_function::levels, o, raced_keys()), gates,
         sort_keys(sort_function::levels, o, naive_keys()));
}

static speed_gates gates_of_parts()
{
    speed_gates gates;
    gates.counted = {lanes_at_work_on_parts(), launches_by_the_host(), launches_by_kernels()};
    return gates;
}

void count_lanes()
{
    race(sort_keys(sort_function::levels, order::random, raced_keys()), gates_of_parts());
}

// By parts 47 bytes per key where those that equal the pivot are aside, 126 where each side gets
// half of them.
void count_moves_of_equal_keys()
{
    speed_gates gates = gates_of_parts();
    gates.counted.push_back(bytes_per_key(
        {80}, "Keys that equal the pivot are neither smaller nor larger: they are done, and no "
              "later level needs to move them."));
    race(sort_keys(sort_function::levels, order::few, raced_keys()), gates);
}
