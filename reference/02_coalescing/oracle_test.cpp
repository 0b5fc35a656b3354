// Checks the oracle of lab 02 by hand-made examples, and the handout's table by the oracle.
#include <doctest/doctest.h>

#include "oracle.hpp"
#include "tests/handout_rows.hpp"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#endif

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using floats = std::vector<float>;

TEST_CASE("oracle: a column has one factor, whatever the row")
{
    CHECK(oracle::scale_columns({1, 2, 3, 4, 5, 6}, 2, 3, {10, 100, -1}) ==
          floats{10, 200, -3, 40, 500, -6});
    CHECK(oracle::scale_columns({}, 0, 3, {1, 2, 3}).empty());
    CHECK(oracle::scale_columns({}, 3, 0, {}).empty());
}

TEST_CASE("oracle: an offset drops the first elements when reading, the last when writing")
{
    CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, 1) == floats{22, 33});
    CHECK(oracle::write_offset({1, 2, 3}, {10, 20, 30}, 1) == floats{11, 22});
    CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, 0) == floats{11, 22, 33});
    for (int offset : {3, 4, 1000}) {
        CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, offset).empty());
        CHECK(oracle::write_offset({1, 2, 3}, {10, 20, 30}, offset).empty());
    }
    CHECK(oracle::add({1, 2}, {0.5, -2}) == floats{1.5, 0});
}

static prediction touched(pattern_kind kind, int p) { return oracle::predict({kind, p}); }

TEST_CASE("oracle: what requests touch, counted on paper")
{
    using enum pattern_kind;
    auto is = [](prediction got, int sectors, int lines) {
        CHECK(got.sectors == sectors);
        CHECK(got.lines == lines);
    };
    is(touched(shuffled, 4), 5, 2);
    is(touched(reversed, 24), 4, 2);
    is(touched(scattered, 1), 32, 32);
    is(touched(strided, 7), 28, 7);
    is(touched(strided, 9), 32, 9);
    is(touched(two_rows, 16), 4, 1);
    is(touched(two_rows, 17), 5, 2);
    is(touched(two_rows, 40), 4, 2);
    is(touched(first_lanes, 9), 2, 1);
    is(touched(even_lanes, 0), 4, 1);
    is(touched(even_lanes, 1), 4, 1);
    is(touched(even_lanes, 2), 5, 2);
    is(touched(bytes, 97), 2, 2);
    is(touched(float2_each, 1), 9, 3);
    is(touched(float4_each, 1), 17, 5);
}

// Of an H100 and an H200 (compute capability 9.0), and of a T4 (7.5).
static const sm_limits h100 = {2048, 32, 65536, 4, 256, 233472, 128, 1024};
static const sm_limits t4 = {1024, 16, 65536, 4, 256, 65536, 256, 0};

TEST_CASE("oracle: resident blocks, counted on paper")
{
    CHECK(oracle::resident_blocks({256, 32, 0}, h100) == 8);
    CHECK(oracle::resident_blocks({33, 32, 0}, h100) == 32); // as many warps as 64 threads
    CHECK(oracle::resident_blocks({32, 32, 0}, h100) == 32);
    CHECK(oracle::resident_blocks({96, 40, 0}, h100) == 16); // 12 warps a partition
    CHECK(oracle::resident_blocks({1024, 255, 0}, h100) == 0);
    CHECK(oracle::resident_blocks({128, 32, 48 * 1024}, h100) == 4);
    CHECK(oracle::resident_blocks({128, 32, 227 * 1024}, h100) == 1);
    CHECK(oracle::resident_blocks({128, 32, 227 * 1024 + 1}, h100) == 0);
    CHECK(oracle::resident_blocks({128, 32, 32 * 1024}, t4) == 2);
    CHECK(oracle::resident_blocks({96, 40, 3200}, {2048, 32, 65536, 4, 256, 65536, 128, 1024}) ==
          15);
}

TEST_CASE("oracle: one resident block more would break a rule")
{
    std::mt19937 random(1);
    auto any = [&random](int low, int high) { return low + int(random() % (high - low + 1)); };
    for (int k = 0; k < 20000; ++k) {
        const int parts = 1 << any(0, 2);
        const sm_limits sm = {32 * any(4, 80), any(1, 40),      parts * any(4000, 40000),
                              parts,           64 << any(0, 3), any(9999, 99999),
                              64 << any(0, 3), any(0, 2000)};
        const block_needs block = {any(1, 1024), any(1, 255), any(0, 50000)};
        auto fits = [&](int blocks) {
            const int warps = blocks * ((block.threads + 31) / 32);
            int registers = 32 * block.registers, shared = block.shared_bytes + sm.shared_reserved;
            while (registers % sm.register_unit != 0) ++registers;
            while (shared % sm.shared_unit != 0) ++shared;
            const int in_fullest_part = (warps + parts - 1) / parts;
            return 32 * warps <= sm.threads && blocks <= sm.blocks &&
                   in_fullest_part * registers <= sm.registers / parts &&
                   blocks * shared <= sm.shared_bytes;
        };
        const int blocks = oracle::resident_blocks(block, sm);
        CHECK(fits(blocks));
        CHECK_FALSE(fits(blocks + 1));
    }
}

