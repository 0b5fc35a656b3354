// Tests how a timeline is read, described and drawn.
#include "cli/explain/access_counts.hpp"
#include "cli/explain/pictures.hpp"
#include "cli/explain/stream_timeline.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace cli;

namespace {

timeline_step step_of(step_kind kind, const char *lane, std::uint64_t start, std::uint64_t end,
                      std::size_t waited_for, wait_reason why = wait_reason::order)
{
    timeline_step s;
    s.kind = kind;
    s.stream = lane;
    s.start = start;
    s.end = end;
    s.waited_for = waited_for;
    s.why = waited_for ? why : wait_reason::nothing;
    return s;
}

// Two chunks in two streams; the second's kernel waits for an event of the first.
stream_timeline two_streams()
{
    using enum step_kind;
    stream_timeline t;
    t.ticks = 400;
    t.serial = 500;
    t.copying = 300;
    t.hidden = 100;
    t.steps = {step_of(copy, "stream 1", 0, 100, 0),
               step_of(kernel, "stream 1", 100, 200, 1),
               step_of(event_record, "stream 1", 200, 200, 2),
               step_of(copy, "stream 2", 100, 200, 1, wait_reason::engine),
               step_of(event_wait, "stream 2", 200, 200, 4),
               step_of(kernel, "stream 2", 200, 300, 3),
               step_of(copy, "stream 2", 300, 400, 6),
               step_of(host_wait, "host", 0, 400, 7)};
    t.steps[0].direction = t.steps[3].direction = copy_direction::to_device;
    t.steps[6].direction = copy_direction::to_host;
    t.steps[0].bytes = t.steps[3].bytes = t.steps[6].bytes = 1600;
    t.steps[1].name = t.steps[5].name = "add";
    t.steps[1].blocks = t.steps[5].blocks = 4;
    t.steps[7].name = "cudaDeviceSynchronize";
    for (std::size_t i : {0, 1, 2, 5, 6}) t.steps[i].critical = true;
    return t;
}

stream_timeline in_one_stream()
{
    stream_timeline t = two_streams();
    t.hidden = 0;
    for (timeline_step &s : t.steps)
        if (s.stream == "stream 2") s.stream = "stream 1";
    return t;
}

// Returns text in one line, with words separated by one blank.
std::string unwrapped(const std::string &text)
{
    std::istringstream in(text);
    std::string all;
    for (std::string word; in >> word;) all += (all.empty() ? "" : " ") + word;
    return all;
}

nlohmann::json timeline_document(const nlohmann::json &steps)
{
    return {{"a: case",
             {{"function", "f"},
              {"counters",
               {{"kernels", nlohmann::json::array()},
                {"timeline",
                 {{"ticks", 100},
                  {"serial", 100},
                  {"copying", 50},
                  {"hidden", 0},
                  {"left_out", 0},
                  {"steps", steps}}}}}}}};
}

nlohmann::json json_step()
{
    return {{"id", 1},       {"kind", "copy"},   {"way", "to_host"}, {"lane", "stream 1\x1b[31m"},
            {"start", 10u},  {"end", 60u},       {"bytes", 800u},    {"after", {}},
            {"why", "host"}, {"waited_for", 0u}, {"critical", 1u}};
}

} // namespace

TEST_CASE("lanes have a mark for what runs, in 80 columns")
{
    std::string text = timeline_text(two_streams(), terminal{});
    for (const std::string &line : lines(text)) CHECK_MESSAGE(columns(line) <= 80, line);
    // The chart has 68 columns beside the names: a quarter is 17.
    std::string quarter(17, '>'), kernel(17, '#'), back(17, '<'), none(17, ' ');
    CHECK(contains(text, "  stream 1  " + quarter + kernel + "\n"));
    CHECK(contains(text, "  stream 2  " + none + quarter + kernel + back + "\n"));
    CHECK(contains(text, "  host      " + std::string(68, '.') + "\n"));
    CHECK(contains(text, "# kernel"));
    text = unwrapped(text);
    CHECK(contains(text, "over after 400 ticks, 0.80 of the 500 that all would take one after"));
    CHECK(contains(text, "take 300 ticks, 100 of them beside kernels (33 %)"));
    CHECK(contains(text, "What decides the end: copy to the device, kernel add (2 times), copy to "
                         "the host."));
    CHECK(contains(text, "#4 100 200 stream 2: copy to the device, 1.6 kB; after #1, which had "
                         "the copy engine"));
    CHECK(contains(
        text, "#3 200 200 stream 1: event recorded; after #2")); // the event that ended the wait
    CHECK(!contains(text, "#5 "));                               // a wait of no length
}

