// Right: kernels follow other devices' pointers where they may; the host looks at each pivot, one
// wait per column; MPI messages go from hand to hand.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <algorithm>
#include <cstddef>
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

constexpr int wide = 256;

// Columns are dealt out: member m of d has columns m, m + d, m + 2 * d, ... of the n + 1.
struct hand {
    int n, members, member;
    double *columns; // one after the other, n numbers each

    __host__ __device__ int held_before(int column) const
    {
        return column <= member ? 0 : (column - member + members - 1) / members;
    }
    __host__ __device__ double *column(int j) const
    {
        return columns + std::size_t(j / members) * n;
    }
    int held() const { return held_before(n + 1); }
};

// Brings the pivot of column k to row k. message[0]: in which row it was, or -1 if there is none;
// message[1 + i], for the rows that row k is subtracted from: how many times. One block.
template <bool all_rows> __global__ void pick(double *column, int n, int k, double *message)
{
    __shared__ double best[wide];
    __shared__ int row[wide];
    const int t = threadIdx.x;
    best[t] = 0, row[t] = -1;
    for (int i = k + t; i < n; i += wide)
        if (fabs(column[i]) > best[t]) best[t] = fabs(column[i]), row[t] = i;
    for (int half = wide / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && best[t + half] > best[t]) best[t] = best[t + half], row[t] = row[t + half];
    }
    __syncthreads();
    const int from = row[0];
    if (t == 0) message[0] = from;
    if (from < 0) return;
    const double pivot = column[from], displaced = column[k];
    __syncthreads();
    if (t == 0) column[from] = displaced, column[k] = pivot;
    __syncthreads();
    for (int i = (all_rows ? 0 : k + 1) + t; i < n; i += wide)
        message[1 + i] = i == k ? 0 : column[i] / pivot;
}

// One block per column: the member's columns from the `first`-th on.
template <bool all_rows> __global__ void update(hand h, int k, int first, const double *message)
{
    if (message[0] < 0) return;
    double *column = h.columns + std::size_t(first + blockIdx.x) * h.n;
    const int from = int(message[0]);
    const double pivot_row = column[from], displaced = column[k];
    __syncthreads();
    if (threadIdx.x == 0) column[from] = displaced, column[k] = pivot_row;
    __syncthreads();
    for (int i = (all_rows ? 0 : k + 1) + threadIdx.x; i < h.n; i += blockDim.x)
        column[i] -= message[1 + i] * pivot_row;
}

// A member's columns, from rows of the host to columns of the host.
std::vector<double> deal_out(const double *augmented_host, const hand &h)
{
    std::vector<double> mine(std::size_t(h.held()) * h.n);
    for (int i = 0; i < h.n; ++i)
        for (int c = 0; c < h.held(); ++c)
            mine[std::size_t(c) * h.n + i] =
                augmented_host[std::size_t(i) * (h.n + 1) + h.member + std::size_t(c) * h.members];
    return mine;
}

// The last unknown first. columns[m]: all that member m has.
int substitute(const std::vector<std::vector<double>> &columns, int n, double *x_host)
{
    const int members = int(columns.size());
    auto column = [&](int j) { return columns[j % members].data() + std::size_t(j / members) * n; };
    std::vector<double> y(column(n), column(n) + n);
    for (int k = n - 1; k >= 0; --k) {
        const double *c = column(k);
        if (c[k] == 0) return 1;
        x_host[k] = y[k] / c[k];
        for (int i = 0; i < k; ++i) y[i] -= c[i] * x_host[k];
    }
    return 0;
}

} // namespace

