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

namespace grading {

// The leader: starts `ranks` ranks of this program with `mpirun`, serves the parent on descriptor
// 3. Returns the process's status.
[[gnu::weak]] int lead_ranks(int ranks, const char *mpirun);

// A rank's keeper: starts the rank for the leader at that address, and reports how it ended.
[[gnu::weak]] int keep_rank(const char *leader);

// A rank: `serve` between MPI_Init and MPI_Finalize. Returns the process's status.
[[gnu::weak]] int be_rank(int (*serve)());

// Of this process in its job; 0 where it is in none.
int rank_of_process();
// The device that this process works on unless its code chooses another: by its rank on this
// machine.
int home_device();

} // namespace grading
