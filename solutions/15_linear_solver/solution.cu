// Lab 15, worked: panels of columns on all devices; nobody waits for a message that could have been
// sent before.
//
// New against rung 3: the look-ahead of High-Performance Linpack (Petitet and others). The owner of
// the next panel updates it first, and sends it while all members still work on the rest; and one
// host thread per device copies the system there.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <vector>

using std::size_t;

// Lets devices send to each other directly, not through the host, where they can.
static void enable_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int from = device_of(i), to = device_of(j), can = 0;
            if (from == to) continue;
            check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
            if (!can) continue;
            use(i);
            cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
            if (error == cudaErrorPeerAccessAlreadyEnabled)
                cudaGetLastError(); // no failure: clear it
            else
                check(error, "cudaDeviceEnablePeerAccess");
        }
}

// Elimination. Columns are dealt out in panels of `width`: panel t belongs to member t % devices.
// Behind the last panel the right-hand side is one of its own. A member keeps its panels side by
// side, each column in one piece of n numbers.
constexpr int width = 16, factor_block = 512, update_block = 256;

struct deal {
    int n, devices, member;
    double *columns;
    __host__ __device__ int panels() const { return (n + width - 1) / width; }
    __host__ __device__ int columns_of(int t) const
    {
        return t == panels() ? 1 : min(width, n - t * width);
    }
    __host__ __device__ int own_before(int t) const
    {
        return t > member ? (t - member + devices - 1) / devices : 0;
    }
    __host__ __device__ int own(int i) const { return i * devices + member; } // the i-th own panel
    __host__ __device__ double *column(int t, int c) const
    {
        return columns + (size_t(t / devices) * width + c) * n;
    }
};

// The message of a panel's owner: for each column the row of its pivot, or -1 for none; then the
// columns themselves, with multipliers in place of zeros.
static __host__ __device__ size_t message_size(int n) { return size_t(width) * (n + 1); }

static __global__ void take_columns(const double *rows, deal d)
{
    int t = d.own(blockIdx.y), c = threadIdx.x % width, per_block = blockDim.x / width;
    int i = blockIdx.x * per_block + threadIdx.x / width;
    if (i < d.n && c < d.columns_of(t))
        d.column(t, c)[i] = rows[size_t(i) * (d.n + 1) + (t == d.panels() ? d.n : t * width + c)];
}

// Finds the row of the largest number from row k on, in one block.
static __device__ int find_pivot(const double *column, int n, int k)
{
    constexpr int warps = factor_block / 32;
    __shared__ double values[warps];
    __shared__ int rows[warps];
    double best = -1;
    int row = k;
    auto keep_larger = [&](double value, int at) {
        if (value > best || (value == best && at < row)) best = value, row = at;
    };
    for (int i = k + threadIdx.x; i < n; i += factor_block) keep_larger(fabs(column[i]), i);
    for (int part = 0; part < 2; ++part) { // within warps, then among warps
        for (int d = 16; d > 0; d /= 2) {
            double value = __shfl_xor_sync(0xffffffff, best, d);
            int at = __shfl_xor_sync(0xffffffff, row, d);
            keep_larger(value, at);
        }
        if (part == 1) return row;
        if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = best, rows[threadIdx.x / 32] = row;
        __syncthreads();
        best = values[threadIdx.x % warps], row = rows[threadIdx.x % warps];
    }
    return row;
}

// Eliminates within a panel, in one block, and writes the message.
static __global__ void __launch_bounds__(factor_block) factor(deal d, int t, double *message)
{
    __shared__ double pivot_row[width];
    int n = d.n, count = d.columns_of(t), thread = threadIdx.x;
    double *a = d.column(t, 0);
    if (thread < width) pivot_row[thread] = 0;
    for (int c = 0; c < count; ++c) {
        int k = t * width + c, row = find_pivot(a + size_t(c) * n, n, k);
        if (thread < count) {
            double *mine = a + size_t(thread) * n, x = mine[row];
            mine[row] = mine[k];
            mine[k] = pivot_row[thread] = x;
        }
        __syncthreads();
        double pivot = pivot_row[c];
        if (thread == 0) message[c] = pivot != 0 ? row : -1;
        for (int i = k + 1 + thread; i < n; i += factor_block) {
            double x[width]; // all loads of a row before its first store
#pragma unroll
            for (int j = 0; j < width; ++j) x[j] = j >= c && j < count ? a[size_t(j) * n + i] : 0;
            double multiplier = pivot != 0 ? a[size_t(c) * n + i] / pivot : 0;
#pragma unroll
            for (int j = 0; j < width; ++j)
                if (j >= c && j < count)
                    a[size_t(j) * n + i] = j == c ? multiplier : x[j] - multiplier * pivot_row[j];
        }
        __syncthreads();
    }
    for (int i = t * width + thread; i < n; i += factor_block)
        for (int c = 0; c < count; ++c) message[width + size_t(c) * n + i] = a[size_t(c) * n + i];
}

