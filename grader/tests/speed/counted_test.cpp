// Tests reading the simulator's counters, even forged ones, and the messages about them.
#include "grading.hpp"
#include "runner/parse_counters.hpp"
#include "simulator/runtime/harness.h"
#include "speed/counter_gates.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <vector>

using namespace grading;

namespace {

struct access {
    int requests = 0, sectors = 0, ideal = 0, bytes = 0;
};

std::string to_json(const access &a)
{
    return fmt::format(R"({{"requests":{},"sectors":{},"ideal_sectors":{},"bytes":{},"lanes":0}})",
                       a.requests, a.sectors, a.ideal, a.bytes);
}

std::string site(int line, const access &load, const access &store)
{
    std::string none = to_json({});
    std::string shared = R"({"requests":1,"wavefronts":4,"ideal_wavefronts":2,"lanes":32})";
    return fmt::format(
        R"({{"file":"labs/x/stub.cu","line":{},"global_load":{},"global_store":{},"local_load":{},)"
        R"("local_store":{},"shared_load":{},"shared_store":{},"shared_atomic":{},"global_atomics":3,"atomic_requests":2,"atomic_same_address":7,"texture_bytes":6,"multiplications":8,"divisions":9,"double_operations":2,"exact_divisions":4,"exact_square_roots":5,"warp_instructions":40,"thread_instructions":60,"texture_requests":1,"texture_sectors":3,"printed_bytes":16,"global_atomic_requests":2,"global_atomic_sectors":5,"constant_requests":2,"constant_addresses":9,"host_sectors":3,"barriers":5}})",
        line, to_json(load), to_json(store), none, none, shared, shared,
        R"({"requests":1,"wavefronts":6,"ideal_wavefronts":1,"lanes":6})");
}

std::string document(const std::string &sites)
{
    return fmt::format(
        R"({{"kernels":[{{"kernel":"scale","launches":2,"launches_by_kernels":1,"instructions_by_kernels":30,"parameter_bytes":500,"all_parameter_bytes":560,"blocks":4,"threads":1024,)"
        R"("sectors_read":10,"busiest_block_instructions":25,"managed_pages":8,"managed_sectors":5,"multiplications_of":[9,7],"sectors_written":20,"sites":[{}]}}],"transfers":{{"host_to_device":64,"device_to_host":32,"device_to_device":32,"in_pieces":5,"memset":24,"from_pageable":48,"staged":16,"managed":96,"fill_values":40,"commands":6,"managed_copies":9,"sent":[7,90,8],"uploaded":[3,61]}}}})",
        sites);
}

const std::string strided = site(12, {8, 256, 32, 1024}, {});
const std::string broadcast = site(14, {8, 8, 8, 1024}, {});
const std::string contiguous = site(15, {}, {8, 32, 32, 1024});

} // namespace

