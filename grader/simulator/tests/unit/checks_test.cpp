// Findings of the machine in faulty kernels, and the messages about them.
#include "simulator/tests/fixture.hpp"

#include <doctest/doctest.h>

using namespace simulator;
using namespace simulator::tests;

namespace {

const finding &only_finding()
{
    static std::vector<finding> found;
    found = findings::instance().all();
    REQUIRE(found.size() == 1);
    return found[0];
}

// Finds the line of kernels.cu that contains `text`, so that tests survive when lines move.
int line_with(const std::string &text)
{
    std::ifstream in(SIMULATOR_TESTS "/kernels.cu");
    std::string line;
    for (int n = 1; std::getline(in, line); ++n)
        if (line.find(text) != line.npos) return n;
    FAIL("kernels.cu has no line with " << text);
    return 0;
}

std::string one_kernel(const std::string &parameters, const std::string &body)
{
    return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(" + parameters +
           ")\n{\n" + body + "\n}\n";
}

bool contains(const std::string &text, const char *part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("a write past the end names kernel, line, block, thread and allocation")
{
    buffer<float> a(std::vector<float>(1024, 1)), b(std::vector<float>(1024, 1)),
        c(std::size_t(1000));
    memory::instance().label(c.at, c.bytes(), "out");
    outcome o = run(kernels(), "vector_add", {4, 1, 1}, {256, 1, 1}, 0, a, b, c, 1024);
    CHECK(o.error == 700);
    const finding &f = only_finding();
    CHECK(f.kind == finding_kind::out_of_bounds);
    CHECK(f.kernel == "vector_add");
    CHECK(f.file == "kernels.cu");
    CHECK(f.line == line_with("c[i] = a[i] + b[i]"));
    CHECK(f.block.x == 3);
    CHECK(f.thread.x == 1000 - 768);
    CHECK(f.write);
    CHECK(f.bytes == 4);
    CHECK(f.threads == 24);
    CHECK(f.address == c.at + 4000);
    CHECK(contains(f.where, "out"));
}

TEST_CASE("null, host and freed pointers are told apart")
{
    buffer<float> a(std::vector<float>(64, 1));
    std::vector<float> host(64);
    address pointer = 0;
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, a, pointer, 64).error == 700);
    CHECK(only_finding().kind == finding_kind::null_pointer);
    pointer = reinterpret_cast<address>(host.data());
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, pointer, a, 64).error == 700);
    CHECK(only_finding().kind == finding_kind::host_pointer);
    CHECK_FALSE(only_finding().write);
    {
        buffer<float> gone(std::vector<float>(64, 1));
        pointer = gone.at;
    }
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, a, pointer, 64).error == 700);
    CHECK(only_finding().kind == finding_kind::use_after_free);
}

TEST_CASE("a misaligned vector access")
{
    buffer<float> a(std::vector<float>(256, 1)), b(std::size_t(256));
    CHECK(run(kernels(), "copy4", {1, 1, 1}, {32, 1, 1}, 0, a.at + 4, b).error == 716);
    CHECK(only_finding().kind == finding_kind::misaligned);
    CHECK(only_finding().bytes == 16);
}

TEST_CASE("reading global memory that nobody wrote is found and the grid goes on")
{
    buffer<float> a(std::size_t(64)), b(std::vector<float>(64, 1)), c(std::size_t(64));
    memory::instance().mark(a.at, 100, initialised, 0);
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, b, c, 64).error == 0);
    const finding &f = only_finding();
    CHECK(f.kind == finding_kind::uninitialised);
    CHECK(f.thread.x == 25);
    CHECK(f.threads == 39);
    CHECK((memory::instance().shadow_at(c.at)[255] & initialised) != 0);
}

