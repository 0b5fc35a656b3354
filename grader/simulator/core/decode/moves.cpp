// Decodes mov: between registers, and packing into or unpacking from a vector of them.
#include "decoder.hpp"

namespace simulator::core::decoding {

void decoder::decode_mov(const statement &s)
{
    const auto &to = operand_at(s, 0), &from = operand_at(s, 1);
    type t = last_type(s);
    if (s.op.size() == 3) {
        move_vector(s, t);
    } else if (to.what == kind::vector) {
        draft parts = vector_move(to, t, true);
        parts.ins.a = source(from, t);
        emit(parts, "core.unpack");
    } else if (from.what == kind::vector) {
        draft parts = vector_move(from, t, false);
        parts.ins.d = destination(to, t);
        emit(parts, "core.pack");
    } else {
        const handler h = handler_of(s.opcode());
        const operand a = source(from, t), d = destination(to, t);
        draft &x = emit(h, d, {a});
        if (from.negated) x.ins.flags = negate_a;
    }
}

// mov.v2.u32 {a, b}, {b, a}: all sources are read before any destination is written.
void decoder::move_vector(const statement &s, type t)
{
    const auto &to = operand_at(s, 0), &from = operand_at(s, 1);
    const std::size_t count = part(s, 1) == "v2" ? 2 : part(s, 1) == "v4" ? 4 : 0;
    if (count == 0 || to.what != kind::vector || from.what != kind::vector ||
        to.elements.size() != count || from.elements.size() != count)
        throw unknown_instruction{};
    const std::string name = "mov." + std::string(s.op.back());
    std::vector<operand> read;
    for (const auto &e : from.elements) read.push_back(emit_value(name, t, {source(e, t)}));
    for (std::size_t k = 0; k < count; ++k) emit(name, destination(to.elements[k], t), {read[k]});
}

draft decoder::vector_move(const ptx::operand &v, type t, bool writes)
{
    draft d;
    std::uint32_t total = ptx::size_of(t), count = static_cast<std::uint32_t>(v.elements.size());
    if (count == 0 || total > 8 || total % count != 0 || total / count > 4)
        throw unknown_instruction{};
    type part = total / count == 4 ? type::b32 : total / count == 2 ? type::b16 : type::b8;
    std::vector<operand> list;
    for (const auto &e : v.elements) {
        if (writes && e.what == kind::discard)
            list.push_back(no_operand);
        else
            list.push_back(writes ? destination(e, part) : source(e, part));
    }
    d.ins.extra = add_list(list);
    d.ins.count = static_cast<std::uint8_t>(count);
    d.ins.bytes = static_cast<std::uint8_t>(total / count);
    d.ins.wide = total == 8 ? 1 : 0;
    d.list = writes ? draft::list_role::writes : draft::list_role::reads;
    return d;
}

} // namespace simulator::core::decoding