TEST_CASE("totals over kernels and lines")
{
    counted c = parse_counters(document(strided + "," + contiguous));
    CHECK(c.launches == 2);
    CHECK(c.threads == 1024);
    CHECK(c.compulsory_bytes == 32 * 30);
    CHECK(c.load_requests == 8);
    CHECK(c.load_sectors == 256);
    CHECK(c.load_ideal_sectors == 32);
    CHECK(c.load_bytes == 1024);
    CHECK(c.store_sectors == 32);
    CHECK(c.shared_wavefronts == 16 + 2 * 6); // of loads and stores, and of atomics
    CHECK(c.atomic_requests == 4);
    CHECK(c.atomic_same_address == 14);
    CHECK(c.texture_bytes == 12);
    CHECK(c.texture_requests == 2);
    CHECK(c.constant_requests == 4);
    CHECK(c.constant_addresses == 18);
    CHECK(c.host_link_bytes == 2 * 3 * 32 + 64 + 16 + 500 + 96);
    CHECK(c.parameter_bytes == 500);
    CHECK(c.carried_bytes == 560 + 40);
    CHECK(c.shared_with_host_bytes == 2 * 3 * 32 + 5 * 32 + 9);
    CHECK(c.host_commands == 6 + 2 - 1);
    CHECK(c.brought_bytes == 64 + 5);
    CHECK(c.max_sent_bytes == 90);
    CHECK(c.max_uploaded_bytes == 61);
    CHECK(c.downloaded_bytes == 2 * 3 * 32 + 32);
    CHECK(c.copied_out_bytes == 32); // without the kernels' accesses to pinned memory
    CHECK(c.multiplications_of[0] == 9);
    CHECK(c.multiplications_of[1] == 7);
    CHECK(c.pageable_bytes == 48);
    CHECK(c.managed_pages == 8);
    CHECK(c.multiplications == 16);
    CHECK(c.divisions == 18);
    CHECK(c.exact_divisions == 8);
    CHECK(c.exact_square_roots == 10);
    CHECK(c.double_operations == 4);
    CHECK(c.warp_instructions == 80);
    CHECK(c.busiest_block_instructions == 25);
    CHECK(blocks_share(2).value(c) == doctest::Approx(80.0 / 25));
    CHECK(c.launches_by_kernels == 1);
    CHECK(c.instructions_by_kernels == 30);
    CHECK(c.thread_instructions == 120);
    CHECK(lanes_at_work().value(c) == 1.5);
    counted_gate alone = at_most("growth", {1}, "", "", [](const counted &) { return 3.0; });
    alone.shows_naive = false;
    CHECK(missed_message(alone, c, c) == "growth: 3, at most 1 is required.");
    CHECK(missed_message(lanes_at_work(), c, c) ==
          "lanes at work: 1.5 of 32, at least 12 of 32 is required; naive: 1.5 of 32.");
    CHECK(c.shared_ideal_wavefronts == 8 + 2 * 1);
    CHECK(c.global_atomics == 6);
    CHECK(c.barriers == 10);
    CHECK(used_by_loads(0.95).value(c) == 0.125);
    CHECK(used_by_stores(0.95).value(c) == 1);
}

TEST_CASE("a kernel that only computes improves no mean")
{
    std::string kernel = document(strided);
    const auto with = [&](std::string text, const std::string &from, const std::string &to) {
        REQUIRE(text.find(from) != std::string::npos);
        return text.replace(text.find(from), from.size(), to);
    };
    kernel = with(kernel, R"("warp_instructions":40)", R"("warp_instructions":400000000)");
    kernel = with(kernel, R"("thread_instructions":60)", R"("thread_instructions":12800000000)");
    CHECK(parse_counters(kernel).warp_instructions ==
          50000 * (10 + 20 + 3 + 1)); // 16 bytes of text
    CHECK(lanes_at_work().value(parse_counters(kernel)) == 32);
}

TEST_CASE("what is moved counts, whatever way it goes")
{
    counted c = parse_counters(document(strided + "," + contiguous));
    CHECK(c.texture_sectors == 6);
    CHECK(c.atomic_sectors == 10);
    CHECK(c.global_atomic_requests == 4);
    CHECK(c.printed_bytes == 32);
    CHECK(c.filled_bytes == 24);
    // The sum covers loads and stores, textures and atomics; constants beyond one per request;
    // copies in, within and out, memset, and text.
    CHECK(moved_sectors(c) == 256 + 32 + 6 + 10 + (18 - 4) + (64 + 32 + 32 + 24 + 32) / 32.0);
    CHECK(moved_bytes(
              "element", [] { return 8.0; }, {1}, "")
              .value(c) == 4 * moved_sectors(c));
    CHECK(memory_requests(c) == 8 + 4 + 2 + 4);
    CHECK(accesses(c) == 8 + 4 + 2 + 4 + 16 + 12); // each atomic once
    counted local;
    local.local_requests = 3;
    local.local_sectors = 12;
    CHECK(moved_sectors(local) == 12);
    CHECK(memory_requests(local) == 3);
    counted shared;
    shared.atomic_requests = 5;
    shared.shared_wavefronts = 5;
    CHECK(memory_requests(shared) == 0);
    CHECK(accesses(shared) == 5);
}

