// Decodes cvt between types, and its packed forms.
#include "decoder.hpp"
#include "simulator/lanes/handler_table.hpp"

namespace simulator::core::decoding {
namespace {

std::uint32_t convert_flag(std::string_view part)
{
    if (part == "rn" || part == "rni") return convert_nearest;
    if (part == "rz" || part == "rzi") return convert_zero;
    if (part == "rm" || part == "rmi") return convert_down;
    if (part == "rp" || part == "rpi") return convert_up;
    if (part == "sat") return convert_saturate;
    if (part == "ftz") return convert_ftz;
    throw unknown_instruction{};
}

} // namespace

void decoder::decode_cvt(const statement &s)
{
    if (has_part(s, "pack")) return decode_pack(s);
    type from = last_type(s), to = ptx::type_named(part(s, s.op.size() - 2));
    std::uint32_t extra = 0;
    for (std::size_t k = 1; k + 2 < s.op.size(); ++k)
        if (s.op[k] != "relu") extra |= convert_flag(s.op[k]);
    bool relu = has_part(s, "relu");
    if (from == type::none || to == type::none) throw unknown_instruction{};
    if (to == type::f16x2 || to == type::bf16x2) return decode_cvt_pair(s, to, extra);
    handler h =
        handler_of("cvt." + std::string(s.op[s.op.size() - 2]) + "." + std::string(s.op.back()));
    operand a = source(operand_at(s, 1), from), d = destination(operand_at(s, 0), to);
    emit(h, d, {a}).ins.extra = extra;
    if (relu) clear_negative(d, s.op[s.op.size() - 2]);
    std::uint32_t size = ptx::size_of(to);
    bool wider = s.operands[0].what == kind::reg && ptx::size_of(types_[s.operands[0].id]) > size;
    if (size < 4 && is_signed(to) && wider) {
        draft &e = emit("core.extend", d, {d});
        e.ins.bytes = static_cast<std::uint8_t>(size);
        e.ins.flags = signed_value;
    }
}

void decoder::clear_negative(operand d, std::string_view format)
{
    emit("core.relu." + std::string(format), d, {d});
}

// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
void decoder::decode_cvt_pair(const statement &s, type to, std::uint32_t extra)
{
    const std::string format = to == type::f16x2 ? "f16" : "bf16";
    operand halves[2];
    for (int k = 0; k < 2; ++k) {
        const operand a = source(operand_at(s, 2 - k), type::f32);
        halves[k] = emit_value("cvt." + format + ".f32", type::b16, {a}, extra);
        if (has_part(s, "relu")) clear_negative(halves[k], format);
    }
    draft p;
    p.ins.extra = add_list({halves[0], halves[1]});
    p.ins.count = 2;
    p.ins.bytes = 2;
    p.list = draft::list_role::reads;
    p.ins.d = destination(operand_at(s, 0), type::b32);
    emit(p, "core.pack");
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: saturated b in the lowest byte, saturated a in the next, the
// lower half of c in the upper half. cvt.pack.sat.u16.s32 d, a, b fills the halves with b and a.
void decoder::decode_pack(const statement &s)
{
    if (s.op.size() < 5 || s.op[2] != "sat" || s.op[4] != "s32") throw unknown_instruction{};
    const std::uint32_t size = ptx::size_of(ptx::type_named(s.op[3]));
    const bool has_c = s.op.size() == 6 && s.op[5] == "b32";
    if ((size != 2 || s.op.size() != 5) && (size != 1 || !has_c)) throw unknown_instruction{};
    if (s.operands.size() != (has_c ? 4u : 3u)) throw unknown_instruction{};
    const auto fit = [&](std::size_t k) {
        return emit_value("cvt." + std::string(s.op[3]) + ".s32", type::b32,
                          {source(s.operands[k], type::s32)}, convert_saturate);
    };
    const operand a = fit(1), b = fit(2);
    const auto bytes = [&](operand low, operand high, std::uint64_t chosen) {
        return emit_value("prmt.b32", type::b32,
                          {low, high, constant(chosen, register_class::narrow)});
    };
    operand d = bytes(b, a, has_c ? 0x40 : 0x5410);
    if (has_c) d = bytes(d, source(s.operands[3], type::b32), 0x5410);
    move_to(s.operands[0], type::b32, d);
}

} // namespace simulator::core::decoding
