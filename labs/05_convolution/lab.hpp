// Lab 05, convolution: the functions to write. The lesson is
// handouts/05_convolution.md.
//
// Pointers are device pointers unless their names end in _host; all are aligned
// to 4 bytes and no more: each array may start at its own place within a float4
// (16 bytes) or a sector (32 bytes). Arrays of one call do not overlap. Images
// are rows x cols, row-major, without gaps between rows; a size is at least 0
// and at most 500000, rows * cols at most 2^30. An image with no pixel is
// legal, and so is one that is smaller than the filter. All numbers are finite.
//
// 0 <= radius <= 16, and a filter has d = 2 * radius + 1 elements per side. It
// is in host memory that belongs to the caller, who may change it as soon as
// the function has returned.
//
// Sums are taken in float, in any order: no half, no TF32. The functions return
// when their work has been launched; the grader waits for it, and asks the
// runtime for launch errors. A function may throw a std::exception to report an
// error of its own, as check() of ../check.hpp does.
#pragma once

#include <cstddef>

// Filters an image.
//   image, out: rows x cols; filter_host: d x d, row-major.
//   out[r * cols + c] = sum over y, x < d of filter_host[y * d + x] times the
//   pixel in row r + y - radius and column c + x - radius of the image. The
//   filter is not flipped. Beyond the image all pixels are 0.
// The lesson: where to keep the values that all threads read, and those that
// neighbours share.
void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius);

// The same, but beyond the image the edges are repeated: a pixel there equals
// the nearest pixel of the image.
// The lesson: only the code that loads the halo handles the edge.
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius);

// Filters an image by a separable filter: convolve with the filter whose
// element in row y and column x is column_filter_host[y] * row_filter_host[x].
//   image, out: rows x cols; row_filter_host, column_filter_host: d each.
//   convolve_separable_scratch, on the host, returns how many bytes of scratch
//   memory it needs for such an image (0 is fine); `scratch` then points to
//   that many bytes of device memory at a multiple of 256. Their contents are
//   undefined, and the function may use them until its work is done.
// The lesson: 2 d multiply-adds in place of d * d, and then memory is the limit.
size_t convolve_separable_scratch(int rows, int cols, int radius);
void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch);

// --- Not timed ---

#include <vector_types.h> // float2

// Samples an image between its pixels. Optional: the lab's last function.
//   image: height x width bytes, row-major, at any address, 1 to 131072 bytes
//   wide and 1 to 65000 high, and at most 2^30 in all; at, out: n each, `at`
//   aligned to 8 bytes; n is at most 2^30, and 0 does nothing. The pixel in row
//   r and column c has its centre at x = c, y = r, and the value image[r *
//   width + c] / 255. out[i] is the bilinear interpolation of the four pixels
//   around at[i]; outside, the pixels at the edge are repeated for ever. An
//   error of 1/128 is allowed. A call frees and destroys what it makes, or
//   keeps it for later calls, which then make no more.
// The lesson: a texture does all that in one fetch.
void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n);
