// The limit of kernels' work: the same kernel does the same work each time, and is ended by its
// work alone.
#include "simulator/machine/work_meter.hpp"
#include "simulator/tests/fixture.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace simulator;
using namespace simulator::tests;

namespace {

// Lifts the limit again for the tests that follow.
struct limit_for_test {
    explicit limit_for_test(std::uint64_t units) { work_meter::instance().limit(units); }
    ~limit_for_test() { work_meter::instance() = work_meter(); }
};

// A kernel of the parameter `at`, an address. Registers: %d1 is `at` plus 4 bytes per thread, with
// 64 of them per block, %r1 the thread of the block; %r2 to %r8, %d2 to %d9 and %p1 to %p4 are
// free.
module kernel_of(const std::string &body)
{
    return module(".version 8.0\n.target sm_80\n.address_size 64\n"
                  ".visible .entry k(.param .u64 at)\n{\n"
                  ".reg .b32 %r<10>; .reg .b64 %d<10>; .reg .pred %p<5>;\n"
                  "mov.u32 %r1, %tid.x; ld.param.u64 %d0, [at];\n"
                  "mov.u32 %r9, %ctaid.x; mad.lo.u32 %r9, %r9, 64, %r1;\n"
                  "mul.wide.u32 %d1, %r9, 4; add.u64 %d1, %d1, %d0;\n" +
                      body + "\nret;\n}\n",
                  0);
}

const char *const endless_loop = "L: add.u32 %r2, %r1, 1; bra L;";

// Counts to `n` with a load, a store and a barrier each time.
std::string loop_of(int n)
{
    return "mov.u32 %r2, 0;\nL: ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, %r2;\n"
           "st.global.u32 [%d1], %r3; bar.sync 0; add.u32 %r2, %r2, 1;\n"
           "setp.lt.u32 %p1, %r2, " +
           std::to_string(n) + "; @%p1 bra L;";
}

struct run_of {
    outcome end;
    std::uint64_t work = 0;
};

run_of run_with_limit(module &m, std::uint64_t limit, dim grid = {1, 1, 1}, dim block = {64, 1, 1})
{
    buffer<int> memory(std::vector<int>(300 * 64));
    const limit_for_test limited(limit);
    const outcome end = run(m, "k", grid, block, 0, memory);
    return {end, work_meter::instance().done()};
}

constexpr std::uint64_t plenty = 100'000'000'000;

std::uint64_t work_of(module &m, dim grid = {1, 1, 1}, dim block = {64, 1, 1})
{
    const run_of r = run_with_limit(m, plenty, grid, block);
    REQUIRE(r.end.error == 0);
    return r.work;
}

finding the_finding()
{
    const auto found = findings::instance().all();
    REQUIRE(found.size() == 1);
    return found[0];
}

bool tells(const std::string &text, const char *part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("a kernel does the same work each time, whatever else the machine does")
{
    module m = kernel_of(loop_of(500));
    const std::uint64_t first = work_of(m, {8, 1, 1});
    CHECK(work_of(m, {8, 1, 1}) == first);
    module again = kernel_of(loop_of(500));
    CHECK(work_of(again, {8, 1, 1}) == first);
    std::atomic<bool> over = false;
    std::thread busy[2];
    for (std::thread &t : busy)
        t = std::thread([&] {
            while (!over) {
            }
        });
    CHECK(work_of(m, {8, 1, 1}) == first);
    over = true;
    for (std::thread &t : busy) t.join();
}

TEST_CASE("a random schedule of the same seed means the same work")
{
    const options before = settings();
    settings().random_schedule = true;
    settings().seed = 5;
    module m = kernel_of(loop_of(100));
    CHECK(work_of(m, {8, 1, 1}) == work_of(m, {8, 1, 1}));
    settings() = before;
}

TEST_CASE("a kernel passes with the work that it needs, and with one unit less it does not")
{
    for (dim grid : {dim{1, 1, 1}, dim{300, 1, 1}}) {
        module m = kernel_of(loop_of(20));
        const std::uint64_t work = work_of(m, grid);
        CHECK(run_with_limit(m, work, grid).end.error == 0);
        CHECK(findings::instance().empty());
        CHECK(run_with_limit(m, work - 1, grid).end.error == 702);
        CHECK(the_finding().kind == finding_kind::endless);
        CHECK(the_finding().over_limit);
        CHECK(the_finding().kernel == "k");
    }
}

TEST_CASE("an endless loop is ended soon after the limit, and its line is named")
{
    const char *loops[] = {endless_loop, "L: bar.sync 0; bra L;",
                           "L: nanosleep.u32 9; add.u32 %r2, %r2, 1; bra L;",
                           "L: atom.global.add.u32 %r2, [%d0], 1; bra L;"};
    for (const char *loop : loops) {
        CAPTURE(loop);
        constexpr std::uint64_t limit = 20'000'000;
        module m = kernel_of(std::string(".loc 1 7 0\n") + loop);
        const run_of r = run_with_limit(m, limit, {2, 1, 1}, {256, 1, 1});
        CHECK(r.end.error == 702);
        CHECK(r.work > limit);
        CHECK(r.work < limit + limit / 2);
        CHECK(the_finding().over_limit);
        CHECK(the_finding().line == 7);
        CHECK(tells(the_finding().detail, "without ending"));
    }
}

TEST_CASE("a kernel of many short blocks that does too much is named")
{
    module m = kernel_of("");
    CHECK(run_with_limit(m, 1'000'000, {100'000, 1, 1}).end.error == 702);
    CHECK(the_finding().over_limit);
    CHECK(the_finding().kernel == "k");
    CHECK(tells(the_finding().detail, "of its 100000 blocks have not begun"));
}

TEST_CASE("the kernels of a call share one limit, and the message says so")
{
    module m = kernel_of(loop_of(20));
    const std::uint64_t work = work_of(m);
    buffer<int> memory(std::vector<int>(300 * 64));
    const limit_for_test limited(3 * work);
    for (int k = 0; k < 3; ++k) CHECK(run(m, "k", {1, 1, 1}, {64, 1, 1}, 0, memory).error == 0);
    CHECK(run(m, "k", {1, 1, 1}, {64, 1, 1}, 0, memory).error == 702);
    CHECK(tells(the_finding().detail, "the 3 kernels before this one"));
}

TEST_CASE("work grows with the lanes that make scattered accesses")
{
    const auto loads_by = [](const char *lanes) {
        module m = kernel_of(std::string("mul.wide.u32 %d2, %r1, 124; add.u64 %d2, %d2, %d1;\n"
                                         "setp.lt.u32 %p1, %r1, ") +
                             lanes + ";\nmov.u32 %r2, 0;\nL: @%p1 ld.global.u32 %r3, [%d2];\n" +
                             "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 1000; @%p2 bra L;");
        return work_of(m, {1, 1, 1}, {32, 1, 1});
    };
    CHECK(loads_by("32") > 3 * loads_by("1"));
}
