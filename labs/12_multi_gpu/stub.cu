// Lab 12, multi GPU: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/12_multi_gpu.md. Stuck at a TODO: ./workbook hint 12.
//
// Memory, streams, threads and most launches are in place below; the
// communication between devices is missing. Change all of it where your idea
// needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#include <exception>
#include <thread>
#include <utility>
#include <vector>

using std::size_t;

static int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

// Makes the member's device the current one of this host thread.
static void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// A stream of the device that is current when it is created, and an event that
// marks a point in it. Work queued here after wait_for(other) waits for all
// work queued there before other.record(). The host does not wait. (In the NULL
// stream a copy between two devices waits for all earlier work of both, and all
// their later work waits for it.)
struct stream {
    cudaStream_t at = nullptr;
    cudaEvent_t recorded = nullptr;
    stream()
    {
        check(cudaStreamCreate(&at), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&recorded, cudaEventDisableTiming), "cudaEventCreate");
    }
    stream(stream &&other) noexcept
        : at(std::exchange(other.at, nullptr)), recorded(std::exchange(other.recorded, nullptr))
    {
    }
    ~stream()
    {
        if (recorded) cudaEventDestroy(recorded);
        if (at) cudaStreamDestroy(at);
    }
    void record() const { check(cudaEventRecord(recorded, at), "cudaEventRecord"); }
    void wait_for(const stream &other) const
    {
        check(cudaStreamWaitEvent(at, other.recorded), "cudaStreamWaitEvent");
    }
};

static std::vector<stream> stream_each(int devices)
{
    std::vector<stream> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back();
    }
    return all;
}

// The host waits for all streams. It must do so before memory is freed:
// cudaFree itself need not wait for work queued behind a copy from another
// device.
static void finish(const std::vector<stream> &all)
{
    for (const stream &s : all) check(cudaStreamSynchronize(s.at), "cudaStreamSynchronize");
}

// Memory of the device that is current when it is allocated.
template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(array &&other) noexcept : at(std::exchange(other.at, nullptr)) {}
    ~array() { cudaFree(at); }
};

template <class T> static std::vector<array<T>> array_each(int devices, size_t n)
{
    std::vector<array<T>> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back(n);
    }
    return all;
}

// Copies n elements from one member's memory to another's, queued in a stream
// of either.
template <class T>
static void send(T *to, int receiver, const T *from, int sender, size_t n, const stream &s)
{
    check(
        cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n, s.at),
        "cudaMemcpyPeerAsync");
}

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            // TODO 1 (peer_table): Ask cudaDeviceCanAccessPeer about the
            // devices of members i and j; if they are the same, do not ask.
            // Write 1 or 0.
        }
}

// Lets devices send to each other directly, not through the host, where they
// can.
static void enable_peers(int devices)
{
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j) || !can[i * devices + j]) continue;
            // TODO 2 (broadcast): Give member i access to member j's memory:
            // cudaDeviceEnablePeerAccess gives the current device access to
            // another one. An error because it was enabled before is no
            // failure; cudaGetLastError() clears it.
        }
}

// A chain: member k sends to member k + 1, one piece at a time.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    [[maybe_unused]] int pieces = min(max(n / 4096, 1), 32);
    // TODO 3 (broadcast): For each piece, for each member but the last, in this
    // member's stream: wait until the piece has arrived there; send it on;
    // record its arrival. Piece p is from n * p / pieces up to n * (p + 1) /
    // pieces; these products need more than an int.
    finish(streams);
}

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// to[i] += from[i].
[[maybe_unused]] static __global__ void add(float *to, const float *from, int n)
{
    // TODO 4 (all_reduce): One thread per element.
}

