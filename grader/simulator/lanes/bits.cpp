// Runs bit operations: logic, also on predicates, shifts, bit fields, and byte permutations.
#include "lane_operations.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// Unlike unary(), runs for active lanes only: for costly operations.
template <auto op, class T> void unary_each(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto d = lanes_of<storage<T>>(c, i.d);
    active(mask, [=](int l) { d[l] = bits_of<T>(op(value_of<T>(a[l]))); });
}

template <auto op, class T> void shift(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto b = lanes_of<u32>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(op(value_of<T>(a[l]), b[l])); });
}

// The result has 32 bits, whatever the operand's size is.
template <auto op, class T> void to_u32(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) { d[l] = op(value_of<T>(a[l])); });
}

constexpr auto logic_and = []<class T>(T a, T b) -> T { return a & b; };
constexpr auto logic_or = []<class T>(T a, T b) -> T { return a | b; };
constexpr auto logic_xor = []<class T>(T a, T b) -> T { return a ^ b; };
constexpr auto logic_not = []<class T>(T a) -> T { return ~a; };
constexpr auto logic_cnot = []<class T>(T a) -> T { return a == 0; };

constexpr auto shift_left = []<class T>(T a, u32 n) -> T {
    return n >= 8 * sizeof(T) ? T(0) : a << (n & (8 * sizeof(T) - 1));
};
constexpr auto shift_right = []<class T>(T a, u32 n) -> T {
    constexpr u32 bits = 8 * sizeof(T);
    if constexpr (is_signed<T>)
        return a >> (n >= bits ? bits - 1 : n);
    else
        return n >= bits ? T(0) : a >> (n & (bits - 1));
};
constexpr auto population = [](auto a) { return static_cast<u32>(__builtin_popcountll(a)); };
constexpr auto leading_zeros = []<class T>(T a) -> u32 {
    return a == 0 ? 8 * sizeof(T) : static_cast<u32>(__builtin_clzll(a)) - (64 - 8 * sizeof(T));
};
// bfind: position of the most significant non-sign bit, or 0xffffffff if there is none.
constexpr auto highest_bit = []<class T>(T a) -> u32 {
    auto v = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    return v == 0 ? ~0u : 63 - static_cast<u32>(__builtin_clzll(v));
};
constexpr auto highest_bit_shift = []<class T>(T a) -> u32 {
    u32 p = highest_bit(a);
    return p == ~0u ? p : static_cast<u32>(8 * sizeof(T) - 1) - p;
};
constexpr auto reversed_bits = []<class T>(T a) {
    T r = 0;
    for (u32 k = 0; k < 8 * sizeof(T); ++k) r |= (a >> k & 1) << (8 * sizeof(T) - 1 - k);
    return r;
};

// A signed field is sign-extended from its top bit or, if it reaches beyond the operand, from the
// operand's.
template <class T> void bit_field_extract(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    auto d = lanes_of<storage<T>>(c, i.d);
    constexpr u32 bits = 8 * sizeof(T);
    active(mask, [=](int l) {
        u32 position = b[l] & 255, length = e[l] & 255, top = position + length - 1;
        T v = value_of<T>(a[l]);
        u64 keep = length >= 64 ? ~u64{0} : (u64{1} << length) - 1, field;
        if constexpr (is_signed<T>) {
            s64 wide = v;
            bool sign = length != 0 && (wide >> (top < bits ? top : bits - 1) & 1) != 0;
            field = (static_cast<u64>(wide >> (position < 63 ? position : 63)) & keep) |
                    (sign ? ~keep : 0);
        } else {
            field = position >= bits ? 0 : v >> position & keep;
        }
        d[l] = static_cast<storage<T>>(field);
    });
}

// bfi d, a, b, position, length: position is operand c, length the one in i.extra.
template <class T> void bit_field_insert(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<T>(c, i.a), b = lanes_of<T>(c, i.b), d = lanes_of<T>(c, i.d);
    auto p = lanes_of<u32>(c, i.c), n = lanes_of<u32>(c, i.extra);
    constexpr u32 bits = 8 * sizeof(T);
    active(mask, [=](int l) {
        u32 position = p[l] & 255, length = n[l] & 255;
        T keep = length >= bits ? ~T{0} : (T{1} << length) - 1;
        if (position >= bits)
            keep = 0;
        else
            keep <<= position;
        d[l] = (b[l] & ~keep) | ((position < bits ? a[l] << position : 0) & keep);
    });
}

template <bool clamp> void bit_mask(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) {
        u32 position = clamp ? a[l] : a[l] & 31, length = clamp ? b[l] : b[l] & 31;
        u64 field = length >= 32 ? 0xffffffffu : (u64{1} << length) - 1;
        d[l] = position >= 32 ? 0 : static_cast<u32>(field << position);
    });
}

template <bool left, bool clamp> void funnel(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u64 v = u64{b[l]} << 32 | a[l];
        u32 n = clamp ? (e[l] > 32 ? 32 : e[l]) : e[l] & 31;
        return static_cast<u32>(left ? (v << n) >> 32 : v >> n);
    });
}

