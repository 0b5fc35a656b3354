// Messages between blocks: which fences order a value and its flag, and which do not.
#include "simulator/machine/work_meter.hpp"
#include "simulator/tests/fixture.hpp"

#include <doctest/doctest.h>

using namespace simulator;
using namespace simulator::tests;

namespace {

// The steps by which block 0 publishes a value and block 1 reads it.
struct block_message {
    std::string store = "st.volatile.global.u32", fence = "membar.gl;",
                publish = "st.volatile.global.u32 [%d2], 1;",
                poll = "ld.volatile.global.u32 %r2, [%d2];", acquire = "membar.gl;",
                load = "ld.volatile.global.u32";
    std::string by_warp; // replaces `publish` by code for all threads of block 0
};

// Returns the value that block 1 reads: 42, or 7 if it is the older one. The grid has 32 threads
// per block, one of which communicates; all reach `acquire`, which may be a barrier.
int value_received(const block_message &m)
{
    module k(".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(.param .u64 value, .param .u64 flag, .param .u64 out)\n{\n"
             ".reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p<4>;\n"
             "ld.param.u64 %d1, [value]; ld.param.u64 %d2, [flag]; ld.param.u64 %d3, [out];\n"
             "mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; setp.ne.u32 %p2, %r3, 0;\n"
             "setp.ne.u32 %p1, %r1, 0; @%p1 bra taker;\n"
             "@%p2 bra end_of_store;\n" +
                 m.store + " [%d1], 42;\n" + m.fence + "\nend_of_store:\n" +
                 (m.by_warp.empty() ? "@%p2 bra end;\n" + m.publish : m.by_warp) +
                 "\nbra end;\n"
                 "taker:\n@%p2 bra met;\n"
                 "again:\n" +
                 m.poll +
                 "\nsetp.eq.u32 %p3, %r2, 0; @%p3 bra again;\n"
                 "met:\n" +
                 m.acquire + "\n@%p2 bra end;\n" + m.load +
                 " %r4, [%d1]; st.global.u32 [%d3], %r4;\n"
                 "end: ret;\n}\n",
             0);
    const options before = settings();
    settings().random_schedule = true;
    int found = 42;
    for (settings().seed = 1; settings().seed <= 4 && found == 42; ++settings().seed) {
        buffer<int> value(std::vector<int>{7, 0}), flag(std::vector<int>(32)), out(std::size_t(1));
        CHECK(run(k, "k", {2, 1, 1}, {32, 1, 1}, 0, value, flag, out).error == 0);
        found = out.values()[0];
    }
    settings() = before;
    return found;
}

bool found_only(finding_kind kind)
{
    const auto all = findings::instance().all();
    return all.size() == 1 && all[0].kind == kind;
}

std::string detail() { return findings::instance().all().at(0).detail; }

bool holds(const std::string &text, const char *part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("a value that is fenced on both sides arrives with its flag")
{
    CHECK(value_received(block_message()) == 42);
    CHECK(findings::instance().empty());
    block_message m;
    m.acquire = "bar.sync 0;"; // as in a kernel whose last block adds up: a barrier suffices
    CHECK(value_received(m) == 42);
    m.acquire = "bar.warp.sync -1;";
    CHECK(value_received(m) == 42);
    m = {};
    m.fence = m.acquire = "fence.acq_rel.sys;";
    CHECK(value_received(m) == 42);
    CHECK(findings::instance().empty());
}

TEST_CASE("releasing and acquiring accesses are fences of their own")
{
    block_message m;
    m.store = "st.global.u32";
    m.load = "ld.global.u32";
    m.fence = m.acquire = "";
    m.publish = "st.release.gpu.global.u32 [%d2], 1;";
    m.poll = "ld.acquire.gpu.global.u32 %r2, [%d2];";
    CHECK(value_received(m) == 42);
    m.publish = "atom.release.gpu.global.add.u32 %r5, [%d2], 1;";
    m.poll = "atom.acquire.gpu.global.or.b32 %r2, [%d2], 0;";
    CHECK(value_received(m) == 42);
    CHECK(findings::instance().empty());
}

TEST_CASE("without a fence before the flag, the value may come after it")
{
    block_message m;
    m.fence = "";
    CHECK(value_received(m) == 7);
    REQUIRE(found_only(finding_kind::older_value));
    CHECK(holds(detail(), "no __threadfence() comes between the two stores"));
    m.fence = "membar.cta;"; // a fence for the block only
    CHECK(value_received(m) == 7);
    m.fence = "";
    m.store = "membar.gl; st.volatile.global.u32"; // too early
    CHECK(value_received(m) == 7);
    m = {};
    m.fence = "";
    m.publish += " membar.gl;"; // too late
    CHECK(value_received(m) == 7);
    m = {};
    m.fence = "";
    m.publish = "atom.global.add.u32 %r5, [%d2], 1;";
    CHECK(value_received(m) == 7);
    m.poll = "atom.global.or.b32 %r2, [%d2], 0;";
    CHECK(value_received(m) == 7);
}

TEST_CASE("without a fence after the flag, the value may have been read before it")
{
    block_message m;
    m.acquire = "";
    CHECK(value_received(m) == 7);
    REQUIRE(found_only(finding_kind::older_value));
    CHECK(holds(detail(), "its read of that and this read"));
    m.acquire = "membar.gl;";
    m.poll = "ld.volatile.global.u32 %r2, [%d2];";
    CHECK(value_received(m) == 42);
}

TEST_CASE("a value and its flag are told apart by their bytes, however they are accessed")
{
    block_message m;
    m.fence = "";
    m.store = "st.volatile.global.u64"; // the load reads the lower half of it
    CHECK(value_received(m) == 7);
    m.fence = "membar.gl;";
    CHECK(value_received(m) == 42);
    m.fence = "";
    m.store = "st.volatile.global.u8"; // overwrites one byte of a word of 7
    CHECK(value_received(m) == 7);
    m = {};
    m.fence = "";
    m.load = "ld.volatile.global.u8";
    CHECK(value_received(m) == 7);
    m = {};
    m.fence = "";
    m.load = "ld.volatile.global.u8 %r4, [%d1+4]; ld.volatile.global.u32";
    CHECK(value_received(m) == 7);
}

TEST_CASE("a value of two words comes whole, older or not")
{
    block_message m;
    m.fence = "";
    m.store = "{ .reg .b64 %w; mov.b64 %w, 0x2a0000002a; st.volatile.global.u64 [%d1], %w; }"
              "bra end_of_store; st.global.u32";
    m.load = "{ .reg .b64 %w; ld.volatile.global.u64 %w, [%d1]; ld.volatile.global.u64 %w, [%d1];"
             "mov.b64 {%r4, %r5}, %w; } setp.eq.u32 %p3, %r4, %r5; @%p3 bra whole;"
             "mov.u32 %r4, 1; whole: st.global.u32 [%d3], %r4; bra end; ld.volatile.global.u32";
    CHECK(value_received(m) == 42);
    CHECK(found_only(finding_kind::older_value)); // for the first load
}

TEST_CASE("an atomic of many lanes may tell of a value, too")
{
    for (const char *lanes : {"4", "0"}) { // one address per lane, or the same for all
        block_message m;
        m.fence = "";
        m.by_warp = std::string("mul.wide.u32 %d1, %r3, ") + lanes +
                    "; add.u64 %d2, %d2, %d1; atom.global.exch.b32 %r5, [%d2], 1; bra end;";
        CAPTURE(lanes);
        CHECK(value_received(m) == 7);
        m.fence = "membar.gl;";
        CHECK(value_received(m) == 42);
    }
}

TEST_CASE("who has read a value gets no older one afterwards")
{
    block_message m;
    m.fence = m.acquire = "";
    m.publish = "st.volatile.global.u32 [%d2+4], 1; st.volatile.global.u32 [%d2], 1;";
    m.poll = "ld.volatile.global.u32 %r4, [%d1]; setp.eq.u32 %p3, %r4, 42; mov.u32 %r2, 1;"
             "@!%p3 bra again; more: ld.volatile.global.u32 %r2, [%d2+4]; "
             "setp.eq.u32 %p3, %r2, 0; @%p3 bra more;";
    CHECK(value_received(m) == 42);
    CHECK(findings::instance().empty());
}

TEST_CASE("a plain value without a fence on either side is a race")
{
    block_message m;
    m.store = "st.global.u32";
    m.load = "ld.global.u32";
    m.fence = "";
    value_received(m);
    CHECK(found_only(finding_kind::race));
    m.fence = "membar.gl;";
    m.acquire = "";
    value_received(m);
    REQUIRE(found_only(finding_kind::race));
    CHECK(holds(detail(), "no __threadfence() comes between that read and this access"));
}

TEST_CASE("a value that is its own flag needs no fence")
{
    block_message m;
    m.store = "st.volatile.global.u32 [%d2], 0; st.volatile.global.u32";
    m.fence = m.acquire = "";
    m.publish = "st.volatile.global.u32 [%d2], 42;";
    m.load = "mov.u32 %r4, %r2; st.global.u32 [%d3], %r4; bra end; ld.volatile.global.u32";
    CHECK(value_received(m) == 42);
    CHECK(findings::instance().empty());
}

TEST_CASE("a block that waits for another by blockIdx needs that blocks begin in order")
{
    // Block b waits until `done` is b and adds 1; `number` sets b to blockIdx.x or a ticket.
    auto chain = [](const char *number, const char *each_time = "") {
        return module(".version 8.0\n.target sm_80\n.address_size 64\n"
                      ".visible .entry k(.param .u64 done, .param .u64 ticket)\n{\n"
                      ".reg .b64 %d<3>; .reg .b32 %r<5>; .reg .pred %p;\n"
                      "ld.param.u64 %d1, [done]; ld.param.u64 %d2, [ticket];\n" +
                          std::string(number) + "\nmov.u32 %r4, 1;\nagain: " + each_time +
                          "ld.volatile.global.u32 %r2, [%d1];\n"
                          "setp.ne.u32 %p, %r2, %r1; @%p bra again;\n"
                          "add.u32 %r3, %r2, 1; st.volatile.global.u32 [%d1], %r3; ret;\n}\n",
                      0);
    };
    module by_index = chain("mov.u32 %r1, %ctaid.x;");
    module by_ticket = chain("atom.global.add.u32 %r1, [%d2], 1;");
    const options before = settings();
    auto run_chain = [](module &k) {
        buffer<int> done(std::vector<int>{0}), ticket(std::vector<int>{0});
        const int error = run(k, "k", {100, 1, 1}, {1, 1, 1}, 0, done, ticket).error;
        return error == 0 && done.values()[0] == 100;
    };
    for (bool shuffled : {false, true}) {
        settings().random_schedule = shuffled;
        CHECK(run_chain(by_index));
        CHECK(run_chain(by_ticket));
    }
    settings().any_blocks_first = true;
    CHECK(run_chain(by_ticket));
    CHECK(!run_chain(by_index));
    REQUIRE(found_only(finding_kind::endless));
    CHECK(holds(detail(), "of 100 blocks have not begun"));
    CHECK(holds(detail(), "Blocks may begin in any order"));

    // The same with a value carried by the loop: the sleep time.
    findings::instance().clear();
    work_meter::instance().limit(10'000'000'000);
    module patient = chain("mov.u32 %r1, %ctaid.x;", "nanosleep.u32 %r4; shl.b32 %r4, %r4, 1;\n");
    CHECK(!run_chain(patient));
    REQUIRE(found_only(finding_kind::endless));
    CHECK(holds(detail(), "Blocks may begin in any order"));
    module patient_by_ticket =
        chain("atom.global.add.u32 %r1, [%d2], 1;", "nanosleep.u32 %r4; shl.b32 %r4, %r4, 1;\n");
    CHECK(run_chain(patient_by_ticket));
    settings() = before;
    work_meter::instance() = work_meter();
}
