// Decodes the instructions that end a basic block: branches, calls and returns.
#include "decoder.hpp"
#include "simulator/core/grid.hpp"

#include <set>

namespace simulator::core::decoding {
namespace {

void check_terminator_parts(const statement &s)
{
    static const std::set<std::string_view> known = {
        "uni", "idx", "sync",   "cta", "warp", "arrive", "red", "aligned", "popc",
        "and", "or",  "xor",    "add", "min",  "max",    "up",  "down",    "bfly",
        "any", "all", "ballot", "b32", "b64",  "u32",    "s32", "pred"};
    for (std::size_t k = 1; k < s.op.size(); ++k)
        if (known.count(s.op[k]) == 0) throw unknown_instruction{};
}

} // namespace

void decoder::decode_terminator(const statement &s, block_terminator end)
{
    std::size_t before = drafts_.size();
    try {
        check_terminator_parts(s);
        if (s.operands.empty() && end != block_terminator::branch && end != block_terminator::leave)
            throw unknown_instruction{};
        switch (end) {
        case block_terminator::branch:
        case block_terminator::leave:
            emit_guarded(s);
            break;
        case block_terminator::table:
            emit(nullptr, no_operand, {source(operand_at(s, 0), type::u32)});
            break;
        case block_terminator::call:
            decode_call(s);
            break;
        case block_terminator::barrier:
            decode_barrier(s);
            break;
        case block_terminator::warp_sync:
            decode_warp_sync(s);
            break;
        default:
            emit(nullptr);
            break;
        }
        check_operands(before);
    } catch (const unknown_instruction &) {
        drafts_.resize(before);
        emit("core.unsupported");
        emit(nullptr); // closes the block, but is never reached: the grid has stopped
    }
    pending_resize_.clear();
}

// Emits a branch or return, which only lanes take whose guard is true.
draft &decoder::emit_guarded(const statement &s)
{
    draft &d = emit(nullptr);
    if (s.guard >= 0) {
        d.ins.guard = static_cast<operand>(s.guard);
        d.ins.guard_flip = s.guard_negated ? all_lanes : 0;
    }
    if (s.op[0] == "exit") d.ins.flags = leaves_kernel;
    return d;
}

void decoder::decode_call(const statement &s)
{
    call_site site;
    std::size_t k = 0;
    auto take_list = [&](std::vector<std::uint32_t> &at, std::vector<std::uint32_t> &bytes) {
        for (const auto &e : s.operands[k].elements) {
            auto a = arguments_.find(e.name);
            if (a == arguments_.end()) throw unknown_instruction{};
            at.push_back(a->second.first);
            bytes.push_back(a->second.second);
        }
        ++k;
    };
    if (operand_at(s, k).what == kind::list) take_list(site.out, site.out_bytes);
    const auto &target = operand_at(s, k++);
    if (k < s.operands.size() && s.operands[k].what == kind::list)
        take_list(site.in, site.in_bytes);
    operand a = no_operand;
    if (target.what == kind::reg) {
        a = source(target, type::u64);
    } else if (target.what == kind::symbol) {
        site.callee = in_.function_index(target.name);
        if (site.callee < 0) site.builtin = target.name;
    } else {
        throw unknown_instruction{};
    }
    if (site.callee < 0 && a == no_operand && !is_builtin(site.builtin))
        throw unknown_instruction{};
    emit(nullptr, no_operand, {a}).ins.extra = static_cast<std::uint32_t>(out_.calls.size());
    out_.calls.push_back(std::move(site));
}

} // namespace simulator::core::decoding
