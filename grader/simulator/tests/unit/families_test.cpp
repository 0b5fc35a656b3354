// Checks the table of instructions in README.md by running a probe of each instruction.
#include "simulator/core/decode.hpp"
#include "simulator/tests/fixture.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <sstream>

using namespace simulator;

namespace {

// One statement each, run by one warp: %r1 to %r4 and %l1 to %l4 hold integers (%l2: device
// memory), %f and %d floating-point numbers, %h 16-bit values, %p1 is true, %s is a shared memory
// address.
const char *const instruction_probes[] = {
    "add.s32 %r1, %r2, %r3;",
    "sub.s64 %l3, %l1, WARP_SZ;",
    "mul.wide.u32 %l3, %r2, %r3;",
    "mad.lo.s32 %r1, %r2, %r3, %r4;",
    "mad.rn.f32 %f1, %f2, %f3, %f4;",
    "mul24.lo.u32 %r1, %r2, %r3;",
    "mad24.lo.s32 %r1, %r2, %r3, %r4;",
    "div.u32 %r1, %r2, %r3;",
    "rem.s64 %l3, %l1, %l4;",
    "min.u32 %r1, %r2, %r3;",
    "max.s16 %h1, %h2, %h3;",
    "abs.s32 %r1, %r2;",
    "neg.s64 %l3, %l1;",
    "sad.u32 %r1, %r2, %r3, %r4;",
    "addc.u32 %r1, %r2, %r3;",
    "subc.u32 %r1, %r2, %r3;",
    "madc.hi.u32 %r1, %r2, %r3, %r4;",
    "dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;",
    "dp4a.s32.s32 %r1, %r2, %r3, %r4;",
    "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;",
    "vadd.s32.u32.s32.sat %r1, %r2, %r3;",
    "vsub.u32.u32.u32 %r1, %r2, %r3;",
    "vabsdiff.u32.s32.s32.add %r1, %r2, %r3, %r4;",
    "vmin.s32.s32.s32 %r1, %r2, %r3;",
    "vmax.u32.u32.u32.min %r1, %r2, %r3, %r4;",
    "vshl.u32.u32.u32.wrap %r1, %r2, %r3;",
    "vshr.s32.s32.u32.clamp.max %r1, %r2, %r3, %r4;",
    "and.b32 %r1, %r2, %r3;",
    "or.b64 %l3, %l1, %l4;",
    "xor.pred %p2, %p1, %p3;",
    "not.b32 %r1, %r2;",
    "cnot.b32 %r1, %r2;",
    "shl.b32 %r1, %r2, 3;",
    "shr.s64 %l3, %l1, 3;",
    "shf.l.wrap.b32 %r1, %r2, %r3, %r4;",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
    "prmt.b32 %r1, %r2, %r3, 0x5410;",
    "bfe.u32 %r1, %r2, 3, 5;",
    "bfi.b32 %r1, %r2, %r3, 3, 5;",
    "bmsk.clamp.b32 %r1, %r2, %r3;",
    "bfind.u32 %r1, %r2;",
    "brev.b32 %r1, %r2;",
    "clz.b64 %r1, %l1;",
    "popc.b32 %r1, %r2;",
    "fns.b32 %r1, %r2, %r3, 1;",
    "add.rn.f32 %f1, %f2, %f3;",
    "sub.rz.f64 %d1, %d2, %d3;",
    "mul.rp.f32 %f1, %f2, %f3;",
    "fma.rn.f64 %d1, %d2, %d3, %d4;",
    "div.rn.f32 %f1, %f2, %f3;",
    "div.full.f32 %f1, %f2, %f3;",
    "rcp.rn.f64 %d1, %d2;",
    "sqrt.rn.f32 %f1, %f2;",
    "rsqrt.approx.f32 %f1, %f2;",
    "min.f32 %f1, %f2, %f3;",
    "max.NaN.f32 %f1, %f2, %f3;",
    "abs.f64 %d1, %d2;",
    "neg.f32 %f1, %f2;",
    "copysign.f32 %f1, %f2, %f3;",
    "testp.finite.f32 %p2, %f2;",
    "sin.approx.f32 %f1, %f2;",
    "cos.approx.f32 %f1, %f2;",
    "ex2.approx.ftz.f32 %f1, %f2;",
    "lg2.approx.f32 %f1, %f2;",
    "tanh.approx.f32 %f1, %f2;",
    "add.f16 %h1, %h2, %h3;",
    "sub.bf16x2 %r1, %r2, %r3;",
    "mul.f16x2 %r1, %r2, %r3;",
    "fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;",
    "min.bf16 %h1, %h2, %h3;",
    "max.NaN.f16x2 %r1, %r2, %r3;",
    "abs.f16 %h1, %h2;",
    "neg.bf16x2 %r1, %r2;",
    "ex2.approx.f16 %h1, %h2;",
    "tanh.approx.bf16x2 %r1, %r2;",
    "setp.lt.f16 %p2, %h2, %h3;",
    "set.gt.u32.f32 %r1, %f2, %f3;",
    "cvt.rn.f32.s32 %f1, %r2;",
    "cvt.rn.bf16x2.f32 %r1, %f2, %f3;",
    "setp.lt.and.s32 %p2|%p3, %r2, %r3, %p1;",
    "selp.b32 %r1, %r2, %r3, %p1;",
    "slct.s32.f32 %r1, %r2, %r3, %f2;",
    "mov.b64 %l3, {%r1, %r2};",
    "ld.global.v2.f32 {%f1, %f2}, [%l2];",
    "ld.global.nc.L1::no_allocate.u32 %r1, [%l2];",
    "ld.volatile.shared.u32 %r1, [%s];",
    "ld.acquire.gpu.global.u32 %r1, [%l2];",
    "ldu.global.u32 %r1, [%l2];",
    "st.global.cs.u32 [%l2+4], %r2;",
    "st.release.gpu.global.u32 [%l2+8], %r2;",
    "prefetch.global.L2 [%l2];",
    "prefetchu.L1 [%l2];",
    "discard.global.L2 [%l2], 128;",
    "applypriority.global.L2::evict_normal [%l2], 128;",
    "createpolicy.fractional.L2::evict_first.b64 %l3, 1.0;",
    "isspacep.global %p2, %l2;",
    "cvta.to.global.u64 %l3, %l2;",
    "atom.global.add.u32 %r1, [%l2], %r2;",
    "atom.shared.cas.b32 %r1, [%s], %r2, %r3;",
    "red.global.add.f32 [%l2], %f2;",
    "red.gpu.global.max.s64 [%l2], %l1;",
    "alloca.u64 %l3, %l1;",
    "alloca.u64 %l3, 20, 16;",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%l2, {%f1, %f2}];",
    "suld.b.2d.b32.trap %r1, [%l2, {%r2, %r3}];",
    "suld.b.a1d.v2.b32.zero {%r1, %r2}, [%l2, {%r2, %r3}];",
    "sust.b.2d.b32.trap [%l2, {%r2, %r3}], %r1;",
    "sust.b.3d.v4.b8.clamp [%l2, {%r2, %r3, %r1, %r1}], {%h1, %h2, %h3, %h4};",
    "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "match.any.sync.b32 %r1, %r2, -1;",
    "redux.sync.add.s32 %r1, %r2, -1;",
    "activemask.b32 %r1;",
    "bar.warp.sync -1;",
    "bar.sync 0;",
    "barrier.sync 1, 32;",
    "barrier.red.popc.u32 %r1, 2, %p1;",
    "fence.acq_rel.gpu;",
    "membar.gl;",
    "griddepcontrol.wait;",
    "cp.async.ca.shared.global [%s], [%l2], 16;",
    "cp.async.commit_group;",
    "cp.async.wait_group 0;",
    "cp.async.wait_all;",
    "mbarrier.init.shared.b64 [%s], 32;",
    "mbarrier.inval.shared.b64 [%s];",
    "bra over; over:",
    "brx.idx %r5, targets;",
    "call.uni twice, ();",
    "ret;",
    "exit;",
    "trap;",
    "brkpt;",
    "nanosleep.u32 1;",
};

