// Internals of the simulated machine: decoded instructions, warps, and the context in which the
// handler of an instruction runs.
// Only files of core/ and lanes/ include it.
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

struct alignas(64) cache_line {
    std::byte bytes[64];
};

struct frame {          // the call frame of a function, shared by some lanes of a warp
    code *of = nullptr; // the function; null: the frame is free
    std::byte *registers = nullptr;
    std::vector<cache_line> storage;  // the registers, except for the kernel's own frame
    std::vector<std::byte> arguments; // lane-major: lane * argument_bytes + offset
    std::uint32_t local_base = 0;
    std::uint32_t alloca_bytes = 0; // local memory of alloca, after the function's variables
    std::uint32_t depth = 0;        // calls from the kernel to here
    std::uint32_t users = 0;        // number of lanes
};

// Converged lanes of one warp, an entry of its SIMT stack (here a tree, because paths may take
// turns). When the lanes diverge, the path becomes a join that waits for its children to
// reconverge.
struct path {
    enum class state : std::uint8_t { unused, ready, joining, at_barrier, at_sync };
    state now = state::unused;
    bool is_call = false; // a join that lanes reach by `ret`
    lane_mask mask = 0;   // running; of a join: the lanes that have arrived
    int block = 0;        // next basic block
    int join = -1;        // reconvergence block where these lanes wait for their siblings
    int parent = -1, children = 0;
    int frame_index = 0;           // into warp::frames
    int call_block = 0;            // of a join by a call: the basic block that the call ends
    std::uint32_t waits_for = 0;   // at_barrier: the barrier's number; at_sync: the member mask
    std::uint32_t spin_turns = 0;  // turns spent in loops, see warp_run.cpp
    std::uint32_t last_branch = 0; // the last conditional branch or exit: its statement + 1
};

struct thread_block;

struct copies_in_flight; // defined in core/async_copies.hpp
class undefined_values;  // defined in core/undefined_values.hpp

struct warp {
    warp();
    warp(warp &&) noexcept;
    ~warp();
    thread_block *block = nullptr;
    std::uint32_t index = 0;
    lane_mask live = 0; // lanes that have not exited
    int current = 0;    // the path that runs
    std::vector<path> paths;
    std::vector<frame> frames;
    std::vector<std::byte> local; // word-interleaved: (word * 32 + lane) * 4
    std::vector<std::uint8_t> local_shadow;
    std::unique_ptr<copies_in_flight> copies;    // null until the first copy
    std::unique_ptr<undefined_values> undefined; // null until the first such value
};

struct barrier_state {
    std::uint32_t arrived = 0, expected = 0; // in threads; expected 0: the whole block
    std::uint32_t true_threads = 0;          // of bar.red: threads whose predicate is true
};

struct block_order; // defined in core/races.hpp
class race_checker;
class weak_memory; // defined in core/weak_memory.hpp

struct thread_block {
    thread_block();
    ~thread_block();
    dim index;
    std::uint64_t number = 0;            // index of the block in its grid
    std::uint32_t threads = 0, live = 0; // live: threads that have not exited
    std::uint64_t steps = 0;             // warp instructions so far
    std::vector<warp> warps;
    std::vector<cache_line> registers;
    std::vector<std::byte> shared;
    std::vector<std::uint8_t> shared_shadow;
    std::array<barrier_state, 16> barriers;
    bool barrier_misused = false;       // reported once per block
    const code *ended_in = nullptr;     // the function in which the first thread exited
    std::uint32_t ended_after = 0;      // path::last_branch of that thread; 0: none
    std::unique_ptr<block_order> order; // for race detection; null when races are not checked
};

// The set of 32-byte sectors that a launch touched: one bit each, in pages allocated on demand.
class sector_set {
public:
    __attribute__((always_inline)) void add(std::uint64_t sector)
    {
        std::uint64_t *words = last_page_ == sector >> page_shift ? last_ : words_of(sector);
        std::uint64_t bit = std::uint64_t{1} << (sector & 63);
        std::uint64_t &word = words[(sector & (page_sectors - 1)) >> 6];
        count_ += (word & bit) == 0;
        word |= bit;
    }
    __attribute__((always_inline)) void add_range(std::uint64_t first, std::uint64_t last)
    {
        for (auto s = first; s <= last; ++s) add(s);
    }
    std::uint64_t count() const { return count_; }
    // The 4096-byte ranges that contain any touched sector, as first sectors, in no order.
    std::vector<std::uint64_t> touched_ranges() const;
    template <typename function> void each(function body) const // in no order
    {
        for (const std::uint64_t number : touched_)
            for (std::uint64_t k = 0; k < page_sectors / 64; ++k)
                for (std::uint64_t word = pages_[number]->words[k]; word; word &= word - 1)
                    body((number << page_shift) + 64 * k +
                         static_cast<std::uint64_t>(__builtin_ctzll(word)));
    }
    void clear();

private:
    static constexpr int page_shift = 15;
    static constexpr std::uint64_t page_sectors = std::uint64_t{1} << page_shift;
    struct page {
        std::uint64_t words[page_sectors / 64];
        bool listed; // in touched_
    };
    std::uint64_t *words_of(std::uint64_t sector);
    std::uint64_t last_page_ = ~std::uint64_t{0};
    std::uint64_t *last_ = nullptr; // the words of that page
    std::uint64_t count_ = 0;
    std::vector<std::unique_ptr<page>> pages_; // by number; null: never touched
    std::vector<std::uint64_t> touched_;       // numbers of the pages with a touched sector
};

