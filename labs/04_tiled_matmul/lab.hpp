// Lab 04, tiled matrix multiplication: the functions to write. The lesson is
// handouts/04_tiled_matmul.md.
//
// All pointers are device pointers to float, aligned to 4 bytes and no more:
// each matrix may start at its own place within a float4 (16 bytes) or a sector
// (32 bytes). Matrices are row-major, without gaps between rows; those of one
// call do not overlap. A size is at least 0 and at most 1000000, the product of
// any two at most 2^30. A matrix with no element is legal.
//
// Sums are taken in float, in any order: no half, no TF32. The functions return
// when their work has been launched; the grader waits for it, and asks the
// runtime for launch errors. A function may throw a std::exception to report an
// error of its own, as check() of ../check.hpp does.
#pragma once

// Multiplies two square matrices.
//   M, N, P: width x width, width a multiple of 32.
//   P[r * width + c] = sum over i of M[r * width + i] * N[i * width + c].
// The lesson: a block loads shared elements once, and that needs two barriers.
void matmul_square(const float *M, const float *N, float *P, int width);

// Multiplies two matrices of any size.
//   M: j x k, N: k x l, P: j x l.
//   P[r * l + c] = sum over i < k of M[r * k + i] * N[i * l + c]; all zeros
//   when k is 0.
// The lesson: tiles that hang over the edge, and threads that load but do not
// compute.
void matmul(const float *M, const float *N, float *P, int j, int k, int l);

// Multiplies, scales and adds, as the BLAS function of this name does for
// row-major matrices.
//   A: j x k, B: k x l, C: j x l, changed in place.
//   C[r * l + c] = alpha * (sum over i < k of A[r * k + i] * B[i * l + c])
//                + beta * C[r * l + c].
// When beta is 0, C is only written: its old values, NaN included, leave no
// trace.
void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l);
