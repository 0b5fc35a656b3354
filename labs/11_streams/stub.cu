// Lab 11, streams: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/11_streams.md. Stuck at a TODO: ./workbook hint 11.
//
// Streams and events are created in the first call and kept. In add_pipelined
// each stream has a slot of the scratch, for one piece at a time; merge_images
// is all yours. Change what is there where your idea needs it.
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
    // TODO 1 (add_pipelined): Each c[i] is `work` of the sum.
}

// Elements of a piece.
static int piece_of(int n)
{
    int piece = n;
    // TODO 4 (add_pipelined: speed): Long arrays are cut into at least as many
    // pieces as there are streams.
    //
    // TODO 5 (add_pipelined: speed): Pieces are so short that the first copy in
    // and the last copy out hardly count, but long enough that queueing a piece
    // takes less time than copying it.
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
        // TODO 4 (add_pipelined: speed): `count` is the number of elements of
        // this piece. The last piece may have fewer than `piece`.

        // TODO 2 (add_pipelined): The piece that begins at `first` is copied to
        // a and b, the kernel computes c, and c is copied to its place in
        // c_host: all queued in stream(slot), without a wait.
    }
    // TODO 3 (add_pipelined): When the function returns, all of c_host is
    // written.
}

size_t merge_images_scratch(int width, int height, int count)
{
    size_t bytes = 0;
    // TODO 6 (merge_images): `bytes` is the size of the scratch memory that
    // merge_images uses.
    return bytes;
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    // TODO 6 (merge_images): When the function returns, out_host holds every
    // merged image. A kernel of yours computes them from copies on the device.
    //
    // TODO 7 (merge_images: both ways at once): While one image is copied out,
    // others are copied in.
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
    // TODO 8 (diamond): The four kernels compute left, right and out, each
    // after those whose results it needs.
    //
    // TODO 9 (diamond: two branches at once): compute_left and compute_right
    // can run at the same time: only events order `one` and `other`, and the
    // host waits for nothing.
}
