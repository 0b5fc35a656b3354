// Planted faults, each with exactly the finding that it must give; without them, none. What is
// checked beyond that, stands in programs of its own.
#include "check.hpp"

#include <cassert>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <string>

namespace cg = cooperative_groups;

#include "planted/planted.hpp"

#include "planted/barriers.cu"
#include "planted/copies.cu"
#include "planted/host.cu"
#include "planted/memory.cu"
#include "planted/races.cu"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 1>>>(); // the code is read once, for all of them
    CHECK_CUDA(cudaDeviceSynchronize());
    const std::string here = __FILE__, folder = here.substr(0, here.rfind('/')) + "/planted/";
    planted_count n;
    n.run(memory_faults(), (folder + "memory.cu").c_str());
    n.run(races(), (folder + "races.cu").c_str());
    n.run(barrier_faults(), (folder + "barriers.cu").c_str());
    n.run(copy_faults(), (folder + "copies.cu").c_str());
    n.run(host_faults(), (folder + "host.cu").c_str());
    std::printf("%d of %d planted faults found, %d of %d twins silent\n", n.faults, n.all, n.silent,
                n.all);
    CHECK(n.faults == n.all && n.silent == n.all);
    return done();
}
