// Immediate post-dominators of branches, for the shapes of loops, returns and switches.
#include "simulator/ptx/control_flow.hpp"

#include <doctest/doctest.h>

using namespace simulator;

namespace {

flow_graph graph(std::vector<std::vector<int>> successors, std::vector<int> exits = {})
{
    flow_graph g;
    g.exits.assign(successors.size(), false);
    for (int b : exits) g.exits[b] = true;
    g.successors = std::move(successors);
    return g;
}

} // namespace

TEST_CASE("if and else meet behind")
{
    auto m = immediate_post_dominators(graph({{1, 2}, {3}, {3}, {}}));
    CHECK(m[0] == 3);
    CHECK(m[1] == 3);
    CHECK(m[3] == -1);
}

TEST_CASE("a loop's branch meets at its exit, one inside it at the end of the body")
{
    // 0 -> 1 header; 1 -> 2, 3; 2 -> 4; 3 -> 4; 4 -> 1 or 5
    auto g = graph({{1}, {2, 3}, {4}, {4}, {1, 5}, {}});
    auto m = immediate_post_dominators(g);
    CHECK(m[1] == 4);
    CHECK(m[4] == 5);
    CHECK(back_edges(g) == std::vector<std::pair<int, int>>{{4, 1}});
}

TEST_CASE("break and continue meet behind the loop and at its step")
{
    // 1 header; 2: break to 6 or 3; 3: continue to 5 or 4; 4 -> 5; 5 -> 1 or 6
    auto m = immediate_post_dominators(graph({{1}, {2}, {6, 3}, {5, 4}, {5}, {1, 6}, {7}, {}}));
    CHECK(m[3] == 5);
    CHECK(m[2] == 6);
    CHECK(m[5] == 6);
}

TEST_CASE("an early return does not move the meeting point to the end")
{
    // 0 -> 1 or 3; 1 -> return (4) or 2; 2 -> 3; 3 -> 4 (ret)
    auto m = immediate_post_dominators(graph({{1, 3}, {4, 2}, {3}, {4}, {}}, {4}));
    CHECK(m[0] == 3);
    CHECK(m[1] == 2);
    CHECK(m[3] == -1); // a block that only ends the function is no place to reconverge
}

TEST_CASE("a loop that only a return leaves")
{
    // 0 -> 1; 1 -> return (4) or 2; 2 -> 3 or 1; 3 -> 1
    auto m = immediate_post_dominators(graph({{1}, {4, 2}, {3, 1}, {1}, {}}, {4}));
    CHECK(m[2] == 1);
}

TEST_CASE("a loop without end")
{
    auto m = immediate_post_dominators(graph({{1, 2}, {3}, {3}, {0}}));
    CHECK(m[0] == 3);
}

TEST_CASE("a switch with a case that falls through")
{
    auto m = immediate_post_dominators(graph({{1, 2, 3}, {4}, {3}, {4}, {}}));
    CHECK(m[0] == 4);
    CHECK(m[2] == 3);
}
