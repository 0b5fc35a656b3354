// Fails: diamond: two branches at once | TOO_SLOW | before it has queued everything
// On gpu: may pass - the simulator counts waits
// The host waits for each stream, where events should order them.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

namespace {

constexpr int LANES = 3; // streams, and slots of scratch
constexpr int T = 128;

struct lane {
    cudaStream_t s = nullptr;
    lane() { check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream"); }
};

lane *lanes()
{
    static lane all[LANES];
    return all;
}

void wait_all()
{
    for (int k = 0; k < LANES; ++k) check(cudaStreamSynchronize(lanes()[k].s), "wait");
}

size_t chunk(size_t n, size_t pieces, size_t least)
{
    size_t c = (n + pieces - 1) / pieces;
    return c < least ? (n < least ? n : least) : c;
}

__global__ void add_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

__global__ void mix(const unsigned char *a, const unsigned char *b, unsigned char *c, int n)
{
    for (int i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T)
        c[i] = (3 * a[i] + b[i] + 2) / 4;
}

__global__ void node(const float *in, float *out, int n, int rounds, bool mirror)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n) out[i] = work(mirror ? in[n - 1 - i] / 2 : in[i], rounds);
}

__global__ void subtract(const float *l, const float *r, float *out, int n)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n) out[i] = l[i] - r[i];
}

} // namespace

size_t add_pipelined_scratch(int n) { return LANES * 3 * sizeof(float) * chunk(n, 32, 4096); }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    if (n == 0) return;
    const int piece = chunk(n, 32, 4096);
    float *slots = (float *)scratch;
    for (int p = 0; p * (size_t)piece < n; ++p) {
        size_t at = p * (size_t)piece;
        int count = n - at < piece ? n - at : piece;
        cudaStream_t s = lanes()[p % LANES].s;
        float *a = slots + (p % LANES) * 3 * (size_t)piece, *b = a + piece, *c = b + piece;
        check(cudaMemcpyAsync(a, a_host + at, count * sizeof(float), cudaMemcpyHostToDevice, s),
              "a");
        check(cudaMemcpyAsync(b, b_host + at, count * sizeof(float), cudaMemcpyHostToDevice, s),
              "b");
        add_work<<<(count - 1) / T + 1, T, 0, s>>>(a, b, c, count, rounds);
        check_launch("add_work");
        check(cudaMemcpyAsync(c_host + at, c, count * sizeof(float), cudaMemcpyDeviceToHost, s),
              "c");
    }
    wait_all();
}

size_t merge_images_scratch(int width, int height, int count)
{
    return LANES * 3 * chunk(size_t(width) * height * count, 24, 8192);
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    size_t n = size_t(width) * height * count;
    if (n == 0) return;
    size_t piece = chunk(n, 24, 8192);
    int k = 0;
    for (size_t at = 0; at < n; at += piece, k = (k + 1) % LANES) {
        size_t bytes = n - at < piece ? n - at : piece;
        unsigned char *a = (unsigned char *)scratch + k * 3 * piece, *b = a + piece, *c = b + piece;
        cudaStream_t s = lanes()[k].s;
        check(cudaMemcpyAsync(a, first_host + at, bytes, cudaMemcpyHostToDevice, s), "first");
        check(cudaMemcpyAsync(b, second_host + at, bytes, cudaMemcpyHostToDevice, s), "second");
        mix<<<(bytes - 1) / T + 1, T, 0, s>>>(a, b, c, bytes);
        check_launch("mix");
        check(cudaMemcpyAsync(out_host + at, c, bytes, cudaMemcpyDeviceToHost, s), "out");
    }
    wait_all();
}

size_t diamond_scratch(int n) { return n * sizeof(float); }

void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    static cudaEvent_t top_done, right_done;
    if (!top_done) {
        check(cudaEventCreateWithFlags(&top_done, cudaEventDisableTiming), "event");
        check(cudaEventCreateWithFlags(&right_done, cudaEventDisableTiming), "event");
    }
    float *top = (float *)scratch;
    cudaStream_t one = lanes()[0].s, two = lanes()[1].s;
    int blocks = (n - 1) / T + 1;
    node<<<blocks, T, 0, one>>>(in, top, n, 1, false);
    check(cudaEventRecord(top_done, one), "record");
    check(cudaStreamSynchronize(one), "wait");
    node<<<blocks, T, 0, two>>>(top, right, n, rounds, true);
    check(cudaEventRecord(right_done, two), "record");
    node<<<blocks, T, 0, one>>>(top, left, n, rounds, false);
    check(cudaStreamSynchronize(two), "wait");
    subtract<<<blocks, T, 0, one>>>(left, right, out, n);
    check_launch("diamond");
}
