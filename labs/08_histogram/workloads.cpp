// Inputs, workloads and gates of lab 08: ints to add up, bytes, pixels and floats to count.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

static void repeat(const bytes &piece, std::span<unsigned char> all)
{
    in_ranges(all.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first, count; i < last; i += count) {
            const std::size_t at = i % piece.size();
            count = std::min(piece.size() - at, last - i);
            std::copy_n(piece.begin() + std::ptrdiff_t(at), count, &all[i]);
        }
        return true;
    });
}

bytes spread_bytes(std::size_t n, spread how, std::mt19937_64 &random)
{
    bytes in(n), dice;
    auto usual = static_cast<unsigned char>(random() % 256);
    if (how == spread::one_bin)
        std::fill(in.begin(), in.end(), usual);
    else if (how != spread::image)
        fill_random(in, random);
    if (how == spread::skewed) {
        dice.resize(n);
        fill_random(dice, random);
        for_all(n, [&](std::size_t i) {
            if (dice[i] < 230) in[i] = usual;
            return true;
        });
    }
    if (how == spread::image) repeat(read_picture("harbour.pgm").pixels, in);
    return in;
}

bytes uniform_bytes(std::size_t n) { return spread_bytes(n, spread::uniform, random_source()); }

ints any_ints(std::size_t n) { return random_ints(n, INT_MIN, INT_MAX); }

floats floats_around(const bin_range &r, std::size_t n)
{
    float margin = std::max(r.high() - r.low, r.width) / 16;
    return random_floats(n, r.low - margin, r.high() + margin);
}

floats floats_at_bounds(const bin_range &r)
{
    floats in = {-1e-45f, -0.0f, 1e-45f, -1e-30f, -1e-9f};
    std::erase_if(in, [&](float x) { return x < r.low; });
    for (int b = 0; b <= r.bins; ++b) {
        float bound = r.low + float(b) * r.width, lowest = std::nextafter(bound, -1e9f);
        if (b > 0) in.push_back(lowest);
        if (b < r.bins) in.insert(in.end(), {bound, std::nextafter(bound, 1e9f)});
    }
    return in;
}

floats floats_outside(const bin_range &r)
{
    using limits = std::numeric_limits<float>;
    const float below = std::nextafter(r.low, -9.0f), above = std::nextafter(r.high(), 9.0f);
    return {limits::infinity(),
            limits::quiet_NaN(),
            limits::max(),
            limits::lowest(),
            below,
            above,
            r.high(),
            -limits::infinity(),
            -limits::quiet_NaN(),
            3e9f,
            -3e9f};
}

counts many_bytes::counts_of_first(std::size_t first) const
{
    first = std::min(first, n);
    counts all = oracle::histogram(piece);
    const auto times = static_cast<unsigned>(first / piece.size());
    const auto rest = std::ptrdiff_t(first % piece.size());
    const counts left = oracle::histogram(bytes(piece.begin(), piece.begin() + rest));
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = times * all[v] + left[v];
    return all;
}

bool there_is_room_for_more_than_32_bits()
{
    return !simulated() && device().memory_bytes >> 30 >= 8;
}

// A device of one multiprocessor needs the fewest: there it is enough for 16 warps, as many bytes
// as are raced, so that a thread that looks at more than its own still ends in time.
many_bytes more_than_16_bits()
{
    constexpr std::size_t one_other_in = 64;
    constexpr double max_warps = 64, equal = 1 - 1.1 / one_other_in;
    const double warps = simulated() ? 16.5 : max_warps * device().multiprocessors;
    const double room = double(device().memory_bytes) / 32;
    bytes piece = spread_bytes(70003, spread::one_bin, random_source());
    for (std::size_t i = 0; i < piece.size(); i += one_other_in)
        piece[i] = static_cast<unsigned char>(random_between(0, 255));
    return {std::move(piece), std::size_t(std::min(warps * 0x10000 / equal, room))};
}

std::size_t bytes_to_count()
{
    const double most = std::min(double(1 << 28), double(device().memory_bytes) / 32);
    return simulated() ? (1 << 20) + 21 : std::size_t(most) - 37;
}

constexpr int timed_tile = 128; // of an image, and its width:
static int image_width() { return simulated() ? 1021 : 16381; }
static std::size_t pixels_to_count()
{
    return std::size_t(image_width()) * (simulated() ? 1027 : 16383);
}

