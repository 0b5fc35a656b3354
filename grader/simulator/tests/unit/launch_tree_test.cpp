// Order of the grids in a tree of launches, and the limits on pending launches.
#include "simulator/core/launch_tree.hpp"

#include <doctest/doctest.h>
#include <map>
#include <string>

using simulator::core::launch_node;
using simulator::core::launch_tree;

namespace {

// Runs named grids and returns their order. A grid in `starts` launches others when it runs.
struct family {
    explicit family(std::uint32_t max_pending = 100, bool shuffled = false, std::uint64_t seed = 1)
        : tree(max_pending, shuffled, seed)
    {
    }
    launch_node &named(launch_node &n, const char *name)
    {
        names[&n] = name;
        return n;
    }
    launch_node &alone(launch_node &by, const char *name)
    {
        REQUIRE(tree.reserve());
        return named(tree.launch_fire_and_forget(by), name);
    }
    launch_node &at_tail(launch_node &by, const char *name)
    {
        REQUIRE(tree.reserve());
        return named(tree.launch_at_tail(by), name);
    }
    launch_node &in(launch_node &by, launch_tree::stream s, const char *name)
    {
        REQUIRE(tree.reserve());
        launch_node *const n = tree.launch(by, s);
        REQUIRE(n != nullptr);
        return named(*n, name);
    }
    std::string run()
    {
        std::string order;
        for (launch_node *n = &tree.root(); n != nullptr; n = tree.next()) {
            if (n != &tree.root()) order += names[n];
            if (auto it = starts.find(n); it != starts.end()) it->second();
            tree.ended(*n);
        }
        return order;
    }

    launch_tree tree;
    std::map<const launch_node *, std::string> names;
    std::map<const launch_node *, std::function<void()>> starts;
};

constexpr auto block = launch_tree::null_stream;

} // namespace

TEST_CASE("grids run in the order of their launch, those of the tail after all else")
{
    family f;
    launch_node &root = f.tree.root();
    f.at_tail(root, "x");
    f.at_tail(root, "y");
    launch_node &a = f.alone(root, "a");
    f.in(root, block(0), "b");
    f.in(root, block(1), "c");
    f.starts[&a] = [&] { f.alone(a, "d"), f.at_tail(a, "e"), f.alone(a, "f"); };
    CHECK(f.run() == "abcdfexy");
}

TEST_CASE("in a stream the next grid waits for all that the one before launched")
{
    family f;
    launch_node &root = f.tree.root();
    launch_node &a = f.in(root, block(0), "a");
    f.in(root, block(0), "b");
    f.starts[&a] = [&] { f.alone(a, "c"), f.at_tail(a, "d"), f.in(a, block(0), "e"); };
    CHECK(f.run() == "acedb");
}

TEST_CASE("an event holds what its stream held when it was recorded")
{
    family f;
    launch_tree &t = f.tree;
    launch_node &root = t.root();
    const auto one = t.create_stream(root), two = t.create_stream(root),
               event = t.create_event(root);
    launch_node &a = f.in(root, one, "a");
    f.starts[&a] = [&] { f.alone(a, "A"); };
    CHECK(t.record(root, event, one));
    launch_node &b = f.in(root, one, "b");
    f.starts[&b] = [&] { f.alone(b, "B"); };
    CHECK(t.wait(root, two, event));
    f.in(root, two, "c");
    f.in(root, two, "d");
    f.alone(root, "e");
    CHECK(t.destroy_event(root, event));
    CHECK(t.destroy_stream(root, one));
    CHECK(f.run() == "aeAbcBd");
}

TEST_CASE("streams and events belong to the grid that made them")
{
    family f;
    launch_tree &t = f.tree;
    launch_node &root = t.root(), &a = f.alone(root, "a");
    const auto mine = t.create_stream(root), event = t.create_event(root);
    f.starts[&a] = [&] {
        CHECK(t.launch(a, mine) == nullptr);
        CHECK(!t.record(a, event, block(0)));
        CHECK(!t.wait(a, block(0), event));
        CHECK(!t.destroy_stream(a, mine));
        CHECK(!t.destroy_event(a, event));
    };
    f.in(root, block(0), "b");
    CHECK(!t.destroy_stream(root, block(0)));
    CHECK(t.destroy_stream(root, mine));
    CHECK(t.launch(root, mine) == nullptr);
    CHECK(f.run() == "ab");
}

TEST_CASE("only so many launches may wait, and events twice as many")
{
    family f(2);
    launch_tree &t = f.tree;
    launch_node &root = t.root();
    launch_node &a = f.alone(root, "a");
    f.at_tail(root, "z");
    CHECK(!t.reserve());
    for (int k = 0; k < 4; ++k) CHECK(t.create_event(root) != 0);
    CHECK(t.create_event(root) == 0);
    f.starts[&a] = [&] {
        CHECK(t.create_event(a) != 0); // a grid that has run releases its events
        f.alone(a, "b");               // uses the launch slot of `a`
        CHECK(!t.reserve());
    };
    CHECK(f.run() == "abz");
}

TEST_CASE("shuffled, what must come first still does")
{
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        family f(100, true, seed);
        launch_node &root = f.tree.root();
        f.at_tail(root, "z");
        f.in(root, block(0), "a");
        f.in(root, block(0), "b");
        f.in(root, block(1), "c");
        const std::string order = f.run();
        ++seen[order];
        CHECK(order.find('a') < order.find('b'));
        CHECK(order.back() == 'z');
    }
    CHECK(seen.size() == 3);
}

TEST_CASE("a tail knows whether only relatives ran since its parent began")
{
    family f;
    launch_node &root = f.tree.root();
    launch_node &a = f.alone(root, "a"), &last = f.at_tail(root, "z");
    launch_node *of_a = nullptr;
    f.alone(root, "b");
    f.starts[&a] = [&] { of_a = &f.at_tail(a, "y"); };
    CHECK(f.run() == "abyz");
    CHECK(last.follows_family);
    CHECK(!of_a->follows_family); // `b` ran in between
}

TEST_CASE("places for launches may be taken for a moment where others launch, too")
{
    auto taken = [](std::uint32_t places, bool shuffled, bool others) {
        launch_tree tree(places, shuffled, 5, others);
        int refused = 0;
        for (int k = 0; k < 30; ++k) {
            if (tree.reserve())
                tree.give_back();
            else
                ++refused;
        }
        return refused;
    };
    CHECK(taken(2, false, false) == 0);
    CHECK(taken(2, true, false) == 0);
    CHECK(taken(2048, true, false) == 0);
    CHECK(taken(2, true, true) > 3);
    CHECK(taken(2, true, true) < 20);
}
