// Lab 11, solution: the copies in have a stream of their own.
//
// The copies in are the bottleneck, so they must follow each other without a gap. A piece's kernel
// and its copy out go to the stream of its slot, so that the kernels of two pieces overlap when one
// runs out of blocks. Two events per slot mark when it is full and when it is free again. And the
// last pieces are small.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, slot_count = 4, pieces = 32;
constexpr size_t least = 1 << 11, most = 1 << 22; // elements of a piece

static unsigned blocks_for(size_t threads)
{
    return static_cast<unsigned>((threads + block_size - 1) / block_size);
}

// Created in the first call, and kept.
struct slot_handles {
    cudaStream_t stream = nullptr;
    cudaEvent_t full = nullptr, free = nullptr;
};
struct handles {
    cudaStream_t in = nullptr;
    slot_handles slots[slot_count];

    handles()
    {
        make(in);
        for (slot_handles &s : slots) {
            make(s.stream);
            make(s.full);
            make(s.free);
        }
    }
    // The default stream and blocking streams wait for each other, but not for these.
    static void make(cudaStream_t &s)
    {
        check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "creating a stream");
    }
    // An event without timing is cheaper to record.
    static void make(cudaEvent_t &e)
    {
        check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "creating an event");
    }
};
static handles &kept()
{
    static handles all;
    return all;
}

static size_t rounded(size_t n) { return (n + 255) / 256 * 256; }

// Elements of a piece: enough pieces to hide all but the first copy in and the last copy out, and
// none so small that queueing it takes longer than copying it.
static size_t piece_of(size_t n) { return min(max(rounded(n / pieces), least), most); }

// Elements of the next piece. Nothing hides the work after the last copy in, so the last pieces get
// smaller and smaller.
static size_t next_piece(size_t left, size_t piece)
{
    size_t smallest = max(rounded(piece / 8), least);
    return min(left, min(max(rounded(left / 4), smallest), piece));
}

template <class T> static size_t ring_bytes(size_t n)
{
    return 3 * slot_count * piece_of(n) * sizeof(T);
}

// Two arrays in, a kernel, one array out.
template <class T, class F>
static void pipeline(const T *x_host, const T *y_host, T *z_host, size_t n, void *scratch, F launch)
{
    size_t piece = piece_of(n), count = 0;
    for (size_t first = 0, k = 0; first < n; first += count, ++k) {
        slot_handles &slot = kept().slots[k % slot_count];
        T *x = static_cast<T *>(scratch) + 3 * (k % slot_count) * piece;
        T *y = x + piece, *z = y + piece;
        count = next_piece(n - first, piece);
        size_t bytes = sizeof(T) * count;
        cudaStream_t in = kept().in;
        // A wait for an event that was never recorded does not block.
        check(cudaStreamWaitEvent(in, slot.free), "waiting for a free slot");
        check(cudaMemcpyAsync(x, x_host + first, bytes, cudaMemcpyHostToDevice, in), "copying in");
        check(cudaMemcpyAsync(y, y_host + first, bytes, cudaMemcpyHostToDevice, in), "copying in");
        check(cudaEventRecord(slot.full, in), "recording an event");
        check(cudaStreamWaitEvent(slot.stream, slot.full), "waiting for a full slot");
        launch(x, y, z, static_cast<int>(count), slot.stream);
        check_launch("launching");
        check(cudaMemcpyAsync(z_host + first, z, bytes, cudaMemcpyDeviceToHost, slot.stream),
              "copying out");
        check(cudaEventRecord(slot.free, slot.stream), "recording an event");
    }
    for (slot_handles &slot : kept().slots)
        check(cudaStreamSynchronize(slot.stream), "waiting for a stream");
}

static __global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int pixels)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < pixels) out[i] = static_cast<unsigned char>((3 * first[i] + second[i] + 2) / 4);
}

size_t add_pipelined_scratch(int n) { return ring_bytes<float>(n); }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    pipeline(a_host, b_host, c_host, n, scratch,
             [=](float *a, float *b, float *c, int count, cudaStream_t s) {
                 add_and_work<<<blocks_for(count), block_size, 0, s>>>(a, b, c, count, rounds);
             });
}

size_t merge_images_scratch(int width, int height, int count)
{
    return ring_bytes<unsigned char>(size_t(width) * height * count);
}

// Pixel by pixel, so where one image ends and the next begins does not matter.
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    using byte = unsigned char;
    pipeline(first_host, second_host, out_host, size_t(width) * height * count, scratch,
             [](byte *first, byte *second, byte *out, int pixels, cudaStream_t s) {
                 merge<<<blocks_for(pixels), block_size, 0, s>>>(first, second, out, pixels);
             });
}

static __global__ void compute_top(const float *in, float *top, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) top[i] = work(in[i], 1);
}

static __global__ void compute_left(const float *top, float *left, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) left[i] = work(top[i], rounds);
}

static __global__ void compute_right(const float *top, float *right, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) right[i] = work(top[n - 1 - i] / 2, rounds);
}

static __global__ void join(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

size_t diamond_scratch(int n) { return sizeof(float) * n; }

void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    float *top = static_cast<float *>(scratch);
    cudaStream_t one = kept().slots[0].stream, other = kept().slots[1].stream;
    cudaEvent_t fork = kept().slots[0].full, joined = kept().slots[1].full;
    unsigned blocks = blocks_for(n);
    compute_top<<<blocks, block_size, 0, one>>>(in, top, n);
    check(cudaEventRecord(fork, one), "recording an event");
    check(cudaStreamWaitEvent(other, fork), "waiting for top");
    compute_left<<<blocks, block_size, 0, one>>>(top, left, n, rounds);
    compute_right<<<blocks, block_size, 0, other>>>(top, right, n, rounds);
    check(cudaEventRecord(joined, other), "recording an event");
    check(cudaStreamWaitEvent(one, joined), "waiting for right");
    join<<<blocks, block_size, 0, one>>>(left, right, out, n);
    check_launch("a step of the diamond");
}