TEST_CASE("reading shared memory that nobody wrote")
{
    buffer<float> out(std::size_t(64));
    CHECK(run(kernels(), "unwritten_tile", {2, 1, 1}, {64, 1, 1}, 0, out).error == 0);
    const finding &f = only_finding();
    CHECK(f.kind == finding_kind::uninitialised);
    CHECK(f.thread.x == 5);
    CHECK(f.line == line_with("out[threadIdx.x] = tile[threadIdx.x]"));
    CHECK(contains(f.where, "shared memory, byte 20 of 256"));
    CHECK(contains(f.where, "tile"));
}

TEST_CASE("shared memory is checked by its size")
{
    buffer<int> in(std::vector<int>(256, 1)), out(std::vector<int>{0});
    CHECK(run(kernels(), "block_sum", {1, 1, 1}, {256, 1, 1}, 7 * 4, in, out, 256).error == 700);
    CHECK(only_finding().kind == finding_kind::out_of_bounds);
    CHECK(only_finding().thread.x == 224);
    CHECK(contains(only_finding().where, "byte 28 of 28"));
}

TEST_CASE("writing constant memory")
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b8 fixed[4] = {1};\n"
             ".visible .entry k()\n{ .reg .b64 %rd<3>;\n mov.u64 %rd1, fixed;\n cvta.const.u64 "
             "%rd2, %rd1;\n"
             " st.u32 [%rd2], 5;\n ret;\n}\n",
             0);
    CHECK(run(m, "k", {1, 1, 1}, {1, 1, 1}, 0).error == 700);
    CHECK(only_finding().kind == finding_kind::read_only);
    CHECK(contains(only_finding().where, "fixed"));
}

TEST_CASE("local memory is checked by its size and for values")
{
    module m(one_kernel(".param .u32 at",
                        ".local .align 4 .b8 mine[16];\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
                        "mov.u64 %rd1, mine; ld.param.u32 %r1, [at];\n"
                        "st.local.u32 [%rd1], 3; cvt.u64.u32 %rd2, %r1;\n"
                        "add.s64 %rd3, %rd1, %rd2; ld.local.u32 %r2, [%rd3]; ret;"),
             0);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, 0).error == 0);
    CHECK(findings::instance().empty());
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, 4).error == 0);
    CHECK(only_finding().kind == finding_kind::uninitialised);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, 16).error == 700);
    CHECK(only_finding().kind == finding_kind::out_of_bounds);
    CHECK(contains(only_finding().where, "local memory"));
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, 2).error == 716);
}

TEST_CASE("what the search for races does not reach is said, and the next grid is watched again")
{
    const options before = settings();
    buffer<float> a(std::vector<float>(1 << 14, 1)), c(std::size_t(1 << 14));
    auto add = [&](std::uint32_t blocks) {
        return run(kernels(), "vector_add", {blocks, 1, 1}, {256, 1, 1}, 0, a, a, c, 1 << 14);
    };
    module one_place(one_kernel("", ".shared .align 4 .b8 x[4];\n.reg .b32 %r<2>;\n"
                                    "mov.u32 %r1, %tid.x; st.shared.u32 [x], %r1; ret;"),
                     0);
    auto races = [&] {
        run(one_place, "k", {1, 1, 1}, {64, 1, 1}, 0);
        return only_finding().kind == finding_kind::race;
    };
    settings().race_bytes = 1000;
    CHECK(add(64).error == 0);
    CHECK(only_finding().kind == finding_kind::unwatched);
    CHECK(only_finding().kernel == "vector_add");
    settings() = before;
    CHECK(add(64).error == 0);
    CHECK(findings::instance().empty());
    settings().race_accesses = 1000; // 64 blocks of 8 warps make 1536 accesses
    CHECK(add(64).error == 0);
    CHECK(only_finding().kind == finding_kind::unwatched);
    for (int round = 0; round < 5; ++round) { // 480 accesses each: the logical clock restarts
        CHECK(add(20).error == 0);
        CHECK(findings::instance().empty());
        CHECK(races());
    }
    settings() = before;
}

