// Forms of PTX written by people and other compilers, but not by nvcc.
#include "simulator/tests/fixture.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>

using namespace simulator;
using namespace simulator::tests;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u64 = std::uint64_t;

namespace {

constexpr u32 threads = 40; // one full warp and a partial one

// Runs `body` for 40 threads: %a, %b and %c come from three arrays, %t is the thread index, and %d
// is the result.
std::vector<u32> results(const std::string &body, const std::string &before = "",
                         std::vector<u32> *inputs = nullptr)
{
    std::vector<u32> a, b, c;
    for (u32 t = 0; t < threads; ++t) {
        a.push_back(t * 2654435761u + 7);
        b.push_back(t % 3 == 0 ? t : ~(t * 40503u));
        c.push_back(0x80000000u + t * 97531u);
    }
    const std::vector<u32> *all[] = {&a, &b, &c};
    if (inputs != nullptr)
        for (int k = 0; k < 3; ++k) inputs[k] = *all[k];
    const std::string ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{\n"
        ".reg .b64 %at<4>, %to, %w; .reg .b32 %t, %a, %b, %c, %d, %e; .reg .pred %p, %q;\n"
        ".reg .b16 %h; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4;\n"
        "ld.param.u64 %at1, [pa]; add.u64 %at1, %at1, %w; ld.global.u32 %a, [%at1];\n"
        "ld.param.u64 %at2, [pb]; add.u64 %at2, %at2, %w; ld.global.u32 %b, [%at2];\n"
        "ld.param.u64 %at3, [pc]; add.u64 %at3, %at3, %w; ld.global.u32 %c, [%at3];\n"
        "ld.param.u64 %to, [pd]; add.u64 %to, %to, %w;\n" +
        body + "\nst.global.u32 [%to], %d;\nret;\n}\n";
    module m(ptx, 0);
    buffer<u32> pa(a), pb(b), pc(c), pd(std::vector<u32>(threads, 0xabcdef));
    const outcome o = run(m, "k", {1, 1, 1}, {threads, 1, 1}, 0, pa, pb, pc, pd);
    CHECK_MESSAGE(o.error == 0, body << ": " << o.message);
    for (const finding &f : findings::instance().all()) FAIL_CHECK(body << ": " << f.detail);
    return pd.values();
}

// Requires %d to equal f(a, b, c, thread index) for every thread.
template <class F> void gives(const std::string &body, F f, const std::string &before = "")
{
    CAPTURE(body);
    std::vector<u32> in[3];
    const auto d = results(body, before, in);
    for (u32 t = 0; t < threads; ++t) REQUIRE(d[t] == u32(f(in[0][t], in[1][t], in[2][t], t)));
}

std::string refusal_of(const std::string &body)
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b16 %h<3>; .reg .b64 %l<3>; .reg .pred %p1;\n"
             "ld.param.u64 %l1, [p]; mov.u32 %r1, 1; mov.f32 %f1, 0f3F800000; setp.eq.u32 %p1, "
             "%r1, 1;\n" +
                 body + "\nret;\n}\n",
             0);
    buffer<u32> p(std::vector<u32>(64));
    run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, p);
    const auto found = findings::instance().all();
    return found.size() == 1 && found[0].kind == finding_kind::unsupported ? found[0].detail : "";
}

} // namespace

