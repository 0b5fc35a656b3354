// A failed device assert ends the kernel with its own error.
#include "check.hpp"

#include <cassert>

__global__ void check_positive(const int *p) { assert(p[threadIdx.x] > 0); }

int main()
{
    int *good = upload(std::vector<int>(32, 1)), *bad = upload(std::vector<int>{1, 2, -3, 4});
    check_positive<<<1, 32>>>(good);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(found().empty());
    check_positive<<<1, 4>>>(bad);
    CHECK_ERROR(cudaErrorAssert, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        CHECK(is(f, simulator::finding_kind::trap));
        CHECK(f.thread[0] == 2);
    }
    return failures != 0;
}
