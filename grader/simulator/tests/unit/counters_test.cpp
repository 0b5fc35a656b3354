// Counters of access patterns whose counts are known.
#include "simulator/tests/fixture.hpp"

#include <doctest/doctest.h>

using namespace simulator;
using namespace simulator::tests;

namespace {

const kernel_counts &counted()
{
    REQUIRE(counters::instance().kernels.size() == 1);
    return counters::instance().kernels[0];
}

// One warp, each of whose lanes loads or stores `bytes` at lane * step + offset in shared memory.
shared_counts shared_pattern(int step, int vector, bool store, int lanes = 32,
                             const char *index = "%r1")
{
    std::string v = vector == 1 ? "" : ".v" + std::to_string(vector);
    std::string data = vector == 1 ? "%r5" : vector == 2 ? "{%r5, %r6}" : "{%r5, %r6, %r7, %r8}";
    std::string access = store ? "st.shared" + v + ".u32 [%r4], " + data
                               : "ld.shared" + v + ".u32 " + data + ", [%r4]";
    std::string ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
        ".shared .align 16 .b8 tile[32768]; .reg .b32 %r<9>; .reg .pred %p<2>;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0;\n"
        "shr.u32 %r2, %r1, 1; and.b32 %r3, %r1, 15;\n"
        "mul.lo.u32 %r4, " +
        std::string(index) + ", " + std::to_string(step) + ";\n" + access + ";\nret;\n}\n";
    module m(ptx, 0);
    settings().check_initialised = false;
    CHECK(run(m, "k", {1, 1, 1}, {static_cast<std::uint32_t>(lanes), 1, 1}, 0).error == 0);
    settings().check_initialised = true;
    return store ? counted().total.shared_store : counted().total.shared_load;
}

} // namespace

TEST_CASE("coalesced loads and stores move four sectors per request")
{
    const int n = 4096;
    buffer<float> a(std::vector<float>(n, 1)), b(std::vector<float>(n, 1)), c(std::size_t{n});
    run(kernels(), "vector_add", {16, 1, 1}, {256, 1, 1}, 0, a, b, c, n);
    const auto &k = counted();
    CHECK(k.kernel == "vector_add");
    CHECK(k.launches == 1);
    CHECK(k.blocks == 16);
    CHECK(k.threads == n);
    CHECK(k.busiest_block_instructions == k.total.warp_instructions / 16);
    CHECK(k.total.global_load.requests == 2 * n / 32);
    CHECK(k.total.global_load.sectors == 2 * n / 8);
    CHECK(k.total.global_load.ideal_sectors == 2 * n / 8);
    CHECK(k.total.global_load.bytes == 2 * n * 4);
    CHECK(k.total.global_load.lanes == 2 * n);
    CHECK(k.total.global_store.requests == n / 32);
    CHECK(k.total.global_store.sectors == n / 8);
    CHECK(k.sectors_read == 2 * n / 8);
    CHECK(k.sectors_written == n / 8);
    CHECK(k.total.thread_instructions == 32 * k.total.warp_instructions);
    CHECK(k.sites.size() >= 2);
    CHECK(k.sites.begin()->first.first == "kernels.cu");
}

TEST_CASE(
    "lanes that a guard leaves out are taken off once, into however many steps a statement falls")
{
    module m(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
             ".reg .b32 %r<2>; .reg .b64 %rd<3>; .reg .f32 %f<2>; .reg .pred %p<2>;\n"
             "mov.u32 %r1, %tid.x; mov.u64 %rd1, 1; mov.u64 %rd2, 1; mov.f32 %f1, 0f00000000;\n"
             "setp.lt.s32 %p1, %r1, 20;\n"
             "@%p1 fma.rn.f32 %f1, %rd1, %rd2, %f1;\n" // operands that are resized first
             "@!%p1 fma.rn.f32 %f1, %rd1, %rd2, %f1;\nret;\n}\n",
             0);
    CHECK(run(m, "k", {1, 1, 1}, {32, 1, 1}, 0).error == 0);
    CHECK(counted().total.multiplications == 32);
}

TEST_CASE("an offset costs a fifth sector, and a partial warp is counted by its lanes")
{
    buffer<float> a(std::vector<float>(128, 1)), c(std::size_t(128));
    run(kernels(), "vector_add", {1, 1, 1}, {32, 1, 1}, 0, a.at + 4, a.at, c.at + 16, 32);
    CHECK(counted().total.global_load.sectors == 5 + 4);
    CHECK(counted().total.global_store.sectors == 5);
    run(kernels(), "vector_add", {1, 1, 1}, {32, 1, 1}, 0, a, a, c, 9);
    CHECK(counted().total.global_load.requests == 2);
    CHECK(counted().total.global_load.lanes == 18);
    CHECK(counted().total.global_load.sectors == 4);
    CHECK(counted().total.global_load.ideal_sectors == 4);
    CHECK(counted().sectors_read == 2);
}

