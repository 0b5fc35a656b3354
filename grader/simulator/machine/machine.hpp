// The interface between the simulator's CUDA runtime and the machine that executes PTX.
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

// Limits and properties of the simulated device, which device_attributes.cpp also reports to
// programs. They are those of compute capability 8.0, except that shared memory is as small as on
// 8.6 and 8.9: 8.0 itself has 164 KiB per multiprocessor.
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
    std::size_t persisting_l2_bytes() const { return l2_bytes / 4 * 3; }
    int copy_engines = 2; // one per direction
    // Rates per timeline tick (timeline.hpp): bytes over the host link per direction, bytes to
    // another device, bytes of device memory, and warp instructions per multiprocessor.
    std::uint32_t link_bytes_per_tick = 16, peer_bytes_per_tick = 64, memory_bytes_per_tick = 512,
                  instructions_per_tick = 4;
};
inline const device_profile &profile()
{
    static const device_profile one;
    return one;
}

struct parameter {
    std::uint32_t offset, bytes;
};

// The result of a kernel run. Error values are those of cudaError_t, so the runtime can return
// them unchanged.
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
    std::uint8_t closed = 0; // shadow bits of memory that the device cannot access
    // For a cooperative launch, else 0: 8 bytes of device memory that hold the number 8 and a
    // zero, with which the blocks count their arrivals in cooperative_groups::this_grid().sync().
    address grid_workspace = 0;
};

struct kernel_info {
    std::string name; // mangled
    std::vector<parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared = 0, local_bytes = 0; // bytes per block, bytes per thread
    std::uint32_t max_threads = 0;                    // .maxntid product; 0 if not given
};

// One parsed PTX module. Its global and constant variables are allocated in `memory` and
// initialised. Throws std::runtime_error with line and cause if the text is not PTX or cannot be
// understood as a whole; an unknown instruction is a finding and ends the grid, but only when a
// thread reaches it.
class module {
public:
    struct variable {
        address start;
        std::uint64_t bytes;
    };
    using variables = std::map<std::string, variable, std::less<>>; // by mangled name

    // `managed` holds the managed variables that a module of the same text has allocated for
    // another device. They are shared by all devices: this module takes existing ones from there
    // and adds new ones. Null for a module on its own.
    module(std::string_view ptx, int device, variables *managed = nullptr);
    ~module();
    module(module &&) noexcept;

    std::vector<std::string> kernels() const;
    const kernel_info *find_kernel(std::string_view mangled) const;

    const variable *find_variable(std::string_view mangled) const;

    // Runs one grid, and the grids that it launches, to completion. All its blocks count as
    // resident, unlike on hardware, so a block may wait for any other; warps take turns
    // round-robin, or at random under a random schedule. Findings go to findings::instance(),
    // counts to counters::instance(). A memory fault is a finding and ends the grid with its error
    // code; after a finding for an uninitialised read the grid continues.
    outcome run(const kernel_info &, const launch &);

private:
    struct state;
    std::unique_ptr<state> state_;
};

// When queued work runs: as it is queued, when the program waits for it, or at a seeded random
// choice.
enum class stream_order : std::uint8_t { immediate, late, random };

struct options {
    bool check_memory = true, check_initialised = true, check_races = true, count = true;
    bool track_owning_device = false; // shadow bytes hold the bit of the owning device
    // Timeout for a kernel that waits for host code to write memory shared with it.
    std::uint32_t host_wait_limit_ms = 10'000;
    std::uint64_t heap_bytes = 8 << 20;    // per device: the heap of malloc in kernels
    std::uint32_t pending_launches = 2048; // max launches by kernels that have not begun
    int multiprocessors = 0;               // per device; 0: the number in the profile
    // Report a barrier that some threads of the block exited without reaching. Since Volta a
    // barrier waits only for the threads that have not exited, but CUDA defines __syncthreads()
    // as a wait for all threads of the block.
    bool check_exited_threads = true;
    // Limits of the race detector's records per grid and everything it launches: number of warp
    // accesses, and bytes of metadata. Beyond them accesses go unchecked, which is a finding.
    std::uint32_t race_accesses = 0xff000000;
    std::uint64_t race_bytes = std::uint64_t{768} << 20;
    bool random_schedule = false;
    // Only with random_schedule: blocks begin in random order, few before others have ended.
    bool any_blocks_first = false;
    // Simulate other kernels of the device that count as pending launches for a moment.
    bool others_launch = false;
    stream_order streams = stream_order::immediate;
    std::uint64_t seed = 1;
};
inline options &settings()
{
    static options one;
    return one;
}

inline int multiprocessors()
{
    return settings().multiprocessors > 0 ? settings().multiprocessors : profile().multiprocessors;
}

} // namespace simulator
