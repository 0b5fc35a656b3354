// Makes the workloads of lab 14.
#include "workloads.hpp"

#include "lab.hpp"

#include <random>
#include <span>

using namespace grading;

std::size_t floats_to_cross() { return simulated() ? 20001 : timed_floats; }
std::size_t floats_to_scale() { return simulated() ? 40001 : timed_floats; }

static floats random_values(std::size_t n, std::mt19937_64 &random)
{
    floats values(n);
    fill_random(values, random);
    return values;
}

namespace {

class uploading : public workload {
public:
    explicit uploading(std::mt19937_64 &random) : in_(random_values(floats_to_cross(), random)) {}
    const char *function() const override { return "upload"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(upload)>::arguments(acquired(in_), out_, in_.size());
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override { expect_equal(out_, in_); }
    bool in_kernels() const override { return false; }

private:
    floats in_;
    output<float> out_{in_.size()};
};

class summing : public workload {
public:
    summing(std::mt19937_64 &random, int passes)
        : in_(random_values(floats_to_cross(), random)), out_(std::size_t(passes))
    {
    }
    const char *function() const override { return "sum_mapped"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(sum_mapped)>::arguments(mapped(in_), int(in_.size()),
                                                       int(out_.size()), out_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override { expect_sums(out_, in_); }

private:
    floats in_;
    output<double> out_;
};

class scaling : public workload {
public:
    scaling(std::mt19937_64 &random, int rounds)
        : rounds_(rounds), before_(random_values(floats_to_scale(), random))
    {
    }
    const char *function() const override { return "scale_managed"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(scale_managed)>::arguments(managed(data_), int(before_.size()),
                                                          factor, rounds_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<std::byte> changed = renew(before_, random);
        data_.values = before_;
        auto at = changed.data() - reinterpret_cast<std::byte *>(before_.data());
        return {std::as_writable_bytes(std::span(data_.values))
                    .subspan(std::size_t(at), changed.size())};
    }
    void check() override { expect_scaled(data_, before_, factor, rounds_); }

private:
    static constexpr float factor = 1.25f;
    int rounds_;
    floats before_;
    output<float> data_ = changed_in_place(before_);
};

} // namespace

make_workload upload_floats() { return workload_of<uploading>(); }

make_workload sum_floats(int passes) { return workload_of<summing>(passes); }

make_workload scale_floats(int rounds) { return workload_of<scaling>(rounds); }
