// Lab 02, coalescing: the functions to write. The lesson is
// handouts/02_coalescing.md.
//
// Unless a name ends in _host, pointers are device pointers to float, aligned
// to 4 bytes and no more: each array may start at its own place within a sector
// (32 bytes) or a line (128 bytes). Arrays of one call do not overlap. Sizes
// are at least 0; n and rows * cols are at most 2^30; size 0 is legal and does
// nothing. An element that no function was asked to write keeps its value.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

// Scales each column of a row-major matrix by its own factor.
//   in, out: rows x cols; factor: cols.
//   out[r * cols + c] = in[r * cols + c] * factor[c].
// A matrix may be tall, wide or square. The lesson: which thread should own
// which element.
void scale_columns(const float *in, float *out, int rows, int cols, const float *factor);

// Adds two arrays that are read from `offset` on.
//   a, b, c: n each; offset >= 0.
//   c[i] = a[i + offset] + b[i + offset] for 0 <= i < n - offset; the last
//   `offset` elements of c stay as they are, all of c when offset >= n.
// The lesson: what a misaligned read moves, and how to read aligned all the
// same.
void read_offset(const float *a, const float *b, float *c, int n, int offset);

// Adds two arrays into a place that begins at `offset`.
//   a, b, c: n each; offset >= 0.
//   c[i + offset] = a[i] + b[i] for 0 <= i < n - offset; the first `offset`
//   elements of c stay as they are, all of c when offset >= n.
void write_offset(const float *a, const float *b, float *c, int n, int offset);

// Adds two arrays, each thread reading at least 32 bytes.
//   a, b, c: n each. c[i] = a[i] + b[i].
// The lesson: bytes in flight, and that n is rarely a multiple of what one
// thread handles.
void add_unrolled(const float *a, const float *b, float *c, int n);

// How the 32 lanes of one warp read with a single load instruction. `x` is an
// array that begins at a 128-byte boundary, `p` the pattern's parameter, in
// floats unless said otherwise.
enum class pattern_kind : int {
    contiguous,  // x[p + lane], p >= 0
    reversed,    // x[p + 31 - lane], p >= 0
    shuffled,    // x[p + (lane * 11) % 32], p >= 0
    one_address, // x[p], p >= 0
    strided,     // x[p * lane], p >= 1
    scattered,   // x[1024 * ((lane * 7) % 32) + p], 0 <= p < 1024
    two_rows,    // x[(lane / 16) * p + lane % 16], p >= 16: half a warp a row
    first_lanes, // x[lane], but only lanes 0 to p - 1 read, 1 <= p <= 32
    even_lanes,  // x[p + lane], but only lanes 0, 2, ... 30 read, p >= 0
    bytes,       // byte p + lane of the array, p in bytes, p >= 0
    float2_each, // floats 2 * (p + lane) and the next, in one load; p in float2
    float4_each, // floats 4 * (p + lane) and 3 more, in one load; p in float4
};

struct access_pattern {
    pattern_kind kind;
    int parameter; // p above, at most 4096
};

// What one request for a pattern touches.
struct prediction {
    int sectors; // different 32-byte sectors
    int lines;   // different 128-byte lines
};

// A quiz: what does each request touch? On the host, no kernel.
//   patterns_host, out_host: count each, host memory. out_host[i] is for
//   patterns_host[i].
// The parameters change from run to run; a table of numbers does not answer it,
// a rule a kind does.
void predict(const access_pattern *patterns_host, prediction *out_host, int count);
