// An opcode that the simulator does not know stops the kernel with opcode, kernel and line; here
// the tensor cores.
#include "check.hpp"

#include <cuda_fp16.h>
#include <mma.h>

__global__ void product(const __half *a, float *c)
{
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(x, a, 16); // the first
    wmma::load_matrix_sync(y, a, 16);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main()
{
    __half *a = upload(std::vector<__half>(256, 1));
    float *c = upload(std::vector<float>(256, 0));
    product<<<1, 32>>>(a, c);
    CHECK_ERROR(cudaErrorNotSupported, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        CHECK(is(f, simulator::finding_kind::unsupported));
        CHECK(std::strstr(f.kernel, "product") != nullptr);
        CHECK(std::strstr(f.detail, "wmma.load.a") != nullptr);
        CHECK(f.line == line_with(__FILE__, "16); // the first"));
    }
    return failures != 0;
}
