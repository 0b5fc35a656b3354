// Tests each family of instructions on its own and compares results with C++.
#include "simulator/tests/fixture.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <limits>

using namespace simulator;
using namespace simulator::tests;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

namespace {

// Edge cases first, then ordinary values.
std::vector<u64> integers()
{
    std::vector<u64> v = {0,
                          1,
                          2,
                          3,
                          31,
                          32,
                          33,
                          63,
                          64,
                          127,
                          128,
                          255,
                          32767,
                          32768,
                          65535,
                          0x7fffffff,
                          0x80000000,
                          0xffffffff,
                          0x100000000,
                          0x7fffffffffffffff,
                          0x8000000000000000,
                          ~u64{0},
                          ~u64{0} - 1,
                          0xdeadbeefcafef00d};
    u64 x = 88172645463325252u;
    while (v.size() < 64) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        v.push_back(x);
    }
    return v;
}

std::vector<double> reals()
{
    double inf = std::numeric_limits<double>::infinity();
    std::vector<double> v = {
        0.0,          -0.0,         1.0,          -1.0,         0.5,
        -0.5,         1.5,          2.5,          -2.5,         3.4028234663852886e38,
        1e-40,        -1e-40,       1e30,         -1e30,        inf,
        -inf,         std::nan(""), 2147483647.0, 2147483648.0, -2147483649.0,
        4294967296.0, 255.5,        -0.75,        1e-8,         16777217.0,
        0.1};
    for (int i = 0; v.size() < 64; ++i) v.push_back(std::ldexp(std::sin(i * 1.7), i % 23 - 5));
    return v;
}

// Runs `body` for 64 threads: a, b, c are loaded as 64-bit values into %rda, %rdb, %rdc; the
// result is %rdd.
std::vector<u64> run_body(const std::string &body, const std::vector<u64> &a,
                          const std::vector<u64> &b, const std::vector<u64> &c)
{
    std::string ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa, .param "
        ".u64 pb, "
        ".param .u64 pc, .param .u64 pd)\n{\n.reg .b64 %rd<9>; .reg .b64 %rda, %rdb, %rdc, %rdd; "
        ".reg .b32 %t;\n"
        ".reg .b16 %ha, %hb, %hc, %hd; .reg .b32 %a, %b, %c, %d, %e; .reg .f32 %fa, %fb, %fc, "
        "%fd;\n"
        ".reg .f64 %da, %db, %dc, %dd; .reg .pred %p, %q, %s;\n"
        "mov.u32 %t, %tid.x; mul.wide.u32 %rd1, %t, 8;\n"
        "ld.param.u64 %rd2, [pa]; add.u64 %rd2, %rd2, %rd1; ld.global.u64 %rda, [%rd2];\n"
        "ld.param.u64 %rd3, [pb]; add.u64 %rd3, %rd3, %rd1; ld.global.u64 %rdb, [%rd3];\n"
        "ld.param.u64 %rd4, [pc]; add.u64 %rd4, %rd4, %rd1; ld.global.u64 %rdc, [%rd4];\n"
        "cvt.u32.u64 %a, %rda; cvt.u32.u64 %b, %rdb; cvt.u32.u64 %c, %rdc;\n"
        "cvt.u16.u64 %ha, %rda; cvt.u16.u64 %hb, %rdb; cvt.u16.u64 %hc, %rdc;\n"
        "mov.b32 %fa, %a; mov.b32 %fb, %b; mov.b32 %fc, %c;\n"
        "mov.b64 %da, %rda; mov.b64 %db, %rdb; mov.b64 %dc, %rdc;\n" +
        body +
        "\nld.param.u64 %rd5, [pd]; add.u64 %rd5, %rd5, %rd1; st.global.u64 [%rd5], %rdd; "
        "ret;\n}\n";
    module m(ptx, 0);
    std::size_t n = a.size();
    buffer<u64> pa(a), pb(b), pc(c), pd(n);
    outcome o = run(m, "k", {1, 1, 1}, {static_cast<u32>(n), 1, 1}, 0, pa, pb, pc, pd);
    CHECK_MESSAGE(o.error == 0, body << ": " << o.message);
    return pd.values();
}

// All pairs with the first 8 values of a list would need 512 threads, so pairs come from rotation.
template <class T> std::vector<T> rotated(std::vector<T> v, std::size_t by)
{
    std::rotate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(by), v.end());
    return v;
}

enum class registers { half, word, twice, real, wide_real };
std::string with_registers(std::string text, registers r)
{
    const char *prefix = r == registers::half    ? "%h"
                         : r == registers::word  ? "%"
                         : r == registers::twice ? "%rd"
                         : r == registers::real  ? "%f"
                                                 : "%d";
    std::string out;
    for (char ch : text) out += ch == '$' ? std::string(prefix) : std::string(1, ch);
    return out;
}

std::string result_of(registers r)
{
    switch (r) {
    case registers::half:
        return " cvt.u64.u16 %rdd, %hd;";
    case registers::word:
        return " cvt.u64.u32 %rdd, %d;";
    case registers::real:
        return " mov.b32 %d, %fd; cvt.u64.u32 %rdd, %d;";
    case registers::wide_real:
        return " mov.b64 %rdd, %dd;";
    default:
        return "";
    }
}

template <class T> u64 as_bits(T v)
{
    u64 b = 0;
    std::memcpy(&b, &v, sizeof v);
    return b;
}
template <class T> T from_bits(u64 b)
{
    T v;
    std::memcpy(&v, &b, sizeof v);
    return v;
}