// Applies panel t's row exchanges and its triangle to own panels from the i-th on: one thread per
// column.
static __global__ void exchange_rows(deal d, int t, int i, const double *__restrict__ message)
{
    int mine = d.own(i + blockIdx.x), c = threadIdx.x;
    if (c >= d.columns_of(mine)) return;
    double *a = d.column(mine, c), *top = a + t * width, u[width];
    const double *factors = message + width + t * width;
    int count = d.columns_of(t);
    for (int r = 0; r < count; ++r) {
        int row = int(message[r]);
        if (row < 0) continue;
        double x = a[row];
        a[row] = top[r];
        top[r] = x;
    }
#pragma unroll
    for (int r = 0; r < width; ++r)
        if (r < count) {
            double x = top[r];
#pragma unroll
            for (int j = 0; j < r; ++j) x -= factors[size_t(j) * d.n + r] * u[j];
            top[r] = u[r] = x;
        }
}

// All rows below: one thread per row, which keeps its multipliers; one row of blocks per own panel.
static __global__ void __launch_bounds__(update_block)
    update(deal d, int t, int i, const double *__restrict__ message)
{
    __shared__ double u[width][width]; // by column and row
    int mine = d.own(i + blockIdx.y), of_mine = d.columns_of(mine), count = d.columns_of(t);
    int thread = threadIdx.x, first = t * width;
    if (thread < width * width) {
        int c = thread / width, r = thread % width;
        u[c][r] = c < of_mine && r < count ? d.column(mine, c)[first + r] : 0;
    }
    __syncthreads();
    int row = first + count + blockIdx.x * update_block + thread;
    if (row >= d.n) return;
    double factors[width];
#pragma unroll
    for (int r = 0; r < width; ++r)
        factors[r] = r < count ? message[width + size_t(r) * d.n + row] : 0;
    double *a = d.column(mine, 0) + row;
    constexpr int at_once = 4; // columns whose loads are in flight together
    for (int c = 0; c < of_mine; c += at_once) {
        double x[at_once];
        for (int q = 0; q < at_once; ++q) x[q] = c + q < of_mine ? a[size_t(c + q) * d.n] : 0;
#pragma unroll
        for (int r = 0; r < width; ++r)
            for (int q = 0; q < at_once; ++q) x[q] -= factors[r] * u[c + q][r];
        for (int q = 0; q < at_once; ++q)
            if (c + q < of_mine) a[size_t(c + q) * d.n] = x[q];
    }
}

// Computes the unknowns of panel t, in one block, and subtracts their contributions from y above
// them.
static __global__ void __launch_bounds__(factor_block) substitute(deal d, int t, double *y)
{
    __shared__ double x[width];
    int count = d.columns_of(t), first = t * width, lane = threadIdx.x;
    if (lane < 32) {
        double mine = lane < count ? y[first + lane] : 0;
        for (int c = count - 1; c >= 0; --c) {
            double found = __shfl_sync(0xffffffff, mine, c) / d.column(t, c)[first + c];
            if (lane == c) mine = found;
            if (lane < c) mine -= d.column(t, c)[first + lane] * found;
        }
        if (lane < count) x[lane] = y[first + lane] = mine;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < first; i += factor_block) {
        double rest = y[i];
        for (int c = 0; c < count; ++c) rest -= d.column(t, c)[i] * x[c];
        y[i] = rest;
    }
}

// Updates `panels` own panels, from the i-th on, with panel t.
static void catch_up(const deal &d, int t, int i, int panels, const double *message,
                     cudaStream_t stream = nullptr)
{
    if (panels <= 0) return;
    int below = d.n - t * width - d.columns_of(t);
    exchange_rows<<<panels, width, 0, stream>>>(d, t, i, message);
    dim3 grid((below + update_block - 1) / update_block, panels);
    if (below > 0) update<<<grid, update_block, 0, stream>>>(d, t, i, message);
    check_launch("update");
}

