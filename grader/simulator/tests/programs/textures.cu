// Arrays and textures: what lies outside, nearest and linear fetches, channels, layers, misuse.
#include "check.hpp"

#include <cmath>
#include <numeric>
#include <string>

__global__ void fetch_by_index(float *out, cudaTextureObject_t t, int n)
{
    const int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t, i - 2);
}

__global__ void fetch_row(float *out, cudaTextureObject_t t, float first, float step)
{
    out[threadIdx.x] = tex1D<float>(t, first + step * threadIdx.x);
}

__global__ void fetch_plane(float *out, cudaTextureObject_t t, float x, float y, float step)
{
    out[threadIdx.x] = tex2D<float>(t, x + step * (threadIdx.x % 8), y + step * (threadIdx.x / 8));
}

__global__ void fetch_pixels(float4 *out, uchar4 *raw, cudaTextureObject_t t,
                             cudaTextureObject_t as_is)
{
    out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
    raw[threadIdx.x] = tex2D<uchar4>(as_is, threadIdx.x + 0.5f, 0.5f);
}

__global__ void fetch_volume(float *out, cudaTextureObject_t volume, cudaTextureObject_t layers)
{
    out[0] = tex3D<float>(volume, 1.5f, 0.5f, 2.5f);
    out[1] = tex3D<float>(volume, 2.0f, 1.0f, 1.0f);
    out[2] = tex2DLayered<float>(layers, 1.5f, 0.5f, 2);
    out[3] = tex2DLod<float>(volume, 0, 0, 0); // not a plane
}

__global__ void fetch_apart(float *out, cudaTextureObject_t t, int apart)
{
    out[threadIdx.x] = tex1Dfetch<float>(t, apart * threadIdx.x);
}

static cudaTextureDesc way(cudaTextureAddressMode outside, cudaTextureFilterMode filter,
                           bool normalised)
{
    cudaTextureDesc d = {};
    for (auto &m : d.addressMode) m = outside;
    d.filterMode = filter;
    d.readMode = cudaReadModeElementType;
    d.normalizedCoords = normalised;
    d.borderColor[0] = 100;
    return d;
}

static cudaTextureObject_t of(cudaArray_t a, const cudaTextureDesc &d)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureObject_t t = 0;
    CHECK_CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

const int w = 5, h = 4;

// The index that an address mode gives for one outside; -1: the border.
static int inside(int i, int n, cudaTextureAddressMode m)
{
    if (m == cudaAddressModeWrap) return ((i % n) + n) % n;
    if (m == cudaAddressModeMirror) {
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    }
    if (m == cudaAddressModeBorder && (i < 0 || i >= n)) return -1;
    return std::min(std::max(i, 0), n - 1);
}

static float texel(const std::vector<float> &in, int x, int y, cudaTextureAddressMode m)
{
    x = inside(x, w, m), y = inside(y, h, m);
    return x < 0 || y < 0 ? 100.0f : in[y * w + x];
}

static float expected(const std::vector<float> &in, float x, float y, cudaTextureAddressMode m,
                      bool linear)
{
    if (!linear) return texel(in, std::floor(x), std::floor(y), m);
    x -= 0.5f, y -= 0.5f;
    const float a = std::nearbyint((x - std::floor(x)) * 256) / 256;
    const float b = std::nearbyint((y - std::floor(y)) * 256) / 256;
    const int i = std::floor(x), j = std::floor(y);
    return (1 - a) * (1 - b) * texel(in, i, j, m) + a * (1 - b) * texel(in, i + 1, j, m) +
           (1 - a) * b * texel(in, i, j + 1, m) + a * b * texel(in, i + 1, j + 1, m);
}

