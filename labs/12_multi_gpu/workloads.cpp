// Makes the workloads of lab 12.
#include "workloads.hpp"

#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

using namespace grading;

// On the simulator always four; else as many as there are, or two that share.
static int raced_members()
{
    return simulated() ? 4 : std::clamp(device().devices, 2, max_members);
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

make_workload broadcast_buffers() { return workload_of<broadcasting>(); }

make_workload reduce_buffers() { return workload_of<reducing>(); }

make_workload merge_batches() { return workload_of<merging>(); }

// The gates that the simulator counts, with four members.

static double buffer_bytes() { return 4.0 * double(buffer_size()); }

static counted_gate no_host_link()
{
    return at_most("bytes over host links, in buffers", {0.01}, "",
                   "Let the devices send to each other: cudaMemcpyPeerAsync, or kernels that "
                   "follow another device's pointers. Both need cudaDeviceEnablePeerAccess, "
                   "TODO 2: without it, copies go through the host.",
                   per(buffer_bytes, &counted::host_link_bytes));
}

static counted_gate sent(double most, const char *meaning)
{
    return at_most("bytes sent by a device, in buffers", {most}, "", meaning,
                   per(buffer_bytes, &counted::max_sent_bytes));
}

static counted_gate time_of_copies(double most, const char *meaning)
{
    return at_most("time, in multiples of one copy's", {most}, "", meaning,
                   per([] { return buffer_bytes() / 64; }, &counted::ticks));
}

static counted_gate busiest_link(double total)
{
    return at_most(
        "share of the host's bytes that one device gets", {0.35}, "%",
        "Each of four devices should get a fourth. Print each member's share, and its current "
        "device when it copies. Are the shares equal? Are the devices different? A host thread "
        "begins with device 0 as its current one, whatever the thread that started it had chosen.",
        per(total, &counted::max_uploaded_bytes));
}

// The devices' input must have been sent to them, and the result from them, in bytes.
static counted_gate uploaded(double total)
{
    return at_least(
        "bytes sent to devices, in multiples of the inputs", {0.9}, "",
        "Let the devices work on the whole input: work of the host does not count.",
        per(total, [](const counted &c) { return c.host_link_bytes - c.staged_bytes; }));
}

static counted_gate downloaded(double total)
{
    return at_least("bytes sent by devices, in multiples of the result", {1}, "",
                    "The devices must compute the result: copy it from there.",
                    per(total, &counted::downloaded_bytes));
}

speed_gates broadcast_gates()
{
    speed_gates gates;
    gates.counted = {
        no_host_link(),
        // 1.5 where the root scatters and all then gather
        sent(1.6, "One device sends everything to all the others, whose own links are idle: let "
                  "each device send on every piece that it has received."),
        time_of_copies(
            1.6,
            "If each device waits for all of the data before it sends them on, the time is that of "
            "one copy per link: send the data in pieces. Do the copies overlap? Copies in NULL "
            "streams are serialised if they share a device: give each device a stream of its own."),
    };
    return gates;
}

speed_gates reduce_gates()
{
    speed_gates gates;
    gates.counted = {
        no_host_link(),
        sent(1.6, "A gather to one device and back makes that one send everything to all others. "
                  "In a ring each member adds up one part, and sends each part once while it is "
                  "added up and once when it is complete."),
    };
    return gates;
}

speed_gates reduce_speed()
{
    speed_gates gates;
    gates.speedup = 120; // copies all through one device, without the host, reach 73
    gates.counted = {
        time_of_copies(3, "Do all devices send and receive all the time? Each step of a ring "
                          "should begin as soon as the neighbour has finished the one before.")};
    gates.counted.front().cause = one_after_the_other;
    gates.too_slow = "Do the data go through the host, or all through one device? A ring of copies "
                     "has many steps, each with a latency of its own. Where all members can follow "
                     "all pointers, let one kernel per device read and write all buffers.";
    return gates;
}

speed_gates merge_gates()
{
    const double n = double(batch_size());
    speed_gates gates;
    gates.counted = {busiest_link(2 * n),
                     at_least("pixels merged by kernels", {0.9}, "%",
                              "Let kernels merge the images.", per(n, &counted::store_bytes)),
                     uploaded(2 * n), downloaded(n)};
    return gates;
}