// Compares `op`, with $a, $b, $c, $d for its registers, with f(a, b, c) for many triples.
template <class T, class R> void check_op(const std::string &op, registers r, registers result,
                                          std::function<R(T, T, T)> f,
                                          const std::vector<u64> &values)
{
    CAPTURE(op);
    for (std::size_t by : {1u, 7u, 19u}) {
        auto b = rotated(values, by), c = rotated(values, 3 * by % values.size());
        auto d = run_body(with_registers(op, r) + result_of(result), values, b, c);
        for (std::size_t i = 0; i < values.size(); ++i) {
            R expected = f(from_bits<T>(values[i]), from_bits<T>(b[i]), from_bits<T>(c[i]));
            CAPTURE(i);
            CAPTURE(values[i]);
            CAPTURE(b[i]);
            REQUIRE(d[i] == as_bits(expected));
        }
    }
}

template <class T> void check_integers(const char *type, registers r)
{
    using W = std::conditional_t<sizeof(T) == 8, __int128, s64>;
    using UW = std::conditional_t<sizeof(T) == 8, unsigned __int128, u64>;
    using M = std::conditional_t<std::is_signed_v<T>, W, UW>;
    using U = std::make_unsigned_t<T>;
    std::string t = std::string(".") + type;
    auto v = integers();
    auto test = [&](const std::string &op, std::function<T(T, T, T)> f) {
        check_op<T, T>(op, r, r, f, v);
    };
    test("add" + t + " $d, $a, $b;", [](T a, T b, T) { return T(U(a) + U(b)); });
    test("sub" + t + " $d, $a, $b;", [](T a, T b, T) { return T(U(a) - U(b)); });
    test("mul.lo" + t + " $d, $a, $b;", [](T a, T b, T) { return T(M(a) * M(b)); });
    test("mul.hi" + t + " $d, $a, $b;",
         [](T a, T b, T) { return T((M(a) * M(b)) >> (8 * sizeof(T))); });
    test("mad.lo" + t + " $d, $a, $b, $c;",
         [](T a, T b, T c) { return T(U(T(M(a) * M(b))) + U(c)); });
    test("min" + t + " $d, $a, $b;", [](T a, T b, T) { return std::min(a, b); });
    test("max" + t + " $d, $a, $b;", [](T a, T b, T) { return std::max(a, b); });
    test("sad" + t + " $d, $a, $b, $c;",
         [](T a, T b, T c) { return T(U(c) + (a < b ? U(b) - U(a) : U(a) - U(b))); });
    test("div" + t + " $d, $a, $b;", [](T a, T b, T) { return b == 0 ? T(-1) : T(M(a) / M(b)); });
    test("rem" + t + " $d, $a, $b;", [](T a, T b, T) { return b == 0 ? a : T(M(a) % M(b)); });
    struct row {
        const char *name;
        bool (*f)(T, T);
    };
    for (row c :
         {row{"eq", [](T a, T b) { return a == b; }}, row{"ne", [](T a, T b) { return a != b; }},
          row{"lt", [](T a, T b) { return a < b; }}, row{"le", [](T a, T b) { return a <= b; }},
          row{"gt", [](T a, T b) { return a > b; }}, row{"ge", [](T a, T b) { return a >= b; }}})
        check_op<T, u32>(
            std::string("setp.") + c.name + t + " %p, $a, $b; selp.u32 %d, 7, 9, %p;", r,
            registers::word, [=](T a, T b, T) { return c.f(a, b) ? 7u : 9u; }, v);
}

} // namespace

TEST_CASE("integers of every width and sign")
{
    check_integers<u16>("u16", registers::half);
    check_integers<s16>("s16", registers::half);
    check_integers<u32>("u32", registers::word);
    check_integers<s32>("s32", registers::word);
    check_integers<u64>("u64", registers::twice);
    check_integers<s64>("s64", registers::twice);
}

TEST_CASE("widening products")
{
    auto v = integers();
    check_op<u32, u64>(
        "mul.wide.u32 %rdd, $a, $b;", registers::word, registers::twice,
        [](u32 a, u32 b, u32) { return u64{a} * b; }, v);
    check_op<s32, s64>(
        "mul.wide.s32 %rdd, $a, $b;", registers::word, registers::twice,
        [](s32 a, s32 b, s32) { return s64{a} * b; }, v);
    check_op<s32, s64>(
        "mad.wide.s32 %rdd, $a, $b, %rdc; sub.s64 %rdd, %rdd, %rdc;", registers::word,
        registers::twice, [](s32 a, s32 b, s32) { return s64{a} * b; }, v);
    check_op<s16, s32>(
        "mul.wide.s16 %d, $a, $b;", registers::half, registers::word,
        [](s16 a, s16 b, s16) { return a * b; }, v);
    check_op<u32, u32>(
        "mul24.lo.u32 $d, $a, $b;", registers::word, registers::word,
        [](u32 a, u32 b, u32) { return (a & 0xffffff) * (b & 0xffffff); }, v);
    check_op<s32, s32>(
        "abs.s32 $d, $a;", registers::word, registers::word,
        [](s32 a, s32, s32) { return a < 0 ? s32(0u - u32(a)) : a; }, v);
    check_op<s64, s64>(
        "neg.s64 $d, $a;", registers::twice, registers::twice,
        [](s64 a, s64, s64) { return s64(0 - u64(a)); }, v);
}

