// Runs the blocks of a grid on several cores, with results bit for bit equal to those of one core.
//
// Dependences between blocks are not known beforehand, so the parallel run is speculative. Each
// core runs blocks one by one and records the words of device memory that it is about to touch.
// The run fails as soon as a block
//   - touches a word that another core's block has written, or writes one that another's has read;
//   - runs an atomic, a volatile or ordered access in device memory, a clock, a texture
//     fetch, or anything that calls the runtime: printf, assert, malloc, a launch;
//   - causes any finding or fault, or cannot end without other blocks.
// Then all writes are rolled back, and one core runs the blocks in order, so findings are always
// those of one core. If the run succeeds, no block could observe another, so their order cannot
// affect any result.
//
// The first block runs on one core, watched in the same way: it shows whether the kernel may run
// in parallel, and whether the remaining work is large enough.
//
// Two cores that touch the same word, one of them writing, each record the access first and then
// check the other's records. At least one of them sees the conflict and does not access the word,
// so the host program has no data race.
#pragma once

#include "grid.hpp"
#include "races.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace simulator::core {

// The words of device memory read and written by any core during one parallel run, in groups of
// 64.
class touch_table {
public:
    touch_table();
    ~touch_table();
    touch_table(const touch_table &) = delete;
    touch_table &operator=(const touch_table &) = delete;

    static constexpr unsigned page_shift = 9; // in groups
    struct group {
        std::atomic<std::uint64_t> read = 0, read_by_many = 0, written = 0;
    };
    struct page {
        group groups[1u << page_shift];
    };
    page &page_of(std::uint64_t number);
    void clear(std::uint64_t number);
    std::uint64_t pages() const { return pages_; }

private:
    std::uint64_t pages_; // number of pages for all addresses
    std::atomic<page *> *table_;
    std::mutex mutex_; // protects made_
    std::vector<std::unique_ptr<page>> made_;
};

// The words touched by the blocks of one core, and the original contents of those written.
class touch_guard {
public:
    explicit touch_guard(touch_table &);
    ~touch_guard();
    touch_guard(const touch_guard &) = delete;
    touch_guard &operator=(const touch_guard &) = delete;

    // `failed`: the flag of the parallel run; null: the blocks run on one core and are only
    // watched.
    void begin(std::atomic<bool> *failed, unsigned cores);
    bool watches_only() const { return failed_ == nullptr; }
    bool independent() const { return independent_; }
    // Notes that the blocks must not run in parallel. Returns true if they may continue, on one
    // core.
    bool mark_dependent();
    // Returns false on a conflict with a block of another core. `offset`: from the start of
    // memory.
    bool touch(const context &, lane_mask, const std::uint64_t *address, std::uint32_t bytes,
               bool write); // `bytes`: per lane
    bool touch(std::uint64_t offset, std::uint64_t bytes, bool write);
    void roll_back(); // restores the words written
    void clear();     // clears the records, here and in the table

private:
    struct group {
        std::uint64_t read = 0, written = 0;
    };
    struct page {
        group groups[1u << touch_table::page_shift];
        bool used = false;
    };
    struct saved {
        std::uint64_t group, words;
    };
    void turn_to(std::uint64_t number);
    bool touch_group(std::uint64_t group, std::uint64_t words, bool write);
    bool read(touch_table::group &, group &, std::uint64_t fresh);
    bool write(std::uint64_t number, touch_table::group &, group &, std::uint64_t fresh);
    void save(std::uint64_t number, std::uint64_t words);

    touch_table &table_;
    std::atomic<bool> *failed_ = nullptr;
    bool independent_ = true;
    page **pages_; // by number; null if never touched
    std::vector<std::unique_ptr<page>> made_;
    std::vector<std::uint64_t> used_;
    std::uint64_t last_ = ~std::uint64_t{0};
    page *mine_ = nullptr;
    touch_table::page *all_ = nullptr;
    std::size_t max_saved_ = 0; // limit, in words
    std::vector<saved> saved_;
    std::vector<std::uint32_t> values_, shadows_; // of the saved words, in order
};

// The state of one core during a parallel run.
struct block_runner {
    explicit block_runner(touch_table &t) : guard(t) {}
    touch_guard guard;
    race_checker races;
    sector_set read, written;
    std::vector<tally> tallies; // by function
    std::vector<std::unique_ptr<thread_block>> spare;
    std::unique_ptr<launch_node> node;
    std::unique_ptr<grid> part;
};

// Is kept from launch to launch.
class block_team {
public:
    block_team();
    ~block_team();

    // Watches the first block if the grid may run in parallel afterwards.
    void watch(grid &);
    void stop_watching(grid &);
    // Called when the first block has ended: runs the others in parallel. Returns false if one
    // core must run them.
    bool finish(grid &);

private:
    unsigned cores_worth(const grid &) const;
    void prepare(block_runner &, const grid &, unsigned cores);
    void run(block_runner &, unsigned cores);
    bool run_all(grid &, unsigned cores);
    bool merge_results(grid &, unsigned cores);

    std::unique_ptr<touch_table> table_;
    std::unique_ptr<touch_guard> first_;
    std::vector<std::unique_ptr<block_runner>> runners_;
    std::atomic<std::uint64_t> next_ = 0;
    std::uint64_t end_ = 0, chunk_ = 1;
    std::atomic<bool> failed_ = false;
};

} // namespace simulator::core
