// The amount of work of the yardstick kernels, for the code that launches and times them.
#pragma once

namespace yardstick {

constexpr int fma_threads = 256; // per block
constexpr int fma_chains = 16;   // independent chains per thread, whose parallelism hides latency
constexpr int fma_unroll = 16;   // multiply-adds of each chain in one iteration of the loop

// Returns the multiply-adds of yardstick_fma(out, blocks, iterations), two FLOP each.
constexpr double multiply_adds(int blocks, int iterations)
{
    return double(blocks) * fma_threads * fma_chains * fma_unroll * iterations;
}
// Returns the number of floats that yardstick_fma writes.
constexpr long fma_floats(int blocks) { return long(blocks) * fma_threads; }

} // namespace yardstick
