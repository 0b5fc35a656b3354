// Internals of the simulated machine: decoded instructions, warps and the context of a handler.
// Only files of core/ and lanes/ include it.
//
// A register is 32 lanes side by side, 4 bytes each (up to 32 bits) or 8 bytes each; a predicate
// is one 32-bit mask. An operand is an offset into the frame's registers or, with its top bit set,
// into the code's constants, so that a handler need not distinguish them. Handlers change only the
// lanes in the mask they are given.
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

// Generic addresses of the small spaces lie above everything a process can map.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << 56;
inline constexpr std::uint64_t param_window = std::uint64_t{3} << 56;
inline constexpr std::uint64_t code_window = std::uint64_t{4} << 56; // of device functions

// Limits of hardware and nvcc, in bytes: local memory per thread, parameters per kernel.
inline constexpr std::uint32_t max_local_bytes = 512 << 10, max_parameters = 32764;

struct context;
struct instruction;
using handler = void (*)(context &, const instruction &, lane_mask);

enum class block_terminator : std::uint8_t { // the instruction that ends a basic block
    fall,
    branch,
    table,
    call,
    leave, // ret, exit
    barrier,
    warp_sync, // waits for the lanes its mask names, then runs its handler
    pause,     // nanosleep: the warp's turn is over
};

struct instruction {
    handler run = nullptr;
    operand d = no_operand, a = no_operand, b = no_operand, c = no_operand;
    operand guard = no_operand; // predicate
    std::uint32_t guard_flip = 0;
    std::int64_t offset = 0; // of an address; or a selector for the handler
    // An index into code::lists (vector elements, call arguments), or a selector.
    std::uint32_t extra = 0;
    std::uint32_t site = 0;      // index into code::sites for memory instructions
    std::uint32_t statement = 0; // index into code::statements
    // Bit 0: the registers moved are 8 bytes per lane. Bit 1: so is the address. Bit 2: volatile.
    // Bit 3: a strong access, or an acquire, whose scope is the block.
    std::uint8_t wide = 0;
    bool begins = false;               // first instruction of its statement
    std::uint8_t bytes = 0, count = 0; // per element; number of elements
    std::uint8_t flags = 0;
};
enum instruction_flags : std::uint8_t { // bits of instruction::flags
    signed_value = 1,
    negate_a = 2,   // predicate operands with `!`
    only_moved = 2, // a load whose registers go only to stores
    negate_b = 4,
    negate_c = 8,
    guess = 16,         // a load, see decode/cas_loops.cpp
    leaves_kernel = 32, // exit: also ends a thread that is inside a function
    orders_memory = 64, // a warp-synchronous instruction: __syncwarp
    strong = 128,       // an access: volatile, atomic or with a memory order
};