TEST_CASE("lanes that meet in an atomic are served from the last on, where the order is another")
{
    const options before = settings();
    module counter(one_kernel(".param .u64 p",
                              ".reg .b64 %d<4>; .reg .b32 %r<3>; .shared .align 4 .b32 next;\n"
                              "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
                              "st.shared.u32 [next], 0; bar.warp.sync -1;\n"
                              "atom.shared.add.u32 %r2, [next], 1;\n"
                              "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
                              "st.global.u32 [%d3], %r2; ret;"),
                   0);
    for (bool another : {false, true}) {
        settings().random_schedule = another;
        buffer<int> places(std::size_t(32));
        CHECK(run(counter, "k", {1, 1, 1}, {32, 1, 1}, 0, places).error == 0);
        for (int lane = 0; lane < 32; ++lane)
            CHECK(places.values()[std::size_t(lane)] == (another ? 31 - lane : lane));
    }
    settings() = before;
}

TEST_CASE("of a tree of launches, the kernel is named where the search for races ended")
{
    const options before = settings();
    // The parent writes the argument of its child, and the child 64 words.
    module tree(".version 8.0\n.target sm_80\n.address_size 64\n"
                ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a,\n"
                "  .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);\n"
                ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a,\n"
                "  .param .b64 b);\n"
                ".visible .entry child(.param .u64 p)\n{\n"
                ".reg .b64 %d<4>; .reg .b32 %r<2>;\n"
                "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                "add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r1; ret;\n}\n"
                ".visible .entry parent(.param .u64 p)\n{\n"
                ".reg .b64 %d<4>; .reg .b32 %r<2>;\n"
                ".param .b64 kernel, place, stream, at; .param .b32 shared, error;\n"
                ".param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12];\n"
                "ld.param.u64 %d1, [p]; mov.u64 %d2, child;\n"
                "st.param.b64 [kernel], %d2; st.param.b32 [shared], 0;\n"
                "st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;\n"
                "st.param.b32 [block], 64; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;\n"
                "call.uni (place), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, shared);\n"
                "ld.param.b64 %d3, [place]; st.u64 [%d3], %d1;\n"
                "st.param.b64 [at], %d3; st.param.b64 [stream], 0;\n"
                "call.uni (error), __cudaCDP2LaunchDeviceV2, (at, stream); ret;\n}\n",
                0);
    buffer<int> out(std::size_t(64));
    auto launch = [&] { CHECK(run(tree, "parent", {1, 1, 1}, {1, 1, 1}, 0, out).error == 0); };
    settings().race_bytes = 1000; // less than the parent's access, which is the first
    launch();
    CHECK(only_finding().kind == finding_kind::unwatched);
    CHECK(only_finding().kernel == "child");
    settings() = before;
    launch();
    CHECK(findings::instance().empty());
    REQUIRE(counters::instance().kernels.size() == 2);
    for (const kernel_counts &k : counters::instance().kernels) {
        CHECK(k.launches_by_kernels == (k.kernel == "child" ? k.launches : 0));
        CHECK(k.instructions_by_kernels == (k.kernel == "child" ? k.total.warp_instructions : 0));
    }
}

TEST_CASE("static names of relocatable code are shown without their file")
{
    const std::string file = "__nv_static_33__c328c4c6_11_solution_cu_af6062c5_";
    CHECK(demangled_name(file + "_Z5go_oni") == "go_on");
    CHECK(demangled_name(file + "_Z3runILi1EEvPi") == "run<1>");
    CHECK(demangled_name("__nv_static_") == "__nv_static_");
}

TEST_CASE("a name that doubles with every level is cut")
{
    std::string name = "_Z1fI1aIiiE"; // f<a<int, int>, a<the previous type twice>, ...>
    for (const char k : std::string("123456789ABCDEFGH"))
        name += std::string("S0_IS") + k + "_S" + k + "_E";
    const std::string words = demangled_name(name + "Evv");
    CHECK(words.starts_with("f<a<int, int>, a<a<int, int>, a<int, int> >"));
    CHECK(words.ends_with("..."));
    CHECK(words.size() == 500);
}

