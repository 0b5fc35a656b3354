// Three-dimensional memory: pitched allocations, copies of boxes, fills.
#include "check.hpp"

#include <numeric>

__global__ void double_box(cudaPitchedPtr p, cudaExtent size)
{
    const size_t x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x * sizeof(int) >= size.width || y >= size.height) return;
    char *slice = static_cast<char *>(p.ptr) + z * p.pitch * size.height;
    reinterpret_cast<int *>(slice + y * p.pitch)[x] *= 2;
}

int main()
{
    const size_t w = 7, h = 5, d = 3;
    const cudaExtent size = make_cudaExtent(w * sizeof(int), h, d);
    std::vector<int> in(w * h * d), out(w * h * d);
    std::iota(in.begin(), in.end(), 1);
    cudaPitchedPtr device;
    CHECK_CUDA(cudaMalloc3D(&device, size));
    CHECK(device.pitch >= w * sizeof(int) && device.xsize == w * sizeof(int) && device.ysize == h);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(in.data(), w * sizeof(int), w, h);
    p.dstPtr = device;
    p.extent = size;
    p.kind = cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpy3D(&p));
    double_box<<<d, dim3(8, 8)>>>(device, size);
    p.srcPtr = device;
    p.dstPtr = make_cudaPitchedPtr(out.data(), w * sizeof(int), w, h);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK_CUDA(cudaMemcpy3D(&p));
    bool right = true;
    for (size_t i = 0; i < in.size(); ++i) right = right && out[i] == 2 * in[i];
    CHECK(right);

    // One box inside: (1..3, 2..3, 1..2) to the front of another.
    cudaMemcpy3DParms part = {};
    part.srcPtr = device;
    part.srcPos = make_cudaPos(1 * sizeof(int), 2, 1);
    part.dstPtr = make_cudaPitchedPtr(out.data(), w * sizeof(int), w, h);
    part.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    part.kind = cudaMemcpyDefault;
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(cudaMemcpy3DAsync(&part, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    for (size_t z = 0; z < 2; ++z)
        for (size_t y = 0; y < 2; ++y)
            for (size_t x = 0; x < 3; ++x)
                CHECK(out[(z * h + y) * w + x] == 2 * in[((z + 1) * h + y + 2) * w + x + 1]);
    CHECK(out[3] == 2 * in[3]);

    CHECK_CUDA(cudaMemset3D(device, 0, make_cudaExtent(2 * sizeof(int), h, d)));
    CHECK_CUDA(cudaMemcpy3D(&p));
    CHECK(out[1] == 0 && out[2] == 2 * in[2] && out[(h + 4) * w + 1] == 0);
    int *flat = nullptr;
    CHECK_CUDA(cudaMalloc(&flat, 64 * sizeof(int)));
    CHECK_CUDA(cudaMemset2D(flat, 8 * sizeof(int), 0xff, 4 * sizeof(int), 8));
    CHECK(download(flat + 8, 4)[3] == -1);
    CHECK(done() == 0);

    part.srcPtr.ysize = 0; // all slices lie at one place
    CHECK_ERROR(cudaErrorInvalidPitchValue, cudaMemcpy3D(&part));
    part.srcPtr = device;
    part.extent.height = 6; // one row too many
    part.srcPos = make_cudaPos(0, 0, 2);
    CHECK_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&part));
    const auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::out_of_bounds));
    return failures != 0;
}
