// Finds data races: accesses of different threads to the same bytes that no happens-before order
// separates.
//
// Every memory instruction of a warp gets the next epoch of one clock. For each unit of memory,
// shadow memory holds the last write and the reads since. Whatever orders threads (bar.sync,
// bar.warp.sync, a release pattern that an acquire pattern observes) is kept as the epoch at which
// it happened. An earlier access happens before a later one when such an epoch lies between them.
//
// A release pattern is a fence and then a strong write, an acquire pattern a strong read and then a
// fence, as in the PTX memory model. Two simplifications hide some races, and invent none:
// addresses are not compared, so a strong read observes all strong writes before it; and between
// blocks each block counts as one thread, so the fence of one warp covers the accesses of all.
//
// The grids of one launch tree run one after another, and shadow memory outlives them: each grid
// has a range of epochs. Only launches and streams order two of them, see launch_tree.hpp: what
// happened before the launch in the launching thread happens before the child.
//
// Shadow memory has lines of 128 bytes. A line that whole warps access in lane order needs one
// cell; any other access splits it into words, or into bytes if accesses are smaller.
#pragma once

#include "grid.hpp"
#include "launch_tree.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace simulator::core {

using epoch = std::uint32_t; // a time of the one clock, as in FastTrack; 0: never

struct access_record {
    epoch at = 0;
    // Block and warp, strong_bit and block_scope_bit, see races/access.hpp.
    std::uint32_t owner = 0;
    lane_mask lanes = 0; // for a whole line the layout of its lanes instead, see shape_of
};

struct shadow_cell { // for a word, a byte or a whole line
    access_record write, read;
    access_record other; // the latest read by a warp other than that of `read`
};

struct shadow_line {
    enum class split : std::uint8_t { whole, words, bytes };
    shadow_cell whole;
    std::unique_ptr<shadow_cell[]> cells; // null until the line is split
    epoch latest = 0;                     // of the last access
    split split_into = split::whole;
    std::uint8_t capacity = 0; // number of cells
};

// The release patterns of a warp or block: a fence, then a strong write.
class release_history {
public:
    void fence(epoch at) { fence_ = at; }
    void strong_write(epoch at);
    // True if an access at `done` was released before a strong read of the other side at `seen`:
    // the fence came after the access, and the strong write before the read.
    bool covers(epoch done, epoch seen) const;

private:
    struct entry {
        epoch fence, at;
    };
    epoch fence_ = 0;
    std::vector<entry> entries_; // in order of epochs
    bool dropped_ = false;       // entries older than the first were dropped
};

// Row t is the vector clock of thread or warp t: the epoch before which it knows the accesses of
// each other one.
template <std::size_t n> using order_matrix = std::array<std::array<epoch, n>, n>;

struct warp_order {
    epoch synchronised_at = 1; // accesses of the warp's lanes before this are ordered
    // acquired_at is the epoch of the last strong read that a fence, a barrier or an acquire has
    // followed: what others had released by then happened before the warp's next access. A barrier
    // of some warps passes the latest such epoch of those that arrived on to those that wait.
    epoch strong_read_at = 0, acquired_at = 0;
    std::unique_ptr<order_matrix<32>> lanes; // null until some, not all, lanes synchronised
    release_history releases;
};

struct block_order {
    epoch synchronised_at = 1; // accesses of the block's threads before this are ordered
    epoch strong_read_at = 0, acquired_at = 0, reads_released_at = 0;
    std::vector<warp_order> warps;
    std::unique_ptr<order_matrix<32>> warp_matrix; // null until some, not all, warps synchronised
    struct arrivals {                              // at a barrier
        std::uint32_t warps = 0;
        std::array<epoch, 32> at{};
        epoch acquired_at = 0; // the latest of the warps' acquired_at
    };
    std::array<arrivals, 16> barriers;
    std::vector<shadow_line> shared;
    std::uint32_t era = 0; // clock era, see race_checker::reset
};

using release_histories = std::unordered_map<std::uint32_t, release_history>; // by block number

// The vector clock of a thread when it launches a grid: the epochs before which accesses happen
// before the launch.
struct launch_clock {
    epoch at = 0; // of the launch; 0: the host's
    std::uint32_t owner = 0;
    int lane = 0;
    epoch block_at = 0, warp_at = 0, acquired_at = 0;
    std::vector<epoch> lanes, warps; // the thread's and warp's rows of the matrices; empty: none
    const code *of = nullptr;        // code and statement of the launch
    std::uint32_t statement = 0;

    // True if this access of the launching grid by lane `by` (below 0: by every lane) happened
    // before the launch.
    bool covers(const access_record &, int by, const release_histories &) const;
};

// The data about a grid that later grids of the same launch tree need.
struct grid_history {
    epoch began = 0, ended = 0;
    epoch horizon = 0; // all accesses before this, by any grid, happen before the grid
    const program *of = nullptr;
    dim grid, block;
    launch_clock at_launch;
    std::vector<const launch_clock *> launches; // see launches_before
    release_histories blocks;
};

class race_checker {
public:
    race_checker();
    ~race_checker();
    race_checker(const race_checker &) = delete;
    race_checker &operator=(const race_checker &) = delete;

    void begin(launch_node &, const grid &); // a grid that the host launched, or a descendant
    void end(launch_node &);                 // the grid has run
    void end(); // the launch tree has ended: adds the races to the findings
    // The vector clock of the running thread, which launches a grid.
    launch_clock clock_at_launch(context &, const instruction &, int lane);

