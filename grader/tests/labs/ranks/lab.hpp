// A lab for the grader's own tests: a sum by several processes, the ranks of an Open MPI job.
#pragma once

// Called on every rank. Sums values_host[i] for i < n, on all ranks' devices, to *sum_host, and
// returns the number of ranks, on every rank. Only rank 0 has values_host (n values) and sum_host:
// they are null elsewhere; n is the same everywhere.
int sum_on_ranks(const int *values_host, int n, int *sum_host);

// Whether MPI may be given device memory here, on this rank.
extern bool device_buffers_work();
