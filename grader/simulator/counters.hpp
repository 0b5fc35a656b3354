// What the memory system was asked to do, counted from addresses alone, by source line and kernel.
//
// request: one warp memory instruction. sector: an aligned 32 bytes. ideal sectors: the fewest that
// could hold the distinct bytes asked for. wavefront: one pass over the 32 four-byte banks of
// shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simulator {

struct access_counts {
    std::uint64_t requests = 0, sectors = 0, ideal_sectors = 0, bytes = 0, lanes = 0;
    access_counts &operator+=(const access_counts &);
};

struct shared_counts {
    std::uint64_t requests = 0, wavefronts = 0, ideal_wavefronts = 0, lanes = 0;
    std::uint32_t worst_way = 0; // largest wavefronts / ideal of one request, rounded up
    shared_counts &operator+=(const shared_counts &);
};

enum class access_kind : std::uint8_t { load, store, atomic };

// The request of a source line that wasted most; where none wasted anything, one of most lanes.
struct worst_request {
    bool shared = false; // in shared memory, counted from its start; else in device memory
    access_kind kind = access_kind::load;
    std::uint32_t bytes = 0;           // a lane
    std::uint32_t lanes = 0;           // bit l: lane l asked
    std::uint32_t cost = 0, ideal = 0; // sectors, wavefronts; of an atomic: lanes on one address
    bool one_address = false;          // an atomic that went to one address only, all requests
    std::uint32_t score = 0;           // the higher, the worse
    std::vector<std::uint64_t> at;     // the lanes' addresses, lowest lane first
    std::string where;                 // what the first lane's is part of, as findings say it
};

struct site_counts { // one source line of one kernel
    access_counts global_load, global_store, local_load, local_store;
    shared_counts shared_load, shared_store;
    std::uint64_t constant_requests = 0,
                  constant_addresses = 0; // distinct addresses, summed over requests
    std::uint64_t host_sectors = 0; // of the global ones, those in pinned memory: over the link
    std::uint64_t global_atomics = 0, shared_atomics = 0; // lanes
    std::uint64_t atomic_same_address = 0; // worst lanes on one address, summed over requests
    std::uint64_t atomic_requests = 0;
    std::uint64_t global_atomic_requests = 0, global_atomic_sectors = 0;
    std::uint64_t texture_requests = 0; // fetches; what they read is in no other figure of a line
    std::uint64_t texture_bytes = 0;    // that the lanes of those fetches read
    std::uint64_t texture_sectors = 0;  // distinct ones of each fetch
    std::uint64_t printed_bytes = 0;    // text that printf made
    std::uint64_t branches = 0, divergent_branches = 0, barriers = 0;
    std::uint64_t multiplications = 0;   // of f32 and f64, also those that add: lanes
    std::uint64_t divisions = 0;         // of f32 and f64, exact or not: lanes
    std::uint64_t double_operations = 0; // arithmetic in f64: lanes
    std::uint64_t exact_divisions = 0,
                  exact_square_roots = 0; // div.rn, sqrt.rn and their like: lanes
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    site_counts &operator+=(const site_counts &);
};

constexpr std::uint64_t usual_parameters = 64; // bytes a launch: pointers and sizes

struct kernel_counts {
    std::string kernel; // demangled, without parameters
    std::uint64_t launches = 0, blocks = 0, threads = 0;
    std::uint64_t launches_by_kernels = 0;     // of the launches
    std::uint64_t instructions_by_kernels = 0; // of the warp instructions: those of such launches
    // Of launches by the host, beyond usual_parameters each: they may carry results.
    std::uint64_t parameter_bytes = 0;
    std::uint64_t all_parameter_bytes = 0; // of launches by the host, those too
    std::uint64_t sectors_read = 0,
                  sectors_written = 0; // distinct sectors a launch, summed: "compulsory bytes" / 32
    // Warp instructions of the block that executed most, summed over launches.
    std::uint64_t busiest_block_instructions = 0;
    // Of 4096 bytes, that were not on the device when the kernel asked for them.
    std::uint64_t managed_pages = 0;
    // Of each launch the distinct sectors of managed memory, read and written, wherever they lay;
    // all that it moved, where it touched any beside other threads of the host.
    std::uint64_t managed_sectors = 0;
    std::array<std::uint64_t, 16> multiplications_of{}; // by device: of total.multiplications
    site_counts total;
    std::map<std::pair<std::string, int>, site_counts> sites; // by file and line
    // Of a line at most one of each kind in each memory.
    std::map<std::pair<std::string, int>, std::vector<worst_request>> worst;
    bool has_worse(const std::pair<std::string, int> &place, bool shared, access_kind,
                   std::uint32_t score) const;
    void keep_worst(const std::pair<std::string, int> &place, worst_request);
};

struct transfer_counts { // copies outside kernels, bytes
    std::uint64_t host_to_device = 0, device_to_host = 0, device_to_device = 0, memset = 0;
    std::uint64_t in_pieces = 0;    // of device_to_device: rows of fewer than 128 bytes
    std::uint64_t peer_to_peer = 0; // between devices
    std::uint64_t staged = 0;       // of those, by way of the host: without access to each other
    // By device: what it sent to others, in copies and in what kernels read and write of a peer's
    // memory, there a launch's distinct sectors.
    std::array<std::uint64_t, 16> sent{};
    std::array<std::uint64_t, 16> uploaded{}; // by device: of host_to_device
    // Of copies to a device those from ordinary host memory, and of those to the host those to it.
    std::uint64_t from_pageable = 0, to_pageable = 0;
    // Of several devices: what kernels read and write of managed memory, which is no device's; of
    // each launch the distinct sectors.
    std::uint64_t managed = 0;
    // What the values that memory was set to may have carried, a sector a fill at most, and the
    // border colours of textures that were made.
    std::uint64_t fill_values = 0;
    std::uint64_t commands = 0; // copies, fills, graphs' nodes, textures
    // Copied to or from managed memory, which the host reaches without a call.
    std::uint64_t managed_copies = 0;
};

struct counters {
    std::vector<kernel_counts> kernels; // in order of first launch
    transfer_counts transfers;
    static counters &instance();
    // At the last clear(): of all devices; and streams and events that were there.
    std::uint64_t memory_used = 0, handles = 0;
    void clear();
    // With the timeline since clear(), which lies in timeline.hpp: members as named there, and of
    // each step also its "lane", the stream or host thread, and "waited_for", which is held_by.
    std::string json() const;
    std::string text() const;
};

} // namespace simulator
