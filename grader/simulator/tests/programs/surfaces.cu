// Surfaces: reads and writes of one to three dimensions and layers, what lies outside, and misuse.
#include "check.hpp"

#include <numeric>
#include <string>

const int w = 37, h = 5, d = 3;

__global__ void transform_plane(cudaSurfaceObject_t to, cudaSurfaceObject_t from)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    float v = surf2Dread<float>(from, x * 4, y);
    surf2Dwrite(2 * v + 1, to, (w - 1 - x) * 4, y);
}

__global__ void fill_volume(cudaSurfaceObject_t volume)
{
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    surf3Dwrite(make_short2(x + 100 * z, y), volume, x * 4, y, z);
}

__global__ void read_volume(int *out, cudaSurfaceObject_t volume)
{
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    const short2 v = surf3Dread<short2>(volume, x * 4, y, z);
    out[(z * gridDim.x + y) * blockDim.x + x] = 1000 * v.y + v.x;
}

__global__ void use_layers(int *out, cudaSurfaceObject_t rows, cudaSurfaceObject_t planes)
{
    const int x = threadIdx.x;
    for (int layer = 0; layer < d; ++layer) {
        surf1DLayeredwrite(uchar4{(unsigned char)x, 1, 2, (unsigned char)layer}, rows, x * 4,
                           layer);
        for (int y = 0; y < h; ++y)
            surf2DLayeredwrite(longlong2{x + 10 * y, -layer}, planes, x * 16, y, layer);
    }
    const int l = x % d, y = x % h;
    const uchar4 row = surf1DLayeredread<uchar4>(rows, x * 4, l);
    const longlong2 plane = surf2DLayeredread<longlong2>(planes, x * 16, y, l);
    out[x] = row.x == x && row.y == 1 && row.z == 2 && row.w == l && plane.x == x + 10 * y &&
             plane.y == -l;
}

// Accesses outside the surface: eight elements on each side.
__global__ void read_outside(int *zero, int *clamped, cudaSurfaceObject_t s, int n)
{
    const int x = threadIdx.x - 8;
    zero[threadIdx.x] = surf1Dread<int>(s, x * 4, cudaBoundaryModeZero);
    clamped[threadIdx.x] = surf1Dread<int>(s, x * 4, cudaBoundaryModeClamp);
    __syncthreads();
    surf1Dwrite(-1, s, (x < 0 || x >= n ? x : n) * 4, cudaBoundaryModeZero); // nowhere
    if (threadIdx.x == 0) surf1Dwrite(77, s, 400, cudaBoundaryModeClamp);    // to the last
}

__global__ void copy_some(cudaSurfaceObject_t s, const int *chosen)
{
    if (chosen[threadIdx.x]) surf1Dwrite(int(threadIdx.x), s, threadIdx.x * 4);
}

__global__ void one_too_far(cudaSurfaceObject_t s)
{
    surf2Dwrite(1.0f, s, threadIdx.x * 4, h); // no such row
}

__global__ void meet(cudaSurfaceObject_t s)
{
    surf1Dwrite(int(threadIdx.x), s, 4 * (threadIdx.x / 33)); // both warps
}

template <class T> cudaArray_t array(int width, int height, int depth, unsigned flags)
{
    const auto format = cudaCreateChannelDesc<T>();
    cudaArray_t a = nullptr;
    CHECK_CUDA(cudaMalloc3DArray(&a, &format, make_cudaExtent(width, height, depth), flags));
    return a;
}

static cudaSurfaceObject_t surface(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s = 0;
    CHECK_CUDA(cudaCreateSurfaceObject(&s, &r));
    return s;
}

