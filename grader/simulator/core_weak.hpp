// What the memory of a device does not promise: that two stores of one block become visible to
// another in the order in which they were made.
//
// Memory here is one and in order. In runs that shuffle blocks, a strong load of a block that has
// seen a later store of another block gets, once, the older value of an earlier strong store of it,
// where no fences order the two: the value and the flag of a message, of which the flag came first.
// A program that needs the order gets wrong results by that; one that does not, as where value and
// flag are one word, goes on as ever.
#pragma once

#include "core_races.hpp"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace simulator::core {

class weak_memory {
public:
    explicit weak_memory(const race_checker &order) : order_(order) {}

    void begin(); // a grid: a launch orders all before it

    // A strong store to device memory, before its bytes move, or an atomic, after the search for
    // races has seen it.
    void store(const context &, const instruction &, lane_mask, const std::uint64_t *address);
    void atomic(const context &, const instruction &, lane_mask, const std::uint64_t *address);

    // Of a strong load's element, `offset` bytes from its address: the lanes that get an older
    // value, which `older` receives.
    lane_mask load(context &, const instruction &, lane_mask, const std::uint64_t *address,
                   std::uint32_t offset, std::byte (*older)[8]);

private:
    struct store_event { // a store
        epoch at = 0;
        std::uint32_t statement = 0;
    };
    struct byte_store {
        std::uint32_t block = 0;
        store_event by;
        std::byte older{}; // what was there before
    };
    struct word { // what was stored in 4 bytes
        std::unordered_map<std::uint32_t, store_event>
            by; // the last of each block, into any of them
        byte_store last[4];
        bool has_older[4] = {};
        std::vector<std::uint32_t> served; // blocks that have had an older value
    };
    struct sighting { // when a block read each byte
        epoch of[4] = {};
    };
    using sightings = std::unordered_map<std::uint64_t, sighting>; // by address of a word

    void note_read(sightings &, std::uint64_t word, std::uint32_t first, std::uint32_t end) const;
    const store_event *seen_later(const sightings &, std::uint32_t by, epoch than) const;
    const store_event *unordered_later_store(const context &, const sightings &, std::uint64_t at,
                                             const word &, std::uint32_t byte) const;
    void report_older_value(context &, const instruction &, int lane, std::uint64_t address,
                            const byte_store &, const store_event &later) const;

    const race_checker &order_;
    std::unordered_map<std::uint64_t, word> words_;     // by address
    std::unordered_map<std::uint32_t, sightings> seen_; // by block
    std::unordered_set<std::uint32_t> stored_;          // blocks that have made a strong store
};

} // namespace simulator::core
