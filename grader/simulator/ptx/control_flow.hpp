// Analyses the control flow of one function: reconvergence points and loops.
#pragma once

#include <vector>

namespace simulator {

// Nodes are basic blocks. `exits` marks exit blocks: those that only end the function.
struct flow_graph {
    std::vector<std::vector<int>> successors;
    std::vector<bool> exits;
};

// Returns for each block the one where the paths out of it reconverge, or -1 if that is the end of
// the function.
//
// It is the immediate post-dominator in a graph without early returns: lanes do not wait for one
// that returns, so a conditional edge to an exit block does not count, unless a loop has no other
// exit.
std::vector<int> immediate_post_dominators(const flow_graph &);

// Returns the back edges of a depth-first search from block 0 as (latch, header) pairs.
std::vector<std::pair<int, int>> back_edges(const flow_graph &);

} // namespace simulator
