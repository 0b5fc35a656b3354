// Workloads of lab 02: a matrix to scale, and sums.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

using namespace grading;

floats put_at(std::size_t first, const floats &sums, std::size_t n)
{
    floats all(n);
    std::copy(sums.begin(), sums.end(), all.begin() + std::ptrdiff_t(std::min(first, n)));
    return all;
}

// A timed call on a GPU moves enough bytes to leave the L2 behind and, in naive, to occupy
// every multiprocessor with rows; and little enough that seven sets of arguments for each of two
// workers fit the device. Many calls make one timed run.
static double bytes_of_a_call()
{
    double bytes = std::max(2.0 * (1 << 20) * device().multiprocessors, 4.0 * device().l2_bytes);
    return std::min(bytes, device().memory_bytes / 14.0);
}

int raced_rows()
{
    return simulated() ? 509 : static_cast<int>(bytes_of_a_call() / 8 / raced_cols) / 32 * 32 - 3;
}

int raced_sums() // no whole number of blocks, as in raced_rows
{
    return (simulated() ? 1 << 16 : static_cast<int>(bytes_of_a_call() / 12) / 1024 * 1024) - 35;
}

namespace {

class scaling : public workload {
public:
    explicit scaling(std::mt19937_64 &random)
        : rows_(raced_rows()),
          in_(std::size_t(rows_) * raced_cols),
          factor_(raced_cols),
          out_(in_.size())
    {
        fill_random(in_, random);
        fill_random(factor_, random);
    }
    const char *function() const override { return "scale_columns"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(scale_columns)>::arguments(in_, out_, rows_, int(raced_cols),
                                                          factor_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random), renew(factor_, random)};
    }
    void check() override
    {
        if (for_all(in_.size(), [this](std::size_t i) {
                return out_.values[i] == in_[i] * factor_[i % raced_cols];
            }))
            return;
        expect_equal(out_, oracle::scale_columns(in_, rows_, raced_cols, factor_),
                     {std::size_t(rows_), std::size_t(raced_cols)});
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    int rows_;
    floats in_, factor_;
    output<float> out_;
};

class summing : public workload {
public:
    summing(std::mt19937_64 &random, sum_of what, int offset)
        : what_(what),
          offset_(offset),
          n_(raced_sums()),
          a_(n_),
          b_(n_),
          c_(n_, what == sum_of::writing ? offset : 0, n_ - offset)
    {
        fill_random(a_, random);
        fill_random(b_, random);
    }
    const char *function() const override
    {
        return what_ == sum_of::reading   ? "read_offset"
               : what_ == sum_of::writing ? "write_offset"
                                          : "add_unrolled";
    }
    std::vector<argument> arguments() override
    {
        if (what_ == sum_of::reading)
            return remote<decltype(read_offset)>::arguments(a_, b_, c_, n_, offset_);
        if (what_ == sum_of::writing)
            return remote<decltype(write_offset)>::arguments(a_, b_, c_, n_, offset_);
        return remote<decltype(add_unrolled)>::arguments(a_, b_, c_, n_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(a_, random), renew(b_, random)};
    }
    void check() override
    {
        std::size_t from = what_ == sum_of::reading ? offset_ : 0;
        if (for_all(c_.count, [this, from](std::size_t i) {
                return c_.values[c_.first + i] == a_[i + from] + b_[i + from];
            }))
            return;
        floats sums = what_ == sum_of::reading   ? oracle::read_offset(a_, b_, offset_)
                      : what_ == sum_of::writing ? oracle::write_offset(a_, b_, offset_)
                                                 : oracle::add(a_, b_);
        expect_equal(c_, put_at(c_.first, sums, n_));
    }
    double bytes() const override { return 12.0 * (n_ - offset_); }

private:
    sum_of what_;
    int offset_, n_;
    floats a_, b_;
    output<float> c_;
};

} // namespace

make_workload scaling_rows() { return workload_of<scaling>(); }

make_workload sums_at(sum_of what, int offset) { return workload_of<summing>(what, offset); }
