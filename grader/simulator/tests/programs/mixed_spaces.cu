// One generic instruction that meets device and shared memory in turn; atomics in both.
#include "check.hpp"

__global__ void gather(float *out, const float *global, int which)
{
    __shared__ float own[64];
    own[threadIdx.x] = own[threadIdx.x + 32] = threadIdx.x;
    __syncwarp();
    const float *from = which ? own : global;
    out[threadIdx.x] = from[2 * threadIdx.x]; // gathers
}

__global__ void add(float *global, float *out, float what)
{
    __shared__ float own;
    if (threadIdx.x == 0) own = what;
    __syncwarp();
    atomicAdd(global + threadIdx.x * 8, what); // scattered
    if (threadIdx.x == 0) atomicAdd(&own, what);
    __syncwarp();
    if (threadIdx.x == 0) *out = own;
}

// The number after `"name":` in the counts of the line that holds `text`.
long count_of(const char *text, const std::string &group, const std::string &name)
{
    std::string json(simulator_counters(nullptr, 0) + 1, 0);
    simulator_counters(json.data(), json.size());
    const std::string line = "\"line\":" + std::to_string(line_with(__FILE__, text)) + ",";
    auto at = json.find(line);
    for (const auto &key : {group, name})
        if (at != json.npos && !key.empty()) at = json.find("\"" + key + "\":", at);
    if (at == json.npos) return -1;
    return std::strtol(json.c_str() + json.find(':', json.find(name, at)) + 1, nullptr, 10);
}

int main()
{
    float *out = nullptr, *global = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 32 * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&global, 256 * sizeof(float)));
    CHECK_CUDA(cudaMemset(global, 0, 256 * sizeof(float)));
    gather<<<1, 32>>>(out, global, 1);
    gather<<<1, 32>>>(out, global, 0);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(count_of("// gathers", "global_load", "requests") == 1);
    CHECK(count_of("// gathers", "global_load", "sectors") == 8);
    CHECK(count_of("// gathers", "shared_load", "wavefronts") == 2);

    const float tiny = 1e-40f; // subnormal: additions in device memory see a zero
    add<<<1, 32>>>(global, out, tiny);
    CHECK(download(global, 1)[0] == 0.0f);
    CHECK(download(out, 1)[0] == tiny + tiny);
    CHECK(count_of("// scattered", "", "global_atomic_requests") == 1);
    CHECK(count_of("// scattered", "", "global_atomic_sectors") == 32);
    add<<<1, 32>>>(global, out, 0.5f);
    CHECK(download(global, 249)[248] == 0.5f);
    return done();
}
