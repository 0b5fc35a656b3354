// The simulator's counters of a case by source line, read from the grader's file.
//
// request: one warp's memory instruction. sector: an aligned 32 bytes. wavefront: one pass over the
// 32 banks of shared memory.
#pragma once

#include "stream_timeline.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

enum class access_kind { load, store, atomic };

// The most wasteful request of a source line.
struct worst_request {
    bool shared = false;
    access_kind kind = access_kind::load;
    unsigned bytes = 4;            // per lane
    unsigned cost = 0, ideal = 0;  // sectors or wavefronts; for an atomic: lanes on one address, 1
    bool one_address = false;      // for an atomic: all requests of the line went to one address
    std::vector<int> lanes;        // active lanes, ascending; never empty
    std::vector<std::uint64_t> at; // their addresses; in shared memory, offsets from its start
    std::string where;             // "byte 44 of `in` (4096 bytes)"; may be empty
    std::string memory() const;    // "in"; empty when it has no name
};

struct access_sum {
    std::uint64_t requests = 0, cost = 0, ideal = 0; // cost: sectors or wavefronts
    std::uint64_t bytes = 0;                         // requested, summed over lanes
    std::optional<worst_request> worst;
    void add(const access_sum &);
};

// The counters of one source line or one kernel.
struct access_counts {
    access_sum global_load, global_store, shared_load, shared_store, local_load, local_store;
    std::uint64_t global_atomics = 0, shared_atomics = 0; // counted per lane
    std::uint64_t atomic_requests = 0, atomic_same_address = 0;
    std::uint64_t constant_requests = 0, constant_addresses = 0;
    std::optional<worst_request> worst_atomic;
    void add(const access_counts &);
    bool touches_memory() const;
};

struct counted_kernel {
    std::string name;
    std::uint64_t launches = 0, threads = 0;
    std::uint64_t bytes_read = 0;   // distinct per launch, in whole sectors
    std::uint64_t bytes_loaded = 0; // requested; bytes that lanes of a warp share count once
    access_counts total;
};

struct counted_case {
    std::string function; // the contract function that was called
    std::vector<counted_kernel> kernels;
    stream_timeline timeline;
    std::map<std::pair<std::string, int>, access_counts> lines; // by file and line
};

// Returns the counters by case name. Throws std::exception if the text is malformed.
std::map<std::string, counted_case> read_counters(std::string_view text);

} // namespace cli
