// Blocks, warps and their paths, and the context in which the handler of an instruction runs. Its
// functions are defined in core/: here they are what a handler may ask for.
#pragma once

#include "instruction.hpp"
#include "sector_set.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simulator::core {

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
    std::uint64_t work = 0; // of the grid so far, in units (machine/work_meter.hpp)
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
