// Decodes mbarrier: barriers that are objects in shared memory.
#include "decoder.hpp"
#include "simulator/lanes/handler_table.hpp"

#include <set>

namespace simulator::core::decoding {

void decoder::decode_mbarrier(const statement &s)
{
    static const std::set<std::string_view> known = {
        "shared", "shared::cta", "b64", "release", "acquire", "cta", "parity", "noComplete"};
    auto what = part(s, 1);
    for (std::size_t k = 2; k < s.op.size(); ++k)
        if (known.count(s.op[k]) == 0) throw unknown_instruction{};
    if (what == "init") {
        emit_mbarrier_update(s, operand_at(s, 0), "mbarrier_init", nullptr,
                             source(operand_at(s, 1), type::u64));
    } else if (what == "inval") {
        emit_mbarrier_update(s, operand_at(s, 0), "mbarrier_init", nullptr,
                             constant(0, register_class::wide));
    } else if (what == "arrive" || what == "arrive_drop") {
        operand count = s.operands.size() > 2 ? source(s.operands[2], type::u64) : no_operand;
        emit_mbarrier_update(s, operand_at(s, 1), "mbarrier_" + std::string(what), &s.operands[0],
                             count);
    } else if (what == "test_wait") {
        decode_test_wait(s);
    } else {
        throw unknown_instruction{};
    }
}

// Emits an atomic update of the mbarrier; `state` receives its previous value. Count: 1 if absent.
void decoder::emit_mbarrier_update(const statement &s, const ptx::operand &address,
                                   const std::string &operation, const ptx::operand *state,
                                   operand count)
{
    draft d;
    d.ins.site = out_.sites++;
    set_address(d, address);
    d.ins.b = count == no_operand ? constant(1, register_class::wide) : count;
    if (state != nullptr && state->what != kind::discard) d.ins.d = destination(*state, type::u64);
    d.ins.bytes = 8;
    d.ins.count = 1;
    d.ins.flags |= strong;
    emit("core.fence"); // mbarrier.arrive is a release by default
    emit(d, (in_shared(s) ? "atomic.shared." : "atomic.generic.") + operation + ".b64");
}

// Decodes test_wait: true if the phase of a state, or of that parity, has completed.
void decoder::decode_test_wait(const statement &s)
{
    draft load;
    load.ins.site = out_.sites++;
    set_address(load, operand_at(s, 1));
    load.ins.wide |= 1;
    load.ins.bytes = 8;
    load.ins.count = 1;
    load.ins.flags = strong;
    operand now = load.ins.d = new_register(type::u64);
    operand then = source(operand_at(s, 2), type::u64);
    emit(load, in_shared(s) ? "load.shared.8x8" : "load.generic.8x8");
    emit("core.acquire");
    operand shift = constant(mbarrier_phase_bit, register_class::narrow),
            one = constant(1, register_class::wide);
    now = emit_value("shr.u64", type::u64, {now, shift});
    if (has_part(s, "parity")) {
        now = emit_value("and.b64", type::u64, {now, one});
        then = emit_value("and.b64", type::u64, {then, one});
    } else {
        then = emit_value("shr.u64", type::u64, {then, shift});
    }
    operand p = destination(operand_at(s, 0), type::pred);
    emit("setp.ne.u64", p, {now, then});
}

} // namespace simulator::core::decoding
