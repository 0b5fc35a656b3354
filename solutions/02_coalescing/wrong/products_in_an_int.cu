// Fails: warps_hiding_latency: any memory | WRONG_ANSWER | warps_hiding_latency was asked about
// The products do not fit the type in which they are computed.
#include "lab.hpp"

#include <cuda_runtime.h>

void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        memory_demand m = demands_host[i];
        unsigned bytes_by_mhz = 1000u * m.latency_cycles * m.gb_per_s;
        unsigned of_warp = 32u * m.bytes_per_thread * m.multiprocessors * m.clock_mhz;
        warps_host[i] = of_warp == 0 ? 1 : static_cast<int>((bytes_by_mhz + of_warp - 1) / of_warp);
    }
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
