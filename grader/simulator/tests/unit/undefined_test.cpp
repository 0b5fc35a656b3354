// Uninitialised loads are found where the value is used, and only there.
#include "simulator/tests/fixture.hpp"

#include <doctest/doctest.h>

using namespace simulator;
using namespace simulator::tests;

namespace {

constexpr int load_line = 10;

// Runs `body` for 32 threads. At line 10 of a.cu every lane loads %u from uninitialised memory;
// `body` is on line 20. %p is false, %q is true, %h is true for the first 16 lanes.
std::vector<finding> found_in(const std::string &body)
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n"
             ".func (.param .b32 r) same(.param .b32 x)\n{\n.reg .b32 %v;\n"
             "ld.param.u32 %v, [x]; st.param.b32 [r], %v; ret;\n}\n"
             ".visible .entry k(.param .u64 nothing, .param .u64 out)\n{\n"
             ".reg .pred %p, %q, %h, %x, %y; .reg .b32 %t, %u, %r<9>; .reg .b64 %n, %o, %d<9>;\n"
             ".reg .f32 %f<4>; .reg .b16 %s<4>;\n"
             ".shared .align 4 .b8 tile[256]; .local .align 8 .b8 mine[16];\n"
             "mov.u32 %t, %tid.x; mul.wide.u32 %d1, %t, 4;\n"
             "ld.param.u64 %n, [nothing]; add.s64 %n, %n, %d1;\n"
             "ld.param.u64 %o, [out]; add.s64 %o, %o, %d1;\n"
             "setp.ne.u32 %p, %t, %t; setp.eq.u32 %q, %t, %t; setp.lt.u32 %h, %t, 16;\n"
             "mov.u32 %r1, 0; mov.u32 %r2, 7; mov.u32 %r3, -1;\n"
             ".loc 1 10 0\nld.global.u32 %u, [%n];\n.loc 1 20 0\n" +
                 body + "\nret;\n}\n",
             0);
    buffer<int> nothing(std::size_t(64)), out(std::vector<int>(64, 1));
    const outcome o = run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, nothing, out);
    CHECK_MESSAGE(o.error == 0, body << ": " << o.message);
    return findings::instance().all();
}

void silent(const std::string &body)
{
    for (const finding &f : found_in(body)) CHECK_MESSAGE(false, body << ": " << f.detail);
}

void used(const std::string &body, std::uint64_t lanes = 32, unsigned first = 0)
{
    CAPTURE(body);
    const auto all = found_in(body);
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == finding_kind::uninitialised);
    CHECK(all[0].line == load_line);
    CHECK(all[0].threads == lanes);
    CHECK(all[0].thread.x == first);
    CHECK(all[0].bytes == 4);
    CHECK_FALSE(all[0].write);
    CHECK(all[0].detail == "a read of 4 bytes of memory that nobody has written");
}

const std::string store = " st.global.u32 [%o], %r4;";

} // namespace

TEST_CASE("an undefined value that is thrown away is no mistake")
{
    silent("add.s32 %r5, %u, 1;");
    silent("selp.b32 %r4, %u, %r2, %p;" + store);
    silent("mad.lo.s32 %r5, %u, 3, %u; selp.b32 %r4, %r2, %r5, %q;" + store);
    silent("mov.u32 %u, 5; add.s32 %r4, %u, 1;" + store);
    silent("setp.gt.s32 %x, %u, 3; and.pred %y, %p, %x; @%y bra L; L: st.global.u32 [%o], 1;");
    silent("setp.gt.s32 %x, %u, 3; or.pred %y, %x, %q; @%y bra L; L: st.global.u32 [%o], 1;");
    silent("setp.gt.s32 %x, %u, 3; setp.eq.and.s32 %y, %r1, 0, %p; @%y bra L; L: ret;");
    silent("setp.gt.and.s32 %x, %u, 3, %p; @%x bra L; L: ret;");
    silent("setp.gt.or.s32 %x, %u, 3, !%p; selp.b32 %r4, 1, 2, %x;" + store);
    silent("and.b32 %r4, %u, %r1;" + store);
    silent("or.b32 %r4, %r3, %u;" + store);
    silent("cvt.s64.s32 %d2, %u; selp.b64 %d3, %d2, %d1, %p; cvt.u32.u64 %r4, %d3;" + store);
    silent("@%p bra L; bra.uni M; L: st.global.u32 [%o], %u; M: st.global.u32 [%o], 2;");
}

