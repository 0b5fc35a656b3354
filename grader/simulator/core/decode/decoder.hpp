// Declares the class that decodes one function; each file of this folder defines some of its
// members.
#pragma once

#include "draft.hpp"
#include "simulator/core/decode.hpp"
#include "simulator/ptx/control_flow.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simulator::core::decoding {

using ptx::statement;
using ptx::type;
using kind = ptx::operand::kind;

struct unknown_instruction {}; // thrown; the statement then ends the grid if it is executed

inline bool is_signed(type t)
{
    return t == type::s8 || t == type::s16 || t == type::s32 || t == type::s64;
}
inline bool is_wide(type t) { return ptx::size_of(t) == 8; }
inline bool is_half(type t)
{
    return t == type::f16 || t == type::f16x2 || t == type::bf16 || t == type::bf16x2;
}

inline type last_type(const statement &s) { return ptx::type_named(s.op.back()); }
inline const ptx::operand &operand_at(const statement &s, std::size_t k)
{
    if (k >= s.operands.size()) throw unknown_instruction{};
    return s.operands[k];
}
// True for `.shared` and `.shared::cta`, for instructions that parts_of does not read.
inline bool in_shared(const statement &s)
{
    return has_part(s, "shared") || has_part(s, "shared::cta");
}
inline std::string_view part(const statement &s, std::size_t k)
{
    if (k >= s.op.size()) throw unknown_instruction{};
    return s.op[k];
}

// The bits of a constant as a value of type `t`.
std::uint64_t immediate_bits(const ptx::operand &, type t);

// The modifiers of a memory instruction. `strong` as in the PTX memory model: volatile, mmio, or
// with a memory order.
struct access_parts {
    ptx::space space = ptx::space::generic;
    int count = 1;
    ptx::type type = ptx::type::none;
    std::string operation;
    bool strong = false, is_volatile = false, releases = false, acquires = false;
    bool block_scope = false;
};
access_parts parts_of(const statement &);
bool is_hint(std::string_view part);
const char *fence_of(const statement &); // the name of the fence handler for its scope

// Marks each statement that is a weak load whose value reaches the compare operand of an `atom.cas`
// of the same size at the same address, as in
//
//     old = *p;
//     do assumed = old, old = atomicCAS(p, assumed, f(assumed)); while (old != assumed);
//
// Such a load may run concurrently with atomics of other threads: if one intervenes, the swap
// fails.
std::vector<char> guessing_loads(const ptx::body &);

class decoder {
public:
    decoder(code &out, const decode_input &input) : out_(out), in_(input) {}
    void run();

private:
    using extent = std::pair<std::uint32_t, std::uint32_t>; // offset, bytes

    // decoder.cpp: the function as a whole, and the instructions within a basic block
    void lay_out_variables();
    void decode_straight_line(const statement &);
    void decode_by_opcode(const statement &);
    void finish();
    void set_roles();
    void set_source_locations();

    // blocks.cpp
    void find_leaders();
    basic_block &block() { return out_.blocks.back(); }
    void open_block(std::size_t s);
    void close(block_terminator, std::size_t next, int target = -1);
    void decode_at(std::size_t s);
    void skip_by_branch(const statement &, std::size_t s);
    void close_with(const statement &, block_terminator, std::size_t s);
    void link_blocks();

    // data_flow.cpp
    void mark_spin_loops(const flow_graph &);
    bool is_spin_loop(const std::set<int> &inside, int header) const;
    void mark_moves();

