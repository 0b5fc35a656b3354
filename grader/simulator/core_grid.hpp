// One running grid: its blocks, its warps' paths, and what they share.
#pragma once

#include "core.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <unordered_map>

namespace simulator::core {

// A kernel with the functions it may call, decoded for it: the place of dynamic shared memory is
// its own.
struct program {
    kernel_info info;
    const ptx::function *entry = nullptr;
    int entry_index = -1;
    std::string shown; // demangled, without parameters
    std::map<std::string, std::uint32_t, std::less<>> shared_at;
    std::uint32_t dynamic_at = 0;
    bool dynamic = false; // whether it has an array of no size of its own there
    std::vector<std::unique_ptr<code>> functions; // by index in the module; null until needed
    bool in_order = false; // its blocks were found to be of no use on several cores
};

class device_runtime; // of device_runtime.hpp
class block_team;     // of core_parallel.hpp
struct launch_node;   // of launch_tree.hpp

struct grid {
    context seen; // what handlers see
    device_runtime *runtime = nullptr;
    launch_node *self = nullptr; // in the runtime's tree of launches
    program *running = nullptr;
    const launch *how = nullptr;
    std::function<code *(int)> function; // decodes at first use
    std::size_t function_count = 0;
    std::vector<tally *> tallies; // by function; null: not of this program
    block_team *team = nullptr;   // may run the blocks; null: one core only
    outcome result;
    std::uint64_t steps = 0, budget = 0;
    std::uint64_t busiest = 0; // most warp instructions of a block
    std::uint32_t shared_bytes = 0;
    std::vector<std::uint32_t> thread_ids[3]; // by thread of a block
    std::vector<std::unique_ptr<thread_block>> resident, spare;
    std::uint64_t next_block = 0, blocks = 0;
    std::vector<std::uint32_t> order; // in which blocks begin; empty: of their numbers
    std::mt19937_64 random;
    bool shuffled = false;
};

enum class turn : std::uint8_t { ended, blocked, waiting, paused, used_up, stopped };

// Runs one warp until it ends, must wait, or has run `quantum` instructions.
turn run_warp(grid &, warp &, std::uint64_t quantum);

// Runs all blocks; the outcome is in grid::result.
void run_blocks(grid &);
// Runs one block to its end. False: it was stopped, or cannot end without the others, or one core
// would by now have let others begin.
bool run_alone(grid &, std::uint64_t number);

// Creates the paths and frame of a warp that starts.
void start_warp(grid &, warp &);
// Makes the frame of a path the one that handlers see.
void enter(grid &, warp &, const path &);

// A function that device code calls without defining it: those of the C library and of the device
// runtime. Writes results into the caller's argument area.
bool is_builtin(std::string_view name);
void call_builtin(grid &, warp &, const instruction &, const call_site &, lane_mask);

// Lets waiting paths of the block pass a barrier that has all its arrivals. True: some passed.
bool release_barriers(grid &, thread_block &);
// Threads that pass one barrier should have come to the same one: says so where they have not.
void check_arrivals(grid &, thread_block &, std::uint32_t barrier);
// Says which threads wait where, and ends the grid: nobody in the block can go on.
void report_stuck(grid &, thread_block &);

// Where an access or instruction stands, and which thread of the block it was.
finding at_lane(context &, const instruction &, int lane);
void describe_shared(const context &, finding &, std::uint64_t address);

std::string place_text(const code &, std::uint32_t statement); // "a.cu:12"
// What threads meet at: "barrier", "warp barrier", "shuffle", "vote", "match", "warp reduction".
std::string sync_name(const code &, std::uint32_t statement);
dim thread_of(const grid &, const warp &, int lane);

} // namespace simulator::core