TEST_CASE("where nothing overlaps, it says why")
{
    CHECK(contains(unwrapped(timeline_text(in_one_stream(), terminal{})),
                   "All work is in one stream"));
    stream_timeline t = two_streams();
    t.hidden = 0;
    t.steps[3].why = wait_reason::host;
    t.steps[3].waited_for = 8;
    CHECK(contains(sentences_of(t).at(2), "The host waits in cudaDeviceSynchronize before"));
    t.steps[7].name = "cudaMemcpyAsync";
    CHECK(contains(sentences_of(t).at(2), "memory that is not pinned"));
}

TEST_CASE("one kernel, or one copy, is no timeline to look at; too long a one is not shown")
{
    CHECK(two_streams().worth_showing());
    CHECK(in_one_stream().worth_showing());
    stream_timeline t = two_streams();
    t.steps.resize(2);
    CHECK(!t.worth_showing());
    t = two_streams();
    t.left_out = 3;
    CHECK(contains(timeline_text(t, terminal{}), "3 more steps than the simulator keeps"));
    CHECK(timeline_picture(t) == "");
}

TEST_CASE("streams come before sectors where they or copies take the time")
{
    CHECK(two_streams().comes_first());
    stream_timeline t = in_one_stream();
    t.copying = t.ticks / 2;
    CHECK(t.comes_first());
    t.copying = t.ticks / 2 - 1;
    CHECK(!t.comes_first());
    t.copying = t.ticks;
    t.steps.resize(2); // one copy
    CHECK(!t.comes_first());
}

TEST_CASE("the picture has a bar a step and its lanes")
{
    stream_timeline t = two_streams();
    t.steps[4].start = 150; // now it has a length: drawn, and joined to its event
    t.steps[4].waited_for = 3;
    t.steps[1].name = "add<a&b>";
    std::string picture = timeline_picture(t);
    auto count = [&](const std::string &what) {
        int n = 0;
        for (std::size_t at = picture.find(what); at != picture.npos;
             at = picture.find(what, at + 1))
            ++n;
        return n;
    };
    CHECK(count("class=\"kernel\"") == 2 + 1); // one is in the legend
    CHECK(count("class=\"to_device\"") == 2 + 1);
    CHECK(count("class=\"waits\"") == 2 + 1);
    CHECK(count("class=\"critical\"") == 4 + 1);
    CHECK(count("class=\"event\"") == 1);
    CHECK(contains(picture, "add&lt;a&amp;b&gt;"));
    CHECK(!contains(picture, "<a&"));
}

TEST_CASE("a host function is a moment that is seen")
{
    stream_timeline t = two_streams();
    t.steps[2].kind = step_kind::host_function;
    std::string text = timeline_text(t, terminal{});
    CHECK(contains(text, "  stream 1  " + std::string(17, '>') + std::string(17, '#') + "h\n"));
    CHECK(contains(text, "h host function"));
    CHECK(contains(timeline_picture(t), "class=\"host\""));
}

TEST_CASE("steps of one stream that run side by side, as a graph's, get rows of their own")
{
    stream_timeline t = two_streams();
    t.steps[3].stream = "stream 1";
    t.steps[3].start = 50;
    std::string text = timeline_text(t, terminal{});
    CHECK(contains(text, "            " + std::string(8, ' ') + ">>>>"));
}

TEST_CASE("a timeline is read, or refused when its steps do not fit together")
{
    auto good = timeline_document(nlohmann::json::array({json_step()}));
    const stream_timeline t = read_counters(good.dump()).at("a: case").timeline;
    REQUIRE(t.steps.size() == 1);
    CHECK(t.steps[0].direction == copy_direction::to_host);
    CHECK(t.steps[0].stream == "stream 1?[31m");
    CHECK(t.steps[0].end == 60);
    for (auto [key, value] : {std::pair<const char *, nlohmann::json>("kind", "walk"),
                              {"why", "whim"},
                              {"way", 7},
                              {"end", 5u},
                              {"end", 101u},
                              {"waited_for", 2u},
                              {"waited_for", 1u},
                              {"start", -1}}) {
        auto bad = json_step();
        bad[key] = value;
        CHECK_THROWS(read_counters(timeline_document(nlohmann::json::array({bad})).dump()));
    }
}