TEST_CASE("a register plus a constant is a sum, wherever a value may stand")
{
    gives("st.global.u32 [%to], %a + 1; ld.global.u32 %d, [%to];",
          [](u32 a, u32, u32, u32) { return a + 1; });
    gives("add.u32 %d, %a + 5, %b-3;", [](u32 a, u32 b, u32, u32) { return a + 5 + b - 3; });
    gives("mov.u32 %d, %a+4294967295;", [](u32 a, u32, u32, u32) { return a - 1; });
    gives("setp.lt.u32 %p, %t+1, 8; selp.u32 %d, %a+1, %b+2, %p;",
          [](u32 a, u32 b, u32, u32 t) { return t < 7 ? a + 1 : b + 2; });
    gives("cvt.u64.u32 %w, %a; mov.u64 %w, %w + 4294967296; shr.u64 %w, %w, 32; cvt.u32.u64 %d, "
          "%w;",
          [](u32, u32, u32, u32) { return 1; });
    gives("cvt.u16.u32 %h, %a; mov.u16 %h, %h+65535; cvt.u32.u16 %d, %h;",
          [](u32 a, u32, u32, u32) { return (a - 1) & 0xffff; });
    gives("mov.b64 %w, {%a+1, %b+2}; mov.b64 {%d, %e}, %w; sub.u32 %d, %d, %e;",
          [](u32 a, u32 b, u32, u32) { return a - b - 1; });
    gives("shfl.sync.bfly.b32 %d, %t+100, 0+0, 31, -1;",
          [](u32, u32, u32, u32 t) { return t + 100; });
    gives("atom.global.add.u32 %e, [%to], %a+1; ld.global.u32 %d, [%to];",
          [](u32 a, u32, u32, u32) { return 0xabcdef + a + 1; });
    CHECK(refusal_of("add.f32 %f2, %f1+1, %f1;").find("add.f32") != std::string::npos);
    CHECK(refusal_of("mov.u32 %r2+1, %r1;").find("mov.u32") != std::string::npos);
    CHECK(refusal_of("mov.u32 %r2, %tid.x+1;").find("mov.u32") != std::string::npos);
}

// The expected values are those of ptxas, which nvcc runs only to make machine code.
TEST_CASE("constants are of the instruction's type")
{
    const auto bits_of = [](auto v) {
        u64 bits = 0;
        std::memcpy(&bits, &v, sizeof v);
        return bits;
    };
    gives(".reg .f64 %x; mov.f64 %x, 0f3FC00000; mov.b64 {%e, %d}, %x;",
          [&](u32, u32, u32, u32) { return bits_of(1.5) >> 32; });
    gives(".reg .f64 %x; mov.f64 %x, 2.5; add.f64 %x, %x, 0f3F800000; mov.b64 {%e, %d}, %x;",
          [&](u32, u32, u32, u32) { return bits_of(3.5) >> 32; });
    gives(".reg .f32 %x; mov.f32 %x, 1.5; add.f32 %x, %x, 0d3FF0000000000000; mov.b32 %d, %x;",
          [&](u32, u32, u32, u32) { return bits_of(2.5f); });
    gives("mov.b32 %d, 0f3F800000;", [&](u32, u32, u32, u32) { return bits_of(1.0f); });
    gives("mov.b64 %w, 1.0; shr.u64 %w, %w, 32; cvt.u32.u64 %d, %w;",
          [&](u32, u32, u32, u32) { return bits_of(1.0) >> 32; });
    gives("st.global.f32 [%to], 1.5; ld.global.u32 %d, [%to];",
          [&](u32, u32, u32, u32) { return bits_of(1.5f); });
    gives("setp.lt.u32 %p, %t, 9; selp.u32 %d, 1, 2, !%p;",
          [](u32, u32, u32, u32 t) { return t < 9 ? 2 : 1; });
    for (const char *text :
         {"add.f32 %f2, %f1, 1;", "mov.f32 %f2, 0x3F800000;", "fma.rn.f32 %f2, %f1, 2, %f1;",
          "setp.lt.f32 %p1, %f1, 1;", "st.global.f32 [%l1], 1;", "st.global.u32 [%l1], 1.5;",
          "st.global.v2.f32 [%l1], {1, 2};", "atom.global.add.f32 %f2, [%l1], 1;",
          "add.u32 %r2, %r1, 1.5;", "mov.u32 %r2, 0f3F800000;", "mov.b32 %r2, 1.5;",
          "mov.b64 %l2, 0f3F800000;", "mov.b16 %h1, 1.0;", "add.f16 %h1, %h1, 0x3c00;",
          "mov.pred %p1, 1.5;", "add.u32 %r2, !%r1, %r1;", "mov.u32 %r2, !%r1;",
          "st.global.u32 [%l1], !%r1;", "selp.f32 %f2, 1, 2, %p1;"})
        CHECK_MESSAGE(!refusal_of(text).empty(), text);
}

