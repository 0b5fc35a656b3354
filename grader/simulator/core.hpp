// The machine's insides: decoded instructions, warps, and what a handler sees. Not for use outside
// the core.
//
// A register is 32 lanes side by side, 4 bytes each (up to 32 bits) or 8 bytes each; a predicate is
// one 32-bit mask. An operand is an offset into the frame's registers or, with its top bit set,
// into the code's constants, so that a handler never asks which. Handlers change only the lanes in
// the mask they are given.
#pragma once

#include "counters.hpp"
#include "machine.hpp"
#include "ptx.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace simulator::core {

using lane_mask = std::uint32_t;
using operand = std::uint32_t;
inline constexpr operand constant_bit = 0x80000000u;
inline constexpr operand no_operand = ~operand{0};
inline constexpr lane_mask all_lanes = ~lane_mask{0};

// Where generic addresses of the small spaces lie: above everything a process can map.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << 56;
inline constexpr std::uint64_t param_window = std::uint64_t{3} << 56;
inline constexpr std::uint64_t code_window = std::uint64_t{4}
                                             << 56; // "addresses" of device functions
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;

// As much as hardware and nvcc allow: of local memory a thread, of parameters a kernel.
inline constexpr std::uint32_t max_local_bytes = 512 << 10, max_parameters = 32764;

struct context;
struct instruction;
using handler = void (*)(context &, const instruction &, lane_mask);

enum class block_terminator : std::uint8_t { // what closes a basic block
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
    std::int64_t offset = 0; // of an address; or a selector of the handler's own
    std::uint32_t extra =
        0; // index into code::lists (vector elements, call arguments), or a selector
    std::uint32_t site = 0;      // index into code::sites for memory instructions
    std::uint32_t statement = 0; // index into code::statements
    // bit 0: registers moved are 8 bytes a lane; bit 1: so is the address; bit 2: volatile; bit 3:
    // a strong access, or an acquire, whose scope is the block
    std::uint8_t wide = 0;
    bool begins = false;               // the first of its statement's
    std::uint8_t bytes = 0, count = 0; // one element, elements
    std::uint8_t flags = 0;
};
enum instruction_flags : std::uint8_t { // of `flags`
    signed_value = 1,
    negate_a = 2,   // predicate operands with `!`
    only_moved = 2, // of a load: stores are all that its registers go to
    negate_b = 4,
    negate_c = 8,
    guess = 16,         // of a load: see cas_loops.hpp
    leaves_kernel = 32, // exit: ends the thread also from inside a function
    orders_memory = 64, // of a warp-synchronous instruction: __syncwarp
    strong = 128,       // of an access: volatile, atomic or with an order of its own
};

// What an instruction does with its operands, for who follows values: core_undefined.hpp.
struct instruction_role {
    enum class kind : std::uint8_t {
        other, // does something with its sources, or hands them to somebody
        compute,
        select,  // selp
        absorb,  // and, or
        compare, // setp
        load,
        store,
    };
    kind does = kind::other;
    bool writes_d = true; // else reads it
    bool reads_extra = false, writes_offset = false, reads_list = false, writes_list = false;
    bool followed = false; // a load of which somebody reads a register
};

struct basic_block {
    std::uint32_t first = 0, last = 0; // straight instructions [first, last)
    block_terminator end = block_terminator::fall;
    std::uint32_t terminator = 0; // the closing instruction, at index `last`; unused for fall
    int next = -1, target = -1;   // -1: the end of the function
    int reconvergence_block = -1; // where a divergence here meets again
    bool spins = false;           // its backward branch closes a loop that only waits
    std::vector<int> targets;     // of a table
    std::uint32_t first_statement = 0, last_statement = 0; // [first, last)
};

// One memory instruction and the pattern it saw last: equal patterns cost equally much.
struct site_memo {
    std::uint32_t delta[32];
    lane_mask mask = 0;
    std::uint32_t phase = 0; // first address modulo 128
    std::uint32_t sectors = 0, ideal = 0, wavefronts = 0;
    std::uint32_t lanes = 0; // bytes a lane, and the space
};

// The worst request of a memory instruction since the last launch ended.
struct site_worst {
    std::uint64_t address[32];
    std::uint32_t score = 0; // 0: none
    lane_mask mask = 0;
    std::uint32_t cost = 0, ideal = 0, bytes = 0;
    std::uint64_t block = 0;
    std::uint32_t statement = 0;
    access_kind kind = access_kind::load;
    bool shared = false;
    bool elsewhere = false; // of an atomic: some lane went to another address than the first one
};

struct place_name {
    std::string file;
    int line = 0;
};

struct call_site {
    int callee = -1;     // index into state's functions; -1: indirect
    std::string builtin; // vprintf, __assertfail, malloc, free
    std::vector<std::uint32_t> in, in_bytes, out,
        out_bytes; // offsets in the caller's argument area
};

