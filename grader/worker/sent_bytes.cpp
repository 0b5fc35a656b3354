// Counts the bytes that a rank's submission sends by MPI, through MPI's profiling interface.
//
// Only bytes for other ranks count; MPI_Put and MPI_Accumulate count for any target, whose rank is
// one in the window's group. A collective call counts this rank's contribution, however MPI
// implements the call: once per receiver, but only once in a reduction. Calls that are not defined
// below, such as MPI_Get, MPI_Rput and MPI_Reduce_scatter, count nothing.
#include "ranks.hpp"

#include <mpi.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace grading {

static std::atomic<std::uint64_t> sent_bytes;

std::uint64_t take_sent_bytes() { return sent_bytes.exchange(0); }

namespace {

std::uint64_t size_of(MPI_Datatype type)
{
    int bytes = 0;
    return PMPI_Type_size(type, &bytes) == MPI_SUCCESS ? static_cast<std::uint64_t>(bytes) : 0;
}

std::uint64_t bytes(int count, MPI_Datatype type)
{
    return count > 0 ? static_cast<std::uint64_t>(count) * size_of(type) : 0;
}

int rank_in(MPI_Comm c)
{
    int rank = 0;
    PMPI_Comm_rank(c, &rank);
    return rank;
}

int others_in(MPI_Comm c)
{
    int ranks = 1;
    PMPI_Comm_size(c, &ranks);
    return ranks - 1;
}

std::uint64_t to_one(int count, MPI_Datatype type, int to, MPI_Comm c)
{
    return to == MPI_PROC_NULL || to == rank_in(c) ? 0 : bytes(count, type);
}

std::uint64_t to_all(int count, MPI_Datatype type, MPI_Comm c)
{
    return bytes(count, type) * static_cast<std::uint64_t>(others_in(c));
}

std::uint64_t from_root(int count, MPI_Datatype type, int root, MPI_Comm c)
{
    return rank_in(c) == root ? to_all(count, type, c) : 0;
}

std::uint64_t to_root(int count, MPI_Datatype type, int root, MPI_Comm c)
{
    return rank_in(c) == root ? 0 : bytes(count, type);
}

// Returns the bytes for all other ranks, each of which receives its own count.
std::uint64_t to_each(const int *counts, MPI_Datatype type, MPI_Comm c)
{
    std::uint64_t sum = 0;
    for (int k = 0; k <= others_in(c); ++k)
        if (k != rank_in(c)) sum += bytes(counts[k], type);
    return sum;
}

// Persistent requests, with the bytes that each start sends.
std::mutex prepared_mutex;
std::map<MPI_Request, std::uint64_t> prepared;

int prepare(int error, MPI_Request request, std::uint64_t n)
{
    std::lock_guard lock(prepared_mutex);
    if (error == MPI_SUCCESS) prepared[request] = n;
    return error;
}

void start(MPI_Request request)
{
    std::lock_guard lock(prepared_mutex);
    if (auto at = prepared.find(request); at != prepared.end()) sent_bytes += at->second;
}

} // namespace
} // namespace grading

using namespace grading;

// Defines a function of MPI by its parameters, the arguments to pass on, and the bytes to count.
#define COUNTED(function, parameters, arguments, count)                                            \
    extern "C" int MPI_##function parameters                                                       \
    {                                                                                              \
        sent_bytes += count;                                                                       \
        return PMPI_##function arguments;                                                          \
    }

#define COUNTED_SEND(function)                                                                     \
    COUNTED(function, (const void *from, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),      \
            (from, n, t, to, tag, c), to_one(n, t, to, c))
COUNTED_SEND(Send)
COUNTED_SEND(Bsend)
COUNTED_SEND(Ssend)
COUNTED_SEND(Rsend)

#define COUNTED_ISEND(function)                                                                    \
    COUNTED(                                                                                       \
        function,                                                                                  \
        (const void *from, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),    \
        (from, n, t, to, tag, c, r), to_one(n, t, to, c))
COUNTED_ISEND(Isend)
COUNTED_ISEND(Ibsend)
COUNTED_ISEND(Issend)
COUNTED_ISEND(Irsend)

#define PREPARED_SEND(function)                                                                    \
    extern "C" int MPI_##function(const void *from, int n, MPI_Datatype t, int to, int tag,        \
                                  MPI_Comm c, MPI_Request *r)                                      \
    {                                                                                              \
        int error = PMPI_##function(from, n, t, to, tag, c, r);                                    \
        return prepare(error, *r, to_one(n, t, to, c));                                            \
    }
PREPARED_SEND(Send_init)
PREPARED_SEND(Bsend_init)
PREPARED_SEND(Ssend_init)
PREPARED_SEND(Rsend_init)

