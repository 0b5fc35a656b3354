// What is right in lab 02: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// rows x cols, row-major.
std::vector<float> scale_columns(const std::vector<float> &in, int rows, int cols,
                                 const std::vector<float> &factor);

// The n - offset sums (none when offset >= n), wherever the contract says to put them.
std::vector<float> read_offset(const std::vector<float> &a, const std::vector<float> &b,
                               int offset);
std::vector<float> write_offset(const std::vector<float> &a, const std::vector<float> &b,
                                int offset);

std::vector<float> add(const std::vector<float> &a, const std::vector<float> &b);

// The distinct sectors and lines of the addresses that the active lanes read, counted one by one.
prediction predict(const access_pattern &pattern);

// The rules by which blocks are resident. Without one of them the answer is that of a mistake.
struct residency_rules {
    bool block_limit = true;      // at most so many blocks
    bool whole_warps = true;      // a warp with few threads counts like any; else: threads count
    bool full_warps_only = false; // only warps with 32 threads count
    bool registers = true;        // they are a limit at all
    bool register_unit = true;    // rounded up to a multiple of it
    bool unit_per_warp = true;    // each warp's are rounded up; else: each block's
    bool partitions = true;       // a warp's are in one partition
    bool shared = true;           // it is a limit at all
    bool shared_reserved = true;  // each block's share has the reserved bytes, too
    bool shared_unit = true;      // rounded up to a multiple of it
    bool rounded_down = true;     // a part of a block is none; else: it counts as one
};
int resident_blocks(const block_needs &block, const sm_limits &limits,
                    const residency_rules &rules = {});

// The same for latency hiding.
struct latency_rules {
    bool clock = true;        // cycles become time; else: a cycle is a nanosecond
    bool whole_bytes = false; // a part of a byte in flight is left out
    bool each_sm = true;      // warps of one SM; else: of the device
    bool warps = true;        // else: threads
    bool rounded_up = true;   // enough warps; else: too few
};
int warps_hiding_latency(const memory_demand &demand, const latency_rules &rules = {});

} // namespace oracle
