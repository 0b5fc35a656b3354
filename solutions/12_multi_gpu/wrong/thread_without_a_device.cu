// Fails: merge_images: a share for each | TOO_SLOW | whatever the thread that started it
#include "lab.hpp"

#include <thread>

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

static void merge_pixels(const unsigned char *first_host, const unsigned char *second_host,
                         unsigned char *out_host, int n)
{
    unsigned char *first = nullptr, *second = nullptr;
    if (n == 0) return;
    cudaMalloc(&first, n);
    cudaMalloc(&second, n);
    cudaMemcpy(first, first_host, n, cudaMemcpyHostToDevice);
    cudaMemcpy(second, second_host, n, cudaMemcpyHostToDevice);
    merge<<<(n + 255) / 256, 256>>>(first, second, first, n);
    cudaMemcpy(out_host, first, n, cudaMemcpyDeviceToHost);
    cudaFree(first);
    cudaFree(second);
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    std::thread threads[max_members];
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        int image = width * height, from = image * (count * k / devices);
        int to = image * (count * (k + 1) / devices);
        threads[k] = std::thread([=] {
            merge_pixels(first_host + from, second_host + from, out_host + from, to - from);
        });
    }
    for (int k = 0; k < devices; ++k) threads[k].join();
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void all_reduce(float *const *, int, int) {}
