// Defines one running grid: its blocks and the state that they share.
#pragma once

#include "simulator/lanes/context.hpp"

#include <driver_types.h>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <unordered_map>

namespace simulator::core {

// A kernel with the functions that it may call. They are decoded for each kernel anew, because the
// offset of dynamic shared memory differs between kernels.
struct program {
    kernel_info info;
    int entry_index = -1;
    std::string display_name; // demangled, without parameters
    std::map<std::string, std::uint32_t, std::less<>> shared_offsets; // of variables, by name
    std::uint32_t dynamic_offset = 0;                                 // of dynamic shared memory
    bool has_dynamic_shared = false;              // true if it declares an unsized extern array
    std::vector<std::unique_ptr<code>> functions; // by index in the module; null until needed
};

class device_runtime; // defined in device_runtime.hpp
struct launch_node;   // defined in launch_tree.hpp

struct grid {
    context ctx; // the state that handlers see
    device_runtime *runtime = nullptr;
    launch_node *self = nullptr; // its node in the runtime's launch tree
    program *kernel = nullptr;
    const launch *config = nullptr;      // the launch configuration and arguments
    std::function<code *(int)> function; // by index in the module; null: cannot be called
    std::size_t function_count = 0;
    std::vector<function_counts *> counts; // by function; null: not used by this program
    outcome result;
    std::uint64_t steps = 0;    // warp instructions
    std::uint64_t max_work = 0; // of context::work
    std::uint64_t busiest = 0;  // warp instructions of the longest-running block
    std::uint32_t shared_bytes = 0;
    std::vector<std::uint32_t> thread_ids[3]; // threadIdx.x, .y and .z, by linear thread index
    std::vector<std::unique_ptr<thread_block>> resident;
    std::vector<std::unique_ptr<thread_block>> spare; // ended blocks, whose memory is reused
    std::uint64_t next_block = 0, blocks = 0;
    std::vector<std::uint32_t> order; // start order of blocks; empty: by number
    std::mt19937_64 random;
    bool shuffled = false;
};

enum class turn : std::uint8_t {
    ended,   // all lanes have exited
    blocked, // all lanes wait at barriers or .sync instructions
    waiting, // in a spin loop
    paused,  // in nanosleep
    used_up, // the quantum is used up
    stopped, // a fault ended the grid
};

// Runs one warp until it ends, must wait, or has run about `quantum` instructions.
turn run_warp(grid &, warp &, std::uint64_t quantum);

// Runs all blocks; the outcome is in grid::result.
void run_blocks(grid &);

// Adds a launch to the counts of its kernel, and resets those of its functions. `beside_host`:
// other host threads may have used managed memory meanwhile. `read`, `written`: sectors.
void add_counts(program &, const grid &, bool by_kernel, bool beside_host, const sector_set &read,
                const sector_set &written);

// Creates the path and the frame of a starting warp.
void start_warp(grid &, warp &);
// Extends the local memory of the warp to at least `end` bytes per lane, and makes the bytes from
// `begin` to `end` uninitialised in these lanes.
void take_local_memory(warp &, lane_mask, std::uint64_t begin, std::uint64_t end);
// Sets the context to a path: its frame, function and memory.
void enter(grid &, warp &, const path &);

// Functions that device code calls without defining them, from the C library and the device
// runtime. call_builtin writes results into the caller's argument area.
bool is_builtin(std::string_view name);
void call_builtin(grid &, warp &, const instruction &, const call_site &, lane_mask);

// Releases each barrier of the block at which as many threads have arrived as it expects or, if it
// has no thread count, all threads that have not exited. Returns true if there was one.
bool release_barriers(grid &, thread_block &);
// Reports where the threads of a deadlocked block wait, and ends the grid.
void report_stuck(grid &, thread_block &);

// Returns a finding with the source line of an instruction, and the block and thread of a lane.
finding at_lane(context &, const instruction &, int lane, finding_kind, std::string detail = {});
// Describes an address of shared memory in finding::where: variable, offset, size.
// Ends the grid with a finding and an error of cudaError_t.
void end_grid(context &, const instruction &, int error, finding);
void describe_shared(const context &, finding &, std::uint64_t address);

std::string location_text(const code &, std::uint32_t statement); // for example "a.cu:12"
// The name of a synchronising instruction: "barrier", "warp barrier", "shuffle", "vote", "match",
// "warp reduction".
std::string sync_name(const code &, std::uint32_t statement);
dim thread_of(const grid &, const warp &, int lane);

} // namespace simulator::core
