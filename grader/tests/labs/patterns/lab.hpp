// A lab for the grader's own tests: one kernel for each way in which warps touch memory, on which
// the simulator's counts are held against those of a GPU.
#pragma once

// How many elements most patterns copy: a prime, so that any stride reaches all of them, and no
// multiple of a warp or a block.
constexpr int patterned = 2053;
// Floats from one row to the next, 256-byte boundaries.
constexpr int row_length = 2112;
constexpr int matrix_rows = 37, matrix_cols = 53; // of the transposes
constexpr int pattern_block = 256;                // threads

// The rows of y, and what each copies: to <- from, in floats unless said otherwise, for
// i < patterned and w = i / 32 * 16 + i % 16. `%` of strides: modulo patterned.
enum pattern_row : int {
    strides_2_to_3,     // 3i % <- 2i %
    strides_33_to_2,    // 2i % <- 33i %
    strides_3_to_33,    // 33i % <- 3i %
    offsets_1_to_8,     // i + 8 <- i + 1
    offsets_8_to_1,     // i + 1 <- i + 8
    reversed,           // i <- patterned - 1 - i
    at_random,          // places[i] <- places[patterned - 1 - i]
    broadcast,          // i <- i / 32
    two_places,         // w, the upper half of a warp 1040 on <- w, the upper half 1001 on
    even_lanes,         // i <- i, even i only
    single_bytes,       // byte i <- byte i + 20
    pairs,              // float2 i + 1 <- float2 i, i < patterned / 2
    quads,              // float4 i + 1 <- float4 i, i < patterned / 4
    transpose_strided,  // a matrix_rows x matrix_cols matrix, transposed, as are the next two
    transpose_unpadded, // through shared memory, 32 floats a row of it
    transpose_padded,   // through shared memory, 33 floats a row of it
    pairs_in_shared,    // float2 i of a block <- the block's float2 in reverse, i < patterned / 2
    pattern_rows
};

// Copies x into each row of y in that row's way; what is not copied to becomes 0. And
// wide_out[i + 4] = wide[i + 1] for i < patterned.
//   x: row_length; places: a permutation of 0 .. patterned - 1; y: pattern_rows x row_length;
//   wide, wide_out: row_length each, all at 256-byte boundaries.
void touch(const float *x, const int *places, const double *wide, float *y, double *wide_out);
