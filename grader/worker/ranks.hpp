// Several workers as the ranks of one Open MPI job, which the parent sees as one worker.
//
//   parent -- leader -- mpirun -- one keeper per rank -- the rank, an ordinary worker
//
// The leader sends each request to all ranks over sockets independent of MPI. It answers once all
// have answered, or for the rank that ended, failed or did not return. Only rank 0 gets the
// arguments' memory; the others get the values, and null pointers.
//
// The functions are weak because a worker that is not linked with MPI lacks them.
#pragma once

#include <cstdint>

namespace grading {

// Leader: starts `ranks` ranks of this program with `mpirun` and serves the parent on descriptor 3.
// Returns the process's exit status.
[[gnu::weak]] int lead_ranks(int ranks, const char *mpirun);

// Keeper: starts the rank for the leader at that address, and reports how it ended.
[[gnu::weak]] int keep_rank(const char *leader);

// Rank: calls `serve` between MPI_Init and MPI_Finalize and returns 0. If `serve` returns another
// status, the process exits with it immediately: MPI_Finalize would wait for the other ranks.
[[gnu::weak]] int be_rank(int (*serve)());
constexpr int without_leader = 125; // exit status of a rank that lost its leader

// Returns the bytes that this rank's submission has passed to MPI for other ranks since the last
// call of this function: sends, MPI_Put, MPI_Accumulate, and its contribution to collective calls;
// a broadcast counts once per receiver.
[[gnu::weak]] std::uint64_t take_sent_bytes();

} // namespace grading
