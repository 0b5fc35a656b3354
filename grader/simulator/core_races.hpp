// Finds accesses of different threads to the same bytes that nothing orders.
//
// Every memory instruction of a warp gets the next number of one clock. For each piece of memory
// the checker remembers who wrote it last and who read it since; what orders threads (a barrier, a
// warp-wide barrier, a fence with an atomic or volatile write that another thread sees) is kept as
// the clock's value at that time. An earlier access is ordered before a later one when such a time
// lies between.
//
// Grids that one grid has launched run one after another, and marks outlive them: each grid has a
// stretch of the clock. Between two of them nothing counts but what the launches order, see
// launch_tree.hpp: a child sees what its parent's thread knew when it launched it.
//
// Memory is watched by lines of 128 bytes. A line that whole warps move in order of lanes costs one
// entry; any other access splits it into words, or into bytes where accesses are smaller.
#pragma once

#include "core_grid.hpp"
#include "launch_tree.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace simulator::core {

using epoch = std::uint32_t; // a value of the clock; 0: never

struct access_record {
    epoch at = 0;
    std::uint32_t owner =
        0;               // block and warp, whether the access was strong, and for its block alone
    lane_mask lanes = 0; // of a whole line: its shape instead, see shape_of
};

struct shadow_cell { // a word, a byte, or a whole line
    access_record write, read;
    access_record other; // the latest read by another warp than `read`
};

struct shadow_line {
    enum class split : std::uint8_t { whole, words, bytes };
    shadow_cell whole;
    shadow_cell *cells = nullptr; // when split
    epoch latest = 0;
    split split_into = split::whole;
    std::uint8_t capacity = 0; // cells
};

// The writes of a warp or block that others may wait for: a fence, then an atomic, volatile or
// releasing write.
class release_history {
public:
    void fence(epoch at) { fence_ = at; }
    void strong_write(epoch at);
    // Whether what was done at `done` had been released when somebody looked at `seen`.
    bool covers(epoch done, epoch seen) const;

private:
    struct entry {
        epoch fence, at;
    };
    epoch fence_ = 0;
    std::vector<entry> entries_; // in order of time
    bool dropped_ = false;       // entries older than the first existed
};

template <std::size_t n> using order_matrix = std::array<std::array<epoch, n>, n>;

struct warp_order {
    epoch synchronised_at =
        1; // all earlier accesses of the warp's lanes are ordered before what follows
    // The last strong read; and the last that a fence or a barrier has come after, since a thread
    // knows no more of others' memory than it knew then.
    epoch strong_read_at = 0, acquired_at = 0;
    std::unique_ptr<order_matrix<32>> lanes; // [later][earlier], once some lanes synchronised
    release_history releases;
};

struct block_order {
    epoch synchronised_at = 1; // the same for the block
    epoch strong_read_at = 0, acquired_at = 0, reads_released_at = 0;
    std::vector<warp_order> warps;
    std::unique_ptr<order_matrix<32>> warp_matrix; // warps, once some of them met at a barrier
    struct arrivals {
        std::uint32_t warps = 0;
        std::array<epoch, 32> at{};
        epoch acquired_at = 0; // the last strong read of any of them
    };
    std::array<arrivals, 16> barriers;
    std::vector<shadow_line> shared;
    std::uint32_t era = 0; // of the clock
    ~block_order();
};

using release_histories = std::unordered_map<std::uint32_t, release_history>; // by block

// What a thread knew when it launched a grid: accesses before these times were ordered before it.
struct launch_knowledge {
    epoch at = 0; // the launch; 0: the host's
    std::uint32_t owner = 0;
    int lane = 0;
    epoch block_at = 0, warp_at = 0, acquired_at = 0;
    std::vector<epoch> lanes, warps; // of its warp, of its block; empty: none met by themselves
    const code *of = nullptr;        // where
    std::uint32_t statement = 0;

    // Whether an access of the launching grid by this lane was; of a lane below 0: by any lane.
    bool covers(const access_record &, int by, const release_histories &) const;
};