TEST_CASE("a barrier that some threads never reach")
{
    buffer<int> out(std::size_t(64));
    CHECK(run(kernels(), "barrier_in_branch", {1, 1, 1}, {64, 1, 1}, 0, out).error == 0);
    const finding &f = only_finding();
    CHECK(f.kind == finding_kind::barrier);
    CHECK(f.threads == 40);
    std::string guard = std::to_string(line_with("if (threadIdx.x < 40)"));
    std::string said = "24 had ended, after the test at kernels.cu:" + guard + ", without";
    CHECK(contains(f.detail, said.c_str()));
    settings().check_exited_threads = false;
    run(kernels(), "barrier_in_branch", {1, 1, 1}, {64, 1, 1}, 0, out);
    CHECK(findings::instance().empty());
    settings().check_exited_threads = true;
}

TEST_CASE("warps that wait at different barriers")
{
    buffer<int> out(std::size_t(64));
    run(kernels(), "two_barriers", {1, 1, 1}, {64, 1, 1}, 0, out);
    auto found = findings::instance().all();
    REQUIRE(!found.empty());
    CHECK(found[0].kind == finding_kind::barrier);
    CHECK(contains(found[0].detail, "32 wait at the barrier at kernels.cu:"));
}

TEST_CASE("a block whose threads wait for each other for ever is ended")
{
    // Half of the block waits at barrier 0, the other half at barrier 1.
    module m(
        one_kernel(
            "",
            ".reg .pred %p<2>; .reg .b32 %r<3>;\nmov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;\n"
            "@%p1 bra A; bar.sync 1; ret;\nA: bar.sync 0; ret;"),
        0);
    CHECK(run(m, "k", {1, 1, 1}, {64, 1, 1}, 0).error == 702);
    CHECK(only_finding().kind == finding_kind::barrier);
    CHECK(contains(only_finding().detail, "32 wait at barrier 1 at PTX line 8"));
}

// Makes a kernel of three or more lines with a source position each: .loc 1 LINE 0.
static module placed(const std::string &body)
{
    return module(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n"
                  ".visible .entry k()\n{\n.reg .pred %p<3>; .reg .b32 %r<4>;\n"
                  "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;\n" +
                      body + "\n}\n",
                  0);
}

static void blamed(module m, int line, const char *where, const char *detail)
{
    findings::instance().clear();
    run(m, "k", {1, 1, 1}, {64, 1, 1}, 0);
    const finding &f = only_finding();
    CHECK(f.kind == finding_kind::barrier);
    CHECK(f.line == line);
    CHECK(f.where == where);
    CAPTURE(f.detail);
    CHECK(contains(f.detail, detail));
}