extern "C" int MPI_Start(MPI_Request *r)
{
    start(*r);
    return PMPI_Start(r);
}

extern "C" int MPI_Startall(int n, MPI_Request *r)
{
    for (int i = 0; i < n; ++i) start(r[i]);
    return PMPI_Startall(n, r);
}

COUNTED(Sendrecv,
        (const void *from, int n, MPI_Datatype t, int to, int tag, void *into, int m,
         MPI_Datatype u, int sender, int receive_tag, MPI_Comm c, MPI_Status *s),
        (from, n, t, to, tag, into, m, u, sender, receive_tag, c, s), to_one(n, t, to, c))
COUNTED(Sendrecv_replace,
        (void *at, int n, MPI_Datatype t, int to, int tag, int sender, int receive_tag, MPI_Comm c,
         MPI_Status *s),
        (at, n, t, to, tag, sender, receive_tag, c, s), to_one(n, t, to, c))
COUNTED(Put,
        (const void *from, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u,
         MPI_Win w),
        (from, n, t, to, at, m, u, w), bytes(n, t))
COUNTED(Accumulate,
        (const void *from, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u,
         MPI_Op o, MPI_Win w),
        (from, n, t, to, at, m, u, o, w), bytes(n, t))

// Defines a collective call and its non-blocking form.
#define UNWRAP(...) __VA_ARGS__
#define COLLECTIVE(function, nonblocking, parameters, arguments, count)                            \
    COUNTED(function, (UNWRAP parameters), (UNWRAP arguments), count)                              \
    COUNTED(nonblocking, (UNWRAP parameters, MPI_Request * r), (UNWRAP arguments, r), count)

COLLECTIVE(Bcast, Ibcast, (void *at, int n, MPI_Datatype t, int root, MPI_Comm c),
           (at, n, t, root, c), from_root(n, t, root, c))
COLLECTIVE(Scatter, Iscatter,
           (const void *from, int n, MPI_Datatype t, void *into, int m, MPI_Datatype u, int root,
            MPI_Comm c),
           (from, n, t, into, m, u, root, c), from_root(n, t, root, c))
COLLECTIVE(Scatterv, Iscatterv,
           (const void *from, const int *n, const int *starts, MPI_Datatype t, void *into, int m,
            MPI_Datatype u, int root, MPI_Comm c),
           (from, n, starts, t, into, m, u, root, c), rank_in(c) == root ? to_each(n, t, c) : 0)
COLLECTIVE(Gather, Igather,
           (const void *from, int n, MPI_Datatype t, void *into, int m, MPI_Datatype u, int root,
            MPI_Comm c),
           (from, n, t, into, m, u, root, c), to_root(n, t, root, c))
COLLECTIVE(Gatherv, Igatherv,
           (const void *from, int n, MPI_Datatype t, void *into, const int *m, const int *starts,
            MPI_Datatype u, int root, MPI_Comm c),
           (from, n, t, into, m, starts, u, root, c), to_root(n, t, root, c))
COLLECTIVE(Allgather, Iallgather,
           (const void *from, int n, MPI_Datatype t, void *into, int m, MPI_Datatype u, MPI_Comm c),
           (from, n, t, into, m, u, c), from == MPI_IN_PLACE ? to_all(m, u, c) : to_all(n, t, c))
COLLECTIVE(Allgatherv, Iallgatherv,
           (const void *from, int n, MPI_Datatype t, void *into, const int *m, const int *starts,
            MPI_Datatype u, MPI_Comm c),
           (from, n, t, into, m, starts, u, c), to_all(m[rank_in(c)], u, c))
COLLECTIVE(Alltoall, Ialltoall,
           (const void *from, int n, MPI_Datatype t, void *into, int m, MPI_Datatype u, MPI_Comm c),
           (from, n, t, into, m, u, c), to_all(m, u, c))
COLLECTIVE(Alltoallv, Ialltoallv,
           (const void *from, const int *n, const int *starts, MPI_Datatype t, void *into,
            const int *m, const int *places, MPI_Datatype u, MPI_Comm c),
           (from, n, starts, t, into, m, places, u, c),
           from == MPI_IN_PLACE ? to_each(m, u, c) : to_each(n, t, c))
COLLECTIVE(Reduce, Ireduce,
           (const void *from, void *into, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
           (from, into, n, t, o, root, c), to_root(n, t, root, c))
COLLECTIVE(Allreduce, Iallreduce,
           (const void *from, void *into, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (from, into, n, t, o, c), others_in(c) > 0 ? bytes(n, t) : 0)