const char *const not_offered[] = {
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1, %r2}, [%l2], 16;",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r1};",
    "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%l2, {%f1, %f2}];",
    "stacksave.u64 %l3;",
    "stackrestore.u64 %l3;",
};

std::string kernel_with(const std::string &statement)
{
    return R"(.version 8.0
.target sm_80
.address_size 64
.func twice() { ret; }
.visible .entry probe(.param .u64 memory)
{
    .reg .pred %p<4>;
    .reg .b16 %h<5>;
    .reg .b32 %r<6>, %s;
    .reg .b64 %l<5>;
    .reg .f32 %f<5>;
    .reg .f64 %d<5>;
    .shared .align 16 .b8 buffer[256];
    mov.u32 %s, buffer;
    ld.param.u64 %l2, [memory];
    st.shared.u64 [%s], 0;
    st.shared.u64 [%s+8], 0;
    mov.u16 %h1, 15360; mov.u16 %h2, 15360; mov.u16 %h3, 15360; mov.u16 %h4, 15360;
    mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.u32 %r5, 0;
    mov.u64 %l1, 1; mov.u64 %l3, 3; mov.u64 %l4, 4;
    mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f3F800000;
    mov.f32 %f4, 0f3F800000;
    mov.f64 %d1, 0d3FF0000000000000; mov.f64 %d2, 0d3FF0000000000000;
    mov.f64 %d3, 0d3FF0000000000000; mov.f64 %d4, 0d3FF0000000000000;
    setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 1; setp.eq.u32 %p3, %r1, 1;
    targets: .branchtargets first, last;
    )" + statement +
           R"(
first:
    add.u32 %r1, %r1, 1;
last:
    ret;
}
)";
}