TEST_CASE("moved bytes that are local memory are said to be")
{
    counted_gate gate = moved_bytes(
        "element", [] { return 1.0; }, {1}, "");
    counted c;
    c.load_sectors = 15;
    c.local_sectors = 1;
    CHECK(gate.cause(c).empty()); // spills of a register or two, no array
    c.local_sectors = 5;
    CHECK(gate.cause(c).find("25 % of that is local memory") != std::string::npos);
}

// A line whose loads from shared memory take 4 wavefronts instead of 2, with lanes at `distances`;
// its atomics there have no conflict.
counted with_lanes_apart(const std::vector<int> &distances)
{
    std::string line = site(20, {}, {});
    const std::string conflict = R"("wavefronts":6)";
    line.replace(line.find(conflict), conflict.size(), R"("wavefronts":1)");
    line.pop_back();
    return parse_counters(
        document(fmt::format(R"({},"worst":[{{"kind":"global_load","distances":[0,4]}},)"
                             R"({{"kind":"shared_load","distances":[{}]}}]}})",
                             line, fmt::join(distances, ","))));
}

TEST_CASE("bank conflicts: the line, and the cause by how far apart the lanes are")
{
    counted_gate gate = bank_conflicts(1.1, "general");
    const counted column = with_lanes_apart({0, 128, 256});
    CHECK(gate.value(column) == (4 + 4 + 1) / (2 + 2 + 1.0)); // a load, a store, an atomic
    CHECK(gate.value(counted()) == 1);                        // no shared memory
    CHECK(missed_message(gate, column, column).find("stub.cu:20, in scale: loads there take 4") !=
          std::string::npos);
    const counted atomics = parse_counters(document(site(20, {}, {})));
    CHECK(missed_message(gate, atomics, atomics).find("atomics there take 6 wavefronts, where 1") !=
          std::string::npos);
    CHECK(gate.cause(column).find("32 words apart there, and all meet in one bank") !=
          std::string::npos);
    CHECK(gate.cause(with_lanes_apart({0, 136, 272}))
              .find("34 words apart there, and all meet in "
                    "16 of 32 banks") != std::string::npos);
    // Padding does not help if the distance is odd or unknown.
    CHECK(gate.cause(with_lanes_apart({0, 132, 264})).empty());
    CHECK(gate.cause(with_lanes_apart({0, 128, 128})).empty());
    CHECK(gate.cause(with_lanes_apart({0})).empty());
}

TEST_CASE("a word that all lanes ask for does not make up for a strided load")
{
    counted c = parse_counters(document(strided + "," + broadcast));
    CHECK(c.load_bytes == 1024 + 8 * 32);
    CHECK(used_by_loads(0.95).value(c) < 0.16);
    CHECK(used_by_loads(0.95).value(parse_counters(document(broadcast))) == 1);
}

TEST_CASE("no loads waste no bytes")
{
    CHECK(
        used_by_loads(0.95).value(parse_counters(
            R"({"kernels":[],"transfers":{"host_to_device":0,"device_to_host":0,"device_to_device":0,"in_pieces":0,"memset":0,"from_pageable":0,"fill_values":0,"commands":0,"managed_copies":0,"staged":0,"managed":0,"sent":[],"uploaded":[]}})")) ==
        1);
}

TEST_CASE("a lane alone in its request wastes the rest of its sector")
{
    counted c = parse_counters(document(site(9, {32, 32, 32, 128}, {})));
    CHECK(used_by_loads(0.95).value(c) == 0.125);
}

