// Tests cases in several processes: each runs once, and its results come back unchanged.
#include "process/descriptor.hpp"
#include "runner/parallel_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace grading;

namespace {

// Replaces the program's cases by those of this test.
class with_cases {
public:
    explicit with_cases(std::vector<std::pair<const char *, kind>> cases)
        : kept_(std::exchange(records(), {}))
    {
        for (const auto &[name, what] : cases) {
            case_record r;
            r.name = name;
            r.what = what;
            r.max_points = 2;
            records().push_back(r);
        }
    }
    ~with_cases() { records() = std::move(kept_); }

private:
    std::vector<case_record> kept_;
};

std::vector<std::size_t> all_cases()
{
    std::vector<std::size_t> all(records().size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}

void nothing() {}

constexpr kind correctness = kind::correctness, speed = kind::speed;

} // namespace

TEST_CASE(
    "a group is the correctness cases of one function that follow each other, or a counted case")
{
    with_cases cases({{"a: one", correctness},
                      {"a: two", correctness},
                      {"a: fast", speed},
                      {"a: faster", speed},
                      {"b: one", correctness},
                      {"a: three", correctness}});
    CHECK(groups_of(all_cases()) == std::vector<case_group>{{0, 1}, {2}, {3}, {4}, {5}});
    CHECK(groups_of({0, 5}) == std::vector<case_group>{{0, 5}});
    CHECK(groups_of({}).empty());
}

TEST_CASE("each case runs once, and its result comes back as it was")
{
    with_cases cases({{"a: one", correctness},
                      {"a: two", correctness},
                      {"b: one", correctness},
                      {"b: fast", speed},
                      {"c: one", correctness}});
    const std::string bytes("\xff\0\x1b[2J", 6);
    pipe_ends said = make_pipe(); // one byte per case
    auto run = [&](const case_group &group) {
        for (std::size_t i : group) {
            CHECK(write(said.in.get(), "x", 1) == 1);
            case_record &r = records()[i];
            r.started = r.ended = true;
            r.result = verdict::RACE;
            r.points = static_cast<int>(i);
            r.message = "the message of " + r.name;
            r.text = bytes;
            if (r.what == correctness) continue;
            r.endless = "";
            r.speed = speed_result{};
            r.speed->median = 1.0 / 3;
            r.speed->counters["sectors"] = INFINITY;
            r.speed->more_is_better["sectors"] = true;
            r.speed->needs = {"half of it"};
        }
    };
    for (int others : {0, 1, 3}) {
        for (case_record &r : records()) {
            case_record fresh;
            fresh.name = r.name, fresh.what = r.what;
            r = fresh;
        }
        run_groups(groups_of(all_cases()), others, run, nothing, nothing);
        char counted[16];
        CHECK(read(said.out.get(), counted, sizeof counted) == 5);
        for (std::size_t i = 0; i < 4; ++i) {
            const case_record &r = records()[i];
            CHECK(r.started);
            CHECK(r.result == verdict::RACE);
            CHECK(r.points == static_cast<int>(i));
            CHECK(r.message == "the message of " + r.name);
            CHECK(r.text == bytes);
            CHECK(r.speed.has_value() == (r.what == speed));
            CHECK(r.endless.has_value() == (r.what == speed));
        }
        const speed_result &s = *records()[3].speed;
        CHECK(s.median == 1.0 / 3);
        CHECK(std::isnan(s.low));
        CHECK(s.counters.at("sectors") == INFINITY);
        CHECK(s.more_is_better.at("sectors"));
        CHECK(s.needs == std::vector<std::string>{"half of it"});
    }
}

TEST_CASE("after a case without an end none is tried, whoever has tried it")
{
    with_cases cases({{"a: one", correctness},
                      {"a: two", correctness},
                      {"b: one", correctness},
                      {"a: fast", speed}});
    auto run = [](const case_group &group) {
        for (std::size_t i : group) {
            case_record &r = records()[i];
            r.started = true;
            r.function = r.name.substr(0, 1);
            r.points = r.max_points;
            if (r.name == "a: two") r.endless = "a";
        }
    };
    run_groups(groups_of(all_cases()), 2, run, nothing, nothing);
    CHECK(records()[0].points == 2);
    CHECK(records()[1].tried);
    CHECK(records()[2].points == 2);
    CHECK_FALSE(records()[3].tried);
    CHECK(records()[3].result == verdict::TIMEOUT);
    CHECK(records()[3].points == 0);
    CHECK(records()[3].message == "Not tried: a did not end in time in the case \"a: two\".");
}

TEST_CASE("cases of a process that ended before their results are a fault of ours")
{
    with_cases cases({{"a: one", correctness}, {"b: one", correctness}});
    const pid_t here = getpid();
    pipe_ends other_has_one = make_pipe();
    auto run = [&](const case_group &group) {
        char c = 0;
        if (getpid() != here) {
            CHECK(write(other_has_one.in.get(), &c, 1) == 1);
            raise(SIGKILL);
        }
        CHECK(read(other_has_one.out.get(), &c, 1) == 1);
        records()[group[0]].started = true;
    };
    run_groups(groups_of(all_cases()), 1, run, nothing, nothing);
    std::multiset<verdict> results{records()[0].result, records()[1].result};
    CHECK(results == std::multiset<verdict>{verdict::PASS, verdict::INFRA_ERROR});
    CHECK(exit_status() == 99);
}

TEST_CASE("this process begins with its own cases, and knows what others found wrong meanwhile")
{
    with_cases cases({{"a: one", correctness}, {"b: one", correctness}, {"a: fast", kind::clock}});
    const pid_t here = getpid();
    pipe_ends left = make_pipe();
    bool known_a = false, known_b = true, own_here = false;
    auto run = [&](const case_group &group) {
        case_record &r = records()[group[0]];
        r.started = r.ended = true;
        if (r.what == correctness) {
            r.result = r.name == "a: one" ? verdict::RACE : verdict::PASS;
            r.text = std::string(200'000, 'x'); // more than a pipe holds
            return;
        }
        own_here = getpid() == here;
        char c = 0;
        CHECK(read(left.out.get(), &c, 1) == 1); // as a timed case waits for its turn
        known_a = is_known_wrong("a");
        known_b = is_known_wrong("b");
    };
    auto leave = [&] {
        CHECK(getpid() != here); // this process keeps what it has started
        CHECK(write(left.in.get(), "x", 1) == 1);
    };
    int pauses = 0;
    run_groups({{0}, {1}}, 1, run, leave, [&] { ++pauses; }, {{2}});
    CHECK(pauses == 1);
    CHECK(own_here);
    CHECK(known_a);
    CHECK_FALSE(known_b);
    CHECK(records()[0].result == verdict::RACE);
    CHECK(records()[2].started);
}
