// Lab 11, streams: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/11_streams.md. Stuck at a TODO: ./workbook hint 11.
//
// Streams and events are created in the first call and kept. Each stream has a
// slot of the scratch, for one piece at a time. Change kernels, launches and
// scratch where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, stream_count = 4;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// k is 0 to stream_count - 1. Non-blocking: the default stream waits for other
// streams, and they for it, but not for these.
static cudaStream_t stream(int k)
{
    static cudaStream_t streams[stream_count] = {};
    if (!streams[k])
        check(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking), "creating a stream");
    return streams[k];
}

// k is 0 or 1.
static cudaEvent_t event(int k)
{
    static cudaEvent_t events[2] = {};
    if (!events[k])
        check(cudaEventCreateWithFlags(&events[k], cudaEventDisableTiming), "creating an event");
    return events[k];
}

static __global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    // TODO 1 (add_pipelined): Compute this thread's i; c[i] must be `work` of
    // the sum.
}

// Elements of a piece; the last one may be shorter. Two halves, for a start.
static int piece_of(int n)
{
    int piece = n - n / 2;
    // TODO 7 (add_pipelined: speed): When everything else passes: smaller
    // pieces, so that the first copy in and the last copy out are short.
    // Streams and slots are used in turn as now. But no piece may be so small
    // that queueing it takes longer than copying it.
    return piece;
}

size_t add_pipelined_scratch(int n) { return 3 * sizeof(float) * stream_count * piece_of(n); }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    int piece = piece_of(n), slot = 0;
    for (int first = 0; first < n; first += piece, slot = (slot + 1) % stream_count) {
        float *a = static_cast<float *>(scratch) + 3 * size_t(slot) * piece;
        float *b = a + piece, *c = b + piece;
        int count = piece;
        // TODO 2 (add_pipelined): The last piece may be shorter: set `count`.
        //
        // TODO 3 (add_pipelined): Copy the pieces of a_host and b_host, which
        // begin at `first`, to a and b: cudaMemcpyAsync, in stream(slot).
        //
        // TODO 4 (add_pipelined): Launch the kernel on them, in the same
        // stream: it is the fourth argument between <<< and >>>.
        //
        // TODO 5 (add_pipelined): Copy c to its place in c_host, in the same
        // stream.
    }
    // TODO 6 (add_pipelined): Wait until every stream is done.
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int pixels)
{
    // TODO 8 (merge_images): Compute one pixel per thread.
}

// One slot per stream, for one image of each kind.
size_t merge_images_scratch(int width, int height, int)
{
    return 3 * size_t(stream_count) * width * height;
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int pixels = width * height;
    if (pixels == 0) return;
    for (int k = 0; k < count; ++k) {
        // Where image k begins in the host's arrays.
        size_t at = size_t(k) * pixels;
        int slot = k % stream_count;
        unsigned char *first = static_cast<unsigned char *>(scratch) + 3 * size_t(slot) * pixels;
        unsigned char *second = first + pixels, *out = second + pixels;
        // TODO 9 (merge_images): As above: copy both images in, launch the
        // kernel, copy the result out, all in the stream of the slot.
    }
    // TODO 10 (merge_images): Wait until every stream is done.
}

// The four steps of the diamond.
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
    cudaStream_t one = stream(0), other = stream(1);
    // TODO 11 (diamond): Launch compute_top in `one`. Then let `other` wait for
    // it: cudaEventRecord records an event behind all work queued in a stream
    // so far; cudaStreamWaitEvent makes another stream wait for it.
    //
    // TODO 12 (diamond): Launch compute_left in `one` and compute_right in
    // `other`.
    //
    // TODO 13 (diamond): Let `one` wait for `other` by another event, and
    // launch join in `one`.
}