TEST_CASE("parameters and results of functions may be registers")
{
    const std::string two = ".func (.reg .u32 sum, .reg .pred less) both(.reg .u32 x, .reg .u32 y)"
                            "\n{ setp.lt.u32 less, x, y; @less bra done; add.u32 sum, x, 100;\n"
                            "@!less ret; done: add.u32 sum, x, y; }\n";
    gives(
        "call (%d, %q), both, (%a, %b); @!%q add.u32 %d, %d, 1;",
        [](u32 a, u32 b, u32, u32) { return a < b ? a + b : a + 101; }, two);
    gives(
        "mov.u32 %d, 5; setp.lt.u32 %p, %t, 9; @%p call (%d, %q), both, (%t, %t);",
        [](u32, u32, u32, u32 t) { return t < 9 ? t + 100 : 5; }, two);
    gives(
        "call (%w), wider, (%a, %b); shr.u64 %w, %w, 31; cvt.u32.u64 %d, %w;",
        [](u32 a, u32 b, u32, u32) { return (u64{a} * b + 1) >> 31; },
        ".func (.reg .b64 r) wider(.reg.b32 x, .reg.b32 y) { mul.wide.u32 r, x, y; add.u64 r, r, "
        "1; ret; }\n");
    // Parameters in `.param` space work as usual, also without a space after `.param`.
    gives(
        ".param.b32 in; .param.b32 out; st.param.b32 [in], %a; call (out), next, (in); "
        "ld.param.b32 %d, [out];",
        [](u32 a, u32, u32, u32) { return a + 1; },
        ".func (.param.b32 r) next(.param.b32 x) { .reg.b32 v; ld.param.b32 v, [x]; add.u32 v, "
        "v, 1; st.param.b32 [r], v; ret; }\n");
}

TEST_CASE("vectors of registers")
{
    gives(".reg .v4 .u32 v; mov.v4.u32 v, {%a, %b, %c, %t}; mov.v4.u32 v, {v.w, v.x, v.y, v.z}; "
          "sub.u32 %d, v.x, v.y; add.u32 %d, %d, v.w;",
          [](u32 a, u32, u32 c, u32 t) { return t - a + c; });
    gives(".reg .v2 .b32 v; mov.u32 v.x, %a; mov.u32 v.y, %b; mov.b64 %w, v; shr.u64 %w, %w, 16; "
          "cvt.u32.u64 %d, %w;",
          [](u32 a, u32 b, u32, u32) { return (u64{b} << 32 | a) >> 16; });
    gives(".shared .align 16 .b32 s[WARP_SZ*8]; .reg .v2.u32 v; .reg .b32 %x; mov.u32 %x, s; "
          "mad.lo.u32 %x, %t, 8, %x; mov.u32 v.x, %a; mov.u32 v.y, %b; st.shared.v2.u32 [%x], v; "
          "mov.v2.u32 v, {%t, %t}; ld.shared.v2.u32 v, [%x]; sub.u32 %d, v.x, v.y;",
          [](u32 a, u32 b, u32, u32) { return a - b; });
    gives(
        ".reg .v2 .u32 v; mov.v2.u32 v, {%a, %b}; call (v), turned, (v); sub.u32 %d, v.x, v.y;",
        [](u32 a, u32 b, u32, u32) { return b - a; },
        ".func (.reg .v2 .u32 out) turned(.reg .v2 .u32 in) { mov.v2.u32 out, {in.y, in.x}; ret; "
        "}\n");
    // Vectors are no operands of scalar instructions, and moves need equal lengths.
    CHECK_FALSE(refusal_of(".reg .v2 .u32 v; mov.v2.u32 v, {%r1, %r1}; add.u32 v, v, v;").empty());
    CHECK_FALSE(refusal_of(".reg .v4 .u32 v; mov.v2.u32 v, {%r1, %r1};").empty());
    CHECK_FALSE(refusal_of("mov.v2.b32 {%h1, %h2}, %r1;").empty());
}

