// Makes the inputs and workloads of lab 07.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

using namespace grading;

floats mixed(std::size_t n, double share)
{
    floats in = random_floats(n);
    for (float &x : in) {
        bool positive = share >= 1 || (x + 1) / 2 < share;
        x = std::abs(x) + 0x1p-20f;
        if (!positive) x = x < 0.05f ? 0 : -x; // 0 is not positive, and should be met
    }
    return in;
}

mark_list marks(std::size_t n, double share)
{
    mark_list keep;
    for (float x : mixed(n, share))
        keep.push_back(static_cast<unsigned char>(x > 0 ? random_between(1, 255) : 0));
    return keep;
}

std::size_t kept_of(const mark_list &keep)
{
    return keep.size() - static_cast<std::size_t>(std::count(keep.begin(), keep.end(), 0));
}

mark_list marked(const floats &in)
{
    mark_list keep;
    for (float x : in) keep.push_back(static_cast<unsigned char>(x > 0 ? 4 : 0));
    return keep;
}

std::vector<floats> uneven()
{
    std::vector<floats> all;
    for (auto kept : {+[](std::size_t i) { return i == 0; },             // only the first
                      +[](std::size_t i) { return i == 8999; },          // only the last
                      +[](std::size_t i) { return i >= 4500; },          // one half
                      +[](std::size_t i) { return i / 256 % 3 != 1; },   // whole blocks
                      +[](std::size_t i) { return i % 32 == 31; },       // one lane
                      +[](std::size_t i) { return i / 32 % 2 == 0; }}) { // whole warps
        floats in = mixed(9000, 1);
        for (std::size_t i = 0; i < in.size(); ++i)
            if (!kept(i)) in[i] = -in[i];
        all.push_back(in);
    }
    return all;
}

floats special_values()
{
    using limits = std::numeric_limits<float>;
    const float inf = limits::infinity(), nan = limits::quiet_NaN(), tiny = limits::denorm_min(),
                nan_a = std::bit_cast<float>(0x7fc12345u),
                nan_b = std::bit_cast<float>(0xffc54321u), max = limits::max();
    const floats some = {0.0f,  -0.0f, inf,   -inf, nan,  -nan, tiny,
                         -tiny, nan_a, nan_b, max,  -max, 1,    -1};
    floats in;
    for (int k = 0; k < 700; ++k) in.push_back(some[std::size_t(k * k + k / 3) % some.size()]);
    return in;
}