TEST_CASE("the message has the measure, naive's beside it, and the worst line")
{
    counted mine = parse_counters(document(broadcast + "," + strided + "," + contiguous));
    counted naive = parse_counters(document(strided));
    counted_gate gate = used_by_loads(0.95);
    CHECK_FALSE(passes(gate, gate.value(mine)));
    std::string text = missed_message(gate, mine, naive);
    CHECK(text.find("at least 95 % is required; naive: 12.5 %") != std::string::npos);
    CHECK(text.find("stub.cu:12, in scale: a load") != std::string::npos);
    CHECK(text.find("32.0 sectors per request, where 4.0 would do") != std::string::npos);
    CHECK(text.find("labs/") == std::string::npos);
}

TEST_CASE("gates at most, and gates without a pass step")
{
    CHECK(passes(used_by_loads(0), 0));
    counted_gate gate = at_most("", {2}, "", "", {});
    CHECK(passes(gate, 2));
    CHECK_FALSE(passes(gate, 2.1));
}

TEST_CASE("time and work are as the timeline has them")
{
    auto with = [](const std::string &timeline) {
        return parse_counters(
            R"({"kernels":[],"transfers":{"host_to_device":0,"device_to_host":0,"device_to_device":0,"in_pieces":0,"memset":0,"from_pageable":0,"fill_values":0,"commands":0,"managed_copies":0,"staged":0,"managed":0,"sent":[],"uploaded":[]},"timeline":)" +
            timeline + "}");
    };
    counted c = with(
        R"({"ticks":70,"serial":100,"copying":40,"hidden":30,"left_out":0,"host_waits":6,"idle_waits":2,"steps":[)"
        R"({"kind":"copy","lane":"stream 1"},{"kind":"host_wait","lane":"host"},)"
        R"({"kind":"kernel","lane":"NULL stream"},{"kind":"fill","lane":"stream 1"},)"
        R"({"kind":"event_wait","lane":"stream 2"}]})");
    CHECK(c.ticks == 70);
    CHECK(c.serial_ticks == 100);
    CHECK(c.host_waits == 6);
    CHECK(c.idle_waits == 2);
    CHECK(streams_at_work(2).value(c) == 2);
    c.streams = 1;
    CHECK(streams_at_work(2).value(c) == 2); // 70 ticks of 100 still show overlap
    c.serial_ticks = 70;
    CHECK(streams_at_work(2).value(c) == 1);
    c.serial_ticks = 100;
    c.naive_serial_ticks = 140;
    CHECK(makespan({0.6, 0, 0}).value(c) == 0.5);
    CHECK(passes(makespan({0.6, 0, 0}), 0.5));
    CHECK_FALSE(passes(makespan({0.6, 0, 0}), 0.61));
    // The timeline is longer than the kept part.
    c = with(
        R"({"ticks":70,"serial":100,"copying":40,"hidden":30,"left_out":1,"host_waits":6,"idle_waits":2,"steps":[]})");
    CHECK(c.ticks == 100);
    // Three steps were kept and nine left out, which count as equally long.
    c = with(
        R"({"ticks":70,"serial":100,"copying":40,"hidden":30,"left_out":9,"host_waits":6,"idle_waits":2,"steps":[)"
        R"({"kind":"wait","lane":"host"},{"kind":"wait","lane":"host"},{"kind":"wait","lane":"host"}]})");
    CHECK(c.serial_ticks == 400);
    CHECK(c.ticks == 400);
    CHECK_THROWS_AS(with(R"({"ticks":-1})"), std::exception);
}

namespace {

counted of_steps(const std::string &steps)
{
    return parse_counters(
        R"({"kernels":[],"transfers":{"host_to_device":800,"device_to_host":400,)"
        R"("device_to_device":0,"in_pieces":0,"memset":0,"from_pageable":0,"fill_values":0,"commands":0,"managed_copies":0,"staged":0,"managed":0,"sent":[],)"
        R"("uploaded":[]},"timeline":{"ticks":90,"serial":100,"copying":0,"hidden":0,)"
        R"("left_out":0,"host_waits":1,"idle_waits":0,"steps":[)" +
        steps + "]}}");
}

std::string kernel_step(int id, const std::string &lane, int start, int end,
                        const std::string &after = "", const std::string &held = "")
{
    return fmt::format(
        R"({{"id":{},"kind":"kernel","lane":"{}","start":{},"end":{},"after":[{}]{}}})", id, lane,
        start, end, after, held);
}

} // namespace