TEST_CASE("variables of a function, and accesses that name a variable but no space")
{
    gives(".global .b32 table[4] = {10, 20, 30}; .reg .b64 %x; mov.u64 %x, table; and.b32 %e, %t, "
          "3; mad.wide.u32 %x, %e, 4, %x; ld.global.u32 %d, [%x];",
          [](u32, u32, u32, u32 t) { return t % 4 == 3 ? 0 : 10 * (t % 4 + 1); });
    gives(".local .align 8 .b8 own[8]; st.u32 [own+4], %a; st.u32 [own], 1; ld.u32 %d, [own+4];",
          [](u32 a, u32, u32, u32) { return a; });
    gives(".shared .b32 s[2]; setp.eq.u32 %p, %t, 33; @%p st.u32 [s+4], %a; bar.sync 0; ld.u32 %d, "
          "[s+4]; sub.u32 %d, %d, %a; @!%p mov.u32 %d, %b;",
          [](u32, u32 b, u32, u32 t) { return t == 33 ? 0 : b; });
    gives(".shared .b32 n; setp.eq.u32 %p, %t, 0; @%p st.u32 [n], 0; bar.sync 0; atom.add.u32 %e, "
          "[n], 2; bar.sync 0; ld.u32 %d, [n];",
          [](u32, u32, u32, u32) { return 2 * threads; });
    gives(
        "ld.u32 %d, [k_table+8];", [](u32, u32, u32, u32) { return 3; },
        ".const .b32 k_table[3] = {1, 2, 3};\n");
}

TEST_CASE("votes and shuffles without a mask are of the lanes that come together")
{
    gives("setp.lt.u32 %p, %t, 7; vote.ballot.b32 %d, %p;",
          [](u32, u32, u32, u32 t) { return t < 32 ? 0x7f : 0; });
    gives("mov.u32 %d, 0; setp.lt.u32 %p, %t, 6; setp.lt.u32 %q, %t, 3; @!%p bra over; "
          "vote.ballot.b32 %d, !%q; over:",
          [](u32, u32, u32, u32 t) { return t < 6 ? 0x38 : 0; });
    gives("setp.lt.u32 %p, %t, 36; vote.all.pred %q, %p; selp.u32 %d, 1, 2, %q;",
          [](u32, u32, u32, u32 t) { return t < 32 ? 1 : 2; });
    gives("shfl.bfly.b32 %d, %t, 1, 31;", [](u32, u32, u32, u32 t) { return t ^ 1; });
    // It has a mask but lacks .sync.
    CHECK_FALSE(refusal_of("vote.ballot.b32 %r2, %p1, 15;").empty());
    CHECK_FALSE(refusal_of("shfl.bfly.b32 %r2, %r1, 1, 31, -1;").empty());
}

