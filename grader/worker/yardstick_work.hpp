// How much the yardstick kernels do, for those who launch them and those who time them.
#pragma once

namespace yardstick {

constexpr int fma_threads = 256; // a block
constexpr int fma_chains = 16;   // independent multiply-adds a thread, so that latency is hidden
constexpr int fma_unroll = 16;   // multiply-adds of each chain in one iteration of the loop

// Multiply-adds of yardstick_fma(out, blocks, iterations); each is two floating-point operations.
constexpr double multiply_adds(int blocks, int iterations)
{
    return double(blocks) * fma_threads * fma_chains * fma_unroll * iterations;
}
// Floats that yardstick_fma writes.
constexpr long fma_floats(int blocks) { return long(blocks) * fma_threads; }

} // namespace yardstick
