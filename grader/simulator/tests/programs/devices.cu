// Two devices: managed variables that they share, variables that they do not.
#include "check.hpp"

#include <cstdlib>

__managed__ int shared_by_all;
__device__ int one_each;

__global__ void copy_managed(int *out)
{
    *out = shared_by_all++;
    one_each += 1;
}

__global__ void read_first(const int *from, int *to) { *to = *from; } // follows the pointer

static void streams_of_devices()
{
    cudaStream_t of_one;
    cudaEvent_t event;
    int *p = nullptr;
    CHECK_CUDA(cudaSetDevice(1));
    CHECK_CUDA(cudaStreamCreate(&of_one));
    CHECK_CUDA(cudaEventCreate(&event));
    CHECK_CUDA(cudaMalloc(&p, 4));
    CHECK_CUDA(cudaSetDevice(0));
    read_first<<<1, 1, 0, of_one>>>(p, p);
    CHECK_ERROR(cudaErrorInvalidResourceHandle, cudaGetLastError());
    CHECK_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(event, nullptr));
    cudaGetLastError();
    CHECK_CUDA(cudaMemsetAsync(p, 1, 4, of_one)); // copies and fills may
    CHECK_CUDA(cudaEventRecord(event, of_one));
    CHECK_CUDA(cudaStreamWaitEvent(nullptr, event));
    CHECK_CUDA(cudaStreamSynchronize(of_one));
    int device = -1;
    CHECK_CUDA(cudaStreamGetDevice(of_one, &device));
    CHECK(device == 1);
}

// Copies go between devices in any case; kernels follow pointers only with access enabled.
static void peers()
{
    int *p[2], got = 0, can = 0;
    for (int d = 0; d < 2; ++d) {
        CHECK_CUDA(cudaSetDevice(d));
        CHECK_CUDA(cudaMalloc(&p[d], 4));
        CHECK_CUDA(cudaMemset(p[d], d + 1, 4));
    }
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_CUDA(cudaMemcpyPeer(p[0], 0, p[1], 1, 4));
    CHECK_CUDA(cudaMemcpy(&got, p[0], 4, cudaMemcpyDefault));
    CHECK(got == 0x02020202);
    CHECK_CUDA(cudaMemset(p[0], 0, 4));
    CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    CHECK_ERROR(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    cudaGetLastError();
    read_first<<<1, 1>>>(p[1], p[0]);
    CHECK_CUDA(cudaMemcpy(&got, p[0], 4, cudaMemcpyDefault));
    CHECK(got == 0x02020202);
    CHECK_CUDA(cudaDeviceDisablePeerAccess(1));
    CHECK(done() == 0);
    read_first<<<1, 1>>>(p[1], p[0]);
    CHECK_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::out_of_bounds));
    CHECK(all.size() == 1 && std::strstr(all[0].where, "on device 1"));
    CHECK(all.size() == 1 && all[0].line == line_with(__FILE__, "// follows the pointer"));
}

static std::string counts()
{
    std::string text(simulator_counters(nullptr, 0), 0);
    simulator_counters(text.data(), text.size() + 1);
    return text;
}

struct many {
    int values[64];
};
__global__ void store(many m, int *to) { to[threadIdx.x] = m.values[threadIdx.x]; }

__global__ void exchange(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }

// The bytes that each device sends, which peers are closed, and how often the host waits.
static void traffic()
{
    int *p[2], can = 1;
    for (int d = 0; d < 2; ++d) {
        CHECK_CUDA(cudaSetDevice(d));
        CHECK_CUDA(cudaMalloc(&p[d], 4096));
        CHECK_CUDA(cudaMemset(p[d], 0, 4096));
        CHECK_CUDA(cudaDeviceSynchronize());
        cudaDeviceEnablePeerAccess(1 - d, 0);
        cudaGetLastError();
    }
    simulator_begin();
    exchange<<<1, 64>>>(p[0], p[1]); // on device 1: device 0 sends
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaSetDevice(0));
    exchange<<<1, 32>>>(p[0], p[1]); // sends by itself
    CHECK_CUDA(cudaMemcpyPeerAsync(p[0], 0, p[1], 1, 100));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(p[0], p, 8, cudaMemcpyHostToDevice));
    CHECK(counts().find("\"staged\":0,\"sent\":[384,100,0,") != std::string::npos);
    CHECK(counts().find("\"uploaded\":[8,0,") != std::string::npos);
    CHECK(counts().find("\"host_waits\":3") != std::string::npos);
    CHECK(counts().find("\"parameter_bytes\":0") != std::string::npos);
    CHECK(counts().find("\"managed\":0") != std::string::npos);
    int *shared = nullptr;
    CHECK_CUDA(cudaMallocManaged(&shared, 4096));
    exchange<<<1, 32>>>(shared, p[0]);
    exchange<<<1, 16>>>(p[0], shared);
    store<<<1, 64>>>({}, p[0]);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(counts().find("\"managed\":192") != std::string::npos);
    CHECK(counts().find("\"parameter_bytes\":200") != std::string::npos); // 256 + 8 - 64
    CHECK_CUDA(cudaFree(shared));

    simulator_close_peers(1 << 1); // device 0 to device 1
    CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 0);
    CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 1, 0));
    CHECK(can == 1);
    CHECK_ERROR(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(1, 0));
    cudaGetLastError();
    CHECK_CUDA(cudaMemcpyPeer(p[0], 0, p[1], 1, 100)); // device 1 has access still
    CHECK(counts().find("\"staged\":0,") != std::string::npos);
    simulator_close_peers(1 << 1 | 1 << 8);
    CHECK_CUDA(cudaMemcpyPeer(p[0], 0, p[1], 1, 100));
    CHECK(counts().find("\"staged\":100,") != std::string::npos);
    simulator_close_peers(0);
    CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0)); // what was closed is to be enabled anew
    CHECK_CUDA(cudaDeviceDisablePeerAccess(1));
}

int main()
{
    setenv("SIMULATOR_DEVICES", "2", 1);
    int n = 0;
    CHECK_CUDA(cudaGetDeviceCount(&n));
    CHECK(n == 2);
    shared_by_all = 5;
    for (int device = 1; device >= 0; --device) {
        int *out = nullptr, got = -1;
        CHECK_CUDA(cudaSetDevice(device));
        CHECK_CUDA(cudaMalloc(&out, 4));
        copy_managed<<<1, 1>>>(out);
        CHECK_CUDA(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
        CHECK(got == (device ? 5 : 6));
        CHECK_CUDA(cudaMemcpyFromSymbol(&got, one_each, 4));
        CHECK(got == 1);
    }
    CHECK(shared_by_all == 7);
    streams_of_devices();
    traffic();
    peers();
    return failures != 0;
}