struct grid; // defined in core/grid.hpp

// The state that a handler sees while a path of a warp runs. It holds plain pointers so that no
// library code is compiled into the files that are built for several instruction sets.
struct context {
    std::byte *bases[2]; // the frame's registers; the code's constants
    std::uint64_t base;  // device memory: first address, size, bytes, shadow memory
    std::uint64_t reserved;
    std::byte *data;
    std::uint8_t *shadow;
    std::byte *shared;
    std::uint8_t *shared_shadow;
    std::uint32_t shared_bytes;
    std::uint32_t local_bytes; // per thread, in this warp's buffer
    std::byte *local;
    std::uint8_t *local_shadow;
    const std::byte *params;
    std::uint32_t param_bytes;
    site_counts *counted; // by statement
    site_memo *memos;     // by site
    site_worst *worst;    // by site
    sector_set *read, *written;
    std::uint8_t closed = 0; // shadow bits of peers' memory that the grid's device cannot access
    bool count, check_memory, check_initialised;
    bool lanes_descend = false;  // an atomic instruction serves the highest lane first
    race_checker *races;         // null: races are not checked
    weak_memory *weak = nullptr; // null: memory is sequentially consistent
    bool stop = false;           // a fault ended the grid
    bool slow_path = false; // `stop` is set, or some registers of the warp hold undefined values
    bool changed = false;   // a store or atomic has run
    std::byte *arguments;   // of the current frame
    std::uint32_t argument_stride;
    std::uint32_t local_base;
    const operand *const *lists;
    warp *w;
    thread_block *b;
    grid *g;
    code *running;                      // the function that runs
    const std::uint32_t *thread_ids[3]; // of the 32 lanes of this warp
    std::uint32_t specials[18] = {};    // indexed by `special`

    void halt() { stop = slow_path = true; }
};

enum class access_problem : std::uint8_t { outside, misaligned, uninitialised, read_only };

// Records a finding for one lane of an access. Ends the grid, unless the problem is
// `uninitialised`. `lanes`: how many lanes have the problem.
void report(context &, const instruction &, access_problem, int lane, std::uint64_t address,
            std::uint32_t bytes, ptx::space, bool write, std::uint64_t lanes);
// Reports a load of uninitialised memory, either immediately or when the value is used.
// `elements`: for each element k, the lanes whose k-th element is uninitialised.
void undefined_read(context &, const instruction &, const lane_mask *elements,
                    const std::uint64_t *address, std::uint32_t bytes, ptx::space);

// Adds the finding for a load of uninitialised memory that no pending cp.async will write. `times`:
// number of reads, over all lanes.
void report_undefined(context &, const instruction &, int lane, std::uint64_t address,
                      std::uint32_t bytes, ptx::space, std::uint64_t times);
// Ends the grid with an error of cudaError_t and a finding.
void stop_grid(context &, const instruction &, finding_kind, int error, int lane,
               std::string detail);

// Checks this access for races with earlier ones and records it in shadow memory. Must be called
// before the access changes memory. `copied`: the bytes that a cp.async writes, by lane.
enum class access_use : std::uint8_t { read, write, atomic, copy };
void check_races(context &, const instruction &, lane_mask, const std::uint64_t *address,
                 ptx::space, std::uint32_t bytes, access_use, bool contiguous,
                 const std::byte (*copied)[16] = nullptr);

// Strong accesses to device memory while weakly ordered memory is simulated, see
// core/weak_memory.hpp.
void note_strong_store(context &, const instruction &, lane_mask, const std::uint64_t *address);
void note_atomic(context &, const instruction &, lane_mask, const std::uint64_t *address);
lane_mask older_values(context &, const instruction &, lane_mask, const std::uint64_t *address,
                       std::uint32_t offset, std::byte (*older)[8]);

// Starts a cp.async: `bytes` of each lane (4, 8 or 16) are to be written at its offset `to` in
// shared memory.
void start_copies(context &, const instruction &, lane_mask, const std::uint64_t *to,
                  const std::byte (*bytes)[16]);

// Maps an opcode as written, without cache and ordering hints ("add.s32", "ld.global.f32"), to its
// handler; null if there is none.
handler find_handler(std::string_view opcode);

// List the handlers that are compiled only once, not for each instruction set.
class handler_sink; // defined in lanes/handler_table.hpp
void list_warp_handlers(handler_sink &);
void list_texture_handlers(handler_sink &);

// Maps a byte of a lane's local memory to its offset in the warp's, where the 32-bit words of the
// 32 lanes are interleaved as on hardware.
__attribute__((always_inline)) inline std::uint64_t local_position(std::uint64_t byte, int lane)
{
    return (byte >> 2) * 128 + static_cast<std::uint64_t>(lane) * 4 + (byte & 3);
}

__attribute__((always_inline)) inline lane_mask low_lanes(std::uint32_t n)
{
    return n >= 32 ? all_lanes : (lane_mask{1} << n) - 1;
}

} // namespace simulator::core
