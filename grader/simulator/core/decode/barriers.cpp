// Decodes block barriers (bar, barrier) and warp-synchronous instructions (bar.warp.sync, shfl,
// vote, match, redux).
#include "decoder.hpp"

namespace simulator::core::decoding {
namespace {

std::string mode_of(const statement &s, std::initializer_list<const char *> modes)
{
    for (const char *m : modes)
        if (has_part(s, m)) return m;
    throw unknown_instruction{};
}

} // namespace

void decoder::decode_barrier(const statement &s)
{
    bool arrive = has_part(s, "arrive"), reduce = has_part(s, "red");
    std::size_t first = reduce ? 1 : 0, operands = s.operands.size() - first;
    operand a = source(operand_at(s, first), type::u32), b = no_operand, p = no_operand,
            d = no_operand;
    if (operands == (reduce ? 3u : 2u)) b = source(operand_at(s, first + 1), type::u32);
    std::uint32_t operation = arrive ? 1 : 0; // 0: sync
    std::uint8_t flags = 0;
    if (reduce) {
        operation = has_part(s, "popc") ? 2 : has_part(s, "and") ? 3 : 4;
        p = source(s.operands.back(), type::pred);
        if (s.operands.back().negated) flags |= negate_c;
        d = destination(s.operands[0], operation == 2 ? type::u32 : type::pred);
        if (!pending_resize_.empty()) throw unknown_instruction{};
    }
    draft &x = emit(nullptr, d, {a, b, p});
    x.ins.extra = operation;
    x.ins.flags = flags;
}

void decoder::decode_warp_sync(const statement &s)
{
    auto op = s.op[0];
    draft d;
    operand mask = no_operand;
    // The forms without .sync, which PTX 6.4 removed for sm_70 and later, name no member mask: the
    // active lanes take part.
    const bool masked = has_part(s, "sync") || op == "bar" || op == "barrier";
    const std::size_t unmasked = op == "vote" ? 2 : op == "shfl" ? 4 + s.paired : 0;
    if (!masked && s.operands.size() != unmasked) throw unknown_instruction{};
    if (!masked) mask = emit_value("core.activemask", type::u32, {});
    std::string name = "core." + std::string(op);
    if (op == "shfl") {
        if (masked) mask = source(s.operands.back(), type::u32);
        std::size_t first = s.paired ? 2 : 1;
        d.ins.a = source(operand_at(s, first), type::b32);
        d.ins.b = source(operand_at(s, first + 1), type::u32);
        d.ins.c = source(operand_at(s, first + 2), type::u32);
        d.ins.d = destination(s.operands[0], type::b32);
        set_second_result(d, s);
        name += "." + mode_of(s, {"up", "down", "bfly", "idx"});
    } else if (op == "vote") {
        if (masked) mask = source(operand_at(s, 2), type::u32);
        d.ins.a = source(operand_at(s, 1), type::pred);
        if (s.operands[1].negated) d.ins.flags = negate_a;
        std::string mode = mode_of(s, {"ballot", "any", "all", "uni"});
        d.ins.d = destination(s.operands[0], mode == "ballot" ? type::u32 : type::pred);
        name += "." + mode;
    } else if (op == "match") {
        mask = source(s.operands.back(), type::u32);
        type t = last_type(s);
        d.ins.a = source(operand_at(s, s.paired ? 2 : 1), t);
        d.ins.wide = is_wide(t) ? 1 : 0;
        d.ins.d = destination(s.operands[0], type::u32);
        set_second_result(d, s);
        name += "." + mode_of(s, {"any", "all"});
    } else if (op == "redux") {
        mask = source(operand_at(s, 2), type::u32);
        d.ins.a = source(operand_at(s, 1), type::u32);
        d.ins.d = destination(s.operands[0], type::u32);
        name += "." + mode_of(s, {"add", "min", "max", "and", "or", "xor"}) + "." +
                std::string(s.op.back());
    } else {
        mask = source(operand_at(s, 0), type::u32);
        name = "core.warp_barrier";
        d.ins.flags = orders_memory;
    }
    if (!pending_resize_.empty()) throw unknown_instruction{};
    d.ins.extra = mask;
    d.extra_reads = is_register(mask);
    emit(d, name);
}

} // namespace simulator::core::decoding