// Copies all rows to every member: each goes over one host link and then over those between
// devices.
static void bring_columns(const double *augmented_host, const std::vector<deal> &deals,
                          const std::vector<stream> &streams)
{
    int n = deals[0].n, devices = deals[0].devices;
    size_t row = n + 1;
    std::vector<array<double>> rows = array_each<double>(devices, n * row);
    thread_each(devices, [&](int k) {
        use(k);
        size_t first = row * (size_t(n) * k / devices),
               last = row * (size_t(n) * (k + 1) / devices);
        check(cudaMemcpy(rows[k].at + first, augmented_host + first,
                         sizeof(double) * (last - first), cudaMemcpyHostToDevice),
              "cudaMemcpy");
        for (int to = 0; to < devices; ++to)
            if (to != k)
                send(rows[to].at + first, to, rows[k].at + first, k, last - first, streams[k]);
    });
    finish(streams);
    for (const deal &d : deals) {
        use(d.member);
        dim3 grid((n + 15) / 16, d.own_before(d.panels() + 1));
        if (grid.y > 0)
            take_columns<<<grid, 16 * width, 0, streams[d.member].at>>>(rows[d.member].at, d);
        check_launch("take_columns");
    }
    finish(streams);
}

int eliminate(const double *augmented_host, int n, double *x_host, int devices)
{
    if (n == 0) return 0;
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    std::vector<array<double>> columns, messages, y;
    std::vector<deal> deals;
    for (int k = 0; k < devices; ++k) {
        deal d{n, devices, k, nullptr};
        use(k);
        columns.emplace_back(size_t(d.own_before(d.panels() + 1)) * width * n);
        messages.emplace_back(d.panels() * message_size(n));
        y.emplace_back(n);
        d.columns = columns[k].at;
        deals.push_back(d);
    }
    bring_columns(augmented_host, deals, streams);

    int panels = deals[0].panels();
    auto message = [&](int t, int k) { return messages[k].at + t * message_size(n); };
    auto factor_and_send = [&](int t) {
        int owner = t % devices;
        use(owner);
        factor<<<1, factor_block, 0, streams[owner].at>>>(deals[owner], t, message(t, owner));
        check_launch("factor");
        for (int k = 0; k < devices; ++k)
            if (k != owner)
                send(message(t, k), k, message(t, owner), owner, message_size(n), streams[owner]);
        streams[owner].record();
    };
    factor_and_send(0);
    for (int t = 0; t < panels; ++t) {
        int next = t + 1 < panels ? t + 1 : -1;
        for (int step = 0; step < devices; ++step) { // the owner of the next panel first
            int k = (t + 1 + step) % devices;
            const deal &d = deals[k];
            int i = d.own_before(t + 1), rest = d.own_before(panels + 1) - i;
            bool ahead = step == 0 && next >= 0;
            use(k);
            streams[k].wait_for(streams[t % devices]);
            if (ahead) {
                catch_up(d, t, i, 1, message(t, k), streams[k].at);
                factor_and_send(next);
            }
            // Its messages are in flight now; the rest of panel t can wait until here.
            catch_up(d, t, i + ahead, rest - ahead, message(t, k), streams[k].at);
        }
    }

    // From the last panel to the first: the remaining right-hand side is passed along.
    int from = panels % devices;
    check(cudaMemcpyAsync(y[from].at, deals[from].column(panels, 0), sizeof(double) * n,
                          cudaMemcpyDeviceToDevice, streams[from].at),
          "cudaMemcpyAsync");
    for (int t = panels - 1; t >= 0; --t) {
        int owner = t % devices;
        if (owner != from) send(y[owner].at, owner, y[from].at, from, n, streams[from]);
        streams[from].record();
        streams[owner].wait_for(streams[from]);
        use(owner);
        substitute<<<1, factor_block, 0, streams[owner].at>>>(deals[owner], t, y[owner].at);
        check_launch("substitute");
        from = owner;
    }
    finish(streams);
    std::vector<double> pivots(panels * width);
    check(cudaMemcpy2D(pivots.data(), sizeof(double) * width, messages[0].at,
                       sizeof(double) * message_size(n), sizeof(double) * width, panels,
                       cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    for (int k = 0; k < n; ++k)
        if (pivots[k] == -1) return 1;
    check(cudaMemcpy(x_host, y[0].at, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    return eliminate(augmented_host, n, x_host, 1);
}

#ifdef WITH_MPI
// All panels, those of one rank after those of the other, in host memory of rank 0.
struct dealt_columns {
    int n, ranks;
    std::vector<int> counts, starts; // by rank, in numbers
    std::vector<double> numbers;
    dealt_columns(int n, int ranks) : n(n), ranks(ranks)
    {
        for (int k = 0; k < ranks; ++k) {
            deal d{n, ranks, k, nullptr};
            starts.push_back(k == 0 ? 0 : starts[k - 1] + counts[k - 1]);
            counts.push_back(d.own_before(d.panels() + 1) * width * n);
        }
    }
    double *column(int j) // n: the right-hand side
    {
        int t = j == n ? (n + width - 1) / width : j / width, owner = t % ranks;
        deal d{n, ranks, owner, numbers.data() + starts[owner]};
        return d.column(t, j == n ? 0 : j % width);
    }
    void take(const double *augmented_host)
    {
        numbers.resize(starts.back() + counts.back());
        for (int j = 0; j <= n; ++j)
            for (int i = 0; i < n; ++i) column(j)[i] = augmented_host[size_t(i) * (n + 1) + j];
    }
};

// From the last column to the first. Returns nonzero if one has no pivot.
static int substitute_back(dealt_columns &all, double *x_host)
{
    int singular = 0;
    double *y = all.column(all.n);
    for (int k = all.n - 1; k >= 0; --k) {
        const double *u = all.column(k);
        singular |= u[k] == 0;
        x_host[k] = y[k] / u[k];
        for (int i = 0; i < k; ++i) y[i] -= u[i] * x_host[k];
    }
    return singular;
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    dealt_columns all(n, ranks);
    if (rank == 0) all.take(augmented_host);
    const int count = all.counts[rank], size = int(message_size(n));
    std::vector<double> own(count);
    MPI_Scatterv(all.numbers.data(), all.counts.data(), all.starts.data(), MPI_DOUBLE, own.data(),
                 count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    array<double> columns(count);
    auto copy = [](double *to, const double *from, size_t numbers) {
        check(cudaMemcpy(to, from, sizeof(double) * numbers, cudaMemcpyDefault), "cudaMemcpy");
    };
    copy(columns.at, own.data(), count);

    const deal d{n, ranks, rank, columns.at};
    const int panels = d.panels(), end = d.own_before(panels + 1);
    array<double> messages(size_t(panels) * size);
    std::vector<double> staged[2] = {std::vector<double>(size), std::vector<double>(size)};
    const bool direct = device_buffers_work();
    MPI_Request travelling = MPI_REQUEST_NULL;
    auto message = [&](int t) { return messages.at + size_t(t) * size; };
    // The owner factors panel t and starts to send it; the others post their buffers.
    auto start = [&](int t) {
        double *host = staged[t % 2].data();
        if (rank == t % ranks) {
            factor<<<1, factor_block>>>(d, t, message(t));
            check_launch("factor");
            if (!direct) copy(host, message(t), size);
            check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
        }
        MPI_Ibcast(direct ? message(t) : host, size, MPI_DOUBLE, t % ranks, MPI_COMM_WORLD,
                   &travelling);
    };
    if (panels > 0) start(0);
    for (int t = 0; t < panels; ++t) {
        MPI_Wait(&travelling, MPI_STATUS_IGNORE);
        if (rank != t % ranks && !direct) copy(message(t), staged[t % 2].data(), size);
        // Look-ahead: the owner of the next panel updates it and starts to send it; the rest of
        // this one is done while it travels.
        const int i = d.own_before(t + 1);
        const bool ahead = t + 1 < panels && rank == (t + 1) % ranks;
        if (ahead) catch_up(d, t, i, 1, message(t));
        if (t + 1 < panels) start(t + 1);
        catch_up(d, t, i + ahead, end - i - ahead, message(t));
    }

    copy(own.data(), columns.at, count);
    MPI_Gatherv(own.data(), count, MPI_DOUBLE, all.numbers.data(), all.counts.data(),
                all.starts.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int singular = rank == 0 ? substitute_back(all, x_host) : 0;
    MPI_Bcast(&singular, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return singular;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
