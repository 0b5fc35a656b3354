// Decoded instructions, and the functions that hold them.
//
// A register holds the values of 32 lanes side by side, with 4 bytes per lane (types of up to 32
// bits) or 8; a predicate register is one 32-bit mask. An operand is an offset into the frame's
// registers or, with its top bit set, into the code's constants, so that a handler need not
// distinguish them. A handler writes only the lanes of its mask, which are the active lanes whose
// guard predicate is true.
#pragma once

#include "simulator/machine/counters.hpp"
#include "simulator/machine/machine.hpp"
#include "simulator/ptx/ptx.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simulator::core {

using lane_mask = std::uint32_t;
using operand = std::uint32_t;
inline constexpr operand constant_bit = 0x80000000u;
inline constexpr operand no_operand = ~operand{0};
inline constexpr lane_mask all_lanes = ~lane_mask{0};
inline bool is_register(operand o) { return (o & constant_bit) == 0; }

// The windows of shared, local and parameter memory in the generic address space lie above every
// address that a process can map.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << 56;
inline constexpr std::uint64_t param_window = std::uint64_t{3} << 56;
inline constexpr std::uint64_t code_window = std::uint64_t{4} << 56; // device functions

// Limits of compute capability 8.0 and PTX 8.1, in bytes: local memory per thread, parameters per
// kernel.
inline constexpr std::uint32_t max_local_bytes = 512 << 10, max_parameters = 32764;

struct context;
struct instruction;
using handler = void (*)(context &, const instruction &, lane_mask);

enum class block_terminator : std::uint8_t { // the instruction that ends a basic block
    fall,
    branch,
    table, // brx.idx
    call,
    leave, // ret, exit
    barrier,
    warp_sync, // a .sync instruction: waits for the lanes of its member mask, then runs its handler
    pause,     // nanosleep: ends the warp's turn
};

struct instruction {
    handler run = nullptr;
    operand d = no_operand, a = no_operand, b = no_operand, c = no_operand;
    operand guard = no_operand;   // the predicate of @p or @!p
    std::uint32_t guard_flip = 0; // all ones for @!p
    std::int64_t offset = 0;      // of an address; or a selector for the handler
    // An index into code::lists (vector elements, call arguments), or a selector.
    std::uint32_t extra = 0;
    std::uint32_t site = 0;      // of memory instructions: index into the memos and worst requests
    std::uint32_t statement = 0; // index into ptx::body::statements
    std::uint8_t wide = 0;       // of memory instructions: access_bits; else 1 for 64-bit registers
    bool begins = false;         // first instruction of its statement
    std::uint8_t bytes = 0, count = 0; // per element; number of elements
    std::uint8_t flags = 0;
};
enum access_bits : std::uint8_t { // bits of instruction::wide for a memory instruction
    wide_data = 1,                // the data registers have 8 bytes per lane
    wide_address = 2,             // the address register has 8 bytes per lane
    volatile_access = 4,
    block_scope = 8, // a strong access, or an acquire, with .cta scope
};
enum instruction_flags : std::uint8_t { // bits of instruction::flags
    signed_value = 1,
    negate_a = 2,   // predicate operands with `!`
    only_moved = 2, // a load whose destination registers are only stored
    negate_b = 4,
    negate_c = 8,
    guess = 16,         // the plain load of a compare-and-swap loop, see decode/cas_loops.cpp
    leaves_kernel = 32, // exit, as opposed to ret: ends the thread inside a function too
    orders_memory = 64, // bar.warp.sync (__syncwarp()), unlike shfl, vote, match and redux
    strong = 128,       // a strong operation of the PTX memory model: not a plain ld or st
};

// How an instruction uses its operands, for the tracking of undefined values
// (core/undefined_values.hpp).
struct instruction_role {
    enum class kind : std::uint8_t {
        other, // uses its sources, or passes them to other threads or functions
        compute,
        select,  // selp
        absorb,  // and, or
        compare, // setp
        load,
        store,
    };
    kind does = kind::other;
    bool writes_d = true; // otherwise d is a source
    bool reads_extra = false, writes_offset = false, reads_list = false, writes_list = false;
    bool followed = false; // a load whose result some instruction reads
};

struct basic_block {
    std::uint32_t first = 0, last = 0; // instructions before the terminator: [first, last)
    block_terminator end = block_terminator::fall;
    std::uint32_t terminator = 0; // the instruction at index `last`; unused for fall
    int next = -1, target = -1;   // -1: the end of the function
    int reconvergence_block = -1; // where diverging lanes reconverge; -1: at the function's end
    bool spins = false;           // its backward branch closes a spin loop, which only polls memory
    std::vector<int> targets;     // of brx.idx
    std::uint32_t first_statement = 0, last_statement = 0; // [first, last)
    std::uint32_t work = 0, work_per_lane = 0;             // units of work, decode/weights.cpp
};

// The last access pattern of one memory instruction and its cost: an equal pattern costs the same.
struct site_memo {
    std::uint32_t delta[32];
    lane_mask mask = 0;
    std::uint32_t phase = 0; // first address modulo 128
    std::uint32_t sectors = 0, ideal = 0, wavefronts = 0;
    std::uint32_t lanes = 0; // bytes per lane, and the space
};

// The most expensive request (one warp, one instruction) of a memory instruction in this launch.
struct site_worst {
    std::uint64_t address[32];
    std::uint32_t score = 0; // 0: none
    lane_mask mask = 0;
    std::uint32_t cost = 0, ideal = 0, bytes = 0;
    std::uint32_t statement = 0;
    access_kind kind = access_kind::load;
    bool shared = false;
    bool several_addresses = false; // an atomic whose lanes have not all used one address
};

struct source_line { // line 0: unknown
    std::string file;
    int line = 0;
};

struct call_site {
    int callee = -1;     // index into the module's functions; -1: indirect
    std::string builtin; // vprintf, __assertfail, malloc, free
    // Offsets in the caller's argument area, and sizes.
    std::vector<std::uint32_t> in, in_bytes, out, out_bytes;
};

// Counters of a function in this launch.
struct function_counts {
    std::vector<std::uint64_t> runs, lanes_run; // by basic block
    std::vector<std::uint64_t> lanes_off;       // by statement: lanes whose guard was false
    std::vector<site_counts> counted;           // by statement
    std::vector<site_memo> memos;               // by site
    std::vector<site_worst> worst;              // by site
};

struct code {
    std::string display_name; // the kernel, demangled without parameters
    const ptx::function *source = nullptr;
    ptx::body body;
    std::vector<instruction> instructions;
    std::vector<instruction_role> roles; // by instruction
    std::vector<basic_block> blocks;
    std::vector<std::byte> constants;
    std::vector<std::vector<operand>> lists;
    std::vector<const operand *> list_pointers; // to the lists' elements
    std::vector<call_site> calls;
    std::uint32_t register_bytes = 0;
    std::uint32_t local_bytes = 0;    // per thread, without callees
    std::uint32_t argument_bytes = 0; // per thread: call arguments, parameters and results
    std::vector<std::uint32_t> parameter_offsets, result_offsets; // in the callee's argument area
    std::uint32_t sites = 0; // number of memory instructions, where a cp.async counts twice
    std::vector<source_line> locations;
    std::vector<int> location_of_statement; // index into locations
    std::uint32_t index = 0;                // in its program
    function_counts counts;
};

} // namespace simulator::core
