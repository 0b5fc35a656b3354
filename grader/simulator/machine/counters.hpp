// Memory system requests, counted from addresses alone, by source line and kernel.
//
// A request is one warp memory instruction. A sector is an aligned 32 bytes. Ideal sectors are the
// fewest that could hold the distinct requested bytes. A wavefront is one pass over the 32
// four-byte banks of shared memory.
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
    shared_counts &operator+=(const shared_counts &);
};

enum class access_kind : std::uint8_t { load, store, atomic };

// The most wasteful request of a source line; if none is wasteful, one with the most lanes.
struct worst_request {
    bool shared = false; // in shared memory, with offsets from its start; else in device memory
    access_kind kind = access_kind::load;
    std::uint32_t bytes = 0; // per lane
    std::uint32_t lanes = 0; // bit l: lane l participated
    // Sectors or wavefronts; for an atomic: lanes on one address.
    std::uint32_t cost = 0, ideal = 0;
    bool one_address = false;      // an atomic all of whose requests went to one address
    std::uint32_t score = 0;       // higher is worse
    std::vector<std::uint64_t> at; // addresses of the lanes, lowest lane first
    std::string where; // the allocation of the first lane's address, in the words of a finding
};

struct site_counts { // counts for one source line of one kernel
    access_counts global_load, global_store, local_load, local_store;
    shared_counts shared_load, shared_store;
    shared_counts shared_atomic; // lanes on one bank, or one word, are served one after the other
    std::uint64_t constant_requests = 0,
                  constant_addresses = 0; // distinct addresses, summed over requests
    std::uint64_t host_sectors = 0;   // part of the global sectors: in pinned memory, over the link
    std::uint64_t global_atomics = 0; // lanes
    std::uint64_t atomic_same_address = 0; // max lanes on one address, summed over requests
    std::uint64_t atomic_requests = 0;
    std::uint64_t global_atomic_requests = 0, global_atomic_sectors = 0;
    // Fetches; the data they read is in no other count of a line.
    std::uint64_t texture_requests = 0;
    std::uint64_t texture_bytes = 0;   // bytes read by the lanes of those fetches
    std::uint64_t texture_sectors = 0; // distinct per fetch
    std::uint64_t printed_bytes = 0;   // bytes of printf output
    std::uint64_t barriers = 0;
    std::uint64_t multiplications = 0;   // per lane: f32 and f64, including fused multiply-adds
    std::uint64_t divisions = 0;         // per lane: f32 and f64, exact or approximate
    std::uint64_t double_operations = 0; // per lane: f64 arithmetic
    std::uint64_t exact_divisions = 0,
                  exact_square_roots = 0; // per lane: div.rn, sqrt.rn and the like
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    site_counts &operator+=(const site_counts &);
};

constexpr std::uint64_t usual_parameters = 64; // bytes per launch: pointers and sizes

struct kernel_counts {
    std::string kernel; // demangled, without parameters
    std::uint64_t launches = 0, blocks = 0, threads = 0;
    std::uint64_t launches_by_kernels = 0;     // part of `launches`
    std::uint64_t instructions_by_kernels = 0; // part of warp_instructions: those of such launches
    // Bytes beyond usual_parameters per launch by the host: these may carry results.
    std::uint64_t parameter_bytes = 0;
    std::uint64_t all_parameter_bytes = 0; // the same without that deduction
    std::uint64_t sectors_read = 0,
                  sectors_written = 0; // distinct per launch, summed: "compulsory bytes" / 32
    // Warp instructions of the busiest block, summed over launches.
    std::uint64_t busiest_block_instructions = 0;
    // Pages of 4096 bytes that were not on the device when a kernel accessed them.
    std::uint64_t managed_pages = 0;
    // Distinct sectors of managed memory read and written per launch, wherever they reside; if the
    // host has other threads and the launch touched any, all sectors that it moved.
    std::uint64_t managed_sectors = 0;
    // Per device: part of total.multiplications.
    std::array<std::uint64_t, 16> multiplications_of{};
    site_counts total;
    std::map<std::pair<std::string, int>, site_counts> sites; // by file and line
    // At most one request per line, access kind and memory.
    std::map<std::pair<std::string, int>, std::vector<worst_request>> worst;
    bool has_worse(const std::pair<std::string, int> &place, bool shared, access_kind,
                   std::uint32_t score) const;
    void keep_worst(const std::pair<std::string, int> &place, worst_request);
};

struct transfer_counts { // copies outside kernels, in bytes
    std::uint64_t host_to_device = 0, device_to_host = 0, device_to_device = 0, memset = 0;
    std::uint64_t in_pieces = 0; // part of device_to_device: rows shorter than 128 bytes
    std::uint64_t staged = 0;    // between devices by way of the host, without peer access
    // Per device: bytes sent to others by copies and by kernel accesses to peer memory, the latter
    // as distinct sectors per launch.
    std::array<std::uint64_t, 16> sent{};
    std::array<std::uint64_t, 16> uploaded{}; // per device: part of host_to_device
    // Copies between a device and pageable host memory: part of host_to_device and device_to_host.
    std::uint64_t from_pageable = 0, to_pageable = 0;
    // With several devices: kernel accesses to managed memory, which belongs to no device, as
    // distinct sectors per launch.
    std::uint64_t managed = 0;
    // Information that fill values may have carried, at most one sector per fill, and the border
    // colours of created textures.
    std::uint64_t fill_values = 0;
    std::uint64_t commands = 0; // copies, fills, graph nodes, textures
    // Copies to or from managed memory, which the host reaches without a call.
    std::uint64_t managed_copies = 0;
};

struct counters {
    std::vector<kernel_counts> kernels; // in order of first launch
    transfer_counts transfers;
    static counters &instance();
    // Values at the last clear(): bytes in use on all devices; existing streams and events.
    std::uint64_t memory_used = 0, handles = 0;
    // `existing_handles`: the number of streams and events at the moment.
    void clear(std::uint64_t existing_handles = 0);
    // Includes the timeline since clear(), with the member names of timeline.hpp; each step also
    // has "lane", its stream or host thread, and "waited_for", which is held_by.
    std::string json(std::uint64_t existing_handles = 0) const;
};

} // namespace simulator