TEST_CASE("strides")
{
    const int n = 32 * 1024;
    buffer<float> a(std::vector<float>(n, 1)), c(std::size_t{n});
    for (int stride : {1, 2, 3, 8, 32}) {
        CAPTURE(stride);
        run(kernels(), "strided_copy", {1, 1, 1}, {32, 1, 1}, 0, a, c, n, stride);
        std::uint64_t sectors = stride >= 8 ? 32 : (31 * stride * 4 + 4 + 31) / 32;
        CHECK(counted().total.global_load.sectors == sectors);
        CHECK(counted().total.global_store.sectors == sectors);
        CHECK(counted().total.global_load.ideal_sectors == 4);
        CHECK(counted().sectors_read == sectors);
    }
    buffer<float> v(std::vector<float>(128, 1)), w(std::size_t(128));
    run(kernels(), "copy4", {1, 1, 1}, {32, 1, 1}, 0, v, w);
    CHECK(counted().total.global_load.sectors == 16);
    CHECK(counted().total.global_load.ideal_sectors == 16);
    CHECK(counted().total.global_load.bytes == 512);
}

TEST_CASE("the instructions of the block that executes most are counted")
{
    const int n = 256; // the first block holds all elements
    buffer<float> a(std::vector<float>(n, 1)), b(std::vector<float>(n, 1)), c(std::size_t{n});
    run(kernels(), "vector_add", {16, 1, 1}, {256, 1, 1}, 0, a, b, c, n);
    const std::uint64_t all = counted().total.warp_instructions;
    const std::uint64_t idle = (all - counted().busiest_block_instructions) / 15;
    CHECK(counted().busiest_block_instructions > idle);
    CHECK(counted().busiest_block_instructions + 15 * idle == all);
}

TEST_CASE("bank conflicts of four bytes per lane")
{
    CHECK(shared_pattern(4, 1, false).wavefronts == 1);
    CHECK(shared_pattern(8, 1, false).wavefronts == 2);
    CHECK(shared_pattern(12, 1, true).wavefronts == 1);
    CHECK(shared_pattern(128, 1, false).wavefronts == 32);
    CHECK(shared_pattern(132, 1, false).wavefronts == 1);
    CHECK(shared_pattern(0, 1, false).wavefronts == 1); // all lanes share one word
    CHECK(shared_pattern(128, 1, true, 20).wavefronts == 20);
    CHECK(shared_pattern(4, 1, true).ideal_wavefronts == 1);
}

TEST_CASE("bank conflicts of eight and sixteen bytes per lane")
{
    CHECK(shared_pattern(8, 2, false).wavefronts == 2);
    CHECK(shared_pattern(8, 2, false).ideal_wavefronts == 2);
    CHECK(shared_pattern(16, 2, true).wavefronts == 4);
    CHECK(shared_pattern(16, 4, false).wavefronts == 4);
    CHECK(shared_pattern(16, 4, false).ideal_wavefronts == 4);
    CHECK(shared_pattern(128, 4, false).wavefronts == 32);
    CHECK(shared_pattern(16, 4, false, 32, "%r2").wavefronts == 2); // pairs of lanes share
    CHECK(shared_pattern(16, 4, false, 8).wavefronts == 1);
}

TEST_CASE("a tile read by columns, with and without padding")
{
    buffer<float> out(std::size_t(1024));
    run(kernels(), "transpose_tile", {1, 1, 1}, {32, 32, 1}, 0, out, 32);
    CHECK(counted().total.shared_load.wavefronts == 32 * 32);
    CHECK(counted().total.shared_store.wavefronts == 32);
    run(kernels(), "transpose_tile", {1, 1, 1}, {32, 32, 1}, 0, out, 33);
    CHECK(counted().total.shared_load.wavefronts == 32);
    CHECK(counted().total.shared_load.requests == 32);
    CHECK(counted().total.barriers == 32);
}

TEST_CASE("a tiled matrix product")
{
    const int n = 64;
    buffer<float> m(std::vector<float>(n * n, 1)), k(std::vector<float>(n * n, 1)),
        p(std::size_t(n * n));
    run(kernels(), "tiled_matmul", {4, 4, 1}, {16, 16, 1}, 0, m, k, p, n);
    const auto &t = counted().total;
    CHECK(t.global_load.requests == 16 * 4 * 8 * 2);
    CHECK(t.multiplications == n * n * n);
    CHECK(t.double_operations == 0);
    CHECK(t.global_load.sectors == 16 * 4 * 8 * 2 * 4);
    CHECK(t.shared_store.wavefronts == t.shared_store.requests);
    CHECK(t.barriers == 16 * 4 * 8 * 2);
    CHECK(counted().sectors_read == 2 * n * n / 8);
    CHECK(counted().sectors_written == n * n / 8);
}