    void start(thread_block &, std::uint32_t shared_bytes);
    void synchronise_lanes(warp &, lane_mask);
    void arrive(warp &, std::uint32_t barrier);
    // The whole block passes a barrier, or only the warps in `waiting`.
    void pass_barrier(thread_block &);
    void pass_barrier(thread_block &, std::uint32_t barrier, std::uint32_t waiting);
    void fence(context &, bool block_scope);
    // Completes an acquire pattern: accesses from here on happen after the releases that the warp
    // has observed; with `block_scope`, only after those of its own block.
    void acquire(warp &, bool block_scope = false);

    epoch now() const { return clock_; }
    // released_to: true if an access by block `by` of this grid at `done` happens before the next
    // access of `b`. released_before_seen: true if it would, had `b` a fence after its strong read.
    bool released_to(const thread_block &b, std::uint32_t by, epoch done) const;
    bool released_before_seen(const thread_block &b, std::uint32_t by, epoch done) const;

    void check(context &, const instruction &, lane_mask, const std::uint64_t *address, ptx::space,
               std::uint32_t bytes, access_use, bool contiguous, const std::byte (*copied)[16]);

private:
    struct access;
    struct page;
    struct leaf;
    struct logged_access {
        const code *of;
        std::uint32_t statement;
        std::uint8_t bytes;
        bool atomic, guess, copy; // `copy`: by cp.async
    };

    shadow_line &line_at(const access &, std::uint64_t offset);
    shadow_line &device_line(std::uint64_t offset);
    page *new_page(std::uint64_t number);
    void unsplit_line(const access &, shadow_line &);
    bool record_whole_line(const access &, shadow_line &, std::uint32_t shape);
    void split_line(const access &, shadow_line &, shadow_line::split);
    void stop_tracking(const context &);
    void reset();
    void free_shadow_memory();
    void return_pages();
    void record_lanes(const access &);
    lane_mask still_unordered(const access &, const access_record &earlier, lane_mask now) const;
    void read_again(const access &, shadow_cell &, lane_mask lanes) const;
    void read_words(const access &);
    bool read_halves(const access &);
    void read_word(const access &, shadow_cell &, lane_mask lanes) const;
    void record_cells(const access &, int lane, lane_mask lanes);
    void read_cell(const access &, shadow_cell &, lane_mask lanes, std::uint32_t offset);
    static void new_bytes(const access &, int lane, std::uint32_t offset, std::uint32_t n,
                          std::byte *to);
    static void written_bytes(const access &, const access_record &, int lane, std::uint32_t offset,
                              std::uint32_t n, std::byte *to);
    void write_cell(const access &, shadow_cell &, int lane, std::uint32_t offset,
                    std::uint32_t bytes);
    void note_strong_access(const access &);
    bool ordered_by_release(const access &, const access_record &, std::uint32_t theirs) const;
    int racing_lane(const access &, const access_record &, int lane, bool wrote);
    int racing_lane(const access &, const access_record &, const launch_node &of);

    // How an earlier grid is ordered before the running one.
    struct relation {
        bool before = false; // all of the earlier grid happens before
        // If the earlier grid is an ancestor: its launches that order this one, the direct one
        // first.
        std::span<const launch_clock *const> launches;
    };
    const launch_node &grid_of(const access_record &) const;
    const relation &relation_to(const launch_node &);
    bool precedes(const access_record &); // an access of an earlier grid, whichever lane made it
    std::string why_unordered(const access &, const access_record &, bool wrote,
                              missing_order &missing);
    void check_against(const access &, const access_record &, int lane, std::uint32_t offset,
                       bool wrote);
    void report_race(const access &, const access_record &, int earlier_lane, int lane,
                     std::uint32_t offset, bool wrote);
    void note_early_read(const logged_access &earlier);
    // The logged statement of an earlier access; null: it is no longer in the log.
    const logged_access *logged(const access &, const access_record &) const;
    static const source_line &source_of(const logged_access &);
    std::string earlier_text(const access &, const access_record &, int lane, bool wrote);

    epoch clock_ = 1, began_ = 1;
    launch_node *current_grid_ = nullptr;
    std::vector<const launch_node *> grids_; // of this tree, in order of their beginning
    std::unordered_map<const launch_node *, relation> relations_;
    // The limits are reached: the rest of the tree is not checked.
    bool tracking_stopped_ = false;
    std::uint32_t era_ = 0; // incremented by reset()
    std::size_t bytes_ = 0; // shadow memory of device memory, for this tree
    // The same including free pages and cells of earlier trees, which are reused.
    std::size_t allocated_bytes_ = 0;
    epoch tree_began_ = 1;
    std::uint32_t max_accesses_ = 0;
    std::size_t max_bytes_ = 0;
    struct release {
        void operator()(void *p) const { std::free(p); }
    };
    std::unique_ptr<logged_access[], release> log_; // a ring buffer, by epoch
    std::vector<std::unique_ptr<leaf>> table_;
    std::vector<page *> used_pages_, free_pages_;
    std::vector<std::unique_ptr<page>> pages_;
    release_histories blocks_;
    // The same for the reads of a block before a barrier, which suffices instead of a fence: a
    // thread that has observed a strong write after that barrier may overwrite the bytes read.
    release_histories reads_;
    std::unordered_map<const void *, finding> found_; // by instruction
    std::vector<finding> early_reads_; // reads before the racing write that initialises the bytes
};

} // namespace simulator::core