TEST_CASE("a use of an undefined value names its load")
{
    used("st.global.u32 [%o], %u;");
    used("mov.u32 %r5, tile; st.shared.u32 [%r5], %u;");
    used("mov.u64 %d2, mine; st.local.u32 [%d2], %u;");
    used("fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r4, %u, 1; mul.lo.s32 %r4, %r4, %r4;" + store);
    used("selp.b32 %r4, %u, %r2, %q;" + store);
    used("setp.gt.s32 %x, %u, 3; selp.b32 %r4, 1, 2, %x;" + store);
    used("setp.gt.s32 %x, %u, 3; @%x bra L; L: ret;");
    used("setp.gt.s32 %x, %u, 3; @%x add.s32 %r5, %r5, 1;");
    used("setp.gt.s32 %x, %u, 3; and.pred %y, %x, %q; @%y bra L; L: ret;");
    used("setp.gt.and.s32 %x, %u, 3, %q; @!%x bra L; L: ret;");
    used("and.b32 %r4, %u, %r2;" + store);
    used("and.b32 %u, %u, 31; mul.wide.u32 %d2, %u, 4; mov.u64 %d3, tile; add.s64 %d2, %d3, %d2; "
         "cvt.u32.u64 %r5, %d2; st.shared.u32 [%r5], 1;");
    used("atom.global.add.u32 %r5, [%o], %u;");
    used("red.global.max.u32 [%o], %u;");
    used("shfl.sync.bfly.b32 %r5, %u, 1, 31, -1;");
    used("setp.gt.s32 %x, %u, 3; vote.sync.ballot.b32 %r5, %x, -1;");
    used("redux.sync.add.s32 %r5, %u, -1;");
    used("add.cc.u32 %r5, %u, 1;");
    used("{ .param .b32 x, r; st.param.b32 [x], %u; call.uni (r), same, (x); "
         "ld.param.b32 %r5, [r]; }");
    used("mov.b64 %d2, {%r2, %u}; shr.u64 %d2, %d2, 8; cvt.u32.u64 %r4, %d2;" + store);
    used("cvt.u16.u32 %s1, %u; mov.b32 %r4, {%s1, %s1};" + store);
    used("@%h bra L; st.global.u32 [%o], %u; L: st.global.u32 [%o], 1;", 16, 16);
    used("selp.b32 %r4, %u, %r2, %h;" + store, 16);
    used("mov.u32 %r5, 0; L: add.s32 %r4, %u, %r5; add.s32 %r5, %r5, 1; setp.lt.u32 %x, %r5, 9; "
         "@%x bra L;" +
         store);
    // Two uses of a value make one finding.
    used("add.s32 %r4, %u, 1;" + store + " st.global.u32 [%o], %u;");
}

TEST_CASE("a copy within local memory stays undefined")
{
    const std::string copy =
        "mov.u32 %r7, %u; mov.u64 %d2, mine; st.local.u32 [%d2+4], %r2;\n.loc 1 30 0\n"
        "ld.local.v2.u32 {%r5, %r6}, [%d2]; st.local.v2.u32 [%d2+8], {%r5, "
        "%r6};\n.loc 1 40 0\n";
    // A pair that is only moved counts as a unit, of which a part was written.
    silent(copy + "ld.local.u32 %r4, [%d2+12];" + store);
    const std::string one =
        "mov.u32 %r7, %u; mov.u64 %d2, mine;\n.loc 1 30 0\nld.local.u32 %r5, [%d2]; "
        "add.s64 %d3, %d2, 8; cvta.local.u64 %d3, %d3; st.u32 [%d3], %r5;\n"
        ".loc 1 40 0\n";
    silent(one + "st.local.u32 [%d2+8], 1; ld.local.u32 %r4, [%d2+8];" + store);
    const auto found = found_in(one + "ld.local.u32 %r4, [%d2+8];" + store);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::uninitialised);
    CHECK(found[0].line == 40);
    CHECK(found[0].where == "local memory, byte 8 of 16");
}

TEST_CASE("each time that a load finds nothing counts, when it is used")
{
    const std::string again = "mov.u32 %r5, 0; mov.u32 %r4, 0;\n.loc 1 10 0\n"
                              "L: ld.global.u32 %u, [%n];\n.loc 1 20 0\nadd.s32 %r4, %r4, %u; "
                              "add.s32 %r5, %r5, 1; setp.lt.u32 %x, %r5, 3; @%x bra L; ";
    used(again + store, 3 * 32);
    silent(again);
    // Only the value of the last load is used.
    used("mov.u32 %r5, 0;\n.loc 1 10 0\nL: ld.global.u32 %u, [%n];\n.loc 1 20 0\n"
         "add.s32 %r5, %r5, 1; setp.lt.u32 %x, %r5, 3; @%x bra L; add.s32 %r4, %u, 1;" +
         store);
}

TEST_CASE("of a vector the elements count one by one")
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(.param .u64 from, .param .u64 to, .param .u32 last)\n{\n"
             ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
             "ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u32 %r6, [last];\n"
             "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; add.s32 %r1, %r1, %r2;\n"
             "setp.ne.u32 %p, %r6, 0; selp.b32 %r5, %r4, %r1, %p; st.global.u32 [%d2], %r5;\n"
             "ret;\n}\n",
             0);
    buffer<int> from(std::size_t(4)), to(std::size_t(1));
    memory::instance().mark(from.at, 12, initialised, 0);
    CHECK(run(m, "k", {1, 1, 1}, {1, 1, 1}, 0, from, to, 0).error == 0);
    CHECK(findings::instance().empty());
    CHECK(run(m, "k", {1, 1, 1}, {1, 1, 1}, 0, from, to, 1).error == 0);
    CHECK(findings::instance().all().size() == 1);
}
