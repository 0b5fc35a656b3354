// Lab 15, linear solver: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/15_linear_solver.md. Stuck? ./workbook hint 15.
//
// The arithmetic, the launches on one device and all messages are missing; the
// launches on several devices are in place. Streams and memory are those of
// ../devices.hpp. Change all of it where your idea needs it.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <vector>

using std::size_t;

constexpr int block_size = 256;

// Fills columns from the rows of the system: one block per column. Block b
// takes column first + b * step; it has n numbers, from top to bottom.
static __global__ void take_columns(const double *rows, double *columns, int n, int first, int step)
{
    double *column = columns + size_t(blockIdx.x) * n;
    size_t j = first + size_t(blockIdx.x) * step;
    for (int i = threadIdx.x; i < n; i += block_size) column[i] = rows[i * size_t(n + 1) + j];
}

// Returns the row of the column's largest number, by magnitude, from row k on;
// -1 if there are only zeros. All threads of a block call this.
static __device__ int find_pivot(const double *column, int n, int k)
{
    __shared__ double values[block_size];
    __shared__ int rows[block_size];
    int t = threadIdx.x;
    values[t] = 0;
    rows[t] = -1;
    // TODO 1 (eliminate_one: one equation, or a column of zeros): values[t]
    // must be the largest magnitude in rows k + t, k + t + block_size, ..., and
    // rows[t] its row; -1 if all of them are 0.
    __syncthreads();
    for (int half = block_size / 2; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            rows[t] = rows[t + half];
        }
        __syncthreads();
    }
    return rows[0];
}

// Exchanges two numbers of a column, those in rows k and `row`. All threads of
// a block call this.
static __device__ void exchange_rows(double *column, int k, int row)
{
    // TODO 2 (eliminate_one: one unknown per equation): They must be exchanged
    // once, before any thread returns.
}

// For the last unknowns, y holds their values; for the others, the remaining
// right-hand sides of their equations. Computes unknown k from its column; in
// one block.
static __global__ void substitute(const double *column, int k, double *y)
{
    double unknown = y[k] / column[k];
    __syncthreads(); // all have read y[k]
    if (threadIdx.x == 0) y[k] = unknown;
    // TODO 3 (eliminate_one: triangles): The multiples of unknown k must be
    // subtracted from the right-hand sides of the equations above.
}

// Writes the message about column k: message[0] is the row of the pivot, or -1
// if there is none; message[1 + i], for each row i below k, is the row's
// multiplier: how many times row k must be subtracted from it. In one block.
static __global__ void pick_pivot(double *column, int n, int k, double *message)
{
    int row = find_pivot(column, n, k);
    if (threadIdx.x == 0) message[0] = row;
    if (row < 0) return;
    exchange_rows(column, k, row);
    // TODO 4 (eliminate_one): The message must hold the multipliers of all rows
    // below row k.
}

// Updates columns right of column k by its message: one block per column.
static __global__ void update_columns(double *columns, int n, int k, const double *message)
{
    double *column = columns + size_t(blockIdx.x) * n;
    if (message[0] < 0) return;
    exchange_rows(column, k, int(message[0]));
    // TODO 5 (eliminate_one): The multiples of row k must be subtracted from
    // the rows below it.
}

static void copy_numbers(double *to, const double *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(double) * n, cudaMemcpyDefault), "cudaMemcpy");
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    use(0);
    size_t row = n + 1;
    array<double> rows(n * row), columns(n * row), messages(n * row);
    auto column = [&](int j) { return columns.at + size_t(j) * n; };
    copy_numbers(rows.at, augmented_host, n * row);
    take_columns<<<n + 1, block_size>>>(rows.at, columns.at, n, 0, 1);
    for (int k = 0; k < n; ++k) {
        double *message = messages.at + k * row, pivot_row = -1;
        // TODO 1 (eliminate_one: one equation, or a column of zeros):
        // pick_pivot must run for column k, and pivot_row must be the first
        // number of its message.
        if (pivot_row < 0) return 1;
        // TODO 2 (eliminate_one: one unknown per equation): update_columns must
        // run for all columns right of column k, the right-hand side included.
        check_launch("a launch of eliminate_one");
        // TODO 6 (eliminate_one: who waits): The host must not wait for each
        // column, for the device is idle while it does; and a singular system
        // must be found all the same.
    }
    // TODO 7 (eliminate_one: what is loaded): Your own design. A number that is
    // loaded must serve several multiplications: at most 18 bytes may be loaded
    // and stored per multiplication, half of the 36 counted before.

    // TODO 1 (eliminate_one: one equation, or a column of zeros): substitute
    // must run for each unknown, from the last to the first.
    check_launch("substitute");
    copy_numbers(x_host, column(n), n);
    return 0;
}

