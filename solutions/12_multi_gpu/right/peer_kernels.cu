// Right: kernels follow other devices' pointers where they may; one host thread for all images.
#include "../check.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cstddef>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

namespace {

int device_of(int member)
{
    static const int count = [] {
        int n = 0;
        check(cudaGetDeviceCount(&n), "cudaGetDeviceCount");
        return n;
    }();
    return member % count;
}

void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

bool reaches(int i, int j)
{
    int can = device_of(i) == device_of(j);
    if (!can) check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)), "can access");
    return can;
}

void open_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j) || !reaches(i, j)) continue;
            use(i);
            cudaError_t e = cudaDeviceEnablePeerAccess(device_of(j), 0);
            if (e == cudaErrorPeerAccessAlreadyEnabled)
                (void)cudaGetLastError(); // so be it
            else
                check(e, "cudaDeviceEnablePeerAccess");
        }
}

// A stream of a member's device, and an event that stands for where it was when mark() was called.
class queue {
public:
    explicit queue(int member) : member_(member)
    {
        use(member);
        check(cudaStreamCreate(&stream_), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming), "cudaEventCreate");
    }
    queue(queue &&other) noexcept
        : member_(other.member_),
          stream_(std::exchange(other.stream_, nullptr)),
          mark_(std::exchange(other.mark_, nullptr))
    {
    }
    ~queue()
    {
        if (mark_) cudaEventDestroy(mark_);
        if (stream_) cudaStreamDestroy(stream_);
    }
    operator cudaStream_t() const { return stream_; }
    void mark() const { check(cudaEventRecord(mark_, stream_), "cudaEventRecord"); }
    void after(const queue &other) const
    {
        check(cudaStreamWaitEvent(stream_, other.mark_, 0), "cudaStreamWaitEvent");
    }
    void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
    // The receiver pulls: this is its queue.
    template <class T> void pull(T *to, const T *from, int sender, std::size_t n) const
    {
        if (n > 0)
            check(cudaMemcpyPeerAsync(to, device_of(member_), from, device_of(sender),
                                      n * sizeof(T), stream_),
                  "cudaMemcpyPeerAsync");
    }

private:
    int member_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t mark_ = nullptr;
};

std::vector<queue> queues_of(int devices)
{
    std::vector<queue> all;
    all.reserve(devices);
    for (int k = 0; k < devices; ++k) all.emplace_back(k);
    return all;
}

template <class T> class memory {
public:
    memory(int member, std::size_t n)
    {
        use(member);
        check(cudaMalloc(&at_, std::max<std::size_t>(n, 1) * sizeof(T)), "cudaMalloc");
    }
    memory(memory &&other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
    ~memory() { cudaFree(at_); }
    T *get() const { return at_; }

private:
    T *at_ = nullptr;
};

// Part p of `parts` of n elements begins here.
int cut(int n, int p, int parts) { return int(static_cast<long long>(n) * p / parts); }

// Follows another member's pointer: a small grid that strides.
__global__ void pull_piece(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

__global__ void add(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

struct pointers {
    float *at[max_members];
};

// Adds up a part of all buffers, and writes the sum to all: nobody else touches this part.
__global__ void add_panel(pointers p, int devices, int first, int n)
{
    for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int k = 0; k < devices; ++k) sum += p.at[k][i];
        for (int k = 0; k < devices; ++k) p.at[k][i] = sum;
    }
}

__global__ void merge(const unsigned char *first, const unsigned char *second, unsigned char *out,
                      int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (3 * first[i] + second[i] + 2) / 4;
}

} // namespace

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices * devices; ++i)
        can_access_host[i] = reaches(i / devices, i % devices);
}