TEST_CASE("where threads do not meet, the place that some went around comes first")
{
    const std::string vote = "vote.sync.ballot.b32 %r3, %p1, -1;\n", barrier = "bar.sync 0;\n";
    // Only lanes 0 to 19 of each warp, or only one of the two warps, reach line 10.
    auto in_branch = [&](const char *test, const std::string &first, const std::string &second) {
        return placed(std::string(test) + " @%p1 bra L;\n.loc 1 10 0\n" + first +
                      "L:\n.loc 1 20 0\n" + second + "ret;");
    };
    const char *lanes = "setp.ge.u32 %p1, %r2, 20;", *warp_0 = "setp.ge.u32 %p1, %r1, 32;",
               *warp_1 = "setp.lt.u32 %p1, %r1, 32;";
    blamed(in_branch(lanes, vote, barrier), 10, "a vote",
           "40 threads wait at it for lanes of their warp while 24 wait at the barrier at a.cu:20: "
           "nobody");
    blamed(in_branch(lanes, barrier, vote), 10, "a barrier",
           "40 threads wait at it while 24 wait at the vote at a.cu:20: nobody");
    blamed(in_branch(lanes, "shfl.sync.idx.b32 %r3, %r1, 25, 31, -1;\n", vote), 10, "a shuffle",
           "24 wait at the vote at a.cu:20");
    for (const char *warp : {warp_0, warp_1})
        blamed(in_branch(warp, barrier, barrier), 10, "a barrier",
               "32 threads of the block wait at it while 32 wait at the barrier at a.cu:20: every");
    // In a loop the second warp skips the second barrier and waits at the first one's next
    // iteration.
    blamed(placed("mov.u32 %r3, 0;\nA:\n.loc 1 10 0\nbar.sync 0;\n"
                  "setp.ge.u32 %p1, %r1, 32; @%p1 bra B;\n.loc 1 20 0\nbar.sync 0;\nB:\n"
                  "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 4; @%p2 bra A; ret;"),
           20, "a barrier", "32 wait at the barrier at a.cu:10: every");
}

TEST_CASE("a loop that waits for what nobody writes is ended at once")
{
    buffer<int> flag(std::vector<int>{0});
    CHECK(run(kernels(), "never_ends", {2, 1, 1}, {64, 1, 1}, 0, flag).error == 702);
    CHECK(only_finding().kind == finding_kind::endless);
    CHECK(only_finding().line == line_with("while (*flag == 0)"));
    CHECK(contains(only_finding().detail, "nobody changes"));
}

TEST_CASE("a failed assertion ends the grid with its own code")
{
    auto in = std::vector<int>(64, 1);
    buffer<int> fine(in);
    CHECK(run(kernels(), "must_be_small", {1, 1, 1}, {64, 1, 1}, 0, fine).error == 0);
    in[40] = 11;
    buffer<int> bad(in);
    outcome o = run(kernels(), "must_be_small", {1, 1, 1}, {64, 1, 1}, 0, bad);
    CHECK(o.error == 710);
    CHECK(only_finding().kind == finding_kind::trap);
    CHECK(only_finding().thread.x == 40);
    CHECK(contains(o.message, "in[threadIdx.x] < 10"));
}

TEST_CASE("a kernel without any instruction ends")
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n}\n", 0);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0).error == 0);
}

TEST_CASE("a trap, and instructions nobody knows")
{
    module t(one_kernel("", "trap;"), 0);
    CHECK(run(t, "k", {1, 1, 1}, {1, 1, 1}, 0).error == 719);
    CHECK(only_finding().kind == finding_kind::trap);
    for (const char *unknown :
         {"frobnicate.u32 %r1, %r2;",
          "add.q32 %r1, %r2, %r1;",
          "ld.global.v3.u32 %r1, [%rd1];",
          "call strange, ();",
          "bar.frob 0;",
          "cvt.rx.u32.f32 %r1, %r2;",
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
          "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r1}, {%r2}, {%r2}, {%r1,%r1};",
          "add.u32 %r1, %r2;",
          "mad.lo.u32 %r1, %r2, %r1;",
          "fma.rn.f16x2 %r1, %r2, %r1;",
          "st.global.u32 [%rd1], _;",
          "mov.b64 %rd1, {_, %r1};",
          "ld.global.v4.u32 %r1, [%rd1];",
          "cp.async.ca.shared.global [%r1], [%rd1], 128;",
          "cvta.to.global.u32 %r1, %r2;",
          ".reg .pred %p<2>; mov.pred %p1, {85};",
          "st.const.u32 [%rd1], %r1;",
          ".param .b32 x; st.param.b64 [x], %rd1;",
          ".param .b32 x; ld.param.b32 %r1, [x+1];",
          "tld4.r.2d.v4.f32.f32 {%r1,%r1,%r1,%r1}, [%rd1, {%r1,%r2}];",
          "stacksave.u64 %rd1;"}) {
        CAPTURE(unknown);
        module m(one_kernel("", std::string(".reg .b32 %r<4>; .reg .b64 %rd<4>;\n") + unknown +
                                    "\nret;"),
                 0);
        CHECK(run(m, "k", {1, 1, 1}, {1, 1, 1}, 0).error == 801);
        CHECK(only_finding().kind == finding_kind::unsupported);
        CHECK(only_finding().kernel == "k");
        CHECK(contains(only_finding().detail, "PTX line 7"));
    }
}