// A grid of a tree of launches, as later ones need to know it.
struct grid_past {
    epoch began = 0, ended = 0;
    epoch horizon = 0; // what was done before, by whatever grid, is ordered before it
    const program *of = nullptr;
    dim grid, block;
    launch_knowledge knew;
    std::vector<const launch_knowledge *> launches; // see launches_before
    release_histories blocks;
};

class race_checker {
public:
    race_checker();
    ~race_checker();
    race_checker(const race_checker &) = delete;
    race_checker &operator=(const race_checker &) = delete;

    // A grid that the host launched, or a descendant. `share`: it may remember but the n-th part of
    // what the settings allow.
    void begin(launch_node &, const grid &, unsigned share = 1);
    void end(launch_node &); // it has run
    void end();              // of a tree: adds what was found to the findings
    // What it remembers of the running grid; and counts what others, that watched other blocks and
    // found nothing, remember as remembered here. False: that is more than may be.
    struct usage {
        std::uint64_t accesses = 0;
        std::size_t bytes = 0;
    };
    usage current_usage() const { return {clock_ - began_, bytes_}; }
    bool add_usage(usage);
    // What the thread that runs knows as it launches a grid.
    launch_knowledge launching(context &, const instruction &, int lane);

    void start(thread_block &, std::uint32_t shared_bytes);
    void synchronise_lanes(warp &, lane_mask);
    void arrive(warp &, std::uint32_t barrier);
    // All threads of the block, or only those whose warps are in `waiting`, pass a barrier.
    void pass_barrier(thread_block &);
    void pass_barrier(thread_block &, std::uint32_t barrier, std::uint32_t waiting);
    void fence(context &, bool block_scope);
    // What it has seen of others' writes, or of those of its block, orders what follows.
    void acquire(warp &, bool block_scope = false);

    epoch now() const { return clock_; }
    // Whether what a block of this grid did at `done` is ordered before what `b` does next; and
    // whether it would be, had `b` but made sure of what it has seen.
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
        bool atomic, guess;
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

    // How what an earlier grid did stands to the one that runs.
    struct relation {
        bool before = false; // all of it is ordered before
        // Else, of an ancestor: the launches of its that led here, the direct one first.
        std::span<const launch_knowledge *const> launches;
    };
    const launch_node &grid_of(const access_record &) const;
    const relation &relation_to(const launch_node &);
    bool precedes(const access_record &); // of an earlier grid: whoever of its warp made it
    std::string why_unordered(const access &, const access_record &, bool wrote);
    void check_against(const access &, const access_record &, int lane, std::uint32_t offset,
                       bool wrote);
    void report_race(const access &, const access_record &, int earlier_lane, int lane,
                     std::uint32_t offset, bool wrote);
    void note_early_read(const access &, const access_record &, std::uint64_t at);
    std::string earlier_text(const access &, const access_record &, int lane, bool wrote);

    epoch clock_ = 1, began_ = 1;
    launch_node *current_grid_ = nullptr;
    std::vector<const launch_node *> grids_; // of the tree that have begun
    std::unordered_map<const launch_node *, relation> relations_;
    bool tracking_stopped_ = false; // what it may remember is used up: the tree is watched no more
    std::uint32_t era_ = 0;         // the clock began anew so many times
    std::size_t bytes_ = 0;         // of marks of device memory, of the tree
    std::size_t allocated_bytes_ = 0; // the same with what earlier trees left, to be used again
    epoch tree_began_ = 1;
    std::uint32_t max_accesses_ = 0;
    std::size_t max_bytes_ = 0;
    struct release {
        void operator()(void *p) const { std::free(p); }
    };
    std::unique_ptr<logged_access[], release> log_; // a ring, by record
    std::vector<std::unique_ptr<leaf>> table_;
    std::vector<page *> used_pages_, free_pages_;
    std::vector<std::unique_ptr<page>> pages_;
    release_histories blocks_;
    // The same for what a block had read before a barrier, where the barrier does for the fence: a
    // thread that saw a strong write after it may overwrite what was read.
    release_histories reads_;
    std::unordered_map<const void *, finding> found_; // by instruction
    std::vector<finding> early_reads_;                // of what a racing write was to bring
};

} // namespace simulator::core