// What was counted of a function since the last launch ended.
struct tally {
    std::vector<std::uint64_t> runs, lanes_run; // by basic block
    std::vector<std::uint64_t> lanes_off;       // by statement: lanes whose guard was false
    std::vector<site_counts> counted;           // by statement
    std::vector<site_memo> memos;               // by site
    std::vector<site_worst> worst;              // by site
};

struct code {
    std::string name, shown; // mangled; demangled without parameters
    const ptx::function *source = nullptr;
    ptx::body body;
    std::vector<instruction> instructions;
    std::vector<instruction_role> roles; // of them
    std::vector<basic_block> blocks;
    std::vector<std::byte> constants;
    std::vector<std::vector<operand>> lists;
    std::vector<const operand *> list_pointers; // to the same
    std::vector<call_site> calls;
    std::uint32_t register_bytes = 0;
    std::uint32_t local_bytes = 0;    // a thread, without callees
    std::uint32_t argument_bytes = 0; // call arguments, parameters and results, a thread
    std::vector<std::uint32_t> parameter_offsets, result_offsets; // in the callee's argument area
    std::uint32_t sites = 0;
    std::vector<place_name> places; // of the statements
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
    std::uint32_t taken = 0; // bytes of local memory by alloca, behind the function's own
    std::uint32_t depth = 0; // calls from the kernel to here
    int users = 0;           // lanes
};

// Lanes of one warp that run together. When they part, the path becomes a join that waits for its
// children.
struct path {
    enum class state : std::uint8_t { unused, ready, joining, at_barrier, at_sync };
    state now = state::unused;
    bool is_call = false; // a join that lanes reach by `ret`
    lane_mask mask = 0;   // running; of a join: those that have arrived
    int block = 0;        // next basic block
    int join = -1;        // the block where these lanes wait for their siblings
    int parent = -1, children = 0;
    int in = 0;              // index into warp::frames
    std::uint32_t waits = 0; // barrier's number, or the mask of a warp-synchronous instruction
    std::uint32_t spun = 0;
    std::uint32_t tested = 0; // the last condition that chose the way here: its statement + 1
};

struct thread_block;

struct copies_in_flight; // of core_copies.hpp
class undefined_values;  // of core_undefined.hpp

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
    std::unique_ptr<copies_in_flight> copies;    // null until the first
    std::unique_ptr<undefined_values> undefined; // null until the first
};

struct barrier_state {
    std::uint32_t arrived = 0, expected = 0; // threads; expected 0: all of the block
    std::uint32_t true_threads = 0;          // of bar.red
};

struct block_order; // of core_races.hpp
class race_checker;
class weak_memory; // of core_weak.hpp

struct thread_block {
    thread_block();
    ~thread_block();
    dim index;
    std::uint64_t number = 0; // of the block in its grid
    std::uint32_t threads = 0, live = 0;
    std::uint64_t steps = 0; // warp instructions so far
    std::vector<warp> warps;
    std::vector<cache_line> registers;
    std::vector<std::byte> shared;
    std::vector<std::uint8_t> shared_shadow;
    std::array<barrier_state, 16> barriers;
    bool misused = false;               // a barrier was: said once
    const code *ended_in = nullptr;     // where the first of its threads to end chose to
    std::uint32_t ended_after = 0;      // the condition's statement + 1; 0: none
    std::unique_ptr<block_order> order; // of races; null when they are not checked
};

