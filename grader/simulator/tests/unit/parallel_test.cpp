// Blocks on several cores must give the results, findings and counters of one core, byte for byte.
#include "simulator/tests/fixture.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <numeric>

using namespace simulator;
using namespace simulator::tests;

namespace {

std::string text_of(const dim &d)
{
    return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}

std::string text_of(const finding &f)
{
    return std::to_string(static_cast<int>(f.kind)) + " " + f.kernel + " " + f.file + ":" +
           std::to_string(f.line) + " " + text_of(f.block) + " " + text_of(f.thread) + " " +
           std::to_string(f.write) + " " + std::to_string(f.bytes) + " " +
           std::to_string(f.threads) + " " + f.where + ": " + f.detail + "\n";
}

// All effects of a launch.
struct seen {
    int error = 0;
    std::string message, findings, counts;
    std::vector<int> memory;
    std::uint64_t tried = 0, given_up = 0;
};

seen on_cores(unsigned cores, const std::string &ptx, const char *kernel, dim grid, dim block,
              buffer<int> &out)
{
    auto &m = memory::instance();
    std::memset(m.at(out.at), 0, out.bytes());
    m.mark(out.at, out.bytes(), addressable, 0xff);
    m.mark(out.at + out.bytes() - 256, 256, initialised, 0);
    const options before = settings();
    settings().cores = cores;
    grids_on_cores() = {};
    // A new module, because modules cache properties of kernels found in launches.
    module fresh(ptx, 0);
    m.label(out.at, out.bytes(), "out");
    seen s;
    for (int launch = 0; launch < 2; ++launch) {
        const outcome o = run(fresh, kernel, grid, block, 64, out);
        s.error = o.error;
        s.message += o.message + "\n";
        for (const finding &f : findings::instance().all()) s.findings += text_of(f);
        s.counts += counters::instance().json();
    }
    s.memory = out.values();
    s.tried = grids_on_cores().tried;
    s.given_up = grids_on_cores().given_up;
    settings() = before;
    return s;
}

void check_same(const seen &one, const seen &many)
{
    CHECK(one.tried == 0);
    CHECK(one.error == many.error);
    CHECK(one.message == many.message);
    CHECK(one.findings == many.findings);
    CHECK(one.counts == many.counts);
    CHECK(one.memory == many.memory);
}

// Compares runs with and without the race detector, on 2 and 5 cores, with one core.
void check_shared(bool shared, const std::function<seen(unsigned)> &go)
{
    const options before = settings();
    for (bool races : {true, false})
        for (unsigned cores : {2u, 5u}) {
            settings().check_races = races;
            const seen one = go(1), many = go(cores);
            check_same(one, many);
            CHECK((many.tried > 0 && many.given_up == 0) == shared);
        }
    settings() = before;
}

std::string kernel(const std::string &body)
{
    return ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n"
           ".visible .entry k(.param .u64 out)\n{\n"
           ".reg .b64 %d<6>; .reg .b32 %r<12>; .reg .pred %p<3>;\n"
           "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
           "mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %d2, %r4, 4;\n"
           "add.s64 %d3, %d1, %d2;\n"
           // Some work, so that several cores pay off for the grid.
           "mov.u32 %r5, 0; mov.u32 %r6, %r4;\n"
           "more: mad.lo.u32 %r6, %r6, 3, 1; add.s32 %r5, %r5, 1;\n"
           "setp.lt.u32 %p1, %r5, 100; @%p1 bra more;\n.loc 1 7 0\n" +
           body + "\nret;\n}\n";
}

void check_body(bool shared, const std::string &body, dim grid = {64, 1, 1})
{
    const std::string ptx = kernel(body);
    buffer<int> out(std::size_t{grid.x * 128 + 128});
    check_shared(shared, [&](unsigned cores) {
        return on_cores(cores, ptx, "k", grid, {128, 1, 1}, out);
    });
}

} // namespace

TEST_CASE("kernels of nvcc on several cores")
{
    const int n = 1 << 17;
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.0f);
    buffer<float> a(values), b(values);
    buffer<int> out(std::size_t{n}), in(std::vector<int>(n, 27));
    const std::string ptx = kernels_ptx();
    const dim grid{n / 128, 1, 1}, block{128, 1, 1};
    auto count_last = [&](unsigned cores, const char *name, dim grid, dim block, const auto &...v) {
        auto &m = memory::instance();
        std::memset(m.at(out.at), 0, out.bytes());
        settings().cores = cores;
        grids_on_cores() = {};
        module fresh(ptx, 0);
        const outcome o = run(fresh, name, grid, block, 64, v...);
        settings().cores = 0;
        seen s{o.error, o.message, {}, counters::instance().json(), out.values(), 0, 0};
        for (const finding &f : findings::instance().all()) s.findings += text_of(f);
        s.tried = grids_on_cores().tried;
        s.given_up = grids_on_cores().given_up;
        return s;
    };
    check_shared(true, [&](unsigned c) {
        return count_last(c, "vector_add", grid, block, a, b, out, n - 5);
    });
    check_shared(true, [&](unsigned c) {
        return count_last(c, "tiled_matmul", {8, 8, 1}, {16, 16, 1}, a, b, out, 128);
    });
    check_shared(
        true, [&](unsigned c) { return count_last(c, "strided_copy", grid, block, a, out, n, 3); });
    check_shared(true,
                 [&](unsigned c) { return count_last(c, "collatz", grid, block, in, out, n); });
    check_shared(false,
                 [&](unsigned c) { return count_last(c, "block_sum", grid, block, in, out, n); });
}

