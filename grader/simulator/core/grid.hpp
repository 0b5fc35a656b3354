// Defines one running grid: its blocks, its warps' paths, and the state they share.
#pragma once

#include "core.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <unordered_map>

namespace simulator::core {

// A kernel with the functions it may call, decoded for it alone because the address of dynamic
// shared memory differs between kernels.
struct program {
    kernel_info info;
    int entry_index = -1;
    std::string shown; // demangled, without parameters
    std::map<std::string, std::uint32_t, std::less<>> shared_at;
    std::uint32_t dynamic_at = 0;
    bool dynamic = false;                         // true if it declares an unsized extern array
    std::vector<std::unique_ptr<code>> functions; // by index in the module; null until needed
};

class device_runtime; // defined in device_runtime.hpp
struct launch_node;   // defined in launch_tree.hpp

struct grid {
    context ctx; // the state that handlers see
    device_runtime *runtime = nullptr;
    launch_node *self = nullptr; // its node in the runtime's launch tree
    program *running = nullptr;
    const launch *how = nullptr;
    std::function<code *(int)> function; // by index in the module; null: cannot be called
    std::size_t function_count = 0;
    std::vector<tally *> tallies; // by function; null: not used by this program
    outcome result;
    std::uint64_t steps = 0, budget = 0;
    std::uint64_t busiest = 0; // warp instructions of the longest block
    std::uint32_t shared_bytes = 0;
    std::vector<std::uint32_t> thread_ids[3]; // by thread index in a block
    std::vector<std::unique_ptr<thread_block>> resident, spare;
    std::uint64_t next_block = 0, blocks = 0;
    std::vector<std::uint32_t> order; // start order of blocks; empty: by number
    std::mt19937_64 random;
    bool shuffled = false;
};

enum class turn : std::uint8_t { ended, blocked, waiting, paused, used_up, stopped };

// Runs one warp until it ends, must wait, or has run `quantum` instructions.
turn run_warp(grid &, warp &, std::uint64_t quantum);

// Runs all blocks; the outcome is in grid::result.
void run_blocks(grid &);

// Adds a launch to the counts of its kernel, and resets those of its functions. `beside_host`:
// other host threads may have used managed memory meanwhile. `read`, `written`: sectors.
void add_counts(program &, const grid &, bool by_kernel, bool beside_host, const sector_set &read,
                const sector_set &written);

// Creates the paths and the frame of a starting warp.
void start_warp(grid &, warp &);
// Extends the local memory of the warp to `end` bytes per lane where it is shorter, and makes the
// bytes from `begin` on uninitialised in these lanes.
void take_local_memory(warp &, lane_mask, std::uint64_t begin, std::uint64_t end);
// Makes the frame of a path current for handlers.
void enter(grid &, warp &, const path &);

// Functions that device code calls without defining them, from the C library and the device
// runtime. call_builtin writes results into the caller's argument area.
bool is_builtin(std::string_view name);
void call_builtin(grid &, warp &, const instruction &, const call_site &, lane_mask);

// Lets waiting paths of the block pass each barrier at which as many threads have arrived as it
// names or, if it names no number, all threads that have not ended. Returns true if there was one.
bool release_barriers(grid &, thread_block &);
// Reports where the threads of a deadlocked block wait, and ends the grid.
void report_stuck(grid &, thread_block &);

// Returns a finding with the source line of an instruction and the thread of a lane.
finding at_lane(context &, const instruction &, int lane, finding_kind, std::string detail = {});
void describe_shared(const context &, finding &, std::uint64_t address);

std::string place_text(const code &, std::uint32_t statement); // for example "a.cu:12"
// The name of a synchronising instruction: "barrier", "warp barrier", "shuffle", "vote", "match",
// "warp reduction".
std::string sync_name(const code &, std::uint32_t statement);
dim thread_of(const grid &, const warp &, int lane);

} // namespace simulator::core
