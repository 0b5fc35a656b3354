// The simulator's counters of a case by source line, read from the grader's file.
//
// Request: one memory instruction of one warp. Sector: 32 aligned bytes of global or local memory.
// Wavefront: one pass over the 32 banks of shared memory.
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

// The most wasteful request of a source line; if none is wasteful, one with the most lanes.
struct worst_request {
    bool shared = false;
    access_kind kind = access_kind::load;
    unsigned bytes = 4; // per lane
    // Sectors or wavefronts; for an atomic: the most lanes on one address, and 1.
    unsigned cost = 0, ideal = 0;
    // For an atomic: every lane of every request of a kernel used one address; in shared memory
    // one offset, which is another address in each block.
    bool one_address = false;
    std::vector<int> lanes;               // active lanes, ascending; never empty
    std::vector<std::uint64_t> addresses; // theirs; in shared memory, offsets from its start
    std::string where; // of the first lane's address: "byte 44 of `in` (4096 bytes)"; may be empty
    std::string memory() const; // the allocation: "in"; empty: it has no name
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
    std::uint64_t global_atomics = 0, shared_atomics = 0; // lanes
    std::uint64_t atomic_requests = 0;
    std::uint64_t atomic_same_address = 0; // most lanes on one address, summed over requests
    std::uint64_t constant_requests = 0;
    std::uint64_t constant_addresses = 0; // distinct, summed over requests
    std::optional<worst_request> worst_atomic;
    void add(const access_counts &);
    bool touches_memory() const;
};

struct kernel_counters {
    std::string name;
    std::uint64_t launches = 0, threads = 0;
    std::uint64_t bytes_read = 0; // distinct per launch, in whole sectors
    // Requested; bytes that several lanes of a request load count once, rounded up to sectors.
    std::uint64_t bytes_loaded = 0;
    access_counts total;
};

struct case_counters {
    std::string function; // the contract function that was called
    std::vector<kernel_counters> kernels;
    stream_timeline timeline;
    std::map<std::pair<std::string, int>, access_counts> lines; // by file and line
};

// Returns the counters by case name. Throws std::exception if the text is malformed.
std::map<std::string, case_counters> read_counters(std::string_view text);

} // namespace cli