TEST_CASE("blocks that only write their own part, in shared and local memory too")
{
    check_body(true, "st.global.u32 [%d3], %r6;");
    check_body(true, "st.global.u32 [%d3], %r6; ld.global.u32 %r7, [%d3];\n"
                     "add.s32 %r7, %r7, 1; st.global.u32 [%d3], %r7;");
    check_body(true, ".shared .align 4 .b8 tile[512]; mul.lo.u32 %r8, %r1, 4;\n"
                     "mov.u32 %r9, tile; add.s32 %r8, %r8, %r9; st.shared.u32 [%r8], %r6;\n"
                     "bar.sync 0; xor.b32 %r10, %r8, 64; ld.shared.u32 %r7, [%r8];\n"
                     "atom.shared.add.u32 %r7, [tile], 0; st.global.u32 [%d3], %r6;");
    // All blocks read the same word.
    check_body(true, "ld.global.u32 %r7, [%d1+33024]; add.s32 %r7, %r7, %r6;\n"
                     "st.global.u32 [%d3], %r7;");
}

TEST_CASE("a block that sees another, or could, runs on one core")
{
    // Each block reads a word of the next block: a race.
    check_body(false, "st.global.u32 [%d3], %r6;\n.loc 1 8 0\n"
                      "ld.global.u32 %r7, [%d3+512]; add.s32 %r7, %r7, %r6;\n.loc 1 9 0\n"
                      "st.global.u32 [%d3], %r7;");
    // All blocks write one word.
    check_body(false, "st.global.u32 [%d1], %r4;");
    // The last block writes a word of the first block.
    check_body(false, "setp.ne.u32 %p2, %r2, 63; @%p2 add.s64 %d1, %d1, %d2;\n"
                      "st.global.u32 [%d1], %r4;");
    check_body(false, "atom.global.add.u32 %r7, [%d1], 1; st.global.u32 [%d3+4], %r7;");
    check_body(false, "ld.volatile.global.u32 %r7, [%d3]; st.global.u32 [%d3], %r6;");
    check_body(false, "mov.u32 %r7, %clock; st.global.u32 [%d3], %r7;");
}

TEST_CASE("findings and faults are those of one core")
{
    // An access out of bounds in the middle of the grid; a misaligned one; an uninitialised read;
    // a trap.
    check_body(false, "setp.eq.u32 %p2, %r2, 40; @%p2 add.s64 %d3, %d3, 1048576;\n"
                      "st.global.u32 [%d3], %r6;");
    check_body(false, "setp.eq.u32 %p2, %r2, 50; @%p2 add.s64 %d3, %d3, 2;\n"
                      "st.global.u32 [%d3], %r6;");
    check_body(false, ".shared .align 4 .b8 tile[512]; ld.shared.u32 %r7, [tile+4];\n"
                      "st.global.u32 [%d3], %r7;");
    check_body(false, "st.global.u32 [%d3], %r6; setp.gt.u32 %p2, %r2, 30; @%p2 trap;");
    // When one core would report block 9, other cores may be past it.
    check_body(false, "setp.lt.u32 %p2, %r2, 9; @%p2 bra out;\nld.global.u32 %r7, [%d3];\n"
                      "st.global.u32 [%d3], %r7;\nout:");
}

TEST_CASE("a try that fails leaves memory and its shadow as they were")
{
    // The last block also reads an uninitialised word.
    const std::string ptx = kernel("st.global.u32 [%d3], %r6; setp.ne.u32 %p2, %r2, 63;\n"
                                   "@%p2 bra out;\nld.global.u32 %r7, [%d3+512];\nout:");
    auto bits = [&](unsigned cores) {
        buffer<int> out(std::size_t{64 * 128 + 128});
        settings().cores = cores;
        module fresh(ptx, 0);
        CHECK(run(fresh, "k", {64, 1, 1}, {128, 1, 1}, 0, out).error == 0);
        settings().cores = 0;
        CHECK(findings::instance().all().size() == 1);
        const std::uint8_t *s = memory::instance().shadow_at(out.at);
        return std::pair(out.values(), std::vector<std::uint8_t>(s, s + out.bytes()));
    };
    CHECK(bits(1) == bits(2));
    // The same must hold if the step budget ends the kernel before its last blocks.
    const std::string long_one = kernel("st.global.u32 [%d3], %r6;");
    auto ended = [&](unsigned cores) {
        const options before = settings();
        buffer<int> out(std::size_t{64 * 128});
        settings().cores = cores;
        settings().step_budget = 60000;
        module fresh(long_one, 0);
        const outcome o = run(fresh, "k", {64, 1, 1}, {128, 1, 1}, 0, out);
        settings() = before;
        CHECK(o.error == 702);
        const std::uint8_t *s = memory::instance().shadow_at(out.at);
        return std::tuple(o.message, out.values(), std::vector<std::uint8_t>(s, s + out.bytes()));
    };
    CHECK(ended(1) == ended(3));
}

TEST_CASE("what the search for races may remember is the same on all cores")
{
    const options before = settings();
    for (std::size_t bytes : {std::size_t{20000}, std::size_t{200000}, std::size_t{1} << 30}) {
        settings().race_bytes = bytes;
        const std::string ptx = kernel("st.global.u32 [%d3+4], %r6;");
        buffer<int> out(std::size_t{64 * 128 + 64});
        const seen one = on_cores(1, ptx, "k", {64, 1, 1}, {128, 1, 1}, out),
                   many = on_cores(3, ptx, "k", {64, 1, 1}, {128, 1, 1}, out);
        check_same(one, many);
    }
    settings() = before;
}