// 2^26 elements and a ragged end, where seven times all arrays and naive's scratch fit the device.
// Simulated, some hundred thousand, so that adding up all elements before a tile costs more than a
// few additional passes; of marks more: those of a byte are soon added up.
int raced_elements(task what)
{
    if (simulated()) return (what == task::unpack ? 400000 : 100000) - 35;
    double most = std::min(double(1 << 26), double(device().memory_bytes) / 320);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

namespace {

// How many of n elements are kept, and how many before each: kept(i) says whether element i is. On
// all cores.
class kept_counts {
public:
    template <class K> kept_counts(std::size_t n, K kept)
        : n_(n), counts_((n + length - 1) / length)
    {
        count(0, n, kept);
    }
    // Counts these elements anew, and those near them.
    template <class K> void count(std::size_t first, std::size_t last, K kept)
    {
        const std::size_t from = first / length, to = (last + length - 1) / length;
        auto count_range = [&](std::size_t k) {
            std::size_t count = 0;
            each(from + k, [&](std::size_t i) { count += kept(i); });
            counts_[from + k] = count;
            return true;
        };
        for_all(to - from, count_range, 1);
    }
    std::size_t all() const
    {
        return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
    }
    // Returns whether right(i, kept before i) holds for every i.
    template <class K, class F> bool for_all_ranked(K kept, F right) const
    {
        std::vector<std::size_t> before(counts_.size());
        std::exclusive_scan(counts_.begin(), counts_.end(), before.begin(), std::size_t{0});
        auto range_is_right = [&](std::size_t k) {
            std::size_t rank = before[k];
            bool all = true;
            each(k, [&](std::size_t i) {
                all &= right(i, rank);
                rank += kept(i);
            });
            return all;
        };
        return for_all(counts_.size(), range_is_right, 1);
    }

private:
    static constexpr std::size_t length = 1 << 18;
    template <class F> void each(std::size_t range, F f) const
    {
        const std::size_t end = std::min(n_, (range + 1) * length);
        for (std::size_t i = range * length; i < end; ++i) f(i);
    }
    std::size_t n_;
    std::vector<std::size_t> counts_;
};

} // namespace

// In [-1, 1) but for a shift by which about `share` is positive.
static floats raced_floats(std::mt19937_64 &random, double share, int n)
{
    floats in(static_cast<std::size_t>(n));
    fill_random(in, random);
    float shift = static_cast<float>(2 * share - 1);
    for_all(in.size(), [&](std::size_t i) {
        in[i] += shift;
        return true;
    });
    return in;
}

namespace {

auto positive_in(const floats &in)
{
    return [&in](std::size_t i) { return in[i] > 0; };
}

class sifting : public workload {
public:
    sifting(std::mt19937_64 &random, task what, double share)
        : what_(what),
          in_(raced_floats(random, share, raced_elements(what))),
          counts_(in_.size(), positive_in(in_)),
          kept_(counts_.all()),
          out_(in_.size(), 0, what == task::compact ? kept_ : in_.size()),
          count_(1)
    {
    }
    const char *function() const override
    {
        return what_ == task::compact ? "compact" : "partition";
    }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(in_.size());
        if (what_ == task::compact)
            return remote<decltype(compact)>::arguments(in_, out_, count_, n, scratch);
        return remote<decltype(partition)>::arguments(in_, out_, count_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        const std::span<std::byte> changed = reorder(in_, random);
        const auto first = std::size_t(reinterpret_cast<float *>(changed.data()) - in_.data());
        counts_.count(first, first + changed.size() / sizeof(float), positive_in(in_));
        return {changed};
    }
    void check() override
    {
        expect_equal(count_, {int(kept_)}, {}, [&] { return wrong_counts(in_, count_[0]); });
        const bool all = what_ == task::partition;
        const auto kept = positive_in(in_);
        // Without branches, which no processor can predict here.
        auto right = [&](std::size_t i, std::size_t rank) {
            const bool is_kept = kept(i);
            const std::size_t behind = all ? kept_ + i - rank : rank;
            return (out_.values[is_kept ? rank : behind] == in_[i]) | !(is_kept | all);
        };
        if (counts_.for_all_ranked(kept, right)) return;
        floats want = all ? oracle::partition(in_) : oracle::compact(in_);
        want.resize(in_.size());
        expect_equal(out_, want);
    }
    double bytes() const override { return 4.0 * double(in_.size() + out_.count); }

private:
    task what_;
    floats in_;
    kept_counts counts_;
    std::size_t kept_;
    output<float> out_;
    output<int> count_;
};

class spreading : public workload {
public:
    spreading(std::mt19937_64 &random, double share)
        : keep_(static_cast<std::size_t>(raced_elements(task::unpack))), out_(keep_.size())
    {
        floats in = raced_floats(random, share, int(keep_.size()));
        for_all(in.size(), [&](std::size_t i) {
            keep_[i] = static_cast<unsigned char>(in[i] > 0 ? 1 + i % 255 : 0);
            return true;
        });
        packed_.resize(kept_of(keep_));
        fill_random(packed_, random);
    }
    const char *function() const override { return "unpack"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(unpack)>::arguments(packed_, keep_, out_, int(keep_.size()),
                                                   scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(keep_, random), reorder(packed_, random)};
    }
    void check() override
    {
        auto kept = [this](std::size_t i) { return keep_[i] != 0; };
        const kept_counts counts(keep_.size(), kept);
        const std::size_t last = packed_.size() - 1;
        auto right = [&](std::size_t i, std::size_t rank) { // without branches, as above
            const bool is_kept = kept(i), is_next = out_.values[i] == packed_[std::min(rank, last)],
                       is_zero = out_.values[i] == 0;
            return (is_kept & is_next) | (!is_kept & is_zero);
        };
        if (counts.for_all_ranked(kept, right)) return;
        expect_equal(out_, oracle::unpack(packed_, keep_), {},
                     [&] { return wrong_unpacks(packed_, keep_); });
    }
    double bytes() const override
    {
        return 4.0 * double(packed_.size() + out_.size()) + double(keep_.size());
    }

private:
    mark_list keep_;
    floats packed_;
    output<float> out_;
};

} // namespace

make_workload pack(task what, double share)
{
    return [=](std::mt19937_64 &random) -> std::unique_ptr<workload> {
        if (what == task::unpack) return std::make_unique<spreading>(random, share);
        return std::make_unique<sifting>(random, what, share);
    };
}