TEST_CASE("kernels run side by side while two of them do")
{
    counted_gate gate = kernels_side_by_side(0.5);
    counted c =
        of_steps(kernel_step(1, "stream 1", 0, 10) + "," + kernel_step(2, "stream 1", 10, 70) +
                 "," + kernel_step(3, "stream 2", 20, 60));
    CHECK(c.kernel_ticks == 70);
    CHECK(c.side_by_side_ticks == 40);
    CHECK(gate.value(c) == doctest::Approx(4.0 / 7));
    CHECK(c.copied_in_bytes == 800);
    CHECK(c.copied_out_bytes == 400);
    CHECK(c.downloaded_bytes == 400); // no kernel has pinned memory here
    // Two kernels run one after the other, and a third has no length.
    c = of_steps(kernel_step(1, "stream 1", 0, 10) + "," + kernel_step(2, "stream 2", 10, 70) +
                 "," + kernel_step(3, "stream 3", 30, 30));
    CHECK(gate.value(c) == 0);
    CHECK(gate.value(of_steps("")) == 0);
    c = of_steps(kernel_step(1, "stream 1", 0, 60) + "," + kernel_step(2, "stream 2", 60, 70));
    CHECK(gate.cause(c).find("work of two") != std::string::npos);
}

TEST_CASE("why it takes long: the host waited, or there is too much of it")
{
    counted_gate gate = makespan({0.6, 0, 0});
    CHECK(gate.general);
    counted c =
        of_steps(kernel_step(1, "stream 1", 0, 10) + "," +
                 kernel_step(3, "stream 2", 10, 70, "", R"(,"waited_for":2,"why":"host")") + "," +
                 kernel_step(4, "stream 1", 10, 70, "", R"(,"waited_for":2,"why":"host")"));
    CHECK(c.holding_waits == 1);
    CHECK(gate.cause(c).starts_with("The host waited once before"));
    c.holding_waits = 5;
    CHECK(gate.cause(c).starts_with("The host waited 5 times"));
    c.holding_waits = 0;
    // The wait does not count: the work behind it had to wait for other work about as long.
    const std::string held = R"(,"waited_for":2,"why":"host")";
    CHECK(of_steps(kernel_step(1, "stream 1", 0, 50) + "," +
                   kernel_step(3, "stream 1", 51, 90, "1", held))
              .holding_waits == 0);
    const counted behind = of_steps(
        kernel_step(1, "stream 1", 0, 10) + "," + kernel_step(2, "NULL stream", 10, 20, "1") + "," +
        kernel_step(3, "stream 1", 20, 30, "2") + "," + kernel_step(4, "NULL stream", 30, 90, "3"));
    CHECK(behind.kernels_behind_streams == 2);
    CHECK(gate.cause(behind).find("default stream") != std::string::npos);
    c.naive_serial_ticks = 100;
    CHECK(gate.cause(c).empty());
    c.naive_serial_ticks = 89;
    CHECK(gate.cause(c).find("pieces are too small") != std::string::npos);
}

TEST_CASE("a kernel alone in the default stream, beside copies that it does not wait for")
{
    const std::string copy = R"({"id":1,"kind":"copy","lane":"stream 1","after":[]},)";
    CHECK(of_steps(copy + kernel_step(2, "NULL stream", 0, 5)).default_stream_alone);
    CHECK_FALSE(of_steps(copy + kernel_step(2, "NULL stream", 0, 5, "1")).default_stream_alone);
    CHECK_FALSE(of_steps(copy + kernel_step(2, "stream 1", 0, 5)).default_stream_alone);
    CHECK_FALSE(of_steps(kernel_step(2, "NULL stream", 0, 5)).default_stream_alone);
}