TEST_CASE("logic, shifts and bits")
{
    auto v = integers();
    auto word = [&](const char *op, std::function<u32(u32, u32, u32)> f) {
        check_op<u32, u32>(op, registers::word, registers::word, f, v);
    };
    word("and.b32 $d, $a, $b;", [](u32 a, u32 b, u32) { return a & b; });
    word("or.b32 $d, $a, $b;", [](u32 a, u32 b, u32) { return a | b; });
    word("xor.b32 $d, $a, $b;", [](u32 a, u32 b, u32) { return a ^ b; });
    word("not.b32 $d, $a;", [](u32 a, u32, u32) { return ~a; });
    word("cnot.b32 $d, $a;", [](u32 a, u32, u32) { return u32(a == 0); });
    word("lop3.b32 $d, $a, $b, $c, 0x96;", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; });
    word("lop3.b32 $d, $a, $b, $c, 0xCA;", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
    word("shl.b32 $d, $a, $b;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a << b; });
    word("shr.u32 $d, $a, $b;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a >> b; });
    word("shr.s32 $d, $a, $b;", [](u32 a, u32 b, u32) { return u32(s32(a) >> std::min(b, 31u)); });
    word("shf.l.wrap.b32 $d, $a, $b, $c;",
         [](u32 a, u32 b, u32 c) { return u32(((u64{b} << 32 | a) << (c & 31)) >> 32); });
    word("shf.r.clamp.b32 $d, $a, $b, $c;",
         [](u32 a, u32 b, u32 c) { return u32((u64{b} << 32 | a) >> std::min(c, 32u)); });
    word("popc.b32 $d, $a;", [](u32 a, u32, u32) { return u32(std::popcount(a)); });
    word("clz.b32 $d, $a;", [](u32 a, u32, u32) { return u32(std::countl_zero(a)); });
    word("bfind.u32 $d, $a;",
         [](u32 a, u32, u32) { return a == 0 ? ~0u : 31 - u32(std::countl_zero(a)); });
    word("bfind.shiftamt.s32 $d, $a;", [](u32 a, u32, u32) {
        u32 x = s32(a) < 0 ? ~a : a;
        return x == 0 ? ~0u : u32(std::countl_zero(x));
    });
    word("brev.b32 $d, $a;", [](u32 a, u32, u32) {
        u32 r = 0;
        for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
        return r;
    });
    word("and.b32 %e, $b, 63; and.b32 $c, $c, 63; bfe.u32 $d, $a, %e, $c;",
         [](u32 a, u32 b, u32 c) {
             b &= 63, c &= 63;
             u64 field = b > 31 ? 0 : a >> b;
             return u32(c > 31 ? field : field & ((u64{1} << c) - 1));
         });
    word("and.b32 %e, $b, 63; and.b32 $c, $c, 63; bfe.s32 $d, $a, %e, $c;",
         [](u32 a, u32 b, u32 c) {
             b &= 63, c &= 63;
             u32 r = 0, sign = c == 0 ? 0 : a >> std::min(b + c - 1, 31u) & 1;
             for (u32 k = 0; k < 32; ++k) r |= (k < c && k + b < 32 ? a >> (k + b) & 1 : sign) << k;
             return r;
         });
    word("and.b32 %e, $c, 31; bfi.b32 $d, $a, $b, %e, 9;", [](u32 a, u32 b, u32 c) {
        u32 mask = 511u << (c & 31);
        return (b & ~mask) | ((a << (c & 31)) & mask);
    });
    word("prmt.b32 $d, $a, $b, 0x6420;", [](u32 a, u32 b, u32) {
        return (a & 255) | (a >> 16 & 255) << 8 | (b & 255) << 16 | (b >> 16 & 255) << 24;
    });
    word("bmsk.clamp.b32 $d, 4, $b;",
         [](u32, u32 b, u32) { return b > 31 ? 0xfffffff0u : u32(((u64{1} << b) - 1) << 4); });
    word("dp4a.s32.u32 $d, $a, $b, $c;", [](u32 a, u32 b, u32 c) {
        for (int k = 0; k < 32; k += 8) c += u32(s32(s8(a >> k)) * s32(u8(b >> k)));
        return c;
    });
    check_op<u64, u64>(
        "shl.b64 $d, $a, %b;", registers::twice, registers::twice,
        [](u64 a, u64 b, u64) { return u32(b) > 63 ? 0 : a << u32(b); }, v);
    check_op<u64, u32>(
        "clz.b64 %d, $a;", registers::twice, registers::word,
        [](u64 a, u64, u64) { return u32(std::countl_zero(a)); }, v);
    check_op<u64, u64>(
        "mov.b64 {%d, %e}, $a; mov.b64 $d, {%e, %d};", registers::twice, registers::twice,
        [](u64 a, u64, u64) { return a << 32 | a >> 32; }, v);
}

TEST_CASE("carries go on through a chain")
{
    auto v = integers();
    check_op<u64, u64>(
        "mov.b64 {%a, %b}, $a; mov.b64 {%c, %d}, $b; add.cc.u32 %a, %a, %c; addc.u32 %b, %b, %d; "
        "mov.b64 $d, {%a, %b};",
        registers::twice, registers::twice, [](u64 a, u64 b, u64) { return a + b; }, v);
    check_op<u64, u64>(
        "mov.b64 {%a, %b}, $a; mov.b64 {%c, %d}, $b; sub.cc.u32 %a, %a, %c; subc.u32 %b, %b, %d; "
        "mov.b64 $d, {%a, %b};",
        registers::twice, registers::twice, [](u64 a, u64 b, u64) { return a - b; }, v);
    check_op<u32, u64>(
        "mov.u32 %d, 5; mov.u32 %e, 6; mad.lo.cc.u32 %d, %a, %b, %d; madc.hi.u32 %e, %a, %b, %e; "
        "mov.b64 %rdd, {%d, %e};",
        registers::word, registers::twice,
        [](u32 a, u32 b, u32) { return u64{a} * b + (u64{6} << 32 | 5); }, v);
}

TEST_CASE("conversions between integers keep or clamp")
{
    auto v = integers();
    check_op<u64, u64>(
        "cvt.s64.s8 $d, %ha;", registers::twice, registers::twice,
        [](u64 a, u64, u64) { return u64(s64(s8(a))); }, v);
    check_op<u64, u64>(
        "cvt.s64.s32 $d, %a;", registers::twice, registers::twice,
        [](u64 a, u64, u64) { return u64(s64(s32(a))); }, v);
    check_op<u64, u32>(
        "cvt.sat.u8.s32 %d, %a;", registers::twice, registers::word,
        [](u64 a, u64, u64) { return u32(std::clamp(s32(a), 0, 255)); }, v);
    check_op<u64, u32>(
        "cvt.sat.s16.s64 %d, $a;", registers::twice, registers::word,
        [](u64 a, u64, u64) { return u32(s32(std::clamp<s64>(s64(a), -32768, 32767))); }, v);
    check_op<u64, u32>(
        "cvt.s32.s16 %d, %ha;", registers::twice, registers::word,
        [](u64 a, u64, u64) { return u32(s32(s16(a))); }, v);
}

TEST_CASE("real numbers of one word follow IEEE")
{
    std::vector<u64> v;
    for (double d : reals()) v.push_back(as_bits(static_cast<float>(d)));
    auto canonical = [](float f) { return f != f ? std::bit_cast<float>(0x7fffffffu) : f; };
    auto op = [&](const char *text, std::function<float(float, float, float)> f) {
        check_op<float, float>(
            text, registers::real, registers::real,
            [&](float a, float b, float c) { return canonical(f(a, b, c)); }, v);
    };
    op("add.f32 $d, $a, $b;", [](float a, float b, float) { return a + b; });
    op("sub.rn.f32 $d, $a, $b;", [](float a, float b, float) { return a - b; });
    op("mul.f32 $d, $a, $b;", [](float a, float b, float) { return a * b; });
    op("fma.rn.f32 $d, $a, $b, $c;", [](float a, float b, float c) { return std::fma(a, b, c); });
    op("div.rn.f32 $d, $a, $b;", [](float a, float b, float) { return a / b; });
    op("sqrt.rn.f32 $d, $a;", [](float a, float, float) { return std::sqrt(a); });
    op("rcp.rn.f32 $d, $a;", [](float a, float, float) { return 1 / a; });
    op("add.sat.f32 $d, $a, $b;", [](float a, float b, float) {
        float s = a + b;
        return s > 0 ? std::min(s, 1.0f) : 0.0f;
    });
    op("add.rz.f32 $d, $a, $b;", [](float a, float b, float) {
        std::fesetround(FE_TOWARDZERO);
        volatile float x = a, y = b, sum = x + y;
        std::fesetround(FE_TONEAREST);
        return float(sum);
    });
    op("add.ftz.f32 $d, $a, $b;", [](float a, float b, float) {
        auto flush = [](float f) {
            return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
        };
        return flush(flush(a) + flush(b));
    });
    op("min.f32 $d, $a, $b;", [](float a, float b, float) {
        return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
    });
    op("max.f32 $d, $a, $b;", [](float a, float b, float) {
        return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
    });
    op("ex2.approx.f32 $d, $a;", [](float a, float, float) { return std::exp2(a); });
    op("cvt.rmi.f32.f32 $d, $a;", [](float a, float, float) { return std::floor(a); });
    op("cvt.rni.f32.f32 $d, $a;", [](float a, float, float) { return std::nearbyint(a); });
    auto chosen = [](float a, float b, float c) {
        bool p = !(a >= b), q = !std::isnan(a) && !std::isnan(c) && !p;
        return q ? a : b;
    };
    check_op<float, float>("setp.ltu.f32 %p, $a, $b; setp.num.and.f32 %q|%s, $a, $c, !%p; "
                           "selp.f32 $d, $a, $b, %q;",
                           registers::real, registers::real, chosen, v);
    auto to = [&](const char *text, std::function<u32(float)> f) {
        check_op<float, u32>(
            text, registers::real, registers::word, [&](float a, float, float) { return f(a); }, v);
    };
    auto clamp = [](double d, double low, double high) {
        return std::isnan(d) ? 0.0 : std::clamp(d, low, high);
    };
    to("cvt.rzi.s32.f32 %d, $a;", [&](float a) {
        return u32(s32(clamp(std::trunc(double(a)), -2147483648.0, 2147483647.0)));
    });
    to("cvt.rni.u32.f32 %d, $a;",
       [&](float a) { return u32(clamp(std::nearbyint(double(a)), 0, 4294967295.0)); });
    to("cvt.rpi.u8.f32 %d, $a;", [&](float a) { return u32(clamp(std::ceil(double(a)), 0, 255)); });
    to("testp.subnormal.f32 %p, $a; selp.u32 %d, 1, 0, %p;",
       [](float a) { return u32(std::fpclassify(a) == FP_SUBNORMAL); });
    to("set.gt.u32.f32 %d, $a, 0f3F800000;", [](float a) { return a > 1 ? ~0u : 0u; });
    check_op<u32, float>(
        "cvt.rn.f32.s32 %fd, %a;", registers::word, registers::real,
        [](u32 a, u32, u32) { return float(s32(a)); }, integers());
    check_op<u32, float>(
        "cvt.rz.f32.u32 %fd, %a;", registers::word, registers::real,
        [](u32 a, u32, u32) {
            float f = float(a);
            return double(f) > a ? std::nextafter(f, 0.0f) : f;
        },
        integers());
}

TEST_CASE("real numbers of two words follow IEEE")
{
    std::vector<u64> v;
    for (double d : reals()) v.push_back(as_bits(d));
    auto op = [&](const char *text, std::function<double(double, double, double)> f) {
        CAPTURE(text);
        for (std::size_t by : {1u, 7u}) {
            auto b = rotated(v, by), c = rotated(v, 5);
            auto d = run_body(with_registers(text, registers::wide_real) +
                                  result_of(registers::wide_real),
                              v, b, c);
            for (std::size_t i = 0; i < v.size(); ++i) {
                double expected =
                    f(from_bits<double>(v[i]), from_bits<double>(b[i]), from_bits<double>(c[i]));
                if (std::isnan(expected))
                    REQUIRE(std::isnan(from_bits<double>(d[i])));
                else
                    REQUIRE(d[i] == as_bits(expected));
            }
        }
    };
    op("add.f64 $d, $a, $b;", [](double a, double b, double) { return a + b; });
    op("mul.rn.f64 $d, $a, $b;", [](double a, double b, double) { return a * b; });
    op("fma.rn.f64 $d, $a, $b, $c;",
       [](double a, double b, double c) { return std::fma(a, b, c); });
    op("div.rn.f64 $d, $a, $b;", [](double a, double b, double) { return a / b; });
    op("sqrt.rn.f64 $d, $a;", [](double a, double, double) { return std::sqrt(a); });
    op("neg.f64 $d, $a;", [](double a, double, double) { return -a; });
    op("copysign.f64 $d, $a, $b;", [](double a, double b, double) { return std::copysign(b, a); });
    op("cvt.rn.f32.f64 %fa, $a; cvt.f64.f32 $d, %fa;",
       [](double a, double, double) { return double(float(a)); });
    op("cvt.rzi.s64.f64 %rda, $a; cvt.rn.f64.s64 $d, %rda;", [](double a, double, double) {
        if (std::isnan(a)) return -9223372036854775808.0;
        return double(
            s64(std::clamp(std::trunc(a), -9223372036854775808.0, 9223372036854774784.0)) +
            (a >= 9223372036854775808.0 ? 1023 : 0));
    });
}

TEST_CASE("halves convert and compute with one rounding")
{
    std::vector<u64> v = {0,      0x8000, 0x3c00, 0xbc00, 0x3555, 0x7bff, 0x0001, 0x03ff,
                          0x0400, 0x7c00, 0xfc00, 0x4248, 0x1234, 0x9234, 0x5678, 0x6400};
    while (v.size() < 64) v.push_back(v[v.size() - 16] ^ (v.size() * 37 & 0x3ff));
    // A conversion to single precision and back keeps the value.
    check_op<u16, u16>(
        "cvt.f32.f16 %fa, %ha; cvt.rn.f16.f32 %hd, %fa;", registers::half, registers::half,
        [](u16 a, u16, u16) { return (a & 0x7fff) > 0x7c00 ? u16(0x7fff) : a; }, v);
    // A sum in single precision is exact for halves, so rounding it once gives the same result.
    auto sum = run_body("add.f16 %hd, %ha, %hb; cvt.u64.u16 %rdd, %hd;", v, rotated(v, 5), v);
    auto once = run_body("cvt.f32.f16 %fa, %ha; cvt.f32.f16 %fb, %hb; add.f32 %fc, %fa, %fb; "
                         "cvt.rn.f16.f32 %hd, %fc; cvt.u64.u16 %rdd, %hd;",
                         v, rotated(v, 5), v);
    CHECK(sum == once);
    auto pair =
        run_body("mov.b32 %a, {%ha, %hb}; fma.rn.f16x2 %d, %a, %a, %a; cvt.u64.u32 %rdd, %d;", v,
                 rotated(v, 5), v);
    auto low = run_body("fma.rn.f16 %hd, %ha, %ha, %ha; cvt.u64.u16 %rdd, %hd;", v, v, v);
    for (std::size_t i = 0; i < v.size(); ++i) CHECK((pair[i] & 0xffff) == low[i]);
}

TEST_CASE("modifiers of 16-bit numbers, and one rounding where doubles would round twice")
{
    const std::vector<u64> v(64, 0);
    // Each text leaves its result in %hd or %d.
    auto is = [&](const char *text, u32 expected) {
        CAPTURE(text);
        bool half = std::string(text).find("%hd") != std::string::npos;
        auto d = run_body(std::string(text) +
                              (half ? " cvt.u64.u16 %rdd, %hd;" : " cvt.u64.u32 %rdd, %d;"),
                          v, v, v);
        CHECK(u32(d[5]) == expected);
    };
    // 1.0234375 * 1.5 lies exactly between two bf16 values; 2^-100 more or less decides.
    is("mov.b16 %ha, 0x3F81; mov.b16 %hc, 0; fma.rn.bf16 %hd, %ha, %ha, %hc;", 0x3f82);
    is("mov.b16 %ha, 0x3F83; mov.b16 %hb, 0x3FC0; mov.b16 %hc, 0x0D80; fma.rn.bf16 %hd, %ha, %hb, "
       "%hc;",
       0x3fc5);
    is("mov.b16 %ha, 0x3F83; mov.b16 %hb, 0x3FC0; mov.b16 %hc, 0x8D80; fma.rn.bf16 %hd, %ha, %hb, "
       "%hc;",
       0x3fc4);
    is("mov.b16 %ha, 0xC000; fma.rn.relu.f16 %hd, %ha, %ha, %ha;", 0x4000);
    is("mov.b16 %ha, 0xC000; mov.b16 %hb, 0x3C00; fma.rn.relu.f16 %hd, %ha, %hb, %ha;", 0);
    is("mov.b16 %ha, 0x7E00; fma.rn.sat.f16 %hd, %ha, %ha, %ha;", 0);
    is("mov.b16 %ha, 0x7E00; fma.rn.relu.f16 %hd, %ha, %ha, %ha;", 0x7fff);
    is("mov.b16 %ha, 0x7E00; mov.b16 %hb, 0x4200; min.f16 %hd, %ha, %hb;", 0x4200);
    is("mov.b16 %ha, 0x7E00; mov.b16 %hb, 0x4200; min.NaN.f16 %hd, %ha, %hb;", 0x7fff);
    is("mov.b16 %ha, 0x8000; mov.b16 %hb, 0; max.f16 %hd, %ha, %hb;", 0);
    is("mov.b16 %ha, 0x0001; add.ftz.f16 %hd, %ha, %ha;", 0);
    is("mov.b16 %ha, 0x0001; add.f16 %hd, %ha, %ha;", 2);
    is("mov.b16 %ha, 0xFE00; neg.f16 %hd, %ha;", 0x7e00);
    is("mov.b16 %ha, 0x4000; ex2.approx.f16 %hd, %ha;", 0x4400);
    is("mov.b32 %a, 0x3C004000; mov.b32 %b, 0x40003C00; set.lt.f16x2.f16x2 %d, %a, %b;",
       0x3c000000);
    is("mov.b32 %a, 0x3C004000; mov.b32 %b, 0x40003C00; set.gt.u32.f16x2 %d, %a, %b;", 0x0000ffff);
    is("mov.b32 %a, 0x3C004000; mov.b32 %b, 0x40003C00; setp.gt.f16x2 %p|%q, %a, %b; selp.u32 %d, "
       "1, 0, "
       "%p; selp.u32 %e, 2, 0, %q; add.u32 %d, %d, %e;",
       1);
    is("mov.b16 %ha, 0x7E00; mov.b16 %hb, 0; setp.geu.f16 %p, %ha, %hb; selp.u32 %d, 1, 0, %p;", 1);
    is("mov.f32 %fa, 0fC0000000; mov.f32 %fb, 0f3F800000; cvt.rn.relu.f16x2.f32 %d, %fa, %fb;",
       0x3c00);
    is("mov.f32 %fa, 0fC0000000; mov.f32 %fb, 0f3F800000; cvt.rn.bf16x2.f32 %d, %fa, %fb;",
       0xc0003f80);
    is("mov.f32 %fa, 0f3F80FFFF; cvt.rz.bf16.f32 %hd, %fa;", 0x3f80);
}

TEST_CASE("the n-th set bit, and products of parts")
{
    const std::vector<u64> v(64, 0);
    auto is = [&](const char *text, u32 expected) {
        CAPTURE(text);
        CHECK(u32(run_body(std::string(text) + " cvt.u64.u32 %rdd, %d;", v, v, v)[3]) == expected);
    };
    is("fns.b32 %d, 0xF0, 0, 2;", 5);
    is("fns.b32 %d, 0xF0, 31, -1;", 7);
    is("fns.b32 %d, 0xF0, 6, 3;", ~0u);
    is("fns.b32 %d, 0xF0, 6, 0;", 6);
    is("fns.b32 %d, 0xF0, 3, 0;", ~0u);
    is("mov.u32 %a, 0xFFFF0002; mov.u32 %b, 0x04030201; dp2a.lo.s32.u32 %d, %a, %b, 10;", 10);
    is("mov.u32 %a, 0xFFFF0002; mov.u32 %b, 0x04030201; dp2a.hi.u32.u32 %d, %a, %b, 0;",
       0x3fffc + 6);
    is("mov.u32 %a, 0x01FF1000; mov.u32 %b, 0x02012000; vabsdiff4.u32.u32.u32 %d, %a, %b, 0;",
       0x01fe1000);
    is("mov.u32 %a, 0x01FF1000; mov.u32 %b, 0x02012000; vabsdiff4.u32.s32.s32.add %d, %a, %b, 5;",
       5 + 1 + 2 + 0x10);
}

TEST_CASE("the size of a warp is a constant wherever an immediate may stand")
{
    const std::vector<u64> v = integers();
    const auto is = [&](const std::string &text, std::function<u64(u64)> f) {
        CAPTURE(text);
        const auto d = run_body(text, v, v, v);
        for (std::size_t i = 0; i < v.size(); ++i) REQUIRE(d[i] == f(i));
    };
    const auto word = [&](const std::string &text, std::function<u32(u64)> f) {
        is(text + " cvt.u64.u32 %rdd, %d;", f);
    };
    word("mov.u32 %d, WARP_SZ;", [](u64) { return 32; });
    word("mov.b32 %d, -WARP_SZ;", [](u64) { return u32(-32); });
    word("div.u32 %d, %t, WARP_SZ;", [](u64 i) { return u32(i / 32); });
    word("mad.lo.u32 %d, %t, WARP_SZ, WARP_SZ*2+1;", [](u64 i) { return u32(32 * i + 65); });
    word("setp.lt.u32 %p, %t, WARP_SZ; selp.u32 %d, WARP_SZ-1, WARP_SZ, %p;",
         [](u64 i) { return i < 32 ? 31 : 32; });
    word("shfl.sync.bfly.b32 %d, %t, WARP_SZ/2, WARP_SZ-1, -1;", [](u64 i) { return u32(i ^ 16); });
    word("bar.sync 1, WARP_SZ*2; mov.u32 %d, 7;", [](u64) { return 7; });
    word(".shared .b32 s[WARP_SZ*3]; .reg .b32 %x; mov.u32 %x, s; mad.lo.u32 %x, %t, 4, %x; "
         "st.shared.u32 [%x+WARP_SZ], WARP_SZ; bar.sync 0; ld.shared.u32 %d, [%x+(WARP_SZ)];",
         [](u64) { return 32; });
    is("add.u64 %rdd, %rda, WARP_SZ;", [&](u64 i) { return v[i] + 32; });
    module m(".version 8.0\n.target sm_80\n.address_size 64\n"
             ".global .u32 sizes[WARP_SZ/16] = {WARP_SZ, 2*WARP_SZ};\n"
             ".visible .entry k()\n.maxntid WARP_SZ, 1, 1\n{ ret; }\n",
             0);
    u32 sizes[2];
    REQUIRE(m.find_variable("sizes")->bytes == sizeof sizes);
    std::memcpy(sizes, memory::instance().at(m.find_variable("sizes")->start), sizeof sizes);
    CHECK(sizes[0] == 32);
    CHECK(sizes[1] == 64);
}

// Each pair passes CC.CF on as ptxas does for sm_80 and sm_90: a subtraction is IADD3 of a and -b
// with its carry, and subc adds ~b with that carry.
TEST_CASE("one carry serves additions and subtractions")
{
    const auto v = integers();
    struct row {
        const char *op;
        bool subtracts, uses, is_mad;
    };
    const row first[] = {{"add.cc.", false, false, false},
                         {"sub.cc.", true, false, false},
                         {"mad.lo.cc.", false, false, true}};
    const row second[] = {{"addc.cc.", false, true, false},
                          {"subc.cc.", true, true, false},
                          {"madc.lo.cc.", false, true, true}};
    const auto check = [&](auto zero, registers r, const std::string &type) {
        using T = decltype(zero);
        using W = std::conditional_t<sizeof(T) == 8, unsigned __int128, u64>;
        const auto step = [](const row &how, T a, T b, T c, T &carry) {
            const T x = how.is_mad ? T(a * b) : a, y = how.is_mad ? c : how.subtracts ? T(~b) : b;
            const W sum = W(x) + y + (how.uses ? carry : T(how.subtracts));
            carry = T(sum >> (8 * sizeof(T)));
            return T(sum);
        };
        const auto text = [&](const row &how, const char *to, const char *x, const char *y) {
            return std::string(how.op) + type + " " + to + ", " + x + ", " + y +
                   (how.is_mad ? ", $c; " : "; ");
        };
        for (const row &f : first)
            for (const row &s : second) // a third instruction reads the carry of the second
                check_op<T, T>(
                    ".reg .b" + std::to_string(8 * sizeof(T)) + " %x, %y; " +
                        text(f, "%x", "$a", "$b") + text(s, "%y", "$b", "$a") + "addc." + type +
                        " $d, %y, %x;",
                    r, r,
                    [&](T a, T b, T c) {
                        T carry = 0;
                        const T x = step(f, a, b, c, carry), y = step(s, b, a, c, carry);
                        return T(x + y + carry);
                    },
                    v);
    };
    check(u32{}, registers::word, "u32");
    check(u64{}, registers::twice, "u64");
}

TEST_CASE("guards leave other lanes alone, predicates combine")
{
    auto v = integers();
    check_op<u32, u32>(
        "mov.u32 %d, 5; setp.gt.u32 %p, %a, %b; @%p add.u32 %d, %a, 1; @!%p add.u32 %d, %d, %b;",
        registers::word, registers::word, [](u32 a, u32 b, u32) { return a > b ? a + 1 : 5 + b; },
        v);
    check_op<u32, u32>(
        "setp.gt.u32 %p, %a, %b; setp.lt.u32 %q, %a, %c; xor.pred %s, %p, %q; not.pred %p, %s; "
        "selp.u32 %d, 1, 0, %p;",
        registers::word, registers::word,
        [](u32 a, u32 b, u32 c) { return u32(!((a > b) != (a < c))); }, v);
}

TEST_CASE("shuffles of every mode, also within segments")
{
    auto v = integers();
    struct row {
        const char *text;
        std::function<int(int)> from;
    };
    for (const row &r :
         {row{"shfl.sync.up.b32 %d|%p, %a, 3, 0, -1;", [](int l) { return l >= 3 ? l - 3 : l; }},
          row{"shfl.sync.down.b32 %d|%p, %a, 5, 31, -1;",
              [](int l) { return l + 5 < 32 ? l + 5 : l; }},
          row{"shfl.sync.bfly.b32 %d|%p, %a, 6, 31, -1;", [](int l) { return l ^ 6; }},
          row{"shfl.sync.idx.b32 %d|%p, %a, 2, 0x181f, -1;", [](int l) { return (l & 24) | 2; }},
          row{"shfl.sync.down.b32 %d|%p, %a, 3, 0x181f, -1;",
              [](int l) { return (l & 7) + 3 < 8 ? l + 3 : l; }}}) {
        CAPTURE(r.text);
        auto d = run_body(std::string(r.text) + " cvt.u64.u32 %rdd, %d;", v, v, v);
        for (int l = 0; l < 64; ++l) REQUIRE(d[l] == u32(v[l / 32 * 32 + r.from(l % 32)]));
    }
}

TEST_CASE("atomics of every operation, on both kinds of memory")
{
    std::vector<u64> v(64);
    for (std::size_t i = 0; i < 64; ++i) v[i] = i * 2654435761u % 1000;
    struct row {
        const char *op;
        const char *type;
        const char *init;
        std::function<u64(u64, u64)> f;
    };
    for (const row &r :
         {row{"add", "u32", "10", [](u64 o, u64 x) { return u64(u32(o + x)); }},
          row{"min", "s32", "-5", [](u64 o, u64 x) { return u64(u32(std::min(s32(o), s32(x)))); }},
          row{"max", "u32", "300", [](u64 o, u64 x) { return std::max(o, x); }},
          row{"and", "b32", "-1", [](u64 o, u64 x) { return o & x; }},
          row{"or", "b32", "0", [](u64 o, u64 x) { return o | x; }},
          row{"xor", "b32", "77", [](u64 o, u64 x) { return o ^ x; }},
          row{"inc", "u32", "3", [](u64 o, u64 x) { return o >= x ? 0 : o + 1; }},
          row{"dec", "u32", "3", [](u64 o, u64 x) { return o == 0 || o > x ? x : o - 1; }},
          row{"exch", "b32", "3", [](u64, u64 x) { return x; }}}) {
        CAPTURE(r.op);
        std::string body =
            std::string(
                ".shared .align 8 .b8 s[8]; setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [s], ") +
            r.init + "; bar.sync 0; atom.shared." + r.op + "." + r.type +
            " %d, [s], %a; bar.sync 0; ld.shared.u32 %e, [s];" + " mov.b64 %rdd, {%d, %e};";
        auto d = run_body(body, v, v, v);
        u64 now = u32(std::stoi(r.init));
        for (std::size_t i = 0; i < 64; ++i) {
            REQUIRE(u32(d[i]) == now);
            now = r.f(now, v[i]);
        }
        CHECK((d[0] >> 32) == now);
    }
    auto cas = run_body("atom.global.cas.b64 %rdd, [%rd4], %rdc, 99; ld.global.u64 %rda, [%rd4]; "
                        "add.u64 %rdd, %rdd, %rda;",
                        v, v, v);
    for (std::size_t i = 0; i < 64; ++i) CHECK(cas[i] == v[i] + 99);
    auto real = run_body("st.global.f32 [%rd4], 0f3F800000; red.global.add.f32 [%rd4], 0f40000000; "
                         "ld.global.u32 %d, [%rd4]; cvt.u64.u32 %rdd, %d;",
                         v, v, v);
    CHECK(real[5] == 0x40400000);
}

TEST_CASE("generic addresses reach every space")
{
    auto v = integers();
    auto d =
        run_body(".shared .align 8 .b8 s[512]; .local .align 8 .b8 m[16];\n"
                 "mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; add.u64 %rd6, %rd6, %rd1; st.u64 "
                 "[%rd6], %rda;\n"
                 "mov.u64 %rd7, m; cvta.local.u64 %rd7, %rd7; st.u64 [%rd7+8], %rdb;\n"
                 "setp.gt.u32 %p, %t, 20; selp.b64 %rd8, %rd6, %rd2, %p; add.u64 %rd7, %rd7, 8;\n"
                 "setp.gt.u32 %p, %t, 40; selp.b64 %rd8, %rd7, %rd8, %p; ld.u64 %rdd, [%rd8];\n"
                 "isspacep.local %q, %rd8; @%q add.u64 %rdd, %rdd, 1;",
                 v, rotated(v, 3), v);
    auto b = rotated(v, 3);
    for (std::size_t i = 0; i < 64; ++i) CHECK(d[i] == (i > 40 ? b[i] + 1 : v[i]));
}

TEST_CASE("narrow loads and stores extend and cut")
{
    auto v = integers();
    auto load = [&](const char *text) { return run_body(text, v, v, v); };
    auto s = load("ld.global.s8 %d, [%rd2]; cvt.u64.u32 %rdd, %d;");
    auto w = load("ld.global.s16 %rdd, [%rd2];");
    auto u = load("ld.global.u32 %rdd, [%rd2];");
    auto h =
        load("ld.global.v2.u16 {%ha, %hb}, [%rd2]; mov.b32 %d, {%hb, %ha}; cvt.u64.u32 %rdd, %d;");
    auto st = load(
        "st.global.u8 [%rd4+1], %b; st.global.u16 [%rd4+2], %rda; ld.global.u64 %rdd, [%rd4];");
    for (std::size_t i = 0; i < 64; ++i) {
        CHECK(s[i] == u32(s32(s8(v[i]))));
        CHECK(w[i] == u64(s64(s16(v[i]))));
        CHECK(u[i] == u32(v[i]));
        CHECK(h[i] == u32(v[i] << 16 | (v[i] >> 16 & 0xffff)));
        CHECK(st[i] == ((v[i] & ~u64{0xffffff00}) | (v[i] & 255) << 8 | (v[i] & 0xffff) << 16));
    }
}

TEST_CASE("barriers with reductions")
{
    auto v = integers();
    auto n = run_body("setp.gt.u32 %p, %a, 100; bar.red.popc.u32 %d, 0, %p; cvt.u64.u32 %rdd, %d;",
                      v, v, v);
    auto any = run_body(
        "setp.eq.u64 %p, %rda, 3; bar.red.or.pred %q, 0, %p; selp.u64 %rdd, 1, 0, %q;", v, v, v);
    auto all = run_body(
        "setp.eq.u64 %p, %rda, 3; bar.red.and.pred %q, 0, !%p; selp.u64 %rdd, 1, 0, %q;", v, v, v);
    u64 expected = 0;
    for (u64 x : v) expected += u32(x) > 100;
    CHECK(n == std::vector<u64>(64, expected));
    CHECK(any == std::vector<u64>(64, 1));
    CHECK(all == std::vector<u64>(64, 0));
}

TEST_CASE("lanes of one instruction may name different sets: tiles of a warp")
{
    auto v = integers();
    // Each mask holds the caller's tile of eight lanes; then come a ballot and a sum within it.
    std::string mask =
        "and.b32 %b, %t, 24; mov.u32 %c, 255; shl.b32 %c, %c, %b; setp.gt.u32 %p, %a, 1000;\n";
    auto d = run_body(mask + "vote.sync.ballot.b32 %d, %p, %c; redux.sync.add.u32 %e, %a, %c; "
                             "mov.b64 %rdd, {%d, %e};",
                      v, v, v);
    // Half of the lanes arrive on another path; the masks must still match.
    auto parted =
        run_body(mask + "and.b32 %e, %t, 1; setp.eq.u32 %q, %e, 0; @%q bra L; add.u32 %e, %e, 0;\n"
                        "L: vote.sync.ballot.b32 %d, %p, %c; cvt.u64.u32 %rdd, %d;",
                 v, v, v);
    for (int l = 0; l < 64; ++l) {
        u32 ballot = 0, sum = 0;
        for (int k = l & ~7; k < (l & ~7) + 8; ++k) {
            ballot |= u32(u32(v[k]) > 1000) << (k % 32);
            sum += u32(v[k]);
        }
        REQUIRE(u32(d[l]) == ballot);
        REQUIRE(u32(d[l] >> 32) == sum);
        REQUIRE(u32(parted[l]) == ballot);
    }
}
