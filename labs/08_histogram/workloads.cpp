// Workloads of lab 08: ints to add up, bytes, pixels and floats to count.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>

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

repeated::repeated(const bytes &piece, std::size_t n)
    : memory(std::make_unique_for_overwrite<unsigned char[]>(n)),
      in(memory.get(), n),
      want(oracle::histogram(piece))
{
    repeat(piece, {memory.get(), n});
    const auto times = static_cast<unsigned>(n / piece.size());
    const counts left =
        oracle::histogram(bytes(piece.begin(), piece.begin() + std::ptrdiff_t(n % piece.size())));
    for (std::size_t v = 0; v < want.size(); ++v) want[v] = times * want[v] + left[v];
}

static int image_width(int tile) { return tile == 0 ? 1 : simulated() ? 1021 : 16381; }

std::size_t bytes_to_count(int tile)
{
    if (tile > 0) return std::size_t(image_width(tile)) * (simulated() ? 1027 : 16383);
    double most = std::min(double(1 << 28), double(device().memory_bytes) / 32);
    return simulated() ? (1 << 20) + 21 : std::size_t(most) - 37;
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
          width_(image_width(tile)),
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

make_workload add_ints(std::size_t n)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<adding>(random, n); };
}

make_workload count_in(spread how, int tile, std::size_t n)
{
    return [=](std::mt19937_64 &random) {
        return std::make_unique<counting_bytes>(random, how, tile, n);
    };
}

make_workload count_floats()
{
    return [](std::mt19937_64 &random) { return std::make_unique<counting_floats>(random); };
}