// How an instruction uses its operands, for the tracking of undefined values (core/undefined.hpp).
struct instruction_role {
    enum class kind : std::uint8_t {
        other, // uses its sources itself, or passes them on
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
    bool followed = false; // a load, and some instruction reads its result
};

struct basic_block {
    std::uint32_t first = 0, last = 0; // instructions before the terminator: [first, last)
    block_terminator end = block_terminator::fall;
    std::uint32_t terminator = 0; // the instruction at index `last`; unused for fall
    int next = -1, target = -1;   // -1: the end of the function
    int reconvergence_block = -1; // where diverging lanes reconverge; -1: at the function's end
    bool spins = false;           // its backward branch closes a loop that only waits
    std::vector<int> targets;     // of a branch table
    std::uint32_t first_statement = 0, last_statement = 0; // [first, last)
};

// The last access pattern of one memory instruction: equal patterns have equal costs.
struct site_memo {
    std::uint32_t delta[32];
    lane_mask mask = 0;
    std::uint32_t phase = 0; // first address modulo 128
    std::uint32_t sectors = 0, ideal = 0, wavefronts = 0;
    std::uint32_t lanes = 0; // bytes per lane, and the space
};

// The worst request of a memory instruction since the last launch ended.
struct site_worst {
    std::uint64_t address[32];
    std::uint32_t score = 0; // 0: none
    lane_mask mask = 0;
    std::uint32_t cost = 0, ideal = 0, bytes = 0;
    std::uint32_t statement = 0;
    access_kind kind = access_kind::load;
    bool shared = false;
    bool elsewhere = false; // an atomic: some lane used another address than the first
};

struct place_name {
    std::string file;
    int line = 0;
};

struct call_site {
    int callee = -1;     // index into the module's functions; -1: indirect
    std::string builtin; // vprintf, __assertfail, malloc, free
    // Offsets in the caller's argument area, and sizes.
    std::vector<std::uint32_t> in, in_bytes, out, out_bytes;
};

// Counters of a function since the last launch ended.
struct tally {
    std::vector<std::uint64_t> runs, lanes_run; // by basic block
    std::vector<std::uint64_t> lanes_off;       // by statement: lanes whose guard was false
    std::vector<site_counts> counted;           // by statement
    std::vector<site_memo> memos;               // by site
    std::vector<site_worst> worst;              // by site
};

struct code {
    std::string shown; // the kernel, demangled without parameters
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
    std::uint32_t sites = 0;
    std::vector<place_name> places; // places of the statements
    std::vector<int> statement_place;
    std::uint32_t index = 0; // in its program
    tally own;
};

struct alignas(64) cache_line {
    std::byte bytes[64];
};

struct frame { // one activation of a function by some lanes of a warp
    code *of = nullptr;
    std::byte *registers = nullptr;
    std::vector<cache_line> own;      // registers of a called function
    std::vector<std::byte> arguments; // lane-major: lane * argument_bytes + offset
    std::uint32_t local_base = 0;
    std::uint32_t taken = 0; // bytes of local memory by alloca, after the function's own
    std::uint32_t depth = 0; // calls from the kernel to here
    std::uint32_t users = 0; // number of lanes
};

// Lanes of one warp that run together. When they diverge, the path becomes a join that waits for
// its children.
struct path {
    enum class state : std::uint8_t { unused, ready, joining, at_barrier, at_sync };
    state now = state::unused;
    bool is_call = false; // a join that lanes reach by `ret`
    lane_mask mask = 0;   // running; of a join: the lanes that have arrived
    int block = 0;        // next basic block
    int join = -1;        // reconvergence block where these lanes wait for their siblings
    int parent = -1, children = 0;
    int in = 0;              // index into warp::frames
    std::uint32_t waits = 0; // the barrier's number, or the mask of a warp-synchronous instruction
    std::uint32_t spun = 0;
    std::uint32_t tested = 0; // the last branch condition on the way here: its statement + 1
};

struct thread_block;

struct copies_in_flight; // defined in core/copies.hpp
class undefined_values;  // defined in core/undefined.hpp

struct warp {
    warp();
    warp(warp &&) noexcept;
    ~warp();
    thread_block *block = nullptr;
    std::uint32_t index = 0;
    lane_mask live = 0;
    int current = 0;
    std::vector<path> paths;
    std::vector<frame> frames;
    std::vector<std::byte> local; // word-interleaved: (word * 32 + lane) * 4
    std::vector<std::uint8_t> local_shadow;
    std::unique_ptr<copies_in_flight> copies;    // null until the first copy
    std::unique_ptr<undefined_values> undefined; // null until the first such value
};

struct barrier_state {
    std::uint32_t arrived = 0, expected = 0; // in threads; expected 0: the whole block
    std::uint32_t true_threads = 0;          // for bar.red
};

struct block_order; // defined in core/races.hpp
class race_checker;
class weak_memory; // defined in core/weak.hpp

struct thread_block {
    thread_block();
    ~thread_block();
    dim index;
    std::uint64_t number = 0; // index of the block in its grid
    std::uint32_t threads = 0, live = 0;
    std::uint64_t steps = 0; // warp instructions so far
    std::vector<warp> warps;
    std::vector<cache_line> registers;
    std::vector<std::byte> shared;
    std::vector<std::uint8_t> shared_shadow;
    std::array<barrier_state, 16> barriers;
    bool misused = false;               // a barrier was misused: reported once
    const code *ended_in = nullptr;     // the function in which the first thread ended
    std::uint32_t ended_after = 0;      // statement + 1 of the condition before that; 0: none
    std::unique_ptr<block_order> order; // for race detection; null when races are not checked
};

// The sectors that one launch touched: one bit each, in pages allocated on demand.
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
    std::uint64_t base;  // device memory: first address, size, bytes, shadow bytes
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
    std::uint8_t closed = 0; // shadow bits of memory that the grid's device may not access
    bool count, check_memory, check_initialised;
    bool lanes_descend = false;  // atomics of one instruction run from the highest lane down
    race_checker *races;         // null: races are not checked
    weak_memory *weak = nullptr; // null: all blocks see stores in program order
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
    code *running;
    const std::uint32_t *thread_ids[3]; // of the 32 lanes of this warp
    std::uint32_t specials[18] = {};    // indexed by `special`

