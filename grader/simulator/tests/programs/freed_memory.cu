// A read of freed memory, a read of a host pointer and a null pointer: each found for what it is.
#include "check.hpp"

__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }

void expect_finding(const int *from, simulator::finding_kind kind, const char *where)
{
    int *to = nullptr;
    CHECK_CUDA(cudaMalloc(&to, 32 * sizeof(int)));
    copy<<<1, 32>>>(from, to);
    CHECK_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    if (all.empty()) return;
    CHECK(is(all[0], kind));
    CHECK(!all[0].write);
    CHECK(std::strstr(all[0].where, where));
    if (failures) std::printf("kind %d, where %s\n", all[0].kind, all[0].where);
}

int main()
{
    CHECK(in_child([] {
        int *from = upload(std::vector<int>(32, 1));
        simulator_label(from, 32 * sizeof(int), "from");
        CHECK_CUDA(cudaFree(from));
        expect_finding(from, simulator::finding_kind::use_after_free, "`from`");
    }));
    CHECK(in_child([] {
        const std::vector<int> host(32);
        expect_finding(host.data(), simulator::finding_kind::host_pointer, "no device memory");
    }));
    CHECK(in_child(
        [] { expect_finding(nullptr, simulator::finding_kind::null_pointer, "null pointer"); }));
    return failures != 0;
}