static void planes()
{
    std::vector<float> in(w * h);
    std::iota(in.begin(), in.end(), 3.0f);
    cudaArray_t from = array<float>(w, h, 0, cudaArraySurfaceLoadStore);
    cudaArray_t to = array<float>(w, h, 0, cudaArraySurfaceLoadStore);
    CHECK_CUDA(cudaMemcpy2DToArray(from, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    const auto s = surface(from), t = surface(to);
    cudaResourceDesc r;
    CHECK_CUDA(cudaGetSurfaceObjectResourceDesc(&r, s));
    CHECK(r.resType == cudaResourceTypeArray && r.res.array.array == from);
    transform_plane<<<dim3(2, h), 32>>>(t, s);
    std::vector<float> out(w * h);
    CHECK_CUDA(
        cudaMemcpy2DFromArray(out.data(), w * 4, to, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
            right = right && out[y * w + w - 1 - x] == 2 * in[y * w + x] + 1;
    CHECK(right);
    CHECK_CUDA(cudaDestroySurfaceObject(s));
    CHECK_CUDA(cudaDestroySurfaceObject(t));
    CHECK_CUDA(cudaFreeArray(from));
    CHECK_CUDA(cudaFreeArray(to));
}

static std::vector<int> download(const int *from, int n)
{
    std::vector<int> out(n);
    CHECK_CUDA(cudaMemcpy(out.data(), from, n * sizeof(int), cudaMemcpyDeviceToHost));
    return out;
}

static void volumes(int *out)
{
    const auto s = surface(array<short2>(8, h, d, cudaArraySurfaceLoadStore));
    fill_volume<<<dim3(h, d), 8>>>(s);
    read_volume<<<dim3(h, d), 8>>>(out, s);
    const auto got = download(out, 8 * h * d);
    bool right = true;
    for (int i = 0; i < 8 * h * d; ++i)
        right = right && got[i] == 1000 * (i / 8 % h) + i % 8 + 100 * (i / (8 * h));
    CHECK(right);

    const unsigned layered = cudaArrayLayered | cudaArraySurfaceLoadStore;
    use_layers<<<1, 30>>>(out, surface(array<uchar4>(30, 0, d, layered)),
                          surface(array<int4>(30, h, d, layered)));
    for (int i : download(out, 30)) CHECK(i == 1);
}

static void edges(int *out)
{
    const int n = 16;
    std::vector<int> in(n);
    std::iota(in.begin(), in.end(), 1);
    cudaArray_t a = array<int>(n, 0, 0, cudaArraySurfaceLoadStore);
    CHECK_CUDA(cudaMemcpy2DToArray(a, 0, 0, in.data(), n * 4, n * 4, 1, cudaMemcpyHostToDevice));
    read_outside<<<1, n + 16>>>(out, out + 32, surface(a), n);
    const auto got = download(out, 64);
    for (int i = 0; i < 32; ++i) {
        const int x = i - 8;
        CHECK(got[i] == (x < 0 || x >= n ? 0 : in[x]));
        CHECK(got[32 + i] == in[std::min(std::max(x, 0), n - 1)]);
    }
    std::vector<int> chosen(n);
    for (int i = 0; i < n; ++i) chosen[i] = i % 3 == 0;
    CHECK_CUDA(cudaMemcpy(out, chosen.data(), n * 4, cudaMemcpyHostToDevice));
    copy_some<<<1, n>>>(surface(a), out);
    std::vector<int> back(n);
    CHECK_CUDA(
        cudaMemcpy2DFromArray(back.data(), n * 4, a, 0, 0, n * 4, 1, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) CHECK(back[i] == (i % 3 == 0 ? i : i == n - 1 ? 77 : in[i]));
}

static void misuse()
{
    cudaArray_t plain = array<float>(w, h, 0, cudaArrayDefault);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = plain;
    cudaSurfaceObject_t s = 0;
    CHECK_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(&s, &r)); // not made for it
    CHECK_ERROR(cudaErrorInvalidValue, cudaDestroySurfaceObject(12345));
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK_CUDA(cudaFreeArray(plain));
}

int main()
{
    int *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 1024 * sizeof(int)));
    planes();
    volumes(out);
    edges(out);
    misuse();
#ifndef ON_GPU
    simulator_begin();
    meet<<<1, 64>>>(surface(array<int>(2, 0, 0, cudaArraySurfaceLoadStore)));
    CHECK_CUDA(cudaDeviceSynchronize());
    auto all = found();
    CHECK(!all.empty() && is(all[0], simulator::finding_kind::race));
    CHECK(!all.empty() && all[0].line == line_with(__FILE__, "// both warps"));
    simulator_begin();
    const auto unwritten = surface(array<short2>(8, h, d, cudaArraySurfaceLoadStore));
    read_volume<<<1, 8>>>(out, unwritten);
    CHECK_CUDA(cudaDeviceSynchronize());
    all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::uninitialised));
    simulator_begin();
    const auto plane = surface(array<float>(w, h, 0, cudaArraySurfaceLoadStore));
    one_too_far<<<1, 32>>>(plane);
    CHECK_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::trap));
    CHECK(all.size() == 1 && all[0].line == line_with(__FILE__, "// no such row"));
    CHECK(all.size() == 1 && std::strstr(all[0].detail, "4 bytes at byte 0, row 5"));
#endif
    return failures != 0;
}
