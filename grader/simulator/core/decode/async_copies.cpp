// Decodes cp.async: copies, their groups and waits, and their arrival at an mbarrier.
#include "simulator/core/async_copies.hpp"
#include "decoder.hpp"

namespace simulator::core::decoding {

void decoder::decode_copy(const statement &s)
{
    if (part(s, 1) != "async") throw unknown_instruction{};
    auto what = part(s, 2);
    if (what == "mbarrier") return decode_copy_arrival(s);
    if (what == "ca" || what == "cg") return decode_copy_start(s);
    if (what != "commit_group" && what != "wait_all" && what != "wait_group")
        throw unknown_instruction{};
    if (what == "wait_group" && operand_at(s, 0).what != kind::immediate)
        throw unknown_instruction{};
    std::uint64_t pending = what == "wait_group" ? operand_at(s, 0).bits : 0;
    draft &d = emit("core.wait_for_copies");
    d.ins.extra = static_cast<std::uint32_t>(what == "commit_group" ? copy_wait::commit
                                             : what == "wait_all"   ? copy_wait::all
                                                                    : copy_wait::group);
    d.ins.offset = static_cast<std::int64_t>(pending);
}

// cp.async.ca.shared.global [dst], [src], cp-size{, src-size or the predicate ignore-src};
void decoder::decode_copy_start(const statement &s)
{
    for (std::size_t k = 3; k < s.op.size(); ++k)
        if (!s.op[k].starts_with("shared") && s.op[k] != "global" && !is_hint(s.op[k]))
            throw unknown_instruction{};
    if (has_part(s, "shared::cluster") || operand_at(s, 2).what != kind::immediate ||
        s.operands.size() > 4 || has_part(s, "L2::cache_hint"))
        throw unknown_instruction{};
    draft d;
    d.ins.site = out_.sites;
    out_.sites += 2; // the load from global memory and the store to shared memory
    const auto [base, offset] = address_of(operand_at(s, 1));
    d.ins.b = base;
    if (offset != 0)
        d.ins.b =
            emit_value("add.u64", type::u64,
                       {base, constant(static_cast<std::uint64_t>(offset), register_class::wide)});
    set_address(d, operand_at(s, 0));
    const std::uint64_t bytes = operand_at(s, 2).bits;
    if (bytes != 16 && (part(s, 2) == "cg" || (bytes != 4 && bytes != 8)))
        throw unknown_instruction{};
    d.ins.bytes = static_cast<std::uint8_t>(bytes);
    d.ins.count = 1;
    if (s.operands.size() == 4) {
        const auto &last = s.operands[3];
        bool ignores_source =
            last.what == kind::reg &&
            classes_[static_cast<std::size_t>(last.id)] == register_class::predicate;
        if (last.negated) throw unknown_instruction{};
        d.ins.c = source(last, ignores_source ? type::pred : type::u32);
        d.ins.extra = ignores_source ? 1 : 0;
    }
    emit(d, "core.copy_async");
}

// cp.async.mbarrier.arrive, which arrives when the thread's earlier copies have completed: here it
// completes them at once. Without .noinc it first raises the pending count by one, so its arrival
// changes nothing; with .noinc it arrives.
void decoder::decode_copy_arrival(const statement &s)
{
    if (part(s, 3) != "arrive") throw unknown_instruction{};
    emit("core.wait_for_copies").ins.extra = static_cast<std::uint32_t>(copy_wait::all);
    if (has_part(s, "noinc"))
        emit_mbarrier_update(s, operand_at(s, 0), "mbarrier_arrive", nullptr, no_operand);
}

} // namespace simulator::core::decoding
