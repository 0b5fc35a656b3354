// Makes the inputs and workloads of lab 10: keys and numbers to sort.
#include "workloads.hpp"
#include "lab.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace grading;

uints random_keys(std::size_t n)
{
    uints keys(n);
    for (unsigned &key : keys) key = static_cast<unsigned>(random_source()());
    return keys;
}

uints two_falling()
{
    const unsigned low = random_keys(1)[0] / 2;
    return {low + 1 + random_keys(1)[0] / 2, low};
}

uints few_keys(std::size_t n, int count)
{
    uints some = random_keys(std::size_t(count)), keys(n);
    for (unsigned &key : keys) key = some[std::size_t(random_between(0, count - 1))];
    return keys;
}

uints single_bits(std::size_t n)
{
    uints keys(n);
    unsigned rest = random_keys(1)[0];
    for (unsigned &key : keys) key = rest ^ 1u << random_between(0, 31);
    return keys;
}

// No NaN, and every other pattern of bits as likely as any.
static float some_number(std::uint32_t bits)
{
    constexpr std::uint32_t exponent = 0x7f800000, quiet = 0x40000000;
    return std::bit_cast<float>((bits & exponent) == exponent ? bits & ~quiet : bits);
}

floats random_numbers(std::size_t n)
{
    floats keys;
    for (unsigned bits : random_keys(n)) keys.push_back(some_number(bits));
    return keys;
}

floats special_numbers(std::size_t n)
{
    using limits = std::numeric_limits<float>;
    floats some = {0.0f,
                   -0.0f,
                   limits::infinity(),
                   -limits::infinity(),
                   limits::denorm_min(),
                   -limits::denorm_min(),
                   limits::max(),
                   limits::lowest(),
                   limits::min(),
                   -limits::min(),
                   1,
                   -1,
                   -2.5f};
    floats keys;
    for (std::size_t i = 0; i < n; ++i)
        keys.push_back(some[std::size_t(random_between(0, int(some.size()) - 1))]);
    return keys;
}

std::vector<uints> known_orders(std::size_t n)
{
    uints up = random_keys(n);
    std::sort(up.begin(), up.end());
    uints down(up.rbegin(), up.rend());
    return {uints(n, 0xdeadbeef), up, down, few_keys(n, 3)};
}

