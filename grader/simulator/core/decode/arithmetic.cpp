// Decodes arithmetic, logic and comparisons.
#include "decoder.hpp"
#include "simulator/lanes/handler_table.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace simulator::core::decoding {
namespace {

type doubled(type t)
{
    switch (t) {
    case type::u16:
        return type::u32;
    case type::s16:
        return type::s32;
    case type::u32:
        return type::u64;
    default:
        return type::s64;
    }
}

// Returns the type of source operand k of an arithmetic instruction of type `t`.
type source_type(const statement &s, type t, std::size_t k)
{
    auto op = s.op[0];
    if ((op == "shl" || op == "shr") && k == 1) return type::u32;
    if (op == "selp" && k == 2) return type::pred;
    if (op == "slct" && k == 2) return last_type(s);
    if (op == "bfe" && k >= 1) return type::u32;
    if (op == "bfi" && k >= 2) return type::u32;
    if (op == "mad" && s.op.size() > 1 && s.op[1] == "wide" && k == 2) return doubled(t);
    return t;
}

type result_type(const statement &s, type t)
{
    auto op = s.op[0];
    if (op == "popc" || op == "clz" || op == "bfind") return type::u32;
    if (op == "testp") return type::pred;
    if ((op == "mul" || op == "mad") && s.op.size() > 1 && s.op[1] == "wide") return doubled(t);
    return t;
}

// Returns div.rn.ftz.f32 for div.ftz.rn.f32, which ptxas accepts as well.
std::string with_rounding_first(statement s)
{
    std::stable_partition(s.op.begin() + 1, s.op.end(), [](std::string_view part) {
        return part == "rn" || part == "rz" || part == "rm" || part == "rp" || part == "approx" ||
               part == "full";
    });
    return s.opcode();
}

std::uint32_t index_in(std::span<const std::string_view> names, std::string_view name)
{
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) throw unknown_instruction{};
    return static_cast<std::uint32_t>(at - names.begin());
}

// setp and set of f16 and bf16 share one handler for all comparisons.
std::uint32_t half_comparison_named(std::string_view name)
{
    static constexpr std::string_view names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    return index_in(names, name) << half_comparison_shift;
}

} // namespace

void decoder::decode_plain(const statement &s)
{
    auto op = s.op[0];
    std::string name = s.opcode();
    std::size_t operands = s.operands.size();
    if (operands != sources_of(op) + (op == "lop3" ? 2 : 1)) throw unknown_instruction{};
    type t = last_type(s);
    if (op == "slct") t = ptx::type_named(part(s, s.op.size() - 2));
    if (op == "dp4a" || op == "dp2a" || op == "vabsdiff4") t = type::u32;
    std::uint32_t extra = 0;
    if (op == "lop3") {
        if (s.operands[4].what != kind::immediate) throw unknown_instruction{};
        extra = static_cast<std::uint32_t>(s.operands[4].bits);
        operands = 4;
    }
    if (op == "prmt") {
        static constexpr std::string_view modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
        extra = index_in(modes, s.op.size() > 2 ? s.op[2] : "");
        name = "prmt.b32";
        t = type::b32;
    }
    handler h = find_handler(name);
    if (h == nullptr) h = handler_of(with_rounding_first(s));
    if (t == type::none) throw unknown_instruction{};
    operand in[4] = {no_operand, no_operand, no_operand, no_operand};
    std::uint8_t flags = 0;
    for (std::size_t k = 1; k < operands; ++k) {
        in[k - 1] = source(s.operands[k], source_type(s, t, k - 1));
        if (s.operands[k].negated) flags |= k == 1 ? negate_a : k == 2 ? negate_b : negate_c;
    }
    operand d = destination(s.operands[0], result_type(s, t));
    draft &x = emit(h, d, {in[0], in[1], in[2]});
    x.ins.flags = flags;
    x.ins.extra = extra;
    bool carries = op == "addc" || op == "subc" || op == "madc" || has_part(s, "cc");
    if (carries) x.ins.extra = carry_operand;
    if (operands == 5) {
        x.ins.extra = in[3];
        x.extra_reads = (in[3] & constant_bit) == 0;
    }
}

// Decodes arithmetic on f16 and bf16: the modifiers become half_flags.
void decoder::decode_half(const statement &s, type t)
{
    std::uint32_t flags = 0;
    for (std::size_t k = 1; k + 1 < s.op.size(); ++k) {
        auto part = s.op[k];
        if (part == "ftz")
            flags |= half_ftz;
        else if (part == "sat")
            flags |= half_saturate;
        else if (part == "relu")
            flags |= half_relu;
        else if (part == "NaN")
            flags |= half_nan;
        else if (part != "rn" && part != "approx")
            throw unknown_instruction{};
    }
    handler h = handler_of("half." + std::string(s.op[0]) + "." + std::string(s.op.back()));
    if (s.operands.size() != sources_of(s.op[0]) + 1) throw unknown_instruction{};
    operand in[3] = {no_operand, no_operand, no_operand};
    for (std::size_t k = 1; k < s.operands.size(); ++k) in[k - 1] = source(s.operands[k], t);
    operand to = destination(s.operands[0], t);
    emit(h, to, {in[0], in[1], in[2]}).ins.extra = flags;
}

