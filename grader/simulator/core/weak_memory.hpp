// Simulates weakly ordered memory: two strong stores of one block may become visible to another
// block out of order, as in the message-passing (MP) litmus test.
//
// The simulated memory itself is sequentially consistent. In runs that shuffle blocks, a strong
// load by a block that has observed a later store of another block gets, once, the value before an
// earlier strong store of that block, if no fences order the two: the flag became visible before
// the data. A program that needs the order then computes wrong results; one that does not, because
// data and flag share a word for example, is unaffected.
#pragma once

#include "races.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace simulator::core {

class weak_memory {
public:
    explicit weak_memory(const race_checker &order) : order_(order) {}

    void begin(); // begins a grid, which all earlier stores happen before

    // Call `store` before a strong store changes device memory, and `atomic` after the race check
    // of an atomic.
    void store(const context &, const instruction &, lane_mask, const std::uint64_t *address);
    void atomic(const context &, const instruction &, lane_mask, const std::uint64_t *address);

    // For one element of a strong load, `offset` bytes from its address: returns the lanes that
    // get an older value, which `older` receives.
    lane_mask load(context &, const instruction &, lane_mask, const std::uint64_t *address,
                   std::uint32_t offset, std::byte (*older)[8]);

private:
    struct store_event {
        epoch at = 0;
        std::uint32_t statement = 0;
    };
    struct byte_store { // the last store to a byte
        std::uint32_t block = 0;
        store_event event;
        std::byte older{}; // the value before it
    };
    struct word { // the stores to 4 bytes
        // By block: its last store to any of the bytes.
        std::unordered_map<std::uint32_t, store_event> last_by;
        byte_store last[4];
        bool has_older[4] = {};
        std::vector<std::uint32_t> served; // blocks that have received an older value
    };
    // By address of a word: the epochs at which a block read each of its bytes.
    using observed_reads = std::unordered_map<std::uint64_t, std::array<epoch, 4>>;

    void note_read(observed_reads &, std::uint64_t word, std::uint32_t first,
                   std::uint32_t end) const;
    const store_event *later_store_observed(const observed_reads &, std::uint32_t by,
                                            epoch after) const;
    const store_event *unordered_later_store(const context &, const observed_reads &,
                                             std::uint64_t at, const word &,
                                             std::uint32_t byte) const;
    void report_older_value(context &, const instruction &, int lane, std::uint64_t address,
                            const byte_store &, const store_event &later) const;

    const race_checker &order_;
    std::unordered_map<std::uint64_t, word> words_;           // by address
    std::unordered_map<std::uint32_t, observed_reads> reads_; // by block
    std::unordered_set<std::uint32_t> stored_; // blocks that have made a strong store
};

} // namespace simulator::core