TEST_CASE("where the sectors are, when hardly any is moved for nothing")
{
    const std::string much = site(20, {1000, 1000, 1000, 32000}, {});
    const std::string ragged = site(12, {8, 30, 8, 256}, {});
    counted c = parse_counters(document(ragged + "," + much));
    counted_gate all = at_most("sectors per interaction", {5}, "", "",
                               [](const counted &x) { return double(x.load_sectors); });
    std::string text = missed_message(all, c, c);
    CHECK(text.find("97 % of the sectors are moved at stub.cu:20") != std::string::npos);
    CHECK(missed_message(used_by_loads(0.99), c, c).find("stub.cu:12") != std::string::npos);
}

TEST_CASE("anything but counters is refused, not believed and not fatal")
{
    std::string good = document(strided + "," + contiguous);
    REQUIRE_NOTHROW(parse_counters(good));
    for (std::size_t n = 0; n < good.size(); ++n)
        CHECK_THROWS_AS(parse_counters(good.substr(0, n)), std::exception);
    for (const char *bad :
         {"", "null", "7", "[]", "{}", R"({"kernels":7})", R"({"kernels":[7]})",
          R"({"kernels":[{"kernel":null}]})", R"({"kernels":[],"transfers":{"host_to_device":-1}})",
          R"({"kernels":[],"transfers":{"host_to_device":1e300}})", "\xff\xfe", "{\"kernels\":[}"})
        CHECK_THROWS_AS(parse_counters(bad), std::exception);
    CHECK_THROWS_AS(parse_counters(std::string(100000, '[')), std::exception);

    std::mt19937 random(3);
    for (int i = 0; i < 3000; ++i) { // each call must return or throw
        std::string text = good;
        for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(random());
        try {
            used_by_loads(0.5).value(parse_counters(text));
        } catch (const std::exception &) {
        }
    }
}

TEST_CASE("the report holds findings, then counters")
{
    std::uint64_t findings = 2, length = 5;
    std::vector<std::byte> report(8 + 2 * sizeof(simulator_finding) + 8 + 5 + 100);
    auto write = [&] {
        std::memcpy(report.data(), &findings, 8);
        std::size_t at = 8 + 2 * sizeof(simulator_finding);
        std::memcpy(report.data() + at, &length, 8);
        std::memcpy(report.data() + at + 8, "hello", 5);
    };
    write();
    CHECK(report_counters(report) == "hello");
    CHECK_THROWS_AS(report_counters(std::span(report).first(4)), std::exception);
    CHECK_THROWS_AS(report_counters(std::span(report).first(report.size() - 101)), std::exception);
    length = ~std::uint64_t{0};
    write();
    CHECK_THROWS_AS(report_counters(report), std::exception);
    length = 5;
    findings = ~std::uint64_t{0} / sizeof(simulator_finding);
    write();
    CHECK_THROWS_AS(report_counters(report), std::exception);
}

TEST_CASE("a counter per element, whose number may be known only when it is counted")
{
    counted c;
    c.load_bytes = 120, c.launches = 8;
    int elements = 0;
    const auto late = per([&elements] { return elements; }, &counted::load_bytes);
    CHECK(late(c) == 0); // none
    elements = 48;
    CHECK(late(c) == 2.5);
    CHECK(per(16, &counted::load_bytes)(c) == 7.5);
    CHECK(per(&counted::launches, &counted::load_bytes)(c) == 15);
    const auto both = [](const counted &of) { return of.load_bytes + of.launches; };
    CHECK(per(&counted::launches, both)(c) == 16);
    CHECK(per(&counted::barriers, both)(c) == 0);
    CHECK(per(both, accesses)(c) == 0);
    CHECK(at_most("launches", {1}, "", "", &counted::launches).value(c) == 8);
}