// The sectors one launch touched: a bit each, in pages made on demand.
class sector_set {
public:
    __attribute__((always_inline)) void add(std::uint64_t sector)
    {
        std::uint64_t *words = last_page_ == sector >> page_shift ? last_ : page(sector);
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
    // The stretches of 4096 bytes that any sector lies in, by their first sector, in no order.
    std::vector<std::uint64_t> touched_ranges() const;
    template <typename function> void each(function body) const // in no order
    {
        for (const std::uint64_t number : touched_)
            for (std::uint64_t k = 0; k < page_sectors / 64; ++k)
                for (std::uint64_t word = pages_[number][k]; word; word &= word - 1)
                    body((number << page_shift) + 64 * k +
                         static_cast<std::uint64_t>(__builtin_ctzll(word)));
    }
    void add(const sector_set &);
    void clear();

private:
    static constexpr int page_shift = 15;
    static constexpr std::uint64_t page_sectors = std::uint64_t{1} << page_shift;
    std::uint64_t *page(std::uint64_t sector);
    std::uint64_t last_page_ = ~std::uint64_t{0};
    std::uint64_t *last_ = nullptr;
    std::uint64_t count_ = 0;
    std::vector<std::uint64_t *> pages_;
    std::vector<std::uint64_t> touched_;
    std::deque<std::vector<std::uint64_t>> storage_;
};

struct grid; // of core_grid.hpp

class touch_guard; // of core_parallel.hpp

// What a handler sees while a path of a warp runs. Pointers are plain so that no library code is
// compiled into the files that are built for several instruction sets.
struct context {
    std::byte *bases[2]; // the frame's registers, the code's constants
    std::uint64_t base;  // device memory: first address, its bytes, their shadow
    std::uint64_t reserved;
    std::byte *data;
    std::uint8_t *shadow;
    std::byte *shared;
    std::uint8_t *shared_shadow;
    std::uint32_t shared_bytes;
    std::uint32_t local_bytes; // a thread, this warp's buffer
    std::byte *local;
    std::uint8_t *local_shadow;
    const std::byte *params;
    std::uint32_t param_bytes;
    site_counts *counted; // by statement
    site_memo *memos;     // by site
    site_worst *worst;    // by site
    sector_set *read, *written;
    std::uint8_t closed = 0; // shadow bits of memory that the grid's device has no access to
    bool count, check_memory, check_initialised;
    bool lanes_descend = false;   // atomics of one instruction: from the highest lane down
    race_checker *races;          // null: not checked
    weak_memory *weak = nullptr;  // null: all blocks see stores in their order
    touch_guard *guard = nullptr; // notes what is touched, for blocks on several cores
    bool stop = false;            // a fault ended the grid
    bool slow_path = false;       // it did, or some registers of the warp hold undefined values
    bool changed = false;         // a store or atomic ran
    lane_mask live = 0;
    std::byte *arguments; // of the frame
    std::uint32_t argument_stride;
    std::uint32_t local_base;
    const operand *const *lists;
    warp *w;
    thread_block *b;
    grid *g;
    code *running;
    const std::uint32_t *thread_ids[3]; // 32 lanes of this warp
    std::uint32_t specials[18];         // see special_index

    void halt() { stop = slow_path = true; }
};

enum class access_problem : std::uint8_t { outside, misaligned, uninitialised, read_only };

// Records a finding for one lane of an access; unless it is `uninitialised`, ends the grid.
void report(context &, const instruction &, access_problem, int lane, std::uint64_t address,
            std::uint32_t bytes, ptx::space, bool write, std::uint64_t lanes);
// Says that a load reads what nobody has written: at once, or when its value is used. `elements`:
// the lanes whose k-th element holds nothing.
void undefined_read(context &, const instruction &, const lane_mask *elements,
                    const std::uint64_t *address, std::uint32_t bytes, ptx::space);

// The finding of a load of what nobody has written, where this is no copy on its way. `times`:
// reads, by all lanes.
void report_undefined(context &, const instruction &, int lane, std::uint64_t address,
                      std::uint32_t bytes, ptx::space, std::uint64_t times);
// Ends the grid with a CUDA error code and a finding.
void stop_grid(context &, const instruction &, finding_kind, int error, int lane,
               std::string detail);

// Looks for accesses that race with this one, and remembers it. Before the bytes move. `copied`:
// what a copy brings, by lane.
enum class access_use : std::uint8_t { read, write, atomic, copy };
void check_races(context &, const instruction &, lane_mask, const std::uint64_t *address,
                 ptx::space, std::uint32_t bytes, access_use, bool contiguous,
                 const std::byte (*copied)[16] = nullptr);

// Strong accesses to device memory where there is weak memory: see core_weak.hpp.
void note_strong_store(context &, const instruction &, lane_mask, const std::uint64_t *address);
void note_atomic(context &, const instruction &, lane_mask, const std::uint64_t *address);
lane_mask older_values(context &, const instruction &, lane_mask, const std::uint64_t *address,
                       std::uint32_t offset, std::byte (*older)[8]);

// Where a guard is: before anything in device memory is looked at or changed. `bytes`: a lane.
// False: some block on another core has to do with these bytes, and the grid has been stopped.
bool may_touch(context &, lane_mask, const std::uint64_t *address, std::uint32_t bytes, bool write);
// The same for what gives the same on one core only: atomics, volatile accesses, clocks, calls.
bool may_depend_on_order(context &);

// cp.async: the bytes of each lane, 16 or fewer, wait to land at `to` in shared memory.
void start_copies(context &, const instruction &, lane_mask, const std::uint64_t *to,
                  const std::byte (*bytes)[16]);

// Handlers by opcode as written, without cache and ordering hints: "add.s32", "ld.global.f32".
// null: not known.
handler find_handler(std::string_view opcode);

// Where a byte of a lane's local memory lies in the warp's.
__attribute__((always_inline)) inline std::uint64_t local_position(std::uint64_t byte, int lane)
{
    return (byte >> 2) * 128 + static_cast<std::uint64_t>(lane) * 4 + (byte & 3);
}

__attribute__((always_inline)) inline lane_mask low_lanes(std::uint32_t n)
{
    return n >= 32 ? all_lanes : (lane_mask{1} << n) - 1;
}

} // namespace simulator::core
