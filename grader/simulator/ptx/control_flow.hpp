// Control-flow analysis of one function: reconvergence points and loops.
#pragma once

#include <vector>

namespace simulator {

// Nodes are basic blocks. `leaves` marks blocks that contain only the end of the function.
struct flow_graph {
    std::vector<std::vector<int>> successors;
    std::vector<bool> leaves;
};

// Returns for each block the one where the paths out of it reconverge, or -1 if that is the end of
// the function.
//
// It is the immediate post-dominator in a graph without early returns: lanes do not wait for one
// that ends, so a conditional edge to a block that only ends the function does not count, unless a
// loop has no other exit.
std::vector<int> immediate_post_dominators(const flow_graph &);

// The branches that close a loop: (from, header) pairs found by a depth-first search.
std::vector<std::pair<int, int>> back_edges(const flow_graph &);

} // namespace simulator