// True if the simulator accepts the statement; other tests check its result.
bool is_known(const std::string &statement)
{
    module m(kernel_with(statement), 0);
    tests::buffer<std::uint64_t> memory(std::vector<std::uint64_t>(64));
    tests::run(m, "probe", {1, 1, 1}, {32, 1, 1}, 0, memory);
    const auto found = findings::instance().all();
    return std::none_of(found.begin(), found.end(),
                        [](const finding &f) { return f.kind == finding_kind::unsupported; });
}

std::string opcode_of(const std::string &statement)
{
    return statement.substr(0, statement.find_first_of(". ;"));
}

// Returns the words in backquotes in a part of README.md, without modifiers.
std::set<std::string> named_in_readme(const std::string &from, const std::string &to)
{
    std::ifstream in(SIMULATOR_TESTS "/../README.md");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t begin = text.find(from), end = text.find(to, begin);
    REQUIRE(begin != text.npos);
    REQUIRE(end != text.npos);
    std::istringstream lines(text.substr(begin, end - begin));
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) {
        // Use only the second column of a table row.
        if (line[0] == '|') line = line.substr(0, line.rfind('|', line.size() - 3));
        for (std::size_t at = line.find('`'); at != line.npos; at = line.find('`', at + 1)) {
            const std::size_t close = line.find('`', at + 1);
            std::istringstream words(line.substr(at + 1, close - at - 1));
            for (std::string w; words >> w;)
                if (w[0] != '.') all.insert(w[0] == '%' ? w : opcode_of(w));
            at = close;
        }
    }
    return all;
}

const char *const special_registers[] = {"tid.x",          "ntid.x",
                                         "ctaid.x",        "nctaid.x",
                                         "laneid",         "warpid",
                                         "nwarpid",        "smid",
                                         "nsmid",          "lanemask_eq",
                                         "lanemask_lt",    "lanemask_le",
                                         "lanemask_gt",    "lanemask_ge",
                                         "clock",          "clock_hi",
                                         "clock64",        "globaltimer",
                                         "globaltimer_lo", "globaltimer_hi",
                                         "gridid",         "dynamic_smem_size",
                                         "total_smem_size"};

} // namespace

TEST_CASE("every instruction that the table names is known")
{
    for (const std::string probe : instruction_probes) CHECK_MESSAGE(is_known(probe), probe);
    for (const std::string name : special_registers) {
        const bool wide = name == "clock64" || name == "globaltimer" || name == "gridid";
        const std::string probe = (wide ? "mov.u64 %l3, %" : "mov.u32 %r1, %") + name + ";";
        CHECK_MESSAGE(is_known(probe), probe);
    }
}

TEST_CASE("what the simulator lacks is said")
{
    std::set<std::string> named = named_in_readme("Not supported, and said", "## Libraries");
    std::set<std::string> probed;
    for (const std::string probe : not_offered) {
        CHECK_MESSAGE(!is_known(probe), probe);
        probed.insert(opcode_of(probe));
    }
    CHECK(named == probed);
}

TEST_CASE("the table names every instruction that there is, and no other")
{
    const std::set<std::string> named = named_in_readme("## Instructions", "`families_test` runs");
    std::set<std::string> probed;
    for (const std::string probe : instruction_probes) probed.insert(opcode_of(probe));
    for (const std::string name : special_registers)
        probed.insert("%" + name.substr(0, name.find('.')));
    std::vector<std::string> apart;
    std::set_symmetric_difference(named.begin(), named.end(), probed.begin(), probed.end(),
                                  std::back_inserter(apart));
    for (const std::string &word : apart)
        CHECK_MESSAGE(false, word << (named.count(word) ? " has no probe" : " is not named"));
    // Internal opcodes of the decoder for forms of ld, st, atom and 16-bit arithmetic.
    const std::set<std::string> own = {"argument", "atomic",    "core",         "half",
                                       "load",     "parameter", "parameter_at", "store"};
    for (const std::string &opcode : core::handled_opcodes())
        CHECK_MESSAGE((own.count(opcode) || named.count(opcode)), opcode << " is not named");
}