// Lets devices send to each other directly, not through the host, where they
// can.
static void enable_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int from = device_of(i), to = device_of(j), can = 0;
            if (from == to) continue;
            check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
            if (!can) continue;
            use(i);
            if (cudaDeviceEnablePeerAccess(to, 0) != cudaSuccess)
                if (cudaError_t e = cudaGetLastError(); e != cudaErrorPeerAccessAlreadyEnabled)
                    check(e, "cudaDeviceEnablePeerAccess");
        }
}

// Columns are dealt out like cards: column j of the system belongs to member
// j % devices; the right-hand side is column n. A member keeps its columns one
// after the other, n numbers each, from top to bottom.
struct deal {
    int n, devices, member;
    double *columns;
    // Returns how many of its columns lie before column j.
    __host__ __device__ int own_before(int j) const { return (j - member + devices - 1) / devices; }
    // Returns its i-th column.
    __host__ __device__ double *own(int i) const { return columns + size_t(i) * n; }
};

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
            take_columns<<<own, block_size, 0, streams[k].at>>>(rows[k].at, columns[k].at, n, k,
                                                                devices);
    }

    for (int j = 0; j < n; ++j) {
        int owner = j % devices;
        auto message = [&](int member) { return messages[member].at + j * size_t(n + 1); };
        use(owner);
        pick_pivot<<<1, block_size, 0, streams[owner].at>>>(deals[owner].own(j / devices), n, j,
                                                            message(owner));
        // TODO 8 (eliminate): All other members must get the message, n + 1
        // numbers, and no stream may go on without it. The host must not wait.
        for (int k = 0; k < devices; ++k) {
            int i = deals[k].own_before(j + 1), left = deals[k].own_before(n + 1) - i;
            use(k);
            if (left > 0)
                update_columns<<<left, block_size, 0, streams[k].at>>>(deals[k].own(i), n, j,
                                                                       message(k));
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

// Columns are dealt out to ranks as eliminate deals them out to devices. All
// ranks run this function, each in a process of its own.
int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks = 0, rank = 0;
    // TODO 9 (eliminate_ranks): `ranks` must be the number of ranks in
    // MPI_COMM_WORLD, and `rank` the number of this process among them.
    if (ranks == 0) return 0; // not written yet
    dealt_columns all(n, ranks);
    if (rank == 0) all.take(augmented_host);
    std::vector<double> own(all.counts[rank]);
    // TODO 9 (eliminate_ranks): `own` must hold this rank's columns, which are
    // in all.numbers on rank 0; their counts and starts are in `all`.

    array<double> columns(own.size()), message(n + 1);
    std::vector<double> travelling(n + 1);
    copy_numbers(columns.at, own.data(), own.size());
    deal d{n, ranks, rank, columns.at};
    for (int j = 0; j < n; ++j) {
        if (rank == j % ranks) {
            pick_pivot<<<1, block_size>>>(d.own(j / ranks), n, j, message.at);
            copy_numbers(travelling.data(), message.at, n + 1);
        }
        // TODO 10 (eliminate_ranks): All ranks must have the `travelling` of
        // the column's owner, and all but the owner must have it at message.at,
        // too.
        int i = d.own_before(j + 1), left = d.own_before(n + 1) - i;
        if (left > 0) update_columns<<<left, block_size>>>(d.own(i), n, j, message.at);
        check_launch("a launch of eliminate_ranks");
    }
    copy_numbers(own.data(), columns.at, own.size());
    // TODO 11 (eliminate_ranks): On rank 0 all.numbers must hold the columns of
    // all ranks.

    int singular = 0;
    if (rank == 0) singular = substitute_back(all, x_host);
    // TODO 12 (eliminate_ranks: singular systems): All ranks must return what
    // rank 0 does.
    return singular;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