TEST_CASE("constants, atomics and local memory")
{
    buffer<float> y(std::size_t(64));
    run(kernels(), "polynomial", {1, 1, 1}, {64, 1, 1}, 0, y, 3);
    CHECK(counted().total.constant_requests > 0);
    CHECK(counted().total.constant_addresses == counted().total.constant_requests);
    CHECK(counted().total.global_load.requests == 0);
    buffer<unsigned char> in(std::vector<unsigned char>(512, 7));
    buffer<unsigned> bins(std::vector<unsigned>(256, 0));
    run(kernels(), "histogram", {1, 1, 1}, {256, 1, 1}, 0, in, bins, 512);
    const auto &h = counted().total;
    CHECK(h.shared_atomic.lanes == 512);
    CHECK(h.global_atomics == 256);
    CHECK(h.atomic_requests == 16 + 8);
    CHECK(h.atomic_same_address == 16 * 32 + 8);
    // All lanes of a warp add to one bin, and are served one after the other.
    CHECK(h.shared_atomic.wavefronts == 16 * 32);
    CHECK(h.shared_atomic.ideal_wavefronts == 16);
    buffer<int> a(std::vector<int>(512, 1)), b(std::size_t(512));
    run(kernels(), "local_sort", {1, 1, 1}, {32, 1, 1}, 0, a, b);
    const auto &l = counted().total;
    CHECK(l.local_store.requests >= 16);
    CHECK(l.local_store.sectors == 4 * l.local_store.requests); // every lane uses the same index
}

namespace {

// Returns the only request of a kind kept for any line.
const worst_request *worst_of(bool shared, access_kind kind)
{
    const worst_request *found = nullptr;
    for (const auto &[place, all] : counted().worst)
        for (const worst_request &w : all)
            if (w.shared == shared && w.kind == kind) found = &w;
    return found;
}

} // namespace

TEST_CASE("each line's worst request is kept with its addresses, and forgotten with the launch")
{
    const int n = 32 * 32;
    buffer<float> a(std::vector<float>(n, 1)), c(std::size_t{n});
    run(kernels(), "strided_copy", {1, 1, 1}, {32, 1, 1}, 0, a, c, n, 8);
    const worst_request *w = worst_of(false, access_kind::load);
    REQUIRE(w != nullptr);
    CHECK(w->bytes == 4);
    CHECK(w->lanes == 0xffffffff);
    CHECK(w->cost == 32);
    CHECK(w->ideal == 4);
    REQUIRE(w->at.size() == 32);
    CHECK(w->at[0] == a.at);
    CHECK(w->at[31] == a.at + 31 * 32);
    CHECK(w->where.find("byte 0 of") == 0);
    CHECK(counters::instance().json().find("\"distances\":[0,32,64,") != std::string::npos);

    run(kernels(), "strided_copy", {1, 1, 1}, {32, 1, 1}, 0, a, c, n, 1);
    REQUIRE(worst_of(false, access_kind::load) != nullptr);
    CHECK(worst_of(false, access_kind::load)->cost == 4);

    CHECK(shared_pattern(128, 1, false, 32).wavefronts == 32);
    w = worst_of(true, access_kind::load);
    REQUIRE(w != nullptr);
    CHECK(w->cost == 32);
    CHECK(w->at[1] - w->at[0] == 128);
    CHECK(w->at[0] < 32768);
}

TEST_CASE("of several requests the one that wastes most is kept; sharing a sector is no waste")
{
    kernel_counts k;
    worst_request w{false, access_kind::load, 4, 1, 2, 1, false, 34, {64}, ""};
    k.keep_worst({"a.cu", 1}, w);
    w.score = 20;
    k.keep_worst({"a.cu", 1}, w);
    w.kind = access_kind::atomic;
    w.one_address = true;
    k.keep_worst({"a.cu", 1}, w);
    w.at = {128};
    k.keep_worst({"a.cu", 1}, w);
    const auto &all = k.worst.at({"a.cu", 1});
    REQUIRE(all.size() == 2);
    CHECK(all[0].score == 34);
    CHECK(!all[1].one_address); // each request had one address, but different ones
}

TEST_CASE("exact divisions and roots are counted by lanes")
{
    buffer<float> a(std::vector<float>(33, 2)), f(std::size_t(256));
    buffer<double> b(std::vector<double>(33, 2)), d(std::size_t(256));
    run(kernels(), "real_functions", {1, 1, 1}, {32, 1, 1}, 0, a, b, f, d);
    CHECK(counted().total.divisions >= 64);
    CHECK(counted().total.exact_divisions >= 64);
    CHECK(counted().total.exact_square_roots == 64);
    // These divisions and roots, and further operations.
    CHECK(counted().total.double_operations >= 64);
}

TEST_CASE("launches add up, and lines tell loads and stores apart")
{
    buffer<float> a(std::vector<float>(64, 1)), c(std::size_t(64));
    run(kernels(), "strided_copy", {1, 1, 1}, {64, 1, 1}, 0, a, c, 64, 1);
    auto first = counted();
    const kernel_info *k = kernels().find_kernel("strided_copy");
    arguments again(*k, a, c, 64, 1);
    launch how;
    how.grid = {1, 1, 1};
    how.block = {64, 1, 1};
    how.parameters = again.span();
    CHECK(kernels().run(*k, how).error == 0);
    CHECK(counted().launches == 2);
    CHECK(counted().total.global_load.sectors == 2 * first.total.global_load.sectors);
    CHECK(counted().sectors_read == 2 * first.sectors_read);
    settings().count = false;
    CHECK(kernels().run(*k, how).error == 0);
    settings().count = true;
    CHECK(counted().launches == 2);
}