// A ring: member k gets from member k - 1, and member 0 from the last. There
// are as many parts as members. In each step every member gets one part, and a
// part that has passed all members is complete.
void all_reduce(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    std::vector<array<float>> incoming = array_each<float>(devices, n / devices + 1);
    auto first_of = [&](int part) { return int((long long)n * part / devices); };
    for (int step = 0; step < 2 * (devices - 1); ++step) {
        // All members wait for their neighbours' previous step before any of
        // them records this one.
        for (int k = 0; k < devices && step > 0; ++k)
            streams[k].wait_for(streams[(k + devices - 1) % devices]);
        for (int k = 0; k < devices; ++k) {
            use(k);
            int before = (k + devices - 1) % devices;
            // First the neighbour's own part, then the one that it got a step
            // ago.
            int part = (k + 2 * devices - 1 - step) % devices;
            int first = first_of(part), count = first_of(part + 1) - first;
            [[maybe_unused]] float *to = buffers[k] + first;
            [[maybe_unused]] const float *from = buffers[before] + first;
            if (count > 0 && step < devices - 1) {
                // TODO 5 (all_reduce): Copy the part to incoming[k].at, and add
                // it to the one here.
            } else if (count > 0) {
                // TODO 6 (all_reduce): The part that arrives is complete.
            }
            streams[k].record();
        }
    }
    finish(streams);
    // TODO 12 (all_reduce: speed): When everything passes: a kernel can follow
    // another device's pointers, where peer_table says so. Let one kernel on
    // each device read its part of all buffers, and write the sum to all. Which
    // device has to wait for which then?
}

// Elimination. Columns are dealt out like cards: column j of the system belongs
// to member j % devices; the right-hand side is column n. A member keeps its
// columns one after the other, n numbers each, from top to bottom.
struct deal {
    int n, devices, member;
    double *columns;
    // Returns how many of its columns lie before column j.
    __host__ __device__ int own_before(int j) const { return (j - member + devices - 1) / devices; }
    // Returns its i-th column.
    __host__ __device__ double *own(int i) const { return columns + size_t(i) * n; }
};

// Fills a member's columns from the rows of the system: one block per column.
static __global__ void take_columns(const double *rows, deal d)
{
    size_t j = size_t(blockIdx.x) * d.devices + d.member;
    for (int i = threadIdx.x; i < d.n; i += block_size)
        d.own(blockIdx.x)[i] = rows[i * size_t(d.n + 1) + j];
}

// Writes the message that the owner of column k sends to all: message[0] is the
// row of the pivot, or -1 if there is none; message[1 + i], for each row i
// below k, is the row's multiplier: how many times row k must be subtracted
// from it. In one block.
static __global__ void pick_pivot(double *column, int n, int k, double *message)
{
    __shared__ double values[block_size];
    __shared__ int rows[block_size];
    int t = threadIdx.x;
    values[t] = 0;
    rows[t] = -1;
    // TODO 7 (eliminate): Let thread t find the largest magnitude in the rows
    // k + t, k + t + block_size, ..., and store it in values[t], its row in
    // rows[t]; a 0 is no pivot.
    __syncthreads();
    for (int half = block_size / 2; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            rows[t] = rows[t + half];
        }
        __syncthreads();
    }
    if (t == 0) message[0] = rows[0];
    if (rows[0] < 0) return;
    if (t == 0) { // exchange the pivot and the number in row k
        double pivot = column[rows[0]];
        column[rows[0]] = column[k];
        column[k] = pivot;
    }
    __syncthreads();
    // TODO 8 (eliminate): Write the multipliers of the rows below k.
}

// Updates the columns right of column k: one block per column, the first of
// which is the member's i-th.
static __global__ void update_columns(deal d, int k, int i, const double *message)
{
    [[maybe_unused]] double *column = d.own(i + blockIdx.x);
    if (message[0] < 0) return;
    // TODO 9 (eliminate): Let one thread exchange rows k and message[0] while
    // the others wait; then let all subtract the multiples of row k from the
    // rows below it.
}

// For the last unknowns, y holds their values; for the others, the remaining
// right-hand sides of their equations. Computes unknown k from its column; in
// one block.
static __global__ void substitute(const double *column, int k, double *y)
{
    [[maybe_unused]] double unknown = y[k] / column[k];
    __syncthreads(); // all have read y[k]
    if (threadIdx.x == 0) y[k] = unknown;
    // TODO 10 (eliminate): Subtract its contribution from the equations above.
}