std::size_t words_to_read()
{
    double most = std::min(double(1 << 26), double(device().memory_bytes) / 128);
    return simulated() ? (1 << 20) + 21 : std::size_t(most) - 37;
}

namespace {

// Counts n elements on all cores; count(i, bins) counts element i.
template <class F> counts count_all(std::size_t n, std::size_t bins, F count)
{
    counts sum(bins);
    std::mutex one_at_a_time;
    in_ranges(n, [&](std::size_t first, std::size_t last) {
        counts mine(bins);
        for (std::size_t i = first; i < last; ++i) count(i, mine);
        std::lock_guard lock(one_at_a_time);
        for (std::size_t b = 0; b < bins; ++b) sum[b] += mine[b];
        return true;
    });
    return sum;
}

// A stretch of `values`, at most 4096 of them.
template <class T> std::span<T> stretch_of(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    return std::span(values).subspan(random() % (values.size() - count + 1), count);
}

// The bytes of a file, or the pixels of an image where tile > 0.
class counting_bytes : public workload {
public:
    counting_bytes(std::mt19937_64 &random, spread how, int tile, std::size_t n)
        : tile_(tile),
          width_(tile == 0 ? 1 : image_width()),
          in_(spread_bytes(n, how, random)),
          across_(tile == 0 ? 1 : (width_ - 1) / tile + 1),
          bins_(bin_count())
    {
        if (tile_ == 0)
            want_ = count_all(in_.size(), bins_.size(),
                              [this](std::size_t i, counts &bins) { ++bins[in_[i]]; });
        else
            count_tiles();
    }
    const char *function() const override { return tile_ == 0 ? "histogram" : "histogram_tiles"; }
    std::vector<argument> arguments() override
    {
        if (tile_ == 0) return remote<decltype(histogram)>::arguments(in_, in_.size(), bins_);
        return remote<decltype(histogram_tiles)>::arguments(in_, width_, height(), tile_, bins_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<unsigned char> stretch = stretch_of(in_, random);
        auto first = static_cast<std::size_t>(stretch.data() - in_.data());
        for (std::size_t i = first; i < first + stretch.size(); ++i) --want_[bin_of(i)];
        std::fill(stretch.begin(), stretch.end(), static_cast<unsigned char>(random() % 256));
        for (std::size_t i = first; i < first + stretch.size(); ++i) ++want_[bin_of(i)];
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        if (tile_ == 0)
            return expect_equal(bins_, want_, {},
                                [&] { return wrong_bytes(in_, 0, bins_.values); });
        expect_equal(bins_, want_, {}, [&] { return wrong_tiles(in_, width_, height(), tile_); });
    }
    double bytes() const override { return double(in_.size()) + 4.0 * double(want_.size()); }

private:
    int height() const { return static_cast<int>(in_.size() / std::size_t(width_)); }
    // A row of tiles has bins of its own.
    void count_tiles()
    {
        const std::size_t rows = std::size_t(height()), w = std::size_t(width_),
                          t = std::size_t(tile_);
        want_.resize(bins_.size());
        in_ranges((rows - 1) / t + 1,
                  [&](std::size_t first, std::size_t last) {
                      for (std::size_t y = first * t; y < std::min(rows, last * t); ++y)
                          for (std::size_t x = 0; x < w; x += t) {
                              unsigned *bins = &want_[(y / t * std::size_t(across_) + x / t) * 256];
                              const unsigned char *in = &in_[y * w];
                              for (std::size_t k = x; k < std::min(w, x + t); ++k) ++bins[in[k]];
                          }
                      return true;
                  },
                  1);
    }
    std::size_t bin_count() const
    {
        return tile_ == 0 ? 256 : std::size_t(across_) * ((height() - 1) / tile_ + 1) * 256;
    }
    std::size_t bin_of(std::size_t i) const
    {
        if (tile_ == 0) return in_[i];
        std::size_t x = i % std::size_t(width_), y = i / std::size_t(width_), t = tile_;
        return (y / t * across_ + x / t) * 256 + in_[i];
    }

    int tile_, width_;
    ::bytes in_;
    int across_;
    counts want_;
    output<unsigned> bins_;
};

class counting_floats : public workload {
public:
    explicit counting_floats(std::mt19937_64 &random) : in_(words_to_read()), bins_(range().bins)
    {
        fill_random(in_, random);
        want_ = count_all(in_.size(), bins_.size(), [this](std::size_t i, counts &bins) {
            if (std::size_t b = bin_of(in_[i]); b < bins.size()) ++bins[b];
        });
    }
    const char *function() const override { return "histogram_range"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(histogram_range)>::arguments(in_, int(in_.size()), range().low,
                                                            range().high(), range().bins, bins_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<float> stretch = stretch_of(in_, random);
        for (float x : stretch)
            if (std::size_t b = bin_of(x); b < want_.size()) --want_[b];
        fill_random(stretch, random);
        for (float x : stretch)
            if (std::size_t b = bin_of(x); b < want_.size()) ++want_[b];
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        expect_equal(bins_, want_, {}, [&] { return wrong_ranges(in_, range(), bins_.values); });
    }
    double bytes() const override { return 4.0 * double(in_.size() + want_.size()); }

private:
    // The inputs, in [-1, 1), are multiples of 2^-23: so computed, the bin is exact. An eighth of
    // them lies outside.
    static bin_range range() { return {-0.875f, 0x1p-9f, 896}; }
    static std::size_t bin_of(float x)
    {
        double b = std::floor((double(x) - range().low) / range().width);
        return b < 0 ? ~std::size_t{0} : std::size_t(b);
    }

    floats in_;
    counts want_;
    output<unsigned> bins_;
};

class adding : public workload {
public:
    adding(std::mt19937_64 &random, std::size_t n) : in_(n), out_(1)
    {
        draw(in_, random);
        want_ = oracle::sum(in_);
    }
    const char *function() const override { return "sum"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(sum)>::arguments(in_, out_, int(in_.size()));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<int> stretch = stretch_of(in_, random);
        want_[0] -= std::accumulate(stretch.begin(), stretch.end(), 0LL);
        draw(stretch, random);
        want_[0] += std::accumulate(stretch.begin(), stretch.end(), 0LL);
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        expect_equal(out_, want_, {}, [&] { return wrong_sums(in_, out_[0]); });
    }
    double bytes() const override { return 4.0 * double(in_.size()) + 8; }

private:
    static void draw(std::span<int> values, std::mt19937_64 &random)
    {
        fill_random({reinterpret_cast<unsigned char *>(values.data()), values.size_bytes()},
                    random);
    }
    ints in_;
    std::vector<long long> want_;
    output<long long> out_;
};

} // namespace

make_workload add_ints(std::size_t n) { return workload_of<adding>(n); }

make_workload count_bytes(spread how, std::size_t n)
{
    return workload_of<counting_bytes>(how, 0, n);
}

make_workload count_pixels()
{
    return workload_of<counting_bytes>(spread::image, timed_tile, pixels_to_count());
}

make_workload count_floats() { return workload_of<counting_floats>(); }

std::size_t for_naive(std::size_t n) { return simulated() ? n : n / 16; }

// Loads count by the bytes requested, not by sectors: threads that each have a piece of their own
// load bytes 32 apart, and the rest of each sector stays in the cache for them.
static double bytes_moved(const counted &c)
{
    return double(c.load_bytes) + 32 * (moved_sectors(c) - double(c.load_sectors));
}

// Gates on `elements` of `bytes` each: every version of ours loads its inputs once, in tiles of an
// image up to twice. A tree in steps of one launch each moves 12 bytes for each int, and more;
// counts that a thread keeps in local memory move 64 for each that it adds.
static speed_gates gates_of(std::size_t elements, double bytes, const std::string &elsewhere,
                            std::vector<counted_gate> first)
{
    speed_gates gates;
    gates.counted = std::move(first);
    gates.counted.push_back(at_most("bytes moved per element, loads by the bytes requested",
                                    {bytes}, "bytes", elsewhere, per(elements, bytes_moved)));
    gates.counted.push_back(blocks_share(4));
    gates.counted.push_back(lanes_at_work());
    return gates;
}

static speed_gates gates_of_sum(std::size_t elements, counted_gate first)
{
    return gates_of(
        elements, 6,
        "Every element should be read once, by one thread. Intermediate sums go through "
        "shuffles and shared memory, and through device memory at most one per block.",
        {std::move(first)});
}

speed_gates few_atomics()
{
    // One atomic per warp is enough; the last warp has fewer than 32 elements.
    constexpr double warps = counted_ints / 32 + 1;
    return gates_of_sum(
        counted_ints,
        at_most("global atomics per element", {warps / counted_ints}, "",
                "All atomics on one address wait for each other. Let the threads of a block add "
                "up their shares of the sum, and one of them add the result to `*out`.",
                per(counted_ints, &counted::global_atomics)));
}

// Counts how often threads combine their partial sums, in any way. Per element, in blocks of 256:
// one atomic per element 1; a tree 0.63, or 0.32 with two elements per thread; a tree of the warps'
// sums 0.26; shuffles twice 0.07; and proportionally less with more elements per thread.
static speed_gates few_exchanges(std::size_t n, double limit, std::string meaning)
{
    return gates_of_sum(n, at_most("atomics, barriers and passes over shared memory per element",
                                   {limit}, "", std::move(meaning), per(n, [](const counted &c) {
                                       return c.global_atomics + c.barriers + c.shared_wavefronts;
                                   })));
}

speed_gates few_barriers()
{
    return few_exchanges(counted_ints, 0.3,
                         "Lanes of a warp exchange values by shuffles, without shared memory or a "
                         "barrier. Only one value per warp needs those.");
}

static double share_of_naive(std::size_t n) { return double(for_naive(n)) / double(n); }

speed_gates fast_sum()
{
    const std::size_t n = words_to_read();
    speed_gates gates =
        few_exchanges(n, 0.03, "Let each thread add up many elements before they are combined.");
    gates.speedup = 300; // one exchange per block of 256 elements reaches 180 on an H200
    gates.copy = {0.30, 0.60, 0};
    gates.naive_share = share_of_naive(n);
    gates.too_slow =
        "As many blocks as the device runs at a time are enough. Then get more bytes in "
        "flight: 16 per load, and several loads before the first addition.";
    return gates;
}

static speed_gates counting(double speedup, const steps &copy, std::size_t elements, double bytes)
{
    speed_gates gates = gates_of(
        elements, 6 * bytes,
        "Counts that every thread keeps for itself lie in local memory, which is part of device "
        "memory. Let a block count in shared memory.",
        {// 0.23 where each of 264 blocks, two for each multiprocessor of an H200, adds its 896
         // bins.
         at_most("global atomics per element", {0.25}, "",
                 "Threads that add to one address in global memory wait for each other. Let a "
                 "block count many elements in shared memory, and add its counts to the bins once.",
                 per(elements, &counted::global_atomics)),
         // One byte per lane takes one request for 32 elements.
         at_most("requests to load 32 elements", {2}, "",
                 "Every element is loaded many times. Let each thread count elements of its own, "
                 "each of them once. Or are there other loads? A thread's own array with an index "
                 "that is not known to the compiler lies in memory, too: in local memory.",
                 per(elements, [](const counted &c) { return 32 * memory_requests(c); }))});
    gates.speedup = speedup;
    gates.copy = copy;
    gates.too_slow = "Does a block count in shared memory? Then get more bytes in flight: 16 per "
                     "load, several loads before the first count; and keep lanes from colliding.";
    return gates;
}

speed_gates fast_bytes(spread how)
{
    const std::size_t n = bytes_to_count();
    speed_gates gates = counting(20, {0.12, 0.35, 0}, n, 1);
    gates.naive_share = share_of_naive(n);
    if (how == spread::uniform) return gates;
    gates.counted.front().about = "histogram: speed, uniform"; // what the skewed cases need first
    // A warp's atomic for every 32 bytes is enough. More of them, which may add 0 where no other
    // lane adds, do not lower the mean.
    gates.counted.push_back(
        at_most("lanes of an atomic on one address", {0, 0, 2}, "", "", [n](const counted &c) {
            const double needed = std::min(double(c.atomic_requests), double(n) / 32);
            return needed > 0 ? double(c.atomic_same_address) / needed : 1;
        }));
    return gates;
}

speed_gates fast_tiles() { return counting(2, {0, 0.15, 0}, pixels_to_count(), 1); }

speed_gates fast_ranges() { return counting(10, {0.30, 0.50, 0}, words_to_read(), sizeof(float)); }