// Without the check a handler would access memory beyond such an operand.
TEST_CASE("an instruction whose operands are not what it works on is not known")
{
    for (const char *wrong : {"ld.global.v4.u32 %r1, [%rd1];",
                              "st.global.v2.u32 [%rd1], %r1;",
                              "ld.shared.v2.u64 %rd2, [%r1];",
                              "ld.param.v2.u32 %r1, [at];",
                              "cp.async.ca.shared.global [%r1], [%rd1], 128;",
                              "cp.async.ca.shared.global [%r1], [%rd1], 260;",
                              "cp.async.cg.shared.global [%r1], [%rd1], 8;",
                              "cp.async.ca.shared.global [%r1], [%r2], 4;",
                              "cp.async.ca.shared.global [%r1], [%p1], 4;",
                              "cvta.to.global.u32 %r1, %r2;",
                              "cvta.to.global.u32 %r1, 123;",
                              "cvta.shared.u32 %r1, %r2;",
                              "mov.pred %p1, {85};",
                              "mov.pred %p1, {%r1};",
                              "mov.pred {%r1}, %p1;",
                              "ld.global.u32 %r1, [%p1];",
                              "st.global.u32 [%p1], %r1;",
                              "atom.global.add.u32 %r1, [%p1], 1;",
                              "setp.eq.u32 %p1|%rd1, %r1, %r2;",
                              "add.pred %p1, %p1, %p1;",
                              "mov.pred %p1, %tid.x;",
                              "mov.b128 %q1, {%r1,%r1,%r1,%r1};"}) {
        CAPTURE(wrong);
        module m(one_kernel(".param .u64 at",
                            std::string(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<4>; "
                                        ".reg .b128 %q<2>;\n") +
                                wrong + "\nret;"),
                 0);
        CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, std::uint64_t{0}).error == 801);
        CHECK(only_finding().kind == finding_kind::unsupported);
    }
}

TEST_CASE("loads from constant memory are for constant memory")
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n"
             ".const .align 4 .b8 fixed[4] = {1};\n"
             ".visible .entry k(.param .u64 at)\n{ .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
             "ld.param.u64 %rd1, [at]; ld.const.u32 %r1, [fixed]; ld.const.u32 %r2, [%rd1];\n"
             "ret;\n}\n",
             0);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, m.find_variable("fixed")->start).error == 0);
    CHECK(findings::instance().empty());
    buffer<int> global(std::vector<int>(32, 1));
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, global).error == 700);
    CHECK(only_finding().kind == finding_kind::out_of_bounds);
}

TEST_CASE("cp.async of fewer bytes than it writes reads those that it says")
{
    const std::string text = one_kernel(
        ".param .u64 from", ".reg .b32 %r<4>; .reg .b64 %d<4>; .shared .align 16 .b8 s[512];\n"
                            "ld.param.u64 %d1, [from]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"
                            "mad.lo.u32 %r2, %r1, 16, %r2; mul.wide.u32 %d2, %r1, 16;\n"
                            "add.u64 %d1, %d1, %d2;\n"
                            "cp.async.ca.shared.global [%r2], [%d1], 16, 8;\n"
                            "cp.async.wait_all; ret;");
    module m(text, 0);
    buffer<int> from(std::vector<int>(256, 1));
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, from).error == 0);
    CHECK(findings::instance().empty());
    const auto loads = counters::instance().kernels.at(0).total.global_load;
    CHECK(loads.requests == 1);
    CHECK(loads.bytes == 32 * 8);
    CHECK(loads.sectors == 16);
    CHECK(loads.ideal_sectors == 8);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, from.at + 8).error == 716);
    CHECK(only_finding().kind == finding_kind::misaligned);
}