    void halt() { stop = slow_path = true; }
};

enum class access_problem : std::uint8_t { outside, misaligned, uninitialised, read_only };

// Records a finding for one lane of an access. Ends the grid, unless the problem is
// `uninitialised`.
void report(context &, const instruction &, access_problem, int lane, std::uint64_t address,
            std::uint32_t bytes, ptx::space, bool write, std::uint64_t lanes);
// Reports a load of uninitialised memory, either immediately or when the value is used.
// `elements`: for each element k, the lanes whose k-th element is uninitialised.
void undefined_read(context &, const instruction &, const lane_mask *elements,
                    const std::uint64_t *address, std::uint32_t bytes, ptx::space);

// Adds the finding for a load of uninitialised memory that no cp.async is about to write. `times`:
// number of reads, over all lanes.
void report_undefined(context &, const instruction &, int lane, std::uint64_t address,
                      std::uint32_t bytes, ptx::space, std::uint64_t times);
// Ends the grid with a CUDA error code and a finding.
void stop_grid(context &, const instruction &, finding_kind, int error, int lane,
               std::string detail);

// Checks this access for races with earlier ones and records it. Must be called before the bytes
// move. `copied`: the bytes that a cp.async brings, by lane.
enum class access_use : std::uint8_t { read, write, atomic, copy };
void check_races(context &, const instruction &, lane_mask, const std::uint64_t *address,
                 ptx::space, std::uint32_t bytes, access_use, bool contiguous,
                 const std::byte (*copied)[16] = nullptr);

// Strong accesses to device memory while weak memory is simulated, see core/weak.hpp.
void note_strong_store(context &, const instruction &, lane_mask, const std::uint64_t *address);
void note_atomic(context &, const instruction &, lane_mask, const std::uint64_t *address);
lane_mask older_values(context &, const instruction &, lane_mask, const std::uint64_t *address,
                       std::uint32_t offset, std::byte (*older)[8]);

// Starts a cp.async: the bytes of each lane, 16 or fewer, are to be written to `to` in shared
// memory.
void start_copies(context &, const instruction &, lane_mask, const std::uint64_t *to,
                  const std::byte (*bytes)[16]);

// Maps an opcode as written, without cache and ordering hints ("add.s32", "ld.global.f32"), to its
// handler; null if there is none.
handler find_handler(std::string_view opcode);

// List the handlers that are compiled once only, whatever the instruction set.
class handler_sink; // defined in lanes/handler_table.hpp
void list_warp_handlers(handler_sink &);
void list_texture_handlers(handler_sink &);

// Maps a byte of a lane's local memory to its position in the warp's.
__attribute__((always_inline)) inline std::uint64_t local_position(std::uint64_t byte, int lane)
{
    return (byte >> 2) * 128 + static_cast<std::uint64_t>(lane) * 4 + (byte & 3);
}

__attribute__((always_inline)) inline lane_mask low_lanes(std::uint32_t n)
{
    return n >= 32 ? all_lanes : (lane_mask{1} << n) - 1;
}

} // namespace simulator::core