// The host waits once per column, for the row of the pivot, and stops where there
// is none. What it has waited for needs no event.
int eliminate(const double *augmented_host, int n, double *x_host, int devices)
{
    if (n == 0) return 0;
    open_peers(devices);
    const std::vector<queue> q = queues_of(devices);
    std::vector<memory<double>> columns, messages;
    std::vector<hand> hands;
    for (int m = 0; m < devices; ++m) {
        hands.push_back({n, devices, m, nullptr});
        columns.emplace_back(m, std::size_t(hands[m].held()) * n);
        messages.emplace_back(m, std::size_t(n) * (n + 1));
        hands[m].columns = columns[m].get();
        const std::vector<double> mine = deal_out(augmented_host, hands[m]);
        check(cudaMemcpy(hands[m].columns, mine.data(), mine.size() * sizeof(double),
                         cudaMemcpyHostToDevice),
              "columns in");
    }
    auto message = [&](int m, int k) { return messages[m].get() + std::size_t(k) * (n + 1); };

    for (int k = 0; k < n; ++k) {
        const int owner = k % devices;
        use(owner);
        pick<false><<<1, wide, 0, q[owner]>>>(hands[owner].column(k), n, k, message(owner, k));
        check_launch("pick");
        double row = -1;
        // Whoever copies to ordinary memory waits until it is there.
        check(
            cudaMemcpyAsync(&row, message(owner, k), sizeof row, cudaMemcpyDeviceToHost, q[owner]),
            "the row of the pivot");
        if (row < 0) {
            for (const queue &one : q) one.wait();
            return 1;
        }
        for (int m = 0; m < devices; ++m) {
            use(m);
            if (m != owner) q[m].pull(message(m, k), message(owner, k), owner, n + 1);
            const int first = hands[m].held_before(k + 1), left = hands[m].held() - first;
            if (left > 0) update<false><<<left, wide, 0, q[m]>>>(hands[m], k, first, message(m, k));
            check_launch("update");
        }
    }
    for (const queue &one : q) one.wait();
    std::vector<std::vector<double>> all;
    for (int m = 0; m < devices; ++m) {
        all.emplace_back(std::size_t(hands[m].held()) * n);
        check(cudaMemcpy(all[m].data(), hands[m].columns, all[m].size() * sizeof(double),
                         cudaMemcpyDeviceToHost),
              "columns out");
    }
    return substitute(all, n, x_host);
}

#ifdef WITH_MPI
// Messages go from hand to hand, so that no rank sends more than one.
int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int members = 1, me = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &members);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (n == 0) return 0;
    hand h{n, members, me, nullptr};
    std::vector<double> mine(std::size_t(h.held()) * n);
    if (me == 0) {
        mine = deal_out(augmented_host, h);
        for (int m = 1; m < members; ++m) {
            const std::vector<double> theirs = deal_out(augmented_host, {n, members, m, nullptr});
            for (std::size_t c = 0; c * n < theirs.size(); ++c)
                MPI_Send(theirs.data() + c * n, n, MPI_DOUBLE, m, int(c), MPI_COMM_WORLD);
        }
    } else {
        for (int c = 0; c < h.held(); ++c)
            MPI_Recv(mine.data() + std::size_t(c) * n, n, MPI_DOUBLE, 0, c, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }

    double *columns = nullptr, *message = nullptr; // of this rank's device, whichever that is
    check(cudaMalloc(&columns, (mine.size() + 1) * sizeof(double)), "cudaMalloc");
    check(cudaMalloc(&message, 2 * (n + 1) * sizeof(double)), "cudaMalloc");
    h.columns = columns;
    check(cudaMemcpy(columns, mine.data(), mine.size() * sizeof(double), cudaMemcpyDefault), "in");
    std::vector<double> travelling(n + 1);
    const std::size_t bytes = travelling.size() * sizeof(double);
    for (int k = 0; k < n; ++k) {
        const int owner = k % members;
        if (me == owner) {
            pick<false><<<1, wide>>>(h.column(k), n, k, message);
            check(cudaMemcpy(travelling.data(), message, bytes, cudaMemcpyDefault), "down");
        }
        // From hand to hand, in a ring that ends before the owner.
        if (me != owner) {
            MPI_Recv(travelling.data(), n + 1, MPI_DOUBLE, (me + members - 1) % members, k,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(cudaMemcpy(message, travelling.data(), bytes, cudaMemcpyDefault), "up");
        }
        if (const int next = (me + 1) % members; next != owner)
            MPI_Send(travelling.data(), n + 1, MPI_DOUBLE, next, k, MPI_COMM_WORLD);
        const int first = h.held_before(k + 1);
        if (first < h.held()) update<false><<<h.held() - first, wide>>>(h, k, first, message);
        check_launch("update");
    }

    check(cudaMemcpy(mine.data(), columns, mine.size() * sizeof(double), cudaMemcpyDefault), "out");
    check(cudaFree(columns), "cudaFree");
    check(cudaFree(message), "cudaFree");

    // Home: a message from each rank.
    int singular = 0;
    if (me != 0) {
        for (int c = 0; c < h.held(); ++c)
            MPI_Send(mine.data() + std::size_t(c) * n, n, MPI_DOUBLE, 0, c, MPI_COMM_WORLD);
    } else {
        std::vector<std::vector<double>> all{std::move(mine)};
        for (int m = 1; m < members; ++m) {
            const int held = hand{n, members, m, nullptr}.held();
            std::vector<double> &theirs = all.emplace_back(std::size_t(held) * n);
            for (int c = 0; c < held; ++c)
                MPI_Recv(theirs.data() + std::size_t(c) * n, n, MPI_DOUBLE, m, c, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        singular = substitute(all, n, x_host);
    }
    MPI_Bcast(&singular, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return singular;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
int eliminate_one(const double *, int, double *) { return 0; }