TEST_CASE("cp.async of fewer bytes than it writes is in a race over those")
{
    const auto racing = [](const char *reads, int write_at) {
        module m(
            one_kernel(".param .u64 from",
                       ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p; .shared .align 16 .b8 "
                       "s[512];\n"
                       "ld.param.u64 %d1, [from]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"
                       "setp.eq.u32 %p, %r1, 32; @%p st.global.u32 [%d1+" +
                           std::to_string(write_at) +
                           "], 5;\n"
                           "setp.ne.u32 %p, %r1, 0; @%p ret;\n"
                           "cp.async.ca.shared.global [%r2], [%d1], 16, " +
                           reads + "; cp.async.wait_all; ret;"),
            0);
        buffer<int> from(std::vector<int>(8, 1));
        CHECK(run(m, "k", {1, 1, 1}, {64, 1, 1}, 0, from).error == 0);
        return !findings::instance().empty();
    };
    CHECK(racing("16", 4));
    CHECK(racing("8", 4));
    CHECK(!racing("8", 8)); // bytes 8 to 15 are not read
    CHECK(!racing("0", 0));
}

TEST_CASE(
    "a warp instruction whose mask does not name the caller, or waits for lanes that never come")
{
    std::string start = ".reg .pred %p<2>; .reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\n";
    module unnamed(one_kernel("", start + "bar.warp.sync 65535; ret;"), 0);
    CHECK(run(unnamed, "k", {1, 1, 1}, {32, 1, 1}, 0).error == 719);
    CHECK(only_finding().kind == finding_kind::barrier);
    CHECK(only_finding().where == "a warp barrier");
    CHECK(only_finding().thread.x == 16);
    // Both sides of a branch wait for the whole warp at different shuffles.
    module crossed(
        one_kernel("", start + "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\n"
                               "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ret;\n"
                               "A: shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; bar.warp.sync -1; ret;"),
        0);
    CHECK(run(crossed, "k", {1, 1, 1}, {32, 1, 1}, 0).error == 702);
    CHECK(only_finding().kind == finding_kind::barrier);
    // Threads may reach a plain warp barrier through both branches.
    module met(one_kernel("", start +
                                  "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.warp.sync -1; ret;\n"
                                  "A: bar.warp.sync -1; ret;"),
               0);
    CHECK(run(met, "k", {1, 1, 1}, {32, 1, 1}, 0).error == 0);
    CHECK(findings::instance().empty());
}

TEST_CASE("a value that nobody wants is read all the same")
{
    module m(one_kernel(".param .u64 at", ".reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                                          "ld.param.u64 %rd1, [at];\nld.global.u32 _, [%rd1];\n"
                                          "ld.global.v2.u32 {_, %r1}, [%rd1]; ret;"),
             0);
    buffer<int> a(std::vector<int>{1, 2}), none(std::size_t(2));
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, a).error == 0);
    CHECK(findings::instance().empty());
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0, none).error == 0);
    CHECK_FALSE(findings::instance().empty());
    CHECK(findings::instance().all()[0].kind == finding_kind::uninitialised);
}

TEST_CASE("checks can be turned off, and wild pointers still end the grid")
{
    buffer<float> a(std::size_t(64)), c(std::size_t(60));
    settings().check_memory = settings().check_initialised = false;
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, a, c, 64).error == 0);
    CHECK(findings::instance().empty());
    CHECK(run(kernels(), "vector_add", {1, 1, 1}, {64, 1, 1}, 0, a, a, address{64}, 64).error ==
          700);
    settings().check_memory = settings().check_initialised = true;
}