// The truth table is in i.extra: bit 4 a + 2 b + c is the result for these input bits.
void lop3(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    u32 term[8];
    for (int k = 0; k < 8; ++k) term[k] = (i.extra >> k & 1) != 0 ? ~0u : 0u;
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u32 x = a[l], y = b[l], z = e[l];
        return (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) | (term[2] & ~x & y & ~z) |
               (term[3] & ~x & y & z) | (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) |
               (term[6] & x & y & ~z) | (term[7] & x & y & z);
    });
}

enum byte_mode : u32 {
    by_index,
    forward4,
    backward4,
    replicate8,
    edge_left,
    edge_right,
    replicate16
};
void permute_bytes(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c),
         d = lanes_of<u32>(c, i.d);
    u32 mode = i.extra;
    active(mask, [=](int l) {
        u64 v = u64{b[l]} << 32 | a[l];
        u32 r = 0, s = e[l] & 3;
        for (u32 k = 0; k < 4; ++k) {
            u32 pick = mode == by_index     ? e[l] >> (4 * k) & 15
                       : mode == forward4   ? s + k
                       : mode == backward4  ? (s - k) & 7
                       : mode == replicate8 ? s
                       : mode == edge_left  ? (k < s ? s : k)
                       : mode == edge_right ? (k < s ? k : s)
                                            : (s & 1) * 2 + (k & 1);
            u32 byte = static_cast<u32>(v >> (8 * (pick & 7))) & 255;
            if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
            r |= byte << (8 * k);
        }
        d[l] = r;
    });
}

// fns d, mask, base, n: position of the n-th set bit from `base` upwards, or downwards if n is
// negative. For n = 0: base, if its bit is set.
void nth_set_bit(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    auto d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) {
        s64 n = static_cast<s32>(e[l]), left = n < 0 ? -n : n, at = b[l];
        if (n == 0) left = 1;
        d[l] = ~0u;
        for (; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
            if ((a[l] >> at & 1) != 0 && --left == 0) {
                d[l] = static_cast<u32>(at);
                break;
            }
            if (n == 0) break;
        }
    });
}

template <auto op> void predicate_operation(context &c, const instruction &i, lane_mask mask)
{
    lane_mask a = predicate(c, i.a, i.flags & negate_a);
    lane_mask b = i.b == no_operand ? 0 : predicate(c, i.b, i.flags & negate_b);
    set_predicate(c, i.d, mask, op(a, b));
}
constexpr auto first_of = [](lane_mask a, lane_mask) { return a; };
constexpr auto not_first = [](lane_mask a, lane_mask) { return ~a; };

template <class T> void logic_rows(handler_sink &out, const char *type)
{
    out.add("and", type, binary<logic_and, T>);
    out.add("or", type, binary<logic_or, T>);
    out.add("xor", type, binary<logic_xor, T>);
    out.add("not", type, unary<logic_not, T>);
    out.add("cnot", type, unary<logic_cnot, T>);
    out.add("shl", type, shift<shift_left, T>);
    out.add("shr", type, shift<shift_right, T>);
    out.add("shr", type_name<T>, shift<shift_right, T>);
}
template <class... T> void field_rows(handler_sink &out)
{
    (out.add("bfind", type_name<T>, to_u32<highest_bit, T>), ...);
    (out.add("bfind.shiftamt", type_name<T>, to_u32<highest_bit_shift, T>), ...);
    (out.add("bfe", type_name<T>, bit_field_extract<T>), ...);
}

} // namespace

void list_bits(handler_sink &out)
{
    logic_rows<u16>(out, "b16");
    logic_rows<u32>(out, "b32");
    logic_rows<u64>(out, "b64");
    out.add("shr", "s16", shift<shift_right, s16>);
    out.add("shr", "s32", shift<shift_right, s32>);
    out.add("shr", "s64", shift<shift_right, s64>);
    out.add("and", "pred", predicate_operation<logic_and>);
    out.add("or", "pred", predicate_operation<logic_or>);
    out.add("xor", "pred", predicate_operation<logic_xor>);
    out.add("not", "pred", predicate_operation<not_first>);
    out.add("mov", "pred", predicate_operation<first_of>);
    out.add("popc", "b32", to_u32<population, u32>);
    out.add("popc", "b64", to_u32<population, u64>);
    out.add("clz", "b32", to_u32<leading_zeros, u32>);
    out.add("clz", "b64", to_u32<leading_zeros, u64>);
    out.add("brev", "b32", unary_each<reversed_bits, u32>);
    out.add("brev", "b64", unary_each<reversed_bits, u64>);
    field_rows<u32, s32, u64, s64>(out);
    out.add("bfi", "b32", bit_field_insert<u32>);
    out.add("bfi", "b64", bit_field_insert<u64>);
    out.add("bmsk.clamp", "b32", bit_mask<true>);
    out.add("bmsk.wrap", "b32", bit_mask<false>);
    out.add("shf.l.clamp", "b32", funnel<true, true>);
    out.add("shf.l.wrap", "b32", funnel<true, false>);
    out.add("shf.r.clamp", "b32", funnel<false, true>);
    out.add("shf.r.wrap", "b32", funnel<false, false>);
    out.add("fns", "b32", nth_set_bit);
    out.add("lop3", "b32", lop3);
    out.add("prmt", "b32", permute_bytes);
}

} // namespace simulator::core::SIMULATOR_LEVEL
