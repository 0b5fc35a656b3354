// Control flow of one function: where lanes that took different ways meet again.
#pragma once

#include <vector>

namespace simulator {

// Nodes are basic blocks; `leaves` marks blocks that hold nothing but the end of the function.
struct flow_graph {
    std::vector<std::vector<int>> successors;
    std::vector<bool> leaves;
};

// For each block the one where the ways that lead out of it meet, or -1 when they meet only at the
// end.
//
// It is the immediate post-dominator in a graph without early returns: a lane that ends is not
// waited for, so a conditional edge to a block that only ends the function does not count, unless a
// loop has no other way out.
std::vector<int> immediate_post_dominators(const flow_graph &);

// Blocks whose branch back to `header` closes a loop: (from, header) pairs of a depth-first search.
std::vector<std::pair<int, int>> back_edges(const flow_graph &);

} // namespace simulator