// 2^25 keys and a ragged end, where seven times all arrays and naive's scratch fit the device.
int raced_keys()
{
    if (simulated()) return 24000 - 35; // two tiles and more, however large they are
    double most = std::min(double(1 << 25), double(device().memory_bytes) / 192);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

// Bits in the order of the keys.
static std::uint32_t turned(unsigned key) { return key; }
static std::uint32_t turned(float key)
{
    auto bits = std::bit_cast<std::uint32_t>(key);
    return bits >> 31 ? ~bits : bits ^ 0x80000000;
}

template <class T> static void fill_keys(std::span<T> keys, std::mt19937_64 &random)
{
    auto *bytes = reinterpret_cast<unsigned char *>(keys.data());
    fill_random(std::span(bytes, keys.size_bytes()), random);
    if constexpr (std::is_same_v<T, float>)
        for_all(keys.size(), [&](std::size_t i) {
            keys[i] = some_number(std::bit_cast<std::uint32_t>(keys[i]));
            return true;
        });
}

// Another one for each key, in no order that the old one tells of: an odd factor gives each its
// own.
static unsigned other_key(unsigned key, std::uint32_t bits) { return key * (bits << 1 | 1) ^ bits; }
static float other_key(float key, std::uint32_t bits)
{
    return some_number(other_key(std::bit_cast<std::uint32_t>(key), bits));
}

// Simulated, every other key begins with the same byte: ranges of values are no substitute for
// digits. Floats stay finite.
static unsigned crowded(unsigned key, std::uint32_t bits)
{
    return (key & 0xffffff) | (bits & 0xbf000000);
}
static float crowded(float key, std::uint32_t bits)
{
    return std::bit_cast<float>(crowded(std::bit_cast<std::uint32_t>(key), bits));
}

namespace {

template <class T> class sorting : public workload {
public:
    sorting(std::mt19937_64 &random, task what, int n)
        : what_(what),
          before_(static_cast<std::size_t>(n)),
          keys_(0),
          values_(0),
          salt_(static_cast<unsigned>(random()))
    {
        fill_keys(std::span(before_), random);
        for (std::size_t i = 0; crowds_ && i < before_.size(); ++i)
            if (crowds(i)) before_[i] = crowded(before_[i], salt_);
        keys_ = changed_in_place(before_);
        if (what == task::pairs) values_ = changed_in_place(uints(before_.size()));
        set_values();
    }
    const char *function() const override
    {
        static const char *const names[] = {"sort_warps", "radix_sort", "radix_sort_pairs",
                                            "radix_sort_floats"};
        return names[static_cast<int>(what_)];
    }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(before_.size());
        if constexpr (std::is_same_v<T, float>)
            return remote<decltype(radix_sort_floats)>::arguments(keys_, n, scratch);
        else if (what_ == task::runs)
            return remote<decltype(sort_warps)>::arguments(keys_, n);
        else if (what_ == task::keys)
            return remote<decltype(radix_sort)>::arguments(keys_, n, scratch);
        else
            return remote<decltype(radix_sort_pairs)>::arguments(keys_, values_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        auto bits = static_cast<std::uint32_t>(random());
        for_all(before_.size(), [&](std::size_t i) {
            before_[i] = other_key(before_[i], bits);
            if (crowds(i)) before_[i] = crowded(before_[i], bits);
            keys_.values[i] = before_[i];
            return true;
        });
        set_values();
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        expect(!std::equal(keys_.values.begin(), keys_.values.end(), before_.begin(), same_bits),
               verdict::NOT_WRITTEN,
               std::string(function()) + " returned, and every key is where it was.",
               "Does a kernel run at all, and does it write its result?");
        const bool ordered = what_ == task::runs || in_order();
        const bool right = what_ == task::runs ? sorted_in_runs(keys_.values, before_, 32)
                                               : ordered && is_permutation();
        expect(right, verdict::WRONG_ANSWER,
               "Of " + std::to_string(before_.size()) + " keys, not all are where they should be" +
                   (ordered ? what_ == task::pairs ? ", or a value is not." : "."
                            : ": they are not in order."),
               "The smaller cases are right, so look for what only many keys have: many tiles, "
               "and counts of digits that overflow their type.");
    }
    double bytes() const override { return (what_ == task::pairs ? 16 : 8) * double(keys_.size()); }

private:
    static bool same_bits(T x, T y) { return turned(x) == turned(y); }
    bool crowds(std::size_t i) const { return crowds_ && i % 2 == 1; }
    void set_values() // which element it was, so that the order of equal keys is seen
    {
        for_all(values_.size(), [this](std::size_t i) {
            values_.values[i] = static_cast<unsigned>(i) ^ salt_;
            return true;
        });
    }
    bool in_order() const
    {
        return for_all(before_.size() - 1,
                       [this](std::size_t i) { return turned(keys_[i]) <= turned(keys_[i + 1]); });
    }
    // For pairs: each key has its value, and those of equal keys rise.
    bool is_permutation() const
    {
        if (what_ != task::pairs)
            return same_in_any_order(std::as_bytes(std::span(keys_.values)),
                                     std::as_bytes(std::span(before_)));
        auto pair = [](T key, unsigned value) { return std::uint64_t{turned(key)} << 32 | value; };
        return for_all(before_.size() - 1,
                       [this](std::size_t i) {
                           return !same_bits(keys_[i], keys_[i + 1]) ||
                                  (values_[i] ^ salt_) < (values_[i + 1] ^ salt_);
                       }) &&
               same_in_any_order(
                   before_.size(), [&](std::size_t i) { return pair(keys_[i], values_[i]); },
                   [&](std::size_t i) { return pair(before_[i], unsigned(i) ^ salt_); });
    }

    task what_;
    bool crowds_ = simulated() && what_ != task::runs;
    std::vector<T> before_;
    output<T> keys_;
    output<unsigned> values_;
    unsigned salt_;
};

} // namespace

static make_workload sort_so_many(task what, int n)
{
    return [=](std::mt19937_64 &random) -> std::unique_ptr<workload> {
        if (what == task::numbers) return std::make_unique<sorting<float>>(random, what, n);
        return std::make_unique<sorting<unsigned>>(random, what, n);
    };
}

make_workload sort_many(task what) { return sort_so_many(what, raced_keys()); }

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(const steps &max)
{
    return at_most("compulsory bytes per key", max, "bytes",
                   "Every kernel that goes over all keys moves them once more. How many passes are "
                   "there, and how often does each go over the keys?",
                   per(raced_keys, &counted::compulsory_bytes));
}

// A launch that goes over the keys again and again has no more compulsory bytes than one that does
// so once: this gate counts all bytes moved.
static counted_gate moved_bytes_per_key(const steps &max)
{
    return moved_bytes(
        "key", [] { return double(raced_keys()); }, max,
        "Each load and store of a warp moves whole sectors of 32 bytes: how often is a key moved, "
        "and do neighbouring lanes load, and store, neighbouring keys?");
}

// Other blocks that only seem to work do not help. Our versions have 5 at most.
static counted_gate busiest_block()
{
    return at_most(
        "instructions of the busiest block per key", {9}, "",
        "This adds up the busiest block of each launch, and those blocks sort a large part of all "
        "keys. Let every block take a tile.",
        per(raced_keys, &counted::busiest_block_instructions));
}

// On an H200 one bit per pass, however it is tuned, reaches 3.1 times naive's speed with keys
// and 1.8 with pairs; digits of 4 bits 4.8 and 2.3, of 8 bits 6.4 and 3.5.
speed_gates sorting_gates(double speedup, const steps &max_bytes, const steps &max_moved)
{
    speed_gates gates;
    gates.speedup = speedup;
    gates.counted = {compulsory_bytes(max_bytes), moved_bytes_per_key(max_moved), blocks_share(2),
                     lanes_at_work(), busiest_block()};
    gates.too_slow =
        "Where does the time go? A pass for each bit goes over the keys 32 times; digits of 4 bits "
        "make it 8, digits of 8 bits 4. And do neighbouring lanes store "
        "at neighbouring places? Sort the keys of a tile by digit in shared memory first.";
    return gates;
}

speed_gates gates_of_runs()
{
    speed_gates gates;
    gates.speedup = 5;
    gates.counted = {used_by_loads(0.95), used_by_stores(0.95), moved_bytes_per_key({10}),
                     blocks_share(4), lanes_at_work()};
    gates.too_slow = "Do the lanes of a warp read neighbours? The 32 lanes have 32 keys in their "
                     "registers, and can rank them by votes.";
    return gates;
}

// Three kernels per pass are 12 launches with digits of 8 bits, and one that looks back beside one
// that counts 8. Three passes over wider digits need 9 without looking back.
static counted_gate few_launches()
{
    return at_most(
        "launches", {10}, "",
        "A kernel that only counts or scans for the next one is a launch, and goes over keys or "
        "counts once more. Let a tile publish its counts, and look back at the states of the tiles "
        "before it.",
        &counted::launches);
}

// Bytes moved, but for stores.
static double bytes_read(const counted &c)
{
    return double(sector_bytes) * (moved_sectors(c) - double(c.store_sectors));
}

// Takes note of the fewest bytes read per key in a call with few keys: a second call, in another
// order of blocks, also counts those of waiting. Naive reads more.
static counted_gate read_with_few(const std::shared_ptr<double> &fewest)
{
    return at_most("bytes read per key", {}, "bytes", "", [fewest](const counted &c) {
        *fewest = std::min(*fewest, bytes_read(c) / raced_keys());
        return bytes_read(c) / raced_keys();
    });
}

// Tiles that add up the counts of all tiles before them read more per key the more tiles there are:
// with tiles of 4096 keys 34 bytes, of 8192 8.5. Looking back costs 1 byte more, or 2 where blocks
// that each sort several tiles wait for each other.
static counted_gate read_with_many(int n, const std::shared_ptr<double> &with_few)
{
    counted_gate gate = at_most(
        "bytes read per key beyond those with few keys", {8}, "bytes",
        "The more tiles there are, the more is read for each key. Does a tile add up the counts of "
        "all tiles before it? Let each tile publish its inclusive prefix, too, and look back no "
        "further than to the nearest one.",
        [=](const counted &c) { return bytes_read(c) / n - *with_few; });
    gate.shows_naive = false;
    return gate;
}

void count_launches()
{
    constexpr int many = 300000 - 35;
    const auto read = std::make_shared<double>(std::numeric_limits<double>::infinity());
    speed_gates of_few = sorting_gates(0, {110}, {280}), of_many;
    of_few.default_block_order = of_many.default_block_order = true;
    of_few.counted.push_back(few_launches());
    of_few.counted.push_back(read_with_few(read));
    race(sort_many(task::keys), of_few);
    if (!simulated()) return;
    of_many.counted = {few_launches(), read_with_many(many, read)};
    race(sort_so_many(task::keys, many), of_many, sort_many(task::keys)); // naive would take long
}
