// Computes reconvergence points as immediate post-dominators, and finds loops by their back edges.
#include "control_flow.hpp"

#include <algorithm>

namespace simulator {
namespace {

using edges = std::vector<std::vector<int>>;

// Returns the graph with a common end (index n) and without conditional edges into exit blocks.
edges without_early_returns(const flow_graph &g)
{
    int n = static_cast<int>(g.successors.size());
    edges out(n + 1);
    for (int b = 0; b < n; ++b) {
        for (int s : g.successors[b])
            if (!g.exits[s] || g.successors[b].size() == 1) out[b].push_back(s);
        if (out[b].empty()) out[b] = g.successors[b];
        if (out[b].empty()) out[b].push_back(n);
    }
    return out;
}

edges reversed(const edges &e)
{
    edges r(e.size());
    for (std::size_t b = 0; b < e.size(); ++b)
        for (int s : e[b]) r[s].push_back(static_cast<int>(b));
    return r;
}

// Returns the nodes reachable from `start` along `e`, in post-order.
std::vector<int> post_order(const edges &e, int start, std::vector<char> &seen)
{
    std::vector<int> order;
    std::vector<std::pair<int, std::size_t>> stack{{start, 0}};
    seen[start] = 1;
    while (!stack.empty()) {
        auto &[node, next] = stack.back();
        if (next < e[node].size()) {
            int s = e[node][next++];
            if (!seen[s]) {
                seen[s] = 1;
                stack.push_back({s, 0});
            }
        } else {
            order.push_back(node);
            stack.pop_back();
        }
    }
    return order;
}

// Connects every loop without an exit to the end, by the early return removed before, or else by
// an artificial edge.
void connect_all_to_end(const flow_graph &g, edges &out)
{
    int n = static_cast<int>(g.successors.size());
    for (int round = 0; round < 2; ++round) {
        std::vector<char> ends(n + 1, 0);
        post_order(reversed(out), n, ends);
        for (int b = n - 1; b >= 0; --b) {
            if (ends[b]) continue;
            if (round == 0) {
                out[b] = g.successors[b];
            } else {
                out[b].push_back(n);
                std::fill(ends.begin(), ends.end(), 0);
                post_order(reversed(out), n, ends);
            }
        }
    }
}

} // namespace

std::vector<int> immediate_post_dominators(const flow_graph &g)
{
    int n = static_cast<int>(g.successors.size());
    edges out = without_early_returns(g);
    connect_all_to_end(g, out);
    edges in = reversed(out);
    std::vector<char> seen(n + 1, 0);
    std::vector<int> order = post_order(in, n, seen); // the end comes last
    std::vector<int> rank(n + 1, -1), dominator(n + 1, -1);
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
    dominator[n] = n;
    const auto intersect = [&](int a, int b) { // Cooper, Harvey and Kennedy (2001)
        while (a != b) {
            while (rank[a] < rank[b]) a = dominator[a];
            while (rank[b] < rank[a]) b = dominator[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            if (*it == n) continue;
            int best = -1;
            for (int s : out[*it])
                if (rank[s] >= 0 && dominator[s] >= 0) best = best < 0 ? s : intersect(best, s);
            if (best >= 0 && dominator[*it] != best) {
                dominator[*it] = best;
                changed = true;
            }
        }
    }
    std::vector<int> result(n, -1);
    for (int b = 0; b < n; ++b)
        if (dominator[b] >= 0 && dominator[b] < n && !g.exits[dominator[b]])
            result[b] = dominator[b];
    return result;
}

std::vector<std::pair<int, int>> back_edges(const flow_graph &g)
{
    std::vector<std::pair<int, int>> found;
    std::vector<char> state(g.successors.size(), 0); // 1: on the path, 2: done
    std::vector<std::pair<int, std::size_t>> stack;
    if (!g.successors.empty()) {
        stack.push_back({0, 0});
        state[0] = 1;
    }
    while (!stack.empty()) {
        auto &[node, next] = stack.back();
        if (next == g.successors[node].size()) {
            state[node] = 2;
            stack.pop_back();
            continue;
        }
        int s = g.successors[node][next++];
        if (state[s] == 1) found.push_back({node, s});
        if (state[s] == 0) {
            state[s] = 1;
            stack.push_back({s, 0});
        }
    }
    return found;
}

} // namespace simulator
