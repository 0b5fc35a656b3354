// Speed of the simulator: nanoseconds per thread instruction, for several kernels and four levels
// of checking.
//
//   benchmark_simulator KERNELS.ptx     the PTX that nvcc makes of tests/kernels.cu
#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/machine.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace simulator;

template <class F> address filled(std::uint32_t n, F value_at)
{
    auto &m = memory::instance();
    const address at = m.allocate(4 * n, memory_kind::device, 0).value();
    for (std::uint32_t i = 0; i < n; ++i) {
        const auto v = value_at(i);
        static_assert(sizeof v == 4);
        std::memcpy(m.at(at) + 4 * i, &v, 4);
    }
    m.mark(at, 4 * n, initialised, 0);
    return at;
}

struct job {
    const char *name, *kernel;
    dim grid, block;
    std::uint32_t shared;
    std::vector<std::uint64_t> arguments;
};

void run(module &m, const job &j)
{
    const kernel_info *k = m.find_kernel(j.kernel);
    if (k == nullptr) throw std::runtime_error(std::string("the PTX has no kernel ") + j.kernel);
    std::vector<std::byte> bytes(k->parameter_bytes);
    for (std::size_t a = 0; a < j.arguments.size(); ++a)
        std::memcpy(bytes.data() + k->parameters[a].offset, &j.arguments[a],
                    k->parameters[a].bytes);
    launch config;
    config.grid = j.grid;
    config.block = j.block;
    config.dynamic_shared = j.shared;
    config.parameters = bytes;
    const outcome o = m.run(*k, config);
    if (o.error != 0) throw std::runtime_error(o.message);
}

double processor_time() // of this process: other programs do not count
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The best of several launches.
double seconds(module &m, const job &j)
{
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
        const double start = processor_time();
        run(m, j);
        best = std::min(best, processor_time() - start);
    }
    return best;
}

double thread_instructions(module &m, const job &j)
{
    counters::instance().clear();
    settings().count = true;
    run(m, j);
    return static_cast<double>(counters::instance().kernels.at(0).total.thread_instructions);
}

void measure(module &m, const job &j)
{
    double n = thread_instructions(m, j), ns[4];
    for (int level = 0; level < 4; ++level) {
        settings().check_memory = level > 0;
        settings().count = level > 0;
        settings().check_initialised = level > 1;
        settings().check_races = level > 2;
        ns[level] = seconds(m, j) * 1e9 / n;
    }
    std::printf("%-28s %12.0f %10.2f %18.2f %12.2f %12.2f\n", j.name, n, ns[0], ns[1], ns[2],
                ns[3]);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s KERNELS.ptx   (what nvcc makes of tests/kernels.cu)\n",
                     argv[0]);
        return 2;
    }
    std::ifstream in(argv[1]);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.empty()) {
        std::fprintf(stderr, "cannot read %s\n", argv[1]);
        return 1;
    }
    try {
        module m(text, 0);
        const std::uint32_t n = 1 << 20;
        const auto small = [](std::uint32_t i) { return static_cast<float>(i % 17); };
        const address a = filled(n, small), b = filled(n, small), c = filled(n, small);
        const address starts = filled(1 << 14, [](std::uint32_t i) { return i + 1; });
        const job jobs[] = {
            {"vector add, 2^20", "vector_add", {n / 256, 1, 1}, {256, 1, 1}, 0, {a, b, c, n}},
            {"tiled matmul, 256^3", "tiled_matmul", {16, 16, 1}, {16, 16, 1}, 0, {a, b, c, 256}},
            {"copy with stride 8, 2^20",
             "strided_copy",
             {n / 8 / 256, 1, 1},
             {256, 1, 1},
             0,
             {a, c, n, 8}},
            {"sum with shuffles, 2^20", "block_sum", {n / 256, 1, 1}, {256, 1, 1}, 32, {a, c, n}},
            {"collatz, diverging, 2^14",
             "collatz",
             {64, 1, 1},
             {256, 1, 1},
             0,
             {starts, c, 1 << 14}},
        };
        std::printf("%-28s %12s %10s %18s %12s %12s   (ns a thread-instruction)\n", "kernel",
                    "instructions", "checks off", "bounds+counters", "+unwritten", "+races");
        for (const job &j : jobs) measure(m, j);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return findings::instance().empty() ? 0 : 1;
}
