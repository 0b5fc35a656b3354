// Defines an instruction on virtual registers, the operands its handler needs, and register
// allocation.
#pragma once

#include "simulator/lanes/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace simulator::core {

// An instruction before register allocation: operand fields hold virtual register numbers.
struct draft {
    instruction ins;
    bool extra_reads = false;   // ins.extra is an operand that is read
    bool offset_writes = false; // ins.offset is an operand that is written
    enum class list_role : std::uint8_t { none, writes, reads } list = list_role::none;
    bool writes_d = true; // false: d is read
};

// Call f with each register that the instruction reads, or each that it writes.
template <class F>
void each_read(const draft &d, const std::vector<std::vector<operand>> &lists, F f)
{
    auto visit = [&](operand o) {
        if (is_register(o)) f(o);
    };
    visit(d.ins.a);
    visit(d.ins.b);
    visit(d.ins.c);
    visit(d.ins.guard);
    if (!d.writes_d) visit(d.ins.d);
    if (d.extra_reads) visit(d.ins.extra);
    if (d.list == draft::list_role::reads)
        for (operand o : lists[d.ins.extra]) visit(o);
}

template <class F>
void each_write(const draft &d, const std::vector<std::vector<operand>> &lists, F f)
{
    if (d.writes_d && is_register(d.ins.d)) f(d.ins.d);
    if (d.offset_writes) f(static_cast<operand>(d.ins.offset));
    if (d.list == draft::list_role::writes)
        for (operand o : lists[d.ins.extra])
            if (is_register(o)) f(o);
}

// A predicate is one mask of 4 bytes; the others have 32 lanes of 4 or of 8 bytes.
enum class register_class : std::uint8_t { predicate, narrow, wide };
register_class class_of(ptx::type);

// The register class that a handler needs for an operand. Handlers do not check: an operand of
// another class, or a missing one, would make them access memory beyond a register.
enum class need : std::uint8_t {
    nothing,
    predicate,
    narrow,
    wide,
    narrow_or_none,
    wide_or_none,
    data,     // wide if bit 0 of instruction::wide is set, otherwise narrow
    address,  // the same with bit 1
    combined, // a predicate if setp or set combines its result with one, otherwise not read
    amount, // of cp.async: src-size or none; the predicate ignore-src if instruction::extra is set
};
struct operand_needs {
    need d = need::nothing, a = need::nothing, b = need::nothing, c = need::nothing,
         extra = need::nothing, list = need::nothing;
    // Loads into d or stores from b; with several elements, into or from the list's registers.
    bool loads = false, stores = false;
};
operand_needs needs_of(std::string_view handler); // by its name in the opcode table
const operand_needs &needs_of(handler);
std::size_t sources_of(std::string_view op); // number of source operands of arithmetic
bool fits(const draft &, const operand_needs &, const std::vector<std::vector<operand>> &lists,
          const std::function<std::optional<register_class>(operand)> &class_of);

// Allocates registers: those whose live intervals do not overlap may share a slot of the frame.
// Rewrites the operands of drafts and lists to offsets in the frame, and returns its size in bytes.
// Blocks hold draft indices.
std::uint32_t allocate_registers(std::vector<draft> &, std::vector<std::vector<operand>> &lists,
                                 const std::vector<basic_block> &,
                                 const std::vector<register_class> &);

// The carry flag of add.cc and similar: a predicate at the start of every frame.
inline constexpr operand carry_operand = 0;

// The role of a handler's instruction; `other` for null.
instruction_role::kind kind_of(handler);

// The work of one warp instruction: a part for the warp and one for each active lane.
struct instruction_weight {
    std::uint32_t per_warp = 0, per_lane = 0;
};
instruction_weight weight_of(std::string_view handler); // by its name in the opcode table
instruction_weight weight_of(handler);
// Sets the weight of a basic block of these instructions.
void weigh(basic_block &, const std::vector<instruction> &);

} // namespace simulator::core
