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
// The lesson: which sectors a misaligned read moves, and how to read aligned all
// the same.
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
    two_rows,    // x[(lane / 16) * p + lane % 16], p >= 16: half a warp per row
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

// The sectors and lines that one request for a pattern touches.
struct prediction {
    int sectors; // different 32-byte sectors
    int lines;   // different 128-byte lines
};

// A quiz: what does each request touch? On the host, no kernel.
//   patterns_host, out_host: count each, host memory. out_host[i] is for
//   patterns_host[i].
// The parameters change from run to run: a table of numbers does not answer it,
// one rule per kind does.
void predict(const access_pattern *patterns_host, prediction *out_host, int count);

// --- Not timed ---

// The resources of one multiprocessor, an SM, for the blocks that are resident
// on it, that is, the blocks that it runs at a time. An H100 or H200 has {2048,
// 32, 65536, 4, 256, 233472, 128, 1024}.
struct sm_limits {
    int threads;         // resident at most; a multiple of 32
    int blocks;          // resident at most
    int registers;       // of 32 bits, in `partitions` equal parts
    int partitions;      // each warp is in one of them
    int register_unit;   // a warp gets registers in multiples of this
    int shared_bytes;    // shared memory
    int shared_unit;     // a block gets shared memory in multiples of this
    int shared_reserved; // bytes that the system takes for each block
};

// The resources that one block of a kernel needs.
struct block_needs {
    int threads;      // 32 to 1024, any number
    int registers;    // per thread, 1 to 255
    int shared_bytes; // shared memory of the kernel, 0 or more
};

// A quiz: how many blocks of a kernel are resident on one SM? On the host, no
// kernel.
//   blocks_host, resident_host: count each, host memory. resident_host[i] is
//   the largest number of blocks like blocks_host[i] for which this holds:
//   - They have room for their warps: an SM holds limits.threads / 32 of them.
//     The last warp of a block may have fewer than 32 threads; it takes the room
//     of a whole one.
//   - They are at most limits.blocks.
//   - They have their registers. A warp gets those of 32 threads, rounded up to
//     a multiple of register_unit, all in one partition. A partition holds as
//     many warps as its registers suffice for; a block's warps may be in any.
//   - They have their shared memory. A block gets shared_bytes +
//     shared_reserved, rounded up to a multiple of shared_unit.
//   It is 0 if not even one block fits. These are the rules of NVIDIA's
//   occupancy calculator (cuda_occupancy.h) since compute capability 7.0.
//   The limits change from call to call.
// The lesson: occupancy, and what limits it.
void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits);

// A memory to be kept busy, and what each thread contributes.
struct memory_demand {
    int latency_cycles;   // from a load to its value, in cycles of the clock
    int clock_mhz;        // 10^6 cycles per second
    int gb_per_s;         // bandwidth of the device's memory, in 10^9 bytes
    int multiprocessors;  // that share the memory, each with equally many warps
    int bytes_per_thread; // that a thread has in flight at any time
};

// A quiz: how many warps hide the latency of memory? On the host, no kernel.
//   demands_host, warps_host: count each, host memory.
//   By Little's law a memory delivers its bandwidth if and only if as many bytes
//   are in flight as it delivers during its latency. warps_host[i] is the
//   smallest number of resident warps per SM that have that many in flight. It
//   may be more than an SM can hold. Products of these numbers do not fit an
//   int.
// The lesson: latency hiding takes warps, or more bytes in flight per thread.
void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count);