#if __has_include(<cuda_occupancy.h>)
TEST_CASE("oracle: resident blocks are as many as NVIDIA's calculator says")
{
    struct {
        int major, minor;
        sm_limits sm;
        std::size_t shared_of_block;
    } const models[] = {{9, 0, h100, 227 * 1024}, {7, 5, t4, 64 * 1024}};
    std::mt19937 random(2);
    auto any = [&random](int low, int high) { return low + int(random() % (high - low + 1)); };
    for (const auto &model : models) {
        cudaOccDeviceProp properties;
        properties.computeMajor = model.major;
        properties.computeMinor = model.minor;
        properties.maxThreadsPerBlock = 1024;
        properties.maxThreadsPerMultiprocessor = model.sm.threads;
        properties.regsPerBlock = properties.regsPerMultiprocessor = model.sm.registers;
        properties.warpSize = 32;
        properties.sharedMemPerBlock = 48 * 1024;
        properties.sharedMemPerMultiprocessor = std::size_t(model.sm.shared_bytes);
        properties.numSms = 100;
        properties.sharedMemPerBlockOptin = model.shared_of_block;
        properties.reservedSharedMemPerBlock = std::size_t(model.sm.shared_reserved);
        for (int k = 0; k < 20000; ++k) {
            const int most = any(0, 1) == 0 ? 12000 : int(model.shared_of_block);
            const block_needs block = {any(1, 1024), any(1, 255), any(0, most)};
            cudaOccFuncAttributes attributes;
            attributes.maxThreadsPerBlock = 1024;
            attributes.numRegs = block.registers;
            attributes.maxDynamicSharedSizeBytes = model.shared_of_block;
            attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            cudaOccDeviceState state;
            state.carveoutConfig = 100; // all that can be is shared memory
            cudaOccResult result;
            REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(
                        &result, &properties, &attributes, &state, block.threads,
                        std::size_t(block.shared_bytes)) == CUDA_OCC_SUCCESS);
            INFO(block.threads, " threads, ", block.registers, " registers, ", block.shared_bytes,
                 " bytes, compute capability ", model.major);
            CHECK(oracle::resident_blocks(block, model.sm) == result.activeBlocksPerMultiprocessor);
        }
    }
}
#endif

TEST_CASE("oracle: warps that hide latency, counted on paper")
{
    // One microsecond of 4096 GB/s is 4096000 bytes; 125 SMs with 32 times 32 bytes each.
    CHECK(oracle::warps_hiding_latency({1024, 1024, 4096, 125, 32}) == 32);
    CHECK(oracle::warps_hiding_latency({1024, 1024, 4096, 125, 8}) == 128);
    CHECK(oracle::warps_hiding_latency({1025, 1024, 4096, 125, 32}) == 33);
    CHECK(oracle::warps_hiding_latency({1, 2000, 1, 100, 128}) == 1);
    CHECK(oracle::warps_hiding_latency({800, 1600, 2000, 100, 4}) == 79); // 78.1
}

TEST_CASE("handout: every row of the table of patterns is what the oracle counts")
{
    // The table's patterns, in the order of pattern_kind.
    const std::vector<std::string> names = {
        "contiguous", "reversed",    "shuffled",   "one_address", "strided",     "scattered",
        "two_rows",   "first_lanes", "even_lanes", "bytes",       "float2_each", "float4_each"};
    const auto rows =
        rows_of_handout("handouts/02_coalescing.md",
                        R"(\| `([[:alnum:]_]+)` \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \|)");
    for (const auto &m : rows) {
        INFO(m[0]);
        std::size_t kind = 0;
        while (kind < names.size() && names[kind] != m[1]) ++kind;
        REQUIRE(kind < names.size());
        prediction right = touched(pattern_kind(kind), std::stoi(m[2]));
        CHECK(right.sectors == std::stoi(m[3]));
        CHECK(right.lines == std::stoi(m[4]));
    }
    CHECK(rows.size() >= 12);
}

TEST_CASE("handout: every row of the table of resident blocks is what the oracle says")
{
    const auto rows =
        rows_of_handout("handouts/02_coalescing.md",
                        R"(\| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) % \|)");
    for (const auto &m : rows) {
        INFO(m[0]);
        const block_needs block = {std::stoi(m[1]), std::stoi(m[2]), std::stoi(m[3])};
        const int blocks = oracle::resident_blocks(block, h100);
        CHECK(blocks == std::stoi(m[4]));
        CHECK(100 * blocks * ((block.threads + 31) / 32) == 64 * std::stoi(m[5]));
    }
    CHECK(rows.size() == 5);
    // Its example of Little's law: 600 ns and 4000 GB/s for the 132 SMs of an H200.
    CHECK(oracle::warps_hiding_latency({600, 1000, 4000, 132, 8}) == 72);
    CHECK(oracle::warps_hiding_latency({600, 1000, 4000, 132, 32}) == 18);
}
