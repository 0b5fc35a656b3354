// For students' files and ours: every call of the runtime can fail, and every
// launch. Both functions throw what the grader then reports, "STEP: ERROR".
//
//     check(cudaMalloc(&at, bytes), "cudaMalloc");
//     add<<<blocks, threads>>>(a, b, n);
//     check_launch("add");
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

// What failed, and why. Without std::string, whose header alone takes the
// compiler as long as everything that CUDA includes.
class cuda_failure : public std::exception {
public:
    // step: copied, at most 100 characters
    cuda_failure(const char *step, cudaError_t error)
    {
        std::snprintf(text_, sizeof text_, "%.100s: %s", step, cudaGetErrorString(error));
    }
    const char *what() const noexcept override { return text_; }

private:
    char text_[256];
};

// Throws cuda_failure unless `error` is cudaSuccess.
inline void check(cudaError_t error, const char *step)
{
    if (error != cudaSuccess) throw cuda_failure(step, error);
}

// That the kernel just launched could start; the error stays for the grader.
inline void check_launch(const char *kernel) { check(cudaPeekAtLastError(), kernel); }
