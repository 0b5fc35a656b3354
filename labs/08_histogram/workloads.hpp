// Inputs and workloads of lab 08, from a few bytes to what a speed case takes.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <memory>
#include <random>
#include <span>

// skewed: nine of ten bytes are the same; image: the picture over and over.
enum class spread { uniform, skewed, one_bin, image };
bytes spread_bytes(std::size_t n, spread how, std::mt19937_64 &random);

// n bytes, a repeated piece, and how often each value occurs.
struct repeated {
    repeated(const bytes &piece, std::size_t n);
    std::unique_ptr<unsigned char[]> memory; // clearing billions of bytes would take seconds
    std::span<const unsigned char> in;
    counts want;
};

// Sizes of the speed cases, in elements: bytes, or for tile > 0 pixels; ints and floats. Naive's
// time for bytes and ints grows with their number; it gets a 16th where it is timed.
std::size_t bytes_to_count(int tile);
std::size_t words_to_read();
constexpr std::size_t naive_part = 16;

// `sum` of n ints; `histogram` of n bytes or, for tile > 0, `histogram_tiles` of an image of n
// pixels; `histogram_range` of words_to_read() floats.
grading::make_workload add_ints(std::size_t n);
grading::make_workload count_in(spread how, int tile, std::size_t n);
grading::make_workload count_floats();