TEST_CASE("saturating sums, packs, and modifiers in another order")
{
    const auto fit = [](s64 v, s64 low, s64 high) { return std::clamp(v, low, high); };
    const auto word = [=](s64 v) {
        return fit(v, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max());
    };
    gives("add.sat.s32 %d, %a, %c;",
          [=](u32 a, u32, u32 c, u32) { return word(s64{s32(a)} + s32(c)); });
    gives("sub.sat.s32 %d, %a, %c;",
          [=](u32 a, u32, u32 c, u32) { return word(s64{s32(a)} - s32(c)); });
    gives("shr.s32 %e, %a, 22; shr.s32 %b, %b, 20; cvt.pack.sat.u8.s32.b32 %d, %e, %b, %c;",
          [=](u32 a, u32 b, u32 c, u32) {
              return c << 16 | fit(s32(a) >> 22, 0, 255) << 8 | fit(s32(b) >> 20, 0, 255);
          });
    gives("shr.s32 %e, %a, 22; shr.s32 %b, %b, 20; cvt.pack.sat.s8.s32.b32 %d, %e, %b, %c;",
          [=](u32 a, u32 b, u32 c, u32) {
              return c << 16 | (fit(s32(a) >> 22, -128, 127) & 255) << 8 |
                     (fit(s32(b) >> 20, -128, 127) & 255);
          });
    gives("cvt.pack.sat.s16.s32 %d, %a, %b;", [=](u32 a, u32 b, u32, u32) {
        return (fit(s32(a), -32768, 32767) & 65535) << 16 | (fit(s32(b), -32768, 32767) & 65535);
    });
    gives(".reg .f32 %x, %y; cvt.rn.f32.u32 %x, %t; div.ftz.rn.f32 %y, %x, 0f40000000; "
          "mov.b32 %d, %y;",
          [](u32, u32, u32, u32 t) {
              const float half = float(t) / 2;
              u32 bits;
              std::memcpy(&bits, &half, 4);
              return bits;
          });
}

TEST_CASE("video instructions of whole words")
{
    const auto low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
    gives("vadd.s32.u32.s32.sat %d, %a, %b;",
          [=](u32 a, u32 b, u32, u32) { return std::clamp<s64>(s64{a} + s32(b), low, high); });
    gives("vsub.u32.u32.u32.sat.max %d, %a, %b, %c;", [](u32 a, u32 b, u32 c, u32) {
        return std::max<u32>(u32(std::max<s64>(s64{a} - b, 0)), c);
    });
    gives("vsub.s32.s32.s32 %d, %a, %b;", [](u32 a, u32 b, u32, u32) { return a - b; });
    gives("vabsdiff.u32.s32.s32.add %d, %a, %b, %c;",
          [](u32 a, u32 b, u32 c, u32) { return u32(std::abs(s64{s32(a)} - s32(b))) + c; });
    gives("vmin.s32.s32.u32 %d, %a, %b;",
          [](u32 a, u32 b, u32, u32) { return std::min<s64>(s32(a), b); });
    gives("vmax.s32.s32.s32.min %d, %a, %b, %c;",
          [](u32 a, u32 b, u32 c, u32) { return std::min(std::max(s32(a), s32(b)), s32(c)); });
    gives("vshr.u32.u32.u32.clamp.add %d, %a, %t, %c;",
          [](u32 a, u32, u32 c, u32 t) { return u32(u64{a} >> std::min(t, 32u)) + c; });
    gives("vshr.s32.s32.u32.wrap %d, %a, %t;",
          [](u32 a, u32, u32, u32 t) { return s32(a) >> (t & 31); });
    gives("vshl.u32.u32.u32.clamp %d, %a, %t;",
          [](u32 a, u32, u32, u32 t) { return u64{a} << std::min(t, 32u); });
    CHECK_FALSE(refusal_of("vshl.u32.u32.u32.clamp.sat %r2, %r1, %r1;").empty());
    CHECK_FALSE(refusal_of("vset.u32.u32.lt %r2, %r1, %r1;").empty());
    CHECK_FALSE(refusal_of("vshr.u32.u32.u32 %r2, %r1, %r1;").empty());
    CHECK_FALSE(refusal_of("vadd.u32.u32.u32 %r2, %r1.b0, %r1;").empty());
}

TEST_CASE("what compute_80 or the simulator lacks is refused with its reason")
{
    const auto says = [](const char *body, const char *reason) {
        CHECK_MESSAGE(refusal_of(body).find(reason) != std::string::npos, body);
    };
    says("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", "tensor cores");
    says("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1;", "compute_80 lacks");
    says("ld.global.v8.u32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%l1];", "compute_80 lacks");
}
