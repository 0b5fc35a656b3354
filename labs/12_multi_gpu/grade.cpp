// Grades lab 12, multi GPU.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

using namespace grading;
using bytes = std::vector<unsigned char>;
using pairs = std::vector<std::pair<int, int>>;

// Members take part whether or not each has a GPU of its own.
static const int few_members[] = {1, 2, 3, 4, 5, 7};

// Of four members, neighbours reach each other, and those opposite do not.
static const pairs across = {{0, 2}, {2, 0}, {1, 3}, {3, 1}};

static void try_peer_table(int members, const pairs &closed = {})
{
    const int devices = grading::device().devices;
    std::vector<int> want;
    for (int i = 0; i < members; ++i)
        for (int j = 0; j < members; ++j) {
            int from = i % devices, to = j % devices;
            bool open = !simulated() || std::find(closed.begin(), closed.end(),
                                                  std::pair(from, to)) == closed.end();
            want.push_back(from == to || (open && (device().peers[from] >> to & 1) != 0));
        }
    output<int> out(want.size());
    CALL(peer_table, host(out), members);
    expect_equal(out, want, {std::size_t(members), std::size_t(members)},
                 wrong_tables(want, members, devices));
}

// All buffers of a call, one after the other.
static floats buffers_of(int members, int n)
{
    return random_floats(std::size_t(members) * std::size_t(n));
}

static void try_broadcast(int members, int n)
{
    floats before = buffers_of(members, n);
    auto all = changed_in_place(before);
    host_may_work(); // naive's way; a gate counts what crosses the host's link
    CALL(broadcast, per_device(all, members), n, members);
    floats want = broadcast_of(before, members, n);
    expect_changed("broadcast", all.values, before, want);
    auto known = wrong_broadcasts(before, members, n);
    known.push_back(not_divided(all, before, want, n));
    expect_equal(all, want, {}, known);
}

static void try_all_reduce(int members, int n)
{
    floats before = buffers_of(members, n);
    auto all = changed_in_place(before);
    host_may_work();
    CALL(all_reduce, per_device(all, members), n, members);
    expect_sums(all, before, members, n);
}

static void try_merge(int width, int height, int count, int members)
{
    auto n = std::size_t(width) * std::size_t(height) * std::size_t(count);
    bytes first = random_bytes(n), second = random_bytes(n);
    output<unsigned char> out(n);
    CALL(merge_images, host(first), host(second), host(out), width, height, count, members);
    expect_equal(out, oracle::merge_images(first, second),
                 {std::size_t(count), std::size_t(height), std::size_t(width)},
                 {{"The two images were exchanged.", "The first one has the weight 3.",
                   [&] { return oracle::merge_images(second, first); }}});
    expect_work_of_kernels(3.0 * double(n));
}

CORRECTNESS_CASE("peer_table: who reaches whom", 1)
{
    for (int members : few_members) try_peer_table(members);
}

CORRECTNESS_CASE("peer_table: some have no access", 2)
{
    const pairs closed = {{0, 1}, {2, 0}, {1, 3}, {3, 1}, {3, 2}};
    close_peers(closed);
    for (int members : {2, 4, 7}) try_peer_table(members, closed);
}

CORRECTNESS_CASE("broadcast: two members", 0.5) { try_broadcast(2, 10); }

CORRECTNESS_CASE("broadcast: any number of members", 1.5)
{
    for (int members : few_members) try_broadcast(members, 1001);
}

CORRECTNESS_CASE("broadcast: any number of elements", 1)
{
    for (int n : {1, 3, 4097, 50003, 0}) try_broadcast(4, n);
}

CORRECTNESS_CASE("broadcast: work that comes late", 1.5)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4, 6}) try_broadcast(members, 20001);
    });
}

CORRECTNESS_CASE("broadcast: no access to each other", 1)
{
    close_peers(across);
    try_broadcast(4, 5000);
    close_all_peers();
    try_broadcast(4, 5000);
}

SPEED_CASE("broadcast: what is sent", 5.5, 0)
{
    host_may_work();
    race(broadcast_buffers(), broadcast_gates());
}

CORRECTNESS_CASE("all_reduce: two members", 1) { try_all_reduce(2, 10); }

CORRECTNESS_CASE("all_reduce: any number of members", 1.5)
{
    for (int members : few_members) try_all_reduce(members, 1003);
}

CORRECTNESS_CASE("all_reduce: any number of elements", 1.5)
{
    for (int n : {1, 2, 3, 5, 4097, 50003, 0}) try_all_reduce(4, n);
    try_all_reduce(3, 4);
}

CORRECTNESS_CASE("all_reduce: work that comes late", 1.5)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4, 6}) try_all_reduce(members, 9001);
    });
}

CORRECTNESS_CASE("all_reduce: no access to each other", 1)
{
    close_peers(across);
    try_all_reduce(4, 5001);
    close_all_peers();
    try_all_reduce(4, 5001);
}

SPEED_CASE("all_reduce: what is sent", 6.5, 0)
{
    host_may_work();
    race(reduce_buffers(), reduce_gates());
}

SPEED_CASE("all_reduce: speed", 5, 10)
{
    expect(simulated() || device().devices > 1, verdict::SKIPPED,
           "With one GPU nothing travels between devices, so there is nothing to time.");
    host_may_work();
    race(reduce_buffers(), reduce_speed());
}

CORRECTNESS_CASE("merge_images: a few images", 1) { try_merge(5, 4, 6, 2); }

CORRECTNESS_CASE("merge_images: any number of images and members", 2)
{
    for (int count : {9, 1, 3, 4, 0}) try_merge(33, 7, count, 4);
    for (int members : few_members) try_merge(11, 3, 10, members);
}

SPEED_CASE("merge_images: a share for each", 5, 0) { race(merge_batches(), merge_gates()); }
