// The simulator's counters of one call.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace grading {

struct counted { // totals over every kernel of one call, and the source lines behind them
    std::uint64_t launches = 0, blocks = 0, threads = 0;
    std::uint64_t launches_by_kernels = 0;     // included in launches
    std::uint64_t instructions_by_kernels = 0; // included in warp_instructions
    // Warp instructions; the sum over launches of the busiest block's; and thread instructions,
    // which over warp instructions give the average number of active lanes, of 32. Of each kernel
    // at most 50,000 warp instructions per sector that it touches are in these, and the others in
    // the same proportion.
    std::uint64_t warp_instructions = 0, busiest_block_instructions = 0, thread_instructions = 0;
    std::uint64_t load_requests = 0, load_sectors = 0, load_bytes = 0, load_ideal_sectors = 0;
    std::uint64_t store_requests = 0, store_sectors = 0, store_bytes = 0;
    std::uint64_t compulsory_bytes = 0; // 32 x distinct sectors per launch, reads and writes
    // Copies by the host's calls to devices and within a device.
    std::uint64_t copied_bytes = 0;
    // Part of copied_bytes with which copies may have done the kernels' work: those from the host,
    // and rows shorter than 128 bytes within a device, which can permute elements.
    std::uint64_t brought_bytes = 0;
    // A wavefront is one pass over the 32 banks; ideal: the fewest for the words asked for. Of
    // atomics, each lane asks for a word of its own.
    std::uint64_t shared_wavefronts = 0, shared_ideal_wavefronts = 0;
    std::uint64_t texture_bytes = 0;     // read through textures, by all lanes
    std::uint64_t multiplications = 0;   // of float and double, including FMA; by all lanes
    std::uint64_t divisions = 0;         // of float and double, exact or not; by all lanes
    std::uint64_t double_operations = 0; // arithmetic in double; by all lanes
    // div.rn, sqrt.rn and similar, of float and double; by all lanes.
    std::uint64_t exact_divisions = 0, exact_square_roots = 0;
    std::uint64_t texture_requests = 0, texture_sectors = 0; // distinct sectors per fetch
    std::uint64_t global_atomics = 0, local_requests = 0, barriers = 0;
    // By request, in device memory; atomics in shared memory are not included.
    std::uint64_t global_atomic_requests = 0, atomic_sectors = 0, local_sectors = 0;
    std::uint64_t filled_bytes = 0;  // by memset
    std::uint64_t printed_bytes = 0; // text that kernels printed, for the host
    std::uint64_t constant_requests = 0, constant_addresses = 0; // distinct ones per request
    // Bytes to the device over the link to the host: copies, parameters, and accesses by kernels,
    // loads and stores alike, to pinned memory and, with several devices, to managed memory.
    // pageable_bytes: copies from pageable memory. parameter_bytes: parameters beyond a few words
    // per launch.
    std::uint64_t host_link_bytes = 0, pageable_bytes = 0, parameter_bytes = 0;
    // With several devices: bytes sent by the device that sent most to others, in copies and in
    // accesses by kernels to each other's memory; and copies between devices that went through the
    // host, which are also in host_link_bytes.
    std::uint64_t max_sent_bytes = 0, staged_bytes = 0;
    std::uint64_t max_uploaded_bytes = 0; // copied from the host to the device that got most
    std::uint64_t pageable_out_bytes = 0; // copied to the host, into pageable memory
    // From devices to the host: copies, and accesses by kernels to pinned memory, loads included.
    std::uint64_t downloaded_bytes = 0;
    // From the host, and to it, in copies alone: without accesses by kernels to pinned memory.
    std::uint64_t copied_in_bytes = 0, copied_out_bytes = 0;
    std::array<std::uint64_t, 16> multiplications_of{}; // by device
    std::uint64_t message_bytes = 0; // bytes that one of several ranks gave MPI for the others
    std::uint64_t host_waits = 0;    // times that the host waited for devices
    // Waits of streams for an event in which the call had recorded nothing yet.
    std::uint64_t idle_waits = 0;
    // Accesses by kernels to memory that host code reaches as well: pinned and managed memory,
    // both ways.
    std::uint64_t shared_with_host_bytes = 0;
    // All bytes that launch parameters and the values of fills may have carried.
    std::uint64_t carried_bytes = 0;
    // Launches by the host, copies, fills, graph nodes, created textures.
    std::uint64_t host_commands = 0;
    std::uint64_t kept_bytes = 0; // device memory allocated and not freed again
    // Streams, events, and texture and surface objects created and not destroyed again.
    std::uint64_t kept_handles = 0;
    std::uint64_t managed_pages = 0; // 4096-byte pages not resident when a kernel accessed them
    // Times from the simulator's timeline (simulator/README.md): until all work had ended; all
    // work done serially; and copies to or from a device.
    std::uint64_t ticks = 0, serial_ticks = 0, copying_ticks = 0;
    std::uint64_t naive_serial_ticks = 0;                   // serial_ticks of naive's call
    std::uint64_t streams = 0;                              // streams that had work to do
    std::uint64_t kernel_ticks = 0, side_by_side_ticks = 0; // while a kernel ran; while two ran
    std::uint64_t longest_kernel_ticks = 0;
    // Waits of the host that kept work from beginning earlier; 0 if their cost was negligible.
    std::uint64_t holding_waits = 0;
    std::uint64_t kernels_behind_streams = 0; // in the default stream, after other streams' work
    // True if a kernel in the default stream waited for none of the streams that had work before
    // it.
    bool default_stream_alone = false;
    bool own_streams = false; // work was put into another stream than the default stream
    // Atomics in global and shared memory: requests; and per request, the lanes on the address
    // that most of its lanes use.
    std::uint64_t atomic_requests = 0, atomic_same_address = 0;
    struct site {
        std::string kernel, file;
        int line = 0;
        std::uint64_t requests, sectors, ideal_sectors;
        bool store;
    };
    std::vector<site> worst; // global accesses, by sectors beyond ideal, descending
    struct bank_site {       // in shared memory
        std::string kernel, file;
        int line = 0;
        std::uint64_t wavefronts = 0, ideal = 0;
        std::string accesses;         // "loads", "stores" or "atomics"
        std::int64_t lane_stride = 0; // bytes between lanes of the worst request; 0: not uniform
    };
    bank_site worst_banks; // the line with the most wavefronts beyond ideal
};

constexpr std::uint64_t sector_bytes = 32; // the unit in which device memory is accessed

// Sectors moved at a source line beyond the fewest that would do.
inline std::uint64_t wasted(const counted::site &s)
{
    return s.sectors > s.ideal_sectors ? s.sectors - s.ideal_sectors : 0;
}

// Returns the sectors of 32 bytes moved by anything, counted each time: loads and stores, atomics,
// texture fetches, local memory, constants beyond one address per request (which is a broadcast),
// copies except between devices, memset, and text printed by kernels. No other way to move data
// evades a gate on it.
double moved_sectors(const counted &);
// Returns the warp instructions that read any memory but shared memory: loads, atomics, texture
// fetches, local memory and constants.
double memory_requests(const counted &);
// The same, plus wavefronts and atomics in shared memory.
double accesses(const counted &);

} // namespace grading