    // operands.cpp
    // Appends an instruction of the current statement, with its guard. The next emit() invalidates
    // the reference.
    draft &emit(handler, operand d = no_operand, std::initializer_list<operand> sources = {});
    draft &emit(const std::string &opcode, operand d = no_operand,
                std::initializer_list<operand> sources = {});
    draft &emit(draft, const std::string &opcode);
    static handler handler_of(const std::string &opcode);
    operand new_register(type);
    operand constant(std::uint64_t bits, register_class);
    std::uint32_t add_list(std::vector<operand>);
    operand source(const ptx::operand &, type);
    operand source_register(operand, type);
    void resize(operand to, operand from, type);
    operand source_sum(const ptx::operand &, type);
    operand source_special(const ptx::operand &, type);
    operand source_symbol(const std::string &name, std::uint64_t addend, type);
    operand destination(const ptx::operand &, type);
    void finish_destinations();
    operand emit_value(const std::string &opcode, type, std::initializer_list<operand> from,
                       std::uint32_t extra = 0);
    void move_to(const ptx::operand &to, type, operand from);
    static void set_second_result(draft &, const statement &);
    void check_operands(std::size_t first) const;

    // arithmetic.cpp
    void decode_plain(const statement &);
    void decode_half(const statement &, type);
    void decode_compare(const statement &);
    void decode_video(const statement &);
    void decode_saturated(const statement &);

    // moves.cpp and conversions.cpp
    void decode_mov(const statement &);
    void move_vector(const statement &, type);
    draft vector_move(const ptx::operand &, type, bool writes);
    void decode_cvt(const statement &);
    void decode_cvt_pair(const statement &, type to, std::uint32_t extra);
    void decode_pack(const statement &);
    void clear_negative(operand, std::string_view format);

    // memory.cpp
    struct effective_address {
        operand base;
        std::int64_t offset;
    };
    effective_address address_of(const ptx::operand &);
    void set_address(draft &, const ptx::operand &);
    void set_data(draft &, const ptx::operand &data, const access_parts &, bool store);
    void infer_space(access_parts &, const ptx::operand &address) const;
    void decode_load_or_store(const statement &);
    void decode_param_access(draft &, const ptx::operand &address, bool store,
                             const std::string &width);
    void decode_atomic(const statement &);
    void decode_alloca(const statement &);
    void decode_cvta(const statement &);
    void decode_isspacep(const statement &);

    // texture_access.cpp
    bool is_object_and_coordinates(const ptx::operand &) const;
    std::array<operand, 3> coordinates(const ptx::operand &texel, type first, type others);
    void decode_texture(const statement &);
    void decode_surface(const statement &);
    void set_to_zero(const draft &load);

    // async_copies.cpp and mbarriers.cpp
    void decode_copy(const statement &);
    void decode_copy_start(const statement &);
    void decode_copy_arrival(const statement &);
    void decode_mbarrier(const statement &);
    void emit_mbarrier_update(const statement &, const ptx::operand &address,
                              const std::string &operation, const ptx::operand *state,
                              operand count);
    void decode_test_wait(const statement &);

    // control.cpp and barriers.cpp: the instructions that end a basic block
    void decode_terminator(const statement &, block_terminator);
    draft &emit_guarded(const statement &);
    void decode_call(const statement &);
    void decode_barrier(const statement &);
    void decode_warp_sync(const statement &);

    struct resize_request {
        operand to, from;
        ptx::type type;
    };

    code &out_;
    const decode_input &in_;
    std::vector<draft> drafts_;
    std::vector<register_class> classes_;
    std::vector<type> types_;
    std::vector<char> leaders_;
    std::vector<char> guesses_; // by statement
    std::vector<int> block_of_;
    std::map<std::pair<std::uint64_t, register_class>, operand> constants_;
    std::unordered_map<operand, register_class> constant_classes_;
    std::unordered_map<std::string, std::uint32_t> locals_;
    std::unordered_map<std::string, extent> own_parameters_, arguments_;
    std::vector<resize_request> pending_resize_;
    std::uint32_t current_ = 0; // the statement that is being decoded
    operand guard_ = no_operand;
    std::uint32_t guard_flip_ = 0;
    bool closed_ = false; // the last block has its terminator
};

} // namespace simulator::core::decoding
