// cp.async of a source that is shorter than what is copied.
#include "check.hpp"

__device__ unsigned shared_at(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// The source is shorter than what is copied: zeros follow.
__global__ void with_zeros(const char *in, int *out)
{
    __shared__ int tile[64];
    unsigned bytes = threadIdx.x % 5;
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_at(tile + threadIdx.x)),
        "l"(in + 4 * threadIdx.x), "r"(bytes)
        : "memory");
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    simulator_begin();
    auto *text = upload(std::vector<char>(256, 1));
    int *words = upload(std::vector<int>(64, -1));
    with_zeros<<<1, 64>>>(text, words);
    const auto all = download(words, 64);
    CHECK(all[0] == 0 && all[1] == 1 && all[2] == 0x101 && all[3] == 0x10101 &&
          all[4] == 0x1010101);
    return done();
}
