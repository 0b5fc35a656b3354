// Makes the workloads of lab 12.
#include "workloads.hpp"

#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

using namespace grading;

// On the simulator always four; else as many as there are, or two that share.
static int raced_members()
{
    return simulated() ? 4 : std::clamp(device().devices, 2, most_devices);
}

std::size_t buffer_size() { return simulated() ? 1 << 16 : 1 << 23; }

namespace {

// An image of each batch.
struct image_size {
    int width = simulated() ? 61 : 1919, height = simulated() ? 40 : 1080;
};
constexpr int images = 16;

} // namespace

std::size_t batch_size()
{
    const image_size s;
    return std::size_t(s.width) * std::size_t(s.height) * images;
}

namespace {

// Buffers that a call changes, and their contents before it.
class changed_buffers : public workload {
public:
    explicit changed_buffers(std::mt19937_64 &random)
        : before_(std::size_t(members_) * buffer_size())
    {
        fill_random(before_, random);
        all_ = changed_in_place(before_);
    }
    std::vector<argument> arguments() override
    {
        return remote<decltype(broadcast)>::arguments(per_device(all_, members_), n_, members_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        auto part = std::span(before_).subspan(random() % (before_.size() / 2), before_.size() / 4);
        fill_random(part, random);
        all_.values = before_;
        return {}; // what is not all in one device's memory is handed over anew
    }
    bool in_kernels() const override { return false; } // the gates count what they must do

protected:
    int members_ = raced_members(), n_ = int(buffer_size());
    floats before_;
    output<float> all_{0};
};

class broadcasting : public changed_buffers {
public:
    using changed_buffers::changed_buffers;
    const char *function() const override { return "broadcast"; }
    void check() override
    {
        const std::size_t n = buffer_size();
        if (for_all(before_.size(), [&](std::size_t i) { return all_[i] == before_[i % n]; }))
            return;
        expect_changed("broadcast", all_.values, before_, {});
        expect_equal(all_, broadcast_of(before_, members_, n_), {},
                     wrong_broadcasts(before_, members_, n_));
    }
};

class reducing : public changed_buffers {
public:
    using changed_buffers::changed_buffers;
    const char *function() const override { return "all_reduce"; }
    void check() override
    {
        const std::size_t n = buffer_size();
        auto right = [&](std::size_t i) {
            double sum = 0, magnitude = 0;
            for (std::size_t at = i; at < before_.size(); at += n) {
                sum += before_[at];
                magnitude += std::abs(before_[at]);
            }
            bool all = within(all_[i], sum, members_, magnitude);
            for (std::size_t at = i; at < before_.size(); at += n) all &= all_[at] == all_[i];
            return all;
        };
        if (!for_all(n, right)) expect_sums(all_, before_, members_, n_);
    }
};

class merging : public workload {
public:
    explicit merging(std::mt19937_64 &random)
        : first_(batch_size()), second_(batch_size()), out_(batch_size())
    {
        change(random);
    }
    const char *function() const override { return "merge_images"; }
    std::vector<argument> arguments() override
    {
        const image_size s;
        return remote<decltype(merge_images)>::arguments(
            host(first_), host(second_), host(out_), s.width, s.height, images, raced_members());
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        fill_random(first_, random);
        fill_random(second_, random);
        return {std::as_writable_bytes(std::span(first_)),
                std::as_writable_bytes(std::span(second_))};
    }
    void check() override { expect_equal(out_, oracle::merge_images(first_, second_)); }
    bool in_kernels() const override { return false; }

private:
    std::vector<unsigned char> first_, second_;
    output<unsigned char> out_;
};

} // namespace

make_workload broadcast_buffers()
{
    return [](std::mt19937_64 &random) { return std::make_unique<broadcasting>(random); };
}

make_workload reduce_buffers()
{
    return [](std::mt19937_64 &random) { return std::make_unique<reducing>(random); };
}

make_workload merge_batches()
{
    return [](std::mt19937_64 &random) { return std::make_unique<merging>(random); };
}