// Copies all rows to every member: each goes over one host link, and then over
// those between devices.
static std::vector<array<double>> bring_rows(const double *augmented_host, int n,
                                             const std::vector<stream> &streams)
{
    int devices = int(streams.size());
    size_t row = n + 1;
    std::vector<array<double>> rows = array_each<double>(devices, n * row);
    auto first_of = [&](int k) { return row * (size_t(n) * k / devices); };
    for (int k = 0; k < devices; ++k) {
        use(k);
        size_t first = first_of(k), count = first_of(k + 1) - first;
        check(cudaMemcpyAsync(rows[k].at + first, augmented_host + first, sizeof(double) * count,
                              cudaMemcpyHostToDevice, streams[k].at),
              "cudaMemcpyAsync");
        for (int to = 0; to < devices; ++to)
            if (to != k) send(rows[to].at + first, to, rows[k].at + first, k, count, streams[k]);
    }
    finish(streams);
    return rows;
}

int eliminate(const double *augmented_host, int n, double *x_host, int devices)
{
    if (n == 0) return 0;
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    std::vector<array<double>> rows = bring_rows(augmented_host, n, streams);
    std::vector<array<double>> columns = array_each<double>(devices, size_t(n / devices + 1) * n);
    std::vector<array<double>> messages = array_each<double>(devices, size_t(n) * (n + 1));
    std::vector<array<double>> y = array_each<double>(devices, n);
    std::vector<deal> deals;
    for (int k = 0; k < devices; ++k) {
        deals.push_back({n, devices, k, columns[k].at});
        use(k);
        if (int own = deals[k].own_before(n + 1); own > 0)
            take_columns<<<own, block_size, 0, streams[k].at>>>(rows[k].at, deals[k]);
    }

    for (int j = 0; j < n; ++j) {
        int owner = j % devices;
        auto message = [&](int member) { return messages[member].at + j * size_t(n + 1); };
        use(owner);
        pick_pivot<<<1, block_size, 0, streams[owner].at>>>(deals[owner].own(j / devices), n, j,
                                                            message(owner));
        // TODO 11 (eliminate): Send the message, n + 1 numbers, to all others,
        // and let them wait for it. The host must not wait.
        for (int k = 0; k < devices; ++k) {
            int i = deals[k].own_before(j + 1), left = deals[k].own_before(n + 1) - i;
            use(k);
            if (left > 0)
                update_columns<<<left, block_size, 0, streams[k].at>>>(deals[k], j, i, message(k));
        }
    }

    // Back substitution: the right-hand side is passed from owner to owner.
    int from = n % devices;
    send(y[from].at, from, deals[from].own(n / devices), from, n, streams[from]);
    for (int j = n - 1; j >= 0; --j) {
        int owner = j % devices;
        if (owner != from) send(y[owner].at, owner, y[from].at, from, n, streams[from]);
        streams[from].record();
        streams[owner].wait_for(streams[from]);
        use(owner);
        substitute<<<1, block_size, 0, streams[owner].at>>>(deals[owner].own(j / devices), j,
                                                            y[owner].at);
        from = owner;
    }
    check_launch("a launch of eliminate");
    finish(streams);
    std::vector<double> pivots(n); // the first number of each message
    check(cudaMemcpy2D(pivots.data(), sizeof(double), messages[0].at, sizeof(double) * (n + 1),
                       sizeof(double), n, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    for (double pivot : pivots)
        if (pivot == -1) return 1;
    check(cudaMemcpy(x_host, y[0].at, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

// Merges n pixels on the current device.
[[maybe_unused]] static void merge_pixels(const unsigned char *first_host,
                                          const unsigned char *second_host, unsigned char *out_host,
                                          int n)
{
    if (n == 0) return;
    array<unsigned char> first(n), second(n);
    check(cudaMemcpy(first.at, first_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(second.at, second_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    merge<<<blocks_for(n), block_size>>>(first.at, second.at, first.at, n);
    check_launch("merge");
    check(cudaMemcpy(out_host, first.at, n, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

// Calls f(k) in one host thread per member, and waits. An exception that left a
// thread would end the program: it is rethrown here, when all are done.
template <class F> static void thread_each(int devices, F f)
{
    std::vector<std::exception_ptr> failures(devices);
    std::vector<std::thread> threads;
    for (int k = 0; k < devices; ++k)
        threads.emplace_back([&, k] {
            try {
                f(k);
            } catch (...) {
                failures[k] = std::current_exception();
            }
        });
    for (std::thread &t : threads) t.join();
    for (const std::exception_ptr &e : failures)
        if (e) std::rethrow_exception(e);
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    thread_each(devices, [&]([[maybe_unused]] int k) {
        // TODO 13 (merge_images): This is another host thread. Choose its
        // device, and merge the images from count * k / devices up to the next
        // member's first; the product may need more than an int.
    });
}

#ifdef WITH_MPI // else Open MPI is missing, and the cases are skipped
// All columns in host memory of rank 0: first those of rank 0, one after the
// other, n numbers each, then those of rank 1, and so on.
struct dealt_columns {
    int n, ranks;
    std::vector<int> counts, starts; // how many numbers, and where they start
    std::vector<double> numbers;
    dealt_columns(int n, int ranks) : n(n), ranks(ranks)
    {
        for (int k = 0; k < ranks; ++k) {
            starts.push_back(k == 0 ? 0 : starts[k - 1] + counts[k - 1]);
            counts.push_back(deal{n, ranks, k, nullptr}.own_before(n + 1) * n);
        }
    }
    double *column(int j) { return numbers.data() + starts[j % ranks] + size_t(j / ranks) * n; }
    void take(const double *augmented_host)
    {
        numbers.resize(size_t(n) * (n + 1));
        for (int j = 0; j <= n; ++j)
            for (int i = 0; i < n; ++i) column(j)[i] = augmented_host[size_t(i) * (n + 1) + j];
    }
};

// Computes the unknowns, from the last to the first. Returns nonzero if a
// column has no pivot.
static int substitute_back(dealt_columns &all, double *x_host)
{
    int singular = 0;
    double *y = all.column(all.n);
    for (int k = all.n - 1; k >= 0; --k) {
        const double *column = all.column(k);
        singular |= column[k] == 0;
        x_host[k] = y[k] / column[k];
        for (int i = 0; i < k; ++i) y[i] -= column[i] * x_host[k];
    }
    return singular;
}

static void copy_numbers(double *to, const double *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(double) * n, cudaMemcpyDefault), "cudaMemcpy");
}

// Columns are dealt out to ranks as eliminate deals them out to devices. All
// ranks run this function, each in a process of its own.
int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks = 0, rank = 0;
    // TODO 14 (eliminate_ranks): Ask MPI how many ranks MPI_COMM_WORLD has, and
    // which of them this process is.
    if (ranks == 0) return 0; // not written yet
    dealt_columns all(n, ranks);
    if (rank == 0) all.take(augmented_host);
    std::vector<double> own(all.counts[rank]);
    // TODO 15 (eliminate_ranks): Scatter all.numbers, which rank 0 has: each
    // rank gets its own columns. Their counts and starts are in `all`.

    array<double> columns(own.size()), message(n + 1);
    std::vector<double> travelling(n + 1);
    copy_numbers(columns.at, own.data(), own.size());
    deal d{n, ranks, rank, columns.at};
    for (int j = 0; j < n; ++j) {
        if (rank == j % ranks) {
            pick_pivot<<<1, block_size>>>(d.own(j / ranks), n, j, message.at);
            copy_numbers(travelling.data(), message.at, n + 1);
        }
        // TODO 16 (eliminate_ranks): Its owner broadcasts `travelling`, and all
        // others copy it to their device. No rank may leave out a broadcast.
        int i = d.own_before(j + 1), left = d.own_before(n + 1) - i;
        if (left > 0) update_columns<<<left, block_size>>>(d, j, i, message.at);
        check_launch("a launch of eliminate_ranks");
    }
    copy_numbers(own.data(), columns.at, own.size());
    // TODO 17 (eliminate_ranks): Gather the scattered columns into all.numbers.

    int singular = 0;
    if (rank == 0) singular = substitute_back(all, x_host);
    // TODO 18 (eliminate_ranks): Only rank 0 knows the result. Tell the others.
    return singular;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
