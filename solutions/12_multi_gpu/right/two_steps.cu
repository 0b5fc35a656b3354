// Right: all-reduce in two steps of direct copies: to the member that adds, and from there.
#include "../check.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cstddef>
#include <cuda_runtime.h>
#include <exception>
#include <thread>
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

// What came of the other members lies in rows of `count`; all are added in the order of the
// members.
__global__ void add_rows(float *mine, const float *rows, int count, int row_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = mine[i];
    for (int r = 0; r < row_count; ++r) sum += rows[std::size_t(r) * count + i];
    mine[i] = sum;
}

__global__ void merge(const unsigned char *first, const unsigned char *second, unsigned char *out,
                      int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (3 * first[i] + second[i] + 2) / 4;
}

// On the current device, which is the member's.
void merge_share(const unsigned char *first_host, const unsigned char *second_host,
                 unsigned char *out_host, int n, int member)
{
    if (n == 0) return;
    memory<unsigned char> first(member, n), second(member, n);
    check(cudaMemcpy(first.get(), first_host, n, cudaMemcpyHostToDevice), "first");
    check(cudaMemcpy(second.get(), second_host, n, cudaMemcpyHostToDevice), "second");
    merge<<<std::min((n + 255) / 256, 2048), 256>>>(first.get(), second.get(), second.get(), n);
    check_launch("merge");
    check(cudaMemcpy(out_host, second.get(), n, cudaMemcpyDeviceToHost), "out");
}

} // namespace

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices * devices; ++i)
        can_access_host[i] = reaches(i / devices, i % devices);
}

// A chain: each member pulls every piece from the one before it.
void broadcast(float *const *buffers, int n, int devices)
{
    open_peers(devices);
    const std::vector<queue> q = queues_of(devices);
    const int pieces = std::clamp(n / 2048, 1, 48);
    for (int p = 0; p < pieces; ++p)
        for (int k = 1; k < devices; ++k) {
            const int first = cut(n, p, pieces), count = cut(n, p + 1, pieces) - first;
            if (k > 1) q[k].after(q[k - 1]); // marked for this very piece a moment ago
            q[k].pull(buffers[k] + first, buffers[k - 1] + first, k - 1, count);
            q[k].mark();
        }
    for (const queue &one : q) one.wait();
}

// Two steps, whatever the number of members: everybody fetches its part of all others,
// and adds up; then everybody fetches the other parts.
void all_reduce(float *const *buffers, int n, int devices)
{
    open_peers(devices);
    const std::vector<queue> q = queues_of(devices);
    std::vector<memory<float>> rows;
    for (int k = 0; k < devices; ++k) {
        const int first = cut(n, k, devices), count = cut(n, k + 1, devices) - first;
        rows.emplace_back(k, std::size_t(count) * (devices - 1));
        for (int d = 1; d < devices; ++d) {
            const int other = (k + d) % devices;
            q[k].pull(rows[k].get() + std::size_t(d - 1) * count, buffers[other] + first, other,
                      count);
        }
        if (count > 0 && devices > 1) {
            use(k);
            add_rows<<<(count + 255) / 256, 256, 0, q[k]>>>(buffers[k] + first, rows[k].get(),
                                                            count, devices - 1);
            check_launch("add_rows");
        }
        q[k].mark();
    }
    for (int d = 1; d < devices; ++d)
        for (int k = 0; k < devices; ++k) {
            const int other = (k + d) % devices, first = cut(n, other, devices);
            q[k].after(q[other]);
            q[k].pull(buffers[k] + first, buffers[other] + first, other,
                      cut(n, other + 1, devices) - first);
        }
    for (const queue &one : q) one.wait();
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    std::vector<std::exception_ptr> failures(devices);
    {
        std::vector<std::jthread> threads; // joined at the end of this block
        for (int k = 0; k < devices; ++k)
            threads.emplace_back([=, &failures] {
                try {
                    use(k); // a thread begins with device 0
                    const int a = cut(count, k, devices), b = cut(count, k + 1, devices);
                    const std::size_t at = std::size_t(width) * height * a;
                    merge_share(first_host + at, second_host + at, out_host + at,
                                width * height * (b - a), k);
                } catch (...) {
                    failures[k] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr &e : failures)
        if (e) std::rethrow_exception(e);
}
