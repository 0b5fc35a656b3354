// The tree of grids that one host launch launches, directly or not: dependencies, and their order
// of execution.
//
// A grid may run once its parent has run and everything earlier in its stream is complete, that
// is, has run with all its descendants. A tail launch waits for all other launches of its parent.
// Grids run one after another, in the order in which they became ready or, if shuffled, in random
// order.
#pragma once

#include "simulator/machine/machine.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace simulator::core {

struct grid_history; // defined in core/races.hpp
struct launch_node;
using launch_nodes = std::vector<launch_node *>;

// A grid, or a copy or fill that a grid queued in a stream.
struct launch_node {
    explicit launch_node(launch_node *parent = nullptr);
    ~launch_node();
    launch_node *parent; // null if the host launched it
    bool tail = false;
    std::uint32_t depth = 0;                        // 0 for the host's launch
    std::function<outcome(launch_node &)> run = {}; // empty once started
    launch_nodes after = {}; // siblings that must complete before this starts

    std::uint32_t dependencies = 0; // number of unfinished ones: parent and siblings
    std::uint32_t open = 0;         // incomplete children, without tail launches
    std::size_t tails_started = 0;  // number of started `tail_launches` entries
    launch_nodes successors = {}, waiting = {}, tail_launches = {}; // siblings; children
    bool has_run = false;

    std::uint64_t ran_before = 0; // number of grids that ran before this one
    std::uint64_t ran_below = 0;  // number of completed grids in this subtree, including itself
    bool follows_family = false;  // a tail launch, and only grids of its parent's subtree have run
                                  // since the parent began
    // For the race detector; null until a grid launches this or, at the root, until it starts.
    std::unique_ptr<grid_history> history;
};

inline bool has_children(const launch_node &n) { return n.open != 0 || !n.tail_launches.empty(); }

class launch_tree {
public:
    launch_tree(std::uint32_t max_pending, bool shuffled, std::uint64_t seed,
                bool others_launch = false);

    launch_node &root() { return nodes_.front(); }

    // A stream of a grid: the NULL stream, of which each block has its own, or one that it created.
    using stream = std::uint64_t;
    static stream null_stream(std::uint64_t block) { return block << 1 | 1; }
    stream create_stream(const launch_node &);
    bool destroy_stream(const launch_node &, stream); // false if it is not a stream of this grid
    // Returns 0 if there is no free event slot.
    stream create_event(const launch_node &);
    bool destroy_event(const launch_node &, stream event);
    bool record(const launch_node &, stream event, stream);
    bool wait(const launch_node &, stream, stream event);

    // Takes a slot for a pending launch, one that has not started; false if all are taken.
    bool reserve();
    void give_back(); // releases a reserved slot
    // Each uses a reserved slot. Returns null if the grid has no such stream.
    launch_node *launch(launch_node &by, stream);
    launch_node &launch_fire_and_forget(launch_node &by); // cudaStreamFireAndForget
    launch_node &launch_at_tail(launch_node &by);         // cudaStreamTailLaunch

    void ended(launch_node &); // must be called after a grid has run
    launch_node *next();       // takes the next grid to run; null if all are complete

private:
    struct handles { // of one grid: streams and events
        // The grids that the next launch into a stream, or a wait for an event, depends on.
        std::map<stream, launch_nodes> streams, events;
    };
    launch_node &add(launch_node &by);
    void follow(launch_node &, launch_node &earlier);
    void release(launch_node &);
    void finish(launch_node &);
    launch_nodes *stream_of(const launch_node &, stream);

    std::deque<launch_node> nodes_;
    std::deque<launch_node *> ready_;
    std::map<const launch_node *, handles> handles_;
    stream last_handle_ = stream{1} << 32; // for streams and events: even; block streams are odd
    std::size_t events_ = 0;
    std::uint64_t ran_ = 1;
    std::uint32_t pending_ = 0, max_pending_;
    bool shuffled_, others_launch_ = false;
    std::minstd_rand random_; // a small generator, because most launches have no children
};

} // namespace simulator::core
