// Lab 04 by the vendor: cuBLAS, kept to float arithmetic.
#include "lab.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <stdexcept>
#include <string>

static void require(cublasStatus_t status, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

// One handle serves all calls of the process; to make it takes longer than to multiply.
static cublasHandle_t handle()
{
    static cublasHandle_t made = [] {
        cublasHandle_t h = nullptr;
        require(cublasCreate(&h), "cublasCreate");
        // Without it cuBLAS may round to TF32, or put floats together from smaller ones.
        require(cublasSetMathMode(h, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
        return h;
    }();
    return made;
}

// cuBLAS takes matrices to be column-major, that is, to hold the transpose of ours. The transpose
// of A B is B^T A^T, so exchanging the operands is all there is to do.
void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    require(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, l, j, k, &alpha, B, l, A,
                        std::max(k, 1), &beta, C, l),
            "cublasSgemm");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