// They go on from row to row.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444
static void deprecated_copies(cudaArray_t a, const std::vector<float> &in)
{
    std::vector<float> line(2 * w + 3);
    std::iota(line.begin(), line.end(), 500.0f);
    CHECK_CUDA(
        cudaMemcpyToArray(a, 2 * 4, 1, line.data(), line.size() * 4, cudaMemcpyHostToDevice));
    std::vector<float> all(w * h);
    CHECK_CUDA(cudaMemcpyFromArray(all.data(), a, 0, 0, all.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; ++i) {
        const int k = i - (w + 2);
        CHECK(all[i] == (k >= 0 && k < 2 * w + 3 ? line[k] : in[i]));
    }
    CHECK_ERROR(cudaErrorInvalidValue,
                cudaMemcpyToArray(a, 4, 0, in.data(), w * h * 4, cudaMemcpyHostToDevice));
    cudaGetLastError();
}
#pragma nv_diag_default 1444
#pragma GCC diagnostic pop

static void planes(float *out)
{
    std::vector<float> in(w * h);
    for (int i = 0; i < w * h; ++i) in[i] = i * i;
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    CHECK_CUDA(cudaMallocArray(&a, &format, w, h));
    CHECK_CUDA(cudaMemcpy2DToArray(a, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    for (auto m :
         {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror})
        for (bool linear : {false, true})
            for (float step : {1.0f, 0.625f}) {
                // Repeating takes coordinates from 0 to 1.
                const bool normalised = m == cudaAddressModeWrap || m == cudaAddressModeMirror;
                const auto t =
                    of(a, way(m, linear ? cudaFilterModeLinear : cudaFilterModePoint, normalised));
                const float x = -2.375f, y = -2.875f;
                if (!normalised) fetch_plane<<<1, 64>>>(out, t, x, y, step);
                if (normalised) fetch_plane<<<1, 64>>>(out, t, x / 8, y / 8, step / 8);
                const auto got = download(out, 64);
                bool right = true;
                for (int i = 0; i < 64; ++i) {
                    float sx = x + step * (i % 8), sy = y + step * (i / 8);
                    if (normalised) sx = sx / 8 * w, sy = sy / 8 * h;
                    const float want = expected(in, sx, sy, m, linear);
                    right = right && std::fabs(got[i] - want) <= 1e-4f * (1 + std::fabs(want));
                }
                CHECK(right);
                if (!right) std::printf("mode %d, linear %d, step %g\n", m, linear, step);
                CHECK_CUDA(cudaDestroyTextureObject(t));
            }
    std::vector<float> back(6);
    CHECK_CUDA(
        cudaMemcpy2DFromArray(back.data(), 3 * 4, a, 4, 2, 3 * 4, 2, cudaMemcpyDeviceToHost));
    CHECK(back[0] == in[2 * w + 1] && back[5] == in[3 * w + 3]);
    CHECK_ERROR(cudaErrorInvalidValue,
                cudaMemcpy2DToArray(a, 4, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaGetLastError();
    deprecated_copies(a, in);
    cudaExtent size;
    CHECK_CUDA(cudaArrayGetInfo(nullptr, &size, nullptr, a));
    CHECK(size.width == w && size.height == h && size.depth == 0);
    CHECK_CUDA(cudaFreeArray(a));
}

static void rows(float *out)
{
    std::vector<float> in(10);
    std::iota(in.begin(), in.end(), 1.0f);
    float *linear = upload(in);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {linear, cudaCreateChannelDesc<float>(), 10 * sizeof(float)};
    const auto d = way(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t t;
    CHECK_CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch_by_index<<<1, 32>>>(out, t, 14);
    const auto got = download(out, 14);
    CHECK(got[1] == 0 && got[2] == 1 && got[11] == 10 && got[12] == 0);

    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    CHECK_CUDA(cudaMallocArray(&a, &format, 10));
    CHECK_CUDA(cudaMemcpy2DToArray(a, 0, 0, in.data(), 40, 40, 1, cudaMemcpyHostToDevice));
    fetch_row<<<1, 32>>>(out, of(a, way(cudaAddressModeClamp, cudaFilterModeLinear, false)), 0,
                         0.25f);
    const auto mixed = download(out, 32);
    CHECK(mixed[0] == 1 && mixed[4] == 1.5f && mixed[6] == 2 && mixed[7] == 2.25f);
    CHECK_CUDA(cudaFreeArray(a));
}

static void pixels()
{
    std::vector<uchar4> in(8);
    for (unsigned char i = 0; i < 8; ++i) in[i] = {i, static_cast<unsigned char>(255 - i), 51, 255};
    uchar4 *plane = nullptr, *raw = nullptr;
    float4 *out = nullptr;
    size_t pitch = 0;
    CHECK_CUDA(cudaMallocPitch(&plane, &pitch, 8 * 4, 1));
    CHECK_CUDA(cudaMemcpy(plane, in.data(), 32, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMalloc(&out, 8 * sizeof(float4)));
    CHECK_CUDA(cudaMalloc(&raw, 8 * sizeof(uchar4)));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {plane, cudaCreateChannelDesc<uchar4>(), 8, 1, pitch};
    auto d = way(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t as_is, fraction, none;
    CHECK_CUDA(cudaCreateTextureObject(&as_is, &r, &d, nullptr));
    d.readMode = cudaReadModeNormalizedFloat;
    CHECK_CUDA(cudaCreateTextureObject(&fraction, &r, &d, nullptr));
    fetch_pixels<<<1, 8>>>(out, raw, fraction, as_is);
    const auto f = download(out, 8);
    const auto u = download(raw, 8);
    CHECK(f[5].x == 5 / 255.0f && f[5].y == 250 / 255.0f && f[5].z == 0.2f && f[5].w == 1);
    CHECK(u[7].x == 7 && u[7].y == 248 && u[7].w == 255);
    d.readMode = cudaReadModeElementType;
    d.filterMode = cudaFilterModeLinear; // whole numbers are not mixed
    CHECK_ERROR(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&none, &r, &d, nullptr));
    cudaGetLastError();
}

static cudaArray_t volume(unsigned flags)
{
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    std::vector<float> in(4 * 2 * 3);
    std::iota(in.begin(), in.end(), 0.0f);
    CHECK_CUDA(cudaMalloc3DArray(&a, &format, make_cudaExtent(4, 2, 3), flags));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(in.data(), 16, 4, 2);
    p.dstArray = a;
    p.extent = make_cudaExtent(4, 2, 3);
    p.kind = cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpy3D(&p));
    p.srcPtr = {};
    p.srcArray = reinterpret_cast<cudaArray_t>(&p); // nobody made it
    CHECK_ERROR(cudaErrorInvalidResourceHandle, cudaMemcpy3D(&p));
    return a;
}

// Each fetch of a warp is counted by the sectors that it reads, each of them once.
static void sectors(float *out)
{
    constexpr int lanes = 32;
    float *from = upload(std::vector<float>(32 * lanes, 1.5f));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {from, cudaCreateChannelDesc<float>(), 32 * lanes * sizeof(float)};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    CHECK_CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
    const int of_apart[][2] = {{0, 1}, {1, 4}, {2, 8}, {8, 32}, {32, 32}};
    for (auto [apart, moved] : of_apart) {
        simulator_begin();
        fetch_apart<<<1, lanes>>>(out, t, apart);
        CHECK_CUDA(cudaDeviceSynchronize());
        std::string counts(simulator_counters(nullptr, 0) + 1, 0);
        simulator_counters(counts.data(), counts.size());
        const auto said = "\"texture_sectors\":" + std::to_string(moved) + ",";
        CHECK(counts.find(said) != std::string::npos);
    }
    CHECK_CUDA(cudaDestroyTextureObject(t));
    CHECK_CUDA(cudaFree(from));
}

int main()
{
    float *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 64 * sizeof(float)));
    planes(out);
    rows(out);
    pixels();
    sectors(out);
    CHECK(done() == 0);

    const auto linear = way(cudaAddressModeClamp, cudaFilterModeLinear, false);
    const auto nearest = way(cudaAddressModeClamp, cudaFilterModePoint, false);
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t deep = volume(cudaArrayDefault), layers = volume(cudaArrayLayered), fresh;
    CHECK_CUDA(cudaMallocArray(&fresh, &format, 64)); // nobody writes it
    fetch_row<<<1, 4>>>(out, of(fresh, nearest), 0, 1);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto unwritten = found();
    CHECK(unwritten.size() == 1 && is(unwritten[0], simulator::finding_kind::uninitialised));
    simulator_begin();
    int *into = nullptr;
    CHECK_CUDA(cudaHostAlloc(&into, 64, cudaHostAllocDefault));
    float *seen = reinterpret_cast<float *>(into);
    fetch_volume<<<1, 1>>>(seen, of(deep, linear), of(layers, linear));
    CHECK_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::trap));
    CHECK(all.size() == 1 && all[0].line == line_with(__FILE__, "// not a plane"));
    CHECK(seen[0] == 17 && seen[1] == 7.5f && seen[2] == 17);
    return failures != 0;
}
