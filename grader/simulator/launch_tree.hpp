// The grids that come of one launch by the host: who launched whom, what each waits for, whose turn
// it is.
//
// A grid may run once the grid that launched it has run, and what precedes it in its stream is
// complete: has run, with all that it launched. What is launched to run at the tail waits for all
// else that its parent launched. Grids run one after another, in the order in which they became
// able to, or, shuffled, in any.
#pragma once

#include "machine.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace simulator::core {

struct grid_past; // of core_races.hpp
struct launch_node;
using launch_nodes = std::vector<launch_node *>;

// A grid, or a copy or fill that a grid put into a stream.
struct launch_node {
    explicit launch_node(launch_node *parent = nullptr);
    ~launch_node();
    launch_node *parent; // null: launched by the host
    bool tail = false;
    std::uint32_t depth = 0;                        // of the host's launch: 0
    std::function<outcome(launch_node &)> run = {}; // until its turn came
    launch_nodes after = {};                        // siblings that are complete before this starts

    std::uint32_t waits = 0;     // for its parent and for siblings
    std::uint32_t open = 0;      // children that are not complete, but for those of the tail
    std::size_t tails_begun = 0; // of `at_tail`
    launch_nodes successors = {}, waiting = {}, at_tail = {}; // siblings; children
    bool has_run = false;

    std::uint64_t ran_before = 0;    // how many had their turn before
    std::uint64_t ran_below = 0;     // itself and complete descendants
    bool follows_family = false;     // of the tail: since its parent began, only relatives have run
    std::unique_ptr<grid_past> past; // for the check for races; null until its turn
};

inline bool has_children(const launch_node &n) { return n.open != 0 || !n.at_tail.empty(); }

class launch_tree {
public:
    launch_tree(std::uint32_t most_pending, bool shuffled, std::uint64_t seed,
                bool others_launch = false);

    launch_node &root() { return nodes_.front(); }

    // Where a grid may launch to: the implicit stream of one of its blocks, or one that it created.
    using stream = std::uint64_t;
    static stream of_block(std::uint64_t block) { return block << 1 | 1; }
    stream create_stream(const launch_node &);
    bool destroy_stream(const launch_node &, stream); // false: not one of this grid's
    // No event: 0.
    stream create_event(const launch_node &);
    bool destroy_event(const launch_node &, stream event);
    bool record(const launch_node &, stream event, stream);
    bool wait(const launch_node &, stream, stream event);

    // Takes one of the places for launches that have not begun. False: there is none.
    bool reserve();
    void give_back(); // a place that was reserved
    // Each takes a reserved place. Null: no such stream of this grid's.
    launch_node *launch(launch_node &by, stream);
    launch_node &launch_alone(launch_node &by); // fire and forget
    launch_node &launch_at_tail(launch_node &by);

    void ended(launch_node &); // it has run
    launch_node *next();       // whose turn it is; null: all are complete

private:
    struct own {                                        // streams and events of one grid, by handle
        std::map<stream, launch_nodes> streams, events; // what the next follows; what is waited for
    };
    launch_node &add(launch_node &by);
    void follow(launch_node &, launch_node &earlier);
    void release(launch_node &);
    void finish(launch_node &);
    launch_nodes *stream_of(const launch_node &, stream);

    std::deque<launch_node> nodes_;
    std::deque<launch_node *> ready_;
    std::map<const launch_node *, own> owned_;
    stream last_handle_ = stream{1} << 32; // of streams and events: even, those of blocks are odd
    std::size_t events_ = 0;
    std::uint64_t ran_ = 1;
    std::uint32_t pending_ = 0, most_pending_;
    bool shuffled_, others_launch_ = false;
    std::minstd_rand random_; // small: most launches launch nothing
};

} // namespace simulator::core
