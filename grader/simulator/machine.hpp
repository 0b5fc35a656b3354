// The boundary between the CUDA runtime look-alike and the machine that executes PTX.
#pragma once

#include "finding.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace simulator {

// Limits and facts of the simulated device; runtime.cpp answers cudaGetDeviceProperties from the
// same values.
struct device_profile {
    const char *name = "Simulated GPU";
    int major = 8, minor = 0;
    int multiprocessors = 8;
    int threads_per_block = 1024, threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
    std::uint32_t shared_per_block = 48 << 10, shared_per_block_optin = 99 << 10,
                  shared_per_multiprocessor = 100 << 10;
    int registers_per_multiprocessor = 65536;
    std::uint32_t constant_bytes = 64 << 10;
    std::uint64_t global_bytes = std::uint64_t{8} << 30;
    std::uint32_t l2_bytes = 4 << 20;
    int copy_engines = 2; // one a direction
    // The timeline's ticks (timeline.hpp). Bytes over the link to the host, each way, to another
    // device, and of device memory; warp instructions a multiprocessor.
    std::uint32_t link_bytes_a_tick = 16, peer_bytes_a_tick = 64, memory_bytes_a_tick = 512,
                  instructions_a_tick = 4;
};
const device_profile &profile();
int multiprocessors(); // as settings() have it, else the profile

struct parameter {
    std::uint32_t offset, bytes;
};

// How a kernel run ended. Values are those of cudaError_t, so the runtime can return them as they
// are.
struct outcome {
    int error = 0; // cudaSuccess, cudaErrorIllegalAddress (700), cudaErrorMisalignedAddress (716),
                   // cudaErrorLaunchFailure (719), cudaErrorAssert (710), cudaErrorLaunchTimeout
                   // (702), cudaErrorNotSupported (801: also a finding of kind `unsupported`) ...
    std::string message; // one sentence, for the log
};

struct launch {
    dim grid, block;
    std::uint32_t dynamic_shared = 0;
    std::span<const std::byte> parameters; // laid out by kernel_info::parameters
    int device = 0;
    std::uint8_t closed = 0; // shadow bits of memory that the device has no access to
    // Of a cooperative launch, else 0: 8 bytes of device memory, their number and a zero, in which
    // the blocks of cooperative_groups::this_grid().sync() count themselves.
    address grid_workspace = 0;
};

struct kernel_info {
    std::string name; // mangled
    std::vector<parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared = 0, local_bytes = 0; // bytes a block, bytes a thread
    std::uint32_t max_threads = 0;                    // .maxntid product; 0 when not stated
};

// One PTX module, parsed. Its global and constant variables are allocated in `memory` and
// initialised. Throws std::runtime_error with line and cause for text that is not PTX or that it
// cannot understand as a whole; an unknown instruction throws only when a kernel that holds it is
// run (a finding, not an exception).
class module {
public:
    struct variable {
        address start;
        std::uint64_t bytes;
    };
    using variables = std::map<std::string, variable, std::less<>>; // by mangled name

    // `managed` holds what a module of the same text has allocated for another device: managed
    // variables are the same on all. They are taken from there, or put there; null: a module by
    // itself.
    module(std::string_view ptx, int device, variables *managed = nullptr);
    ~module();
    module(module &&) noexcept;

    std::vector<std::string> kernels() const;
    const kernel_info *find_kernel(std::string_view mangled) const;

    const variable *find_variable(std::string_view mangled) const;

    // Runs one grid, and those that it launches, to their end: all blocks of a grid resident, warps
    // round-robin. Findings go to
    // findings::instance(), counts to counters::instance(). Memory faults are findings *and* end
    // the grid with their error code; uninitialised reads are findings and the grid goes on.
    outcome run(const kernel_info &kernel, const launch &how);

private:
    struct state;
    std::unique_ptr<state> state_;
};

// When the work in streams runs: as it is queued; when the program waits for it; or at a seeded
// choice.
enum class stream_order : std::uint8_t { at_once, late, random };

struct options {
    bool check_memory = true, check_initialised = true, check_races = true, count = true;
    bool tell_devices_apart = false;           // memory bears the bit of its device
    std::uint64_t step_budget = 4'000'000'000; // warp instructions a grid
    // Of one core, after which a grid whose blocks go on and on counts as endless too; 0: never.
    double grid_seconds = 0;
    // How long a kernel may wait for host code to write memory that both see.
    std::uint32_t host_patience_ms = 10'000;
    std::uint64_t heap_bytes = 8 << 20;    // a device: what malloc in kernels can give
    std::uint32_t pending_launches = 2048; // by kernels, that have not begun
    int multiprocessors = 0;               // that a device has; 0: those of its profile
    // Hardware lets a barrier pass when the threads that miss it have ended; the rule of the
    // language is that all threads of the block come to it.
    bool ended_threads_miss_barriers = true;
    // What the search for races may remember of a grid and all that it launches: accesses of warps,
    // and bytes about them. Beyond it the rest goes unwatched, which is a finding.
    std::uint32_t race_accesses = 0xff000000;
    std::uint64_t race_bytes = std::uint64_t{768} << 20;
    unsigned cores = 0; // that the blocks of a grid may take; 0: all that this process may use
    bool random_schedule = false;
    // With it: blocks begin in random order, and few before others have ended.
    bool any_blocks_first = false;
    // Other kernels of the device take places for launches, too, and give them back.
    bool others_launch = false;
    stream_order streams = stream_order::at_once;
    std::uint64_t seed = 1;
};
options &settings();

// Of the grids of this process: how many were tried on several cores, and how many of these one
// core had to run after all.
struct shared_grids {
    std::uint64_t tried = 0, given_up = 0;
};
shared_grids &grids_on_cores();

} // namespace simulator