void decoder::decode_compare(const statement &s)
{
    bool set = s.op[0] == "set";
    type t = last_type(s);
    std::string name = std::string(s.op[0]) + "." + std::string(part(s, 1));
    bool half = is_half(t);
    if (half) name = std::string("half.") + std::string(s.op[0]);
    std::uint32_t extra = half ? half_comparison_named(part(s, 1)) : 0;
    std::size_t types = set ? 2 : 1;
    if (s.op.size() < 2 + types) throw unknown_instruction{};
    for (std::size_t k = 2; k + types < s.op.size(); ++k) {
        auto part = s.op[k];
        if (part == "and")
            extra |= combine_and;
        else if (part == "or")
            extra |= combine_or;
        else if (part == "xor")
            extra |= combine_xor;
        else if (part == "ftz")
            extra |= combine_ftz;
        else
            throw unknown_instruction{};
    }
    for (std::size_t k = s.op.size() - types; k < s.op.size(); ++k)
        name += "." + std::string(s.op[k]);
    handler h = handler_of(name);
    std::size_t first = s.paired ? 2 : 1;
    operand a = source(operand_at(s, first), t), b = source(operand_at(s, first + 1), t);
    operand c = no_operand;
    bool negated = false;
    if ((extra & combine_mask) != 0) {
        c = source(operand_at(s, first + 2), type::pred);
        negated = s.operands[first + 2].negated;
    }
    type result = set ? ptx::type_named(s.op[s.op.size() - 2]) : type::pred;
    operand d = destination(s.operands[0], result);
    draft &x = emit(h, d, {a, b, c});
    if (negated) x.ins.flags = negate_c;
    set_second_result(x, s);
    x.ins.extra = extra | (x.offset_writes ? combine_second : combine_none);
}

// Decodes scalar video instructions, such as vadd.u32.s32.s32.sat.max d, a, b, c, without byte and
// half-word selectors. They are computed in 64 bits, then saturated (.sat) or truncated to 32 bits,
// then combined with c by the secondary operation, if any.
void decoder::decode_video(const statement &s)
{
    static const std::map<std::string_view, const char *> known = {
        {"vadd", "add.s64"}, {"vsub", "sub.s64"}, {"vabsdiff", "sub.s64"}, {"vmin", "min.s64"},
        {"vmax", "max.s64"}, {"vshl", "shl.b64"}, {"vshr", "shr.s64"}};
    const auto op = known.find(s.op[0]);
    if (op == known.end()) throw unknown_instruction{};
    for (std::size_t k = 1; k < 4; ++k)
        if (part(s, k) != "u32" && part(s, k) != "s32") throw unknown_instruction{};
    const bool shifts = s.op[0] == "vshl" || s.op[0] == "vshr";
    std::string combine;
    std::uint32_t saturate = 0;
    bool wraps = false, clamps = false;
    for (std::size_t k = 4; k < s.op.size(); ++k) {
        const auto p = s.op[k];
        wraps |= shifts && p == "wrap";
        clamps |= shifts && p == "clamp";
        if (p == "sat")
            saturate = convert_saturate;
        else if (p == "add" || p == "min" || p == "max")
            combine = p;
        else if (!wraps && !clamps)
            throw unknown_instruction{};
    }
    if (s.operands.size() != (combine.empty() ? 3u : 4u) || (shifts && wraps == clamps))
        throw unknown_instruction{};
    if (s.op[0] == "vshl" && saturate != 0)
        throw unknown_instruction{}; // may need more than 64 bits
    const std::string to(s.op[1]);
    const auto word = [&](std::size_t k) { return source(s.operands[k], type::u32); };
    const auto wide = [&](std::size_t k) {
        return emit_value("cvt.s64." + std::string(s.op[k + 1]), type::s64, {word(k)});
    };
    const auto number = [&](std::uint64_t n) { return constant(n, register_class::narrow); };
    const operand a = wide(1);
    operand b = no_operand;
    if (shifts)
        b = emit_value(wraps ? "and.b32" : "min.u32", type::u32,
                       {word(2), number(wraps ? 31 : 32)});
    else
        b = wide(2);
    operand d = emit_value(op->second, type::s64, {a, b});
    if (s.op[0] == "vabsdiff") d = emit_value("abs.s64", type::s64, {d});
    d = emit_value("cvt." + to + ".s64", type::u32, {d}, saturate);
    if (!combine.empty()) d = emit_value(combine + "." + to, type::u32, {d, word(3)});
    move_to(s.operands[0], type::u32, d);
}

// Decodes add.sat.s32 and sub.sat.s32: PTX allows .sat on integer add and sub for .s32 only.
void decoder::decode_saturated(const statement &s)
{
    if (s.operands.size() != 3) throw unknown_instruction{};
    operand wide[2];
    for (std::size_t k = 0; k < 2; ++k)
        wide[k] = emit_value("cvt.s64.s32", type::s64, {source(operand_at(s, k + 1), type::s32)});
    const operand r = emit_value(std::string(s.op[0]) + ".s64", type::s64, {wide[0], wide[1]});
    move_to(operand_at(s, 0), type::s32,
            emit_value("cvt.s32.s64", type::s32, {r}, convert_saturate));
}

} // namespace simulator::core::decoding