// A chain, in which kernels read the neighbour's memory where they may, and copies do it elsewhere.
void broadcast(float *const *buffers, int n, int devices)
{
    open_peers(devices);
    const std::vector<queue> q = queues_of(devices);
    const int pieces = std::clamp(n / 4096, 1, 32);
    for (int p = 0; p < pieces; ++p)
        for (int k = 1; k < devices; ++k) {
            const int first = cut(n, p, pieces), count = cut(n, p + 1, pieces) - first;
            if (count == 0) continue;
            if (k > 1) q[k].after(q[k - 1]);
            if (reaches(k, k - 1)) {
                use(k);
                pull_piece<<<std::min((count + 255) / 256, 64), 256, 0, q[k]>>>(
                    buffers[k] + first, buffers[k - 1] + first, count);
                check_launch("pull_piece");
            } else {
                q[k].pull(buffers[k] + first, buffers[k - 1] + first, k - 1, count);
            }
            q[k].mark();
        }
    for (const queue &one : q) one.wait();
}

// One kernel per member if all can access all; elsewhere copies do the same.
void all_reduce(float *const *buffers, int n, int devices)
{
    open_peers(devices);
    const std::vector<queue> q = queues_of(devices);
    bool all_reach = true;
    for (int i = 0; i < devices * devices; ++i) all_reach &= reaches(i / devices, i % devices);
    if (all_reach) {
        pointers p{};
        std::copy_n(buffers, devices, p.at);
        for (int k = 0; k < devices; ++k) {
            const int first = cut(n, k, devices), last = cut(n, k + 1, devices);
            if (first == last) continue;
            use(k);
            add_panel<<<std::min((last - first + 255) / 256, 1024), 256, 0, q[k]>>>(p, devices,
                                                                                    first, last);
            check_launch("add_panel");
        }
        for (const queue &one : q) one.wait();
        return;
    }
    // By parts, as with peers, but with copies, which find their way.
    std::vector<memory<float>> incoming;
    for (int k = 0; k < devices; ++k) {
        const int first = cut(n, k, devices), count = cut(n, k + 1, devices) - first;
        incoming.emplace_back(k, count);
        for (int other = 0; other < devices && count > 0; ++other) {
            if (other == k) continue;
            q[k].pull(incoming[k].get(), buffers[other] + first, other, count);
            use(k);
            add<<<(count + 255) / 256, 256, 0, q[k]>>>(buffers[k] + first, incoming[k].get(),
                                                       count);
            check_launch("add");
        }
        q[k].mark();
    }
    for (int k = 0; k < devices; ++k)
        for (int other = 0; other < devices; ++other) {
            if (other == k) continue;
            const int first = cut(n, other, devices), count = cut(n, other + 1, devices) - first;
            q[k].after(q[other]);
            q[k].pull(buffers[k] + first, buffers[other] + first, other, count);
        }
    for (const queue &one : q) one.wait();
}

// One host thread: what each device does is queued in turns, image by image, all is waited for at
// the end. From ordinary memory the copies keep the host busy, but not the devices waiting.
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    const int pixels = width * height;
    if (pixels == 0 || count == 0) return;
    const std::vector<queue> q = queues_of(devices);
    std::vector<memory<unsigned char>> room;
    for (int k = 0; k < devices; ++k) room.emplace_back(k, std::size_t(2) * pixels);
    for (int image = 0; image < count; ++image) {
        const int k = image % devices; // dealt out like cards
        unsigned char *first = room[k].get(), *second = first + pixels;
        const std::size_t at = std::size_t(image) * pixels;
        use(k);
        check(cudaMemcpyAsync(first, first_host + at, pixels, cudaMemcpyHostToDevice, q[k]), "in");
        check(cudaMemcpyAsync(second, second_host + at, pixels, cudaMemcpyHostToDevice, q[k]),
              "in");
        merge<<<std::min((pixels + 255) / 256, 2048), 256, 0, q[k]>>>(first, second, first, pixels);
        check_launch("merge");
        check(cudaMemcpyAsync(out_host + at, first, pixels, cudaMemcpyDeviceToHost, q[k]), "out");
    }
    for (const queue &one : q) one.wait();
}
