// Inputs, workloads and gates of lab 08, from a few bytes to what a speed case takes.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <random>

// skewed: nine of ten bytes are the same; image: the picture over and over.
enum class spread { uniform, skewed, one_bin, image };
bytes spread_bytes(std::size_t n, spread how, std::mt19937_64 &random);

bytes uniform_bytes(std::size_t n);

// The sum of only a few of them needs more than 32 bits.
ints any_ints(std::size_t n);

// Numbers of which some lie outside the range; just below, at and just above each bound of a bin,
// inside the range; and outside it, with infinities and NaN.
floats floats_around(const bin_range &r, std::size_t n);
floats floats_at_bounds(const bin_range &r);
floats floats_outside(const bin_range &r);

// Sizes around 16 bytes, warps, rows of 512 bytes, blocks.
constexpr int awkward_sizes[] = {1,   2,   15,  16,  17,   31,   32,   33,   255,
                                 256, 257, 511, 513, 1023, 1025, 8191, 8193, 16501};

// n bytes that repeat a piece.
struct many_bytes {
    bytes piece;
    std::size_t n;
    grading::repeated<unsigned char> in() const { return {piece, n}; }
    counts counts_of_first(std::size_t first) const; // of at most n
};
bool there_is_room_for_more_than_32_bits();

// Nearly all bytes are equal, and each warp of a device, in a simulator of one multiprocessor, gets
// more of them than 16 bits can count.
many_bytes more_than_16_bits();

// Sizes of the speed cases, in elements: bytes; ints and floats. Naive's time for bytes and ints
// grows with their number; it gets a 16th where it is timed.
std::size_t bytes_to_count();
std::size_t words_to_read();
std::size_t for_naive(std::size_t n);
// Enough for what is counted per element, and cheap for naive.
constexpr std::size_t counted_ints = (1 << 17) + 21;

// `sum` of n ints; `histogram` of n bytes; `histogram_tiles` of an image; `histogram_range` of
// words_to_read() floats.
grading::make_workload add_ints(std::size_t n);
grading::make_workload count_bytes(spread how, std::size_t n);
grading::make_workload count_pixels();
grading::make_workload count_floats();

// The gates of `sum`, one idea each; of `histogram`, of `histogram_tiles` and `histogram_range`.
grading::speed_gates few_atomics();
grading::speed_gates few_barriers();
grading::speed_gates fast_sum();
grading::speed_gates fast_bytes(spread how);
grading::speed_gates fast_tiles();
grading::speed_gates fast_ranges();
