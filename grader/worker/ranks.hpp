// Several workers as the ranks of one Open MPI job, which to the parent are one worker.
//
//   parent -- leader -- mpirun -- a keeper for each rank -- the rank, which is a worker like any
//
// The leader hands each request to all ranks over sockets that owe nothing to MPI, and answers once
// all have, or for the rank that ended, erred or did not return. Only rank 0 gets the arguments'
// memory; the others get the values, and null pointers.
//
// Weak: a worker that is not linked with MPI lacks them.
#pragma once

#include <cstdint>

namespace grading {

// The leader: starts `ranks` ranks of this program with `mpirun`, serves the parent on descriptor
// 3. Returns the process's status.
[[gnu::weak]] int lead_ranks(int ranks, const char *mpirun);

// A rank's keeper: starts the rank for the leader at that address, and reports how it ended.
[[gnu::weak]] int keep_rank(const char *leader);

// A rank: `serve` between MPI_Init and MPI_Finalize. Returns 0. What `serve` returns else is at
// once the process's status, without MPI_Finalize, which would wait for the others.
[[gnu::weak]] int be_rank(int (*serve)());
constexpr int without_leader = 125; // that of a rank whose connection to its leader broke

// Bytes that this rank's submission has given MPI since the last time, for other ranks: sends,
// MPI_Put, and its part of collective calls; a broadcast counts for each of those who get it.
[[gnu::weak]] std::uint64_t take_sent_bytes();

// Of this process in its job; 0 where it is in none.
int rank_of_process();
// The device that this process works on unless its code chooses another: by its rank on this
// machine.
int home_device();

} // namespace grading
