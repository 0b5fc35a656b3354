// Lab 15, rung 2: columns are dealt out to all devices.
//
// New: a stream per member, in which one device waits for another without a wait of the host; each
// member updates its own columns, and the owner of a column sends its multipliers to the others.
// Unchanged: eliminate_ranks.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cuda_runtime.h>
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

constexpr int block_size = 256;

// Elimination. Columns are dealt out like cards: column j of the system belongs to member j %
// devices; the right-hand side is column n. A member keeps its columns one after the other, n
// numbers each, from top to bottom.
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

// Writes the message that the owner of column k sends to all: message[0] is the row of the pivot,
// or -1 if there is none; message[1 + i], for each row i below k, is the row's multiplier: how many
// times row k must be subtracted from it. In one block.
static __global__ void pick_pivot(double *column, int n, int k, double *message)
{
    __shared__ double values[block_size];
    __shared__ int rows[block_size];
    int t = threadIdx.x;
    values[t] = 0;
    rows[t] = -1;
    for (int i = k + t; i < n; i += block_size)
        if (fabs(column[i]) > values[t]) {
            values[t] = fabs(column[i]);
            rows[t] = i;
        }
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
    for (int i = k + 1 + t; i < n; i += block_size) message[1 + i] = column[i] / column[k];
}

// Updates the columns right of column k: one block per column, the first of which is the member's
// i-th.
static __global__ void update_columns(deal d, int k, int i, const double *message)
{
    double *column = d.own(i + blockIdx.x);
    if (message[0] < 0) return;
    int row = int(message[0]);
    if (threadIdx.x == 0) {
        double x = column[row];
        column[row] = column[k];
        column[k] = x;
    }
    __syncthreads();
    for (int j = k + 1 + threadIdx.x; j < d.n; j += block_size)
        column[j] -= message[1 + j] * column[k];
}

// For the last unknowns, y holds their values; for the others, the remaining right-hand sides of
// their equations. Computes unknown k from its column; in one block.
static __global__ void substitute(const double *column, int k, double *y)
{
    double unknown = y[k] / column[k];
    __syncthreads(); // all have read y[k]
    if (threadIdx.x == 0) y[k] = unknown;
    for (int i = threadIdx.x; i < k; i += block_size) y[i] -= column[i] * unknown;
}

// Copies all rows to every member: each goes over one host link, and then over those between
// devices.
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
        for (int k = 0; k < devices; ++k)
            if (k != owner) send(message(k), k, message(owner), owner, n + 1, streams[owner]);
        streams[owner].record();
        for (const stream &s : streams) s.wait_for(streams[owner]);
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
    if (std::find(pivots.begin(), pivots.end(), -1.0) != pivots.end()) return 1;
    check(cudaMemcpy(x_host, y[0].at, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    return eliminate(augmented_host, n, x_host, 1);
}
