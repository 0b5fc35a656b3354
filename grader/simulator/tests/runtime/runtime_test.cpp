// The CUDA runtime's calls, on a machine that executes nothing (mock_module.cpp).
#include <doctest/doctest.h>

#include "mock_module.hpp"
#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/timeline.hpp"
#include "simulator/runtime/harness.h"
#include "simulator/runtime/runtime.hpp"
#include "simulator/tests/images.hpp"

#include <cstdlib>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace simulator;
using namespace simulator::tests;

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, std::size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, std::size_t *, void *);
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, std::size_t, cudaStream_t);
}

namespace {

// Stand-ins for the host functions and objects that nvcc generates.
const char plain = 0, small = 0, faulty = 0, missing = 0, unregistered = 0, no_image = 0,
           no_ptx = 0;
char table[16];
void *counter;
void **module_handle;

void add_kernel(void **handle, const char *host, const char *name)
{
    __cudaRegisterFunction(handle, host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
}

const bool registered = [] {
    static const std::string text = ".version 9.0\n.target sm_80\n";
    static const __fatBinC_Wrapper_t good = {FATBINC_MAGIC, FATBINC_VERSION,
                                             static_image<0>({{1, 80, text}}), nullptr};
    module_handle = __cudaRegisterFatBinary(const_cast<__fatBinC_Wrapper_t *>(&good));
    add_kernel(module_handle, &plain, "plain");
    add_kernel(module_handle, &small, "small");
    add_kernel(module_handle, &faulty, "faulty");
    add_kernel(module_handle, &missing, "missing");
    __cudaRegisterVar(module_handle, table, nullptr, "table", 0, sizeof table, 1, 0);
    __cudaRegisterManagedVar(module_handle, &counter, nullptr, "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(module_handle);

    static const __fatBinC_Wrapper_t code = {FATBINC_MAGIC, FATBINC_VERSION,
                                             static_image<1>({{2, 80, "machine"}}), nullptr};
    add_kernel(__cudaRegisterFatBinary(const_cast<__fatBinC_Wrapper_t *>(&code)), &no_image,
               "plain");
    static const __fatBinC_Wrapper_t odd = {
        FATBINC_MAGIC, FATBINC_VERSION, static_image<2>({{1, 80, ".version 9.0 not understood"}}),
        nullptr};
    add_kernel(__cudaRegisterFatBinary(const_cast<__fatBinC_Wrapper_t *>(&odd)), &no_ptx, "plain");
    return true;
}();

cudaError_t go(const void *function, dim3 grid, dim3 block, std::size_t shared = 0)
{
    void *p = nullptr;
    int n = 3;
    void *arguments[] = {&p, &n};
    const cudaError_t e = cudaLaunchKernel(function, grid, block, arguments, shared, nullptr);
    CHECK(cudaGetLastError() == e);
    return e;
}

std::vector<finding> found()
{
    auto all = findings::instance().all();
    findings::instance().clear();
    return all;
}

template <typename T = char> T *device(std::size_t n)
{
    void *p = nullptr;
    REQUIRE(cudaMalloc(&p, n * sizeof(T)) == cudaSuccess);
    return static_cast<T *>(p);
}

// Runs a body with irreversible effects in a child process; returns true if it returned true.
template <typename function> bool in_child(function body)
{
    const pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST_CASE("a launch hands over shape and parameters")
{
    REQUIRE(registered);
    launches().clear();
    void *pointer = &table;
    int n = 42;
    void *arguments[] = {&pointer, &n};
    CHECK(__cudaPushCallConfiguration({7, 2, 1}, {64, 2, 1}, 128, nullptr) == 0);
    dim3 grid, block;
    std::size_t shared = 0;
    cudaStream_t stream = cudaStreamPerThread;
    CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess);
    cudaKernel_t kernel;
    CHECK(__cudaGetKernel(&kernel, &plain) == cudaSuccess);
    CHECK(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream) == cudaSuccess);
    REQUIRE(launches().size() == 1);
    const auto &l = launches().back();
    CHECK(l.kernel == "plain");
    CHECK(l.grid.x == 7);
    CHECK(l.grid.y == 2);
    CHECK(l.block.x == 64);
    CHECK(l.dynamic_shared == 128);
    REQUIRE(l.parameters.size() == 12);
    CHECK(std::memcmp(l.parameters.data(), &pointer, 8) == 0);
    CHECK(std::memcmp(l.parameters.data() + 8, &n, 4) == 0);
    CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) ==
          cudaErrorMissingConfiguration);
    CHECK(cudaGetLastError() == cudaErrorMissingConfiguration);
}

TEST_CASE("launch limits give the errors of hardware, which do not stick")
{
    CHECK(go(&plain, 1, 1024) == cudaSuccess);
    CHECK(go(&plain, 1, 1025) == cudaErrorInvalidValue);
    CHECK(go(&plain, 1, dim3(32, 33)) == cudaErrorInvalidValue);
    CHECK(go(&plain, 1, dim3(1, 1, 65)) == cudaErrorInvalidValue);
    CHECK(go(&plain, 0, 32) == cudaErrorInvalidValue);
    CHECK(go(&plain, 1, 0) == cudaErrorInvalidValue);
    CHECK(go(&plain, dim3(1, 65536), 32) == cudaErrorInvalidValue);
    CHECK(go(&small, 1, 64) == cudaSuccess);
    CHECK(go(&small, 1, 65) == cudaErrorInvalidValue);
    CHECK(go(&unregistered, 1, 1) == cudaErrorInvalidDeviceFunction);
    CHECK(go(&missing, 1, 1) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("more shared memory than 48 KiB a block needs asking")
{
    const int limit = 48 << 10, own = 1024; // "plain" has 1 KiB of static shared memory
    CHECK(go(&plain, 1, 32, limit - own) == cudaSuccess);
    CHECK(go(&plain, 1, 32, limit - own + 1) == cudaErrorInvalidValue);
    const auto ask = [](int n) {
        const auto e = cudaFuncSetAttribute(&plain, cudaFuncAttributeMaxDynamicSharedMemorySize, n);
        CHECK(cudaGetLastError() == e);
        return e;
    };
    CHECK(ask(static_cast<int>(profile().shared_per_block_optin)) == cudaErrorInvalidValue);
    CHECK(ask(-1) == cudaErrorInvalidValue);
    CHECK(ask(64 << 10) == cudaSuccess);
    CHECK(go(&plain, 1, 32, 64 << 10) == cudaSuccess);
    CHECK(go(&plain, 1, 32, (64 << 10) + 1) == cudaErrorInvalidValue);
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, &plain) == cudaSuccess);
    CHECK(a.maxDynamicSharedSizeBytes == 64 << 10);
    CHECK(a.sharedSizeBytes == 1024);
    CHECK(cudaFuncGetAttributes(&a, &small) == cudaSuccess);
    CHECK(a.maxThreadsPerBlock == 64);
    CHECK(ask(limit - own) == cudaSuccess);
}

TEST_CASE("occupancy follows threads, blocks and shared memory")
{
    int blocks = 0;
    const auto ask = [&](int threads, std::size_t shared) {
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &plain, threads, shared) ==
              cudaSuccess);
        return blocks;
    };
    CHECK(ask(1024, 0) == 2);
    CHECK(ask(256, 0) == 8);
    CHECK(ask(32, 0) == 32);
    CHECK(ask(33, 0) == 32);
    CHECK(ask(128, 30 << 10) == 3);
    CHECK(ask(128, 200 << 10) == 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &plain, 0, 0) ==
          cudaErrorInvalidValue);
    void *arguments[] = {&blocks, &blocks};
    const unsigned resident = 2u * static_cast<unsigned>(profile().multiprocessors);
    CHECK(cudaLaunchCooperativeKernel(&small, resident, 32, arguments, 0, nullptr) == cudaSuccess);
    std::uint64_t room[2] = {};
    void *right[] = {&room[0], &room[1]};
    CHECK(cudaLaunchCooperativeKernel(&plain, resident + 1, 1024, right, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
}

TEST_CASE("an image without PTX and PTX that is not understood are errors and findings")
{
    found();
    CHECK(go(&no_image, 1, 1) == cudaErrorNoKernelImageForDevice);
    CHECK(go(&no_ptx, 1, 1) == cudaErrorInvalidPtx);
    CHECK(go(&no_ptx, 1, 1) == cudaErrorInvalidPtx);
    const auto all = found();
    REQUIRE(all.size() == 2);
    CHECK(all[0].kind == finding_kind::unsupported);
    CHECK(all[0].detail.find("machine code only") != std::string::npos);
    CHECK(all[1].detail.find("not understood") != std::string::npos);
}

TEST_CASE("a kernel's fault comes up in the next call and stays")
{
    CHECK(in_child([] {
        void *none = nullptr, *p = nullptr;
        if (cudaLaunchKernel(&faulty, 1, 1, &none, 0, nullptr) != cudaSuccess) return false;
        if (cudaGetLastError() != cudaSuccess) return false; // the fault is still pending
        if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) return false;
        if (cudaMalloc(&p, 4) != cudaErrorIllegalAddress) return false;
        if (cudaGetLastError() != cudaErrorIllegalAddress) return false;
        if (cudaPeekAtLastError() != cudaErrorIllegalAddress) return false;
        return cudaLaunchKernel(&plain, 1, 1, &none, 0, nullptr) == cudaErrorIllegalAddress;
    }));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("errors belong to the host thread that made them and are told once")
{
    void *p = nullptr;
    CHECK(cudaMalloc(nullptr, 4) == cudaErrorInvalidValue);
    std::thread([] { CHECK(cudaGetLastError() == cudaSuccess); }).join();
    CHECK(cudaMalloc(&p, 4) == cudaSuccess);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaFree(p) == cudaSuccess);
    CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(12345))) ==
          "unrecognized error code");
}

TEST_CASE("allocation and release check what they are given")
{
    void *p = &table, *host = nullptr;
    CHECK(cudaMalloc(&p, 0) == cudaSuccess);
    CHECK(p == nullptr);
    CHECK(cudaMalloc(&p, ~std::size_t{0}) == cudaErrorMemoryAllocation);
    CHECK(runtime::take_failure_reason().why ==
          "it was asked for 18446744073709551615 bytes, which is what a negative size, -1, becomes "
          "as a size_t");
    CHECK(cudaMalloc(&p, std::size_t{9} << 30) == cudaErrorMemoryAllocation);
    CHECK(runtime::take_failure_reason().why == "it was asked for 9663676416 bytes");
    std::size_t before = 0, after = 0, total = 0;
    CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
    char *d = device(1000);
    CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(before - after == 1000);
    CHECK(cudaFree(d + 256) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(d) == cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaFree(&before) == cudaErrorInvalidValue);
    CHECK(cudaFree(d) == cudaSuccess);
    found();
    CHECK(cudaFree(d) == cudaErrorInvalidValue);
    const auto all = found();
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == finding_kind::use_after_free);
    CHECK(cudaMallocHost(&host, 100) == cudaSuccess);
    CHECK(cudaFree(host) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(host) == cudaSuccess);
    void *variable = nullptr;
    CHECK(cudaGetSymbolAddress(&variable, table) == cudaSuccess);
    CHECK(cudaFree(variable) == cudaErrorInvalidValue);
    std::size_t pitch = 0;
    CHECK(cudaMallocPitch(&p, &pitch, 700, 3) == cudaSuccess);
    CHECK(pitch == 1024);
    CHECK(cudaFree(p) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("copies move bytes and remember which were ever written")
{
    memory &m = memory::instance();
    counters::instance().clear();
    std::vector<int> in(100), out(100);
    std::iota(in.begin(), in.end(), 5);
    int *a = device<int>(100), *b = device<int>(100);
    const auto initialised_at = [&m](int *p) {
        return (*m.shadow_at(reinterpret_cast<address>(p)) & initialised) != 0;
    };
    CHECK(!initialised_at(a));
    CHECK(cudaMemcpy(a, in.data(), 200, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(initialised_at(a));
    CHECK(initialised_at(a + 49));
    CHECK(!initialised_at(a + 50));
    CHECK(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(initialised_at(b + 49));
    CHECK(!initialised_at(b + 50));
    CHECK(cudaMemset(b + 50, 0xff, 200) == cudaSuccess);
    CHECK(initialised_at(b + 99));
    CHECK(cudaMemcpyAsync(out.data(), b, 400, cudaMemcpyDefault, nullptr) == cudaSuccess);
    CHECK(out[49] == 54);
    CHECK(out[50] == -1);
    const auto &t = counters::instance().transfers;
    CHECK(t.host_to_device == 200);
    CHECK(t.device_to_device == 400);
    CHECK(t.device_to_host == 400);
    CHECK(t.memset == 200);
    cudaFree(a);
    cudaFree(b);
}

TEST_CASE("copies refuse the wrong side, the wrong range and freed memory")
{
    std::vector<char> host(5000);
    char *d = device(4000);
    CHECK(cudaMemcpy(host.data(), d, 10, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host.data(), 10, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host.data(), 10, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemset(host.data(), 0, 10) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(nullptr, host.data(), 10, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host.data(), 10, static_cast<cudaMemcpyKind>(7)) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(found().empty());

    simulator_label(d, 4000, "out");
    CHECK(cudaMemcpy(d, host.data(), 4004, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    auto all = found();
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == finding_kind::out_of_bounds);
    CHECK(all[0].write);
    CHECK(all[0].kernel == "cudaMemcpy");
    CHECK(all[0].where == "across the end of `out` (4000 bytes)");
    CHECK(cudaMemset(d + 4000, 0, 4) == cudaErrorInvalidValue);
    CHECK(found().size() == 1);
    cudaFree(d);
    CHECK(cudaMemcpy(host.data(), d, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    all = found();
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == finding_kind::use_after_free);
    CHECK(!all[0].write);
    cudaGetLastError();
}

TEST_CASE("host code gets no zeros for device bytes that nothing wrote")
{
    int host[2] = {};
    char *d = device(sizeof host);
    REQUIRE(cudaMemset(d, 0, 4) == cudaSuccess);
    CHECK(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(host[0] == 0);
    CHECK(host[1] == -1);
    CHECK(cudaFree(d) == cudaSuccess);
}

TEST_CASE("two-dimensional copies keep to their width")
{
    std::vector<unsigned char> host(12 * 5, 1), back(10 * 5, 9);
    void *p = nullptr;
    std::size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&p, &pitch, 10, 5) == cudaSuccess);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i);
    CHECK(cudaMemset2D(p, pitch, 7, 10, 5) == cudaSuccess);
    CHECK(cudaMemcpy2D(p, pitch, host.data(), 12, 8, 5, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2D(back.data(), 10, p, pitch, 10, 5, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back[10] == 12);
    CHECK(back[17] == 19);
    CHECK(back[18] == 7);
    CHECK(cudaMemcpy2D(p, 8, host.data(), 12, 10, 5, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy2D(p, pitch, host.data(), 12, 10, 6, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(found().size() == 1);
    cudaFree(p);
    cudaGetLastError();
}

TEST_CASE("symbols are written, read and bounded")
{
    const int in[4] = {1, 2, 3, 4};
    int out[4] = {};
    std::size_t bytes = 0;
    CHECK(cudaMemcpyToSymbol(table, in, 16) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(table, in, 4, 12) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(out, table, 12, 4) == cudaSuccess);
    CHECK(out[0] == 2);
    CHECK(out[2] == 1);
    CHECK(cudaMemcpyToSymbol(table, in, 16, 4) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(table, in, 16, 0, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyToSymbol(in, in, 16) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolSize(&bytes, table) == cudaSuccess);
    CHECK(bytes == 16);
    CHECK(__cudaInitModule(module_handle));
    REQUIRE(counter);
    *static_cast<int *>(counter) = 8;
    CHECK(cudaMemcpyFromSymbol(out, &counter, 4) == cudaSuccess);
    CHECK(out[0] == 8);
    cudaGetLastError();
}

TEST_CASE("sizes that overflow are refused")
{
    char *p = device(4096);
    std::vector<char> host(4096);
    const std::size_t far = std::size_t{1} << 63;
    CHECK(cudaMemcpy2D(p, far, host.data(), far, 16, 3, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(p, 16, host.data(), far, 16, 3, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemset2D(p, far, 0, 16, 3) == cudaErrorInvalidValue);
    void *q = nullptr;
    std::size_t pitch = 0;
    CHECK(cudaMallocPitch(&q, &pitch, ~std::size_t{0}, 2) == cudaErrorInvalidValue);
    CHECK(cudaMallocPitch(&q, &pitch, 1 << 20, far) == cudaErrorMemoryAllocation);
    CHECK(cudaMallocPitch(&q, &pitch, 1 << 20, ~std::size_t{0}) == cudaErrorMemoryAllocation);
    CHECK(q == nullptr);
    CHECK(found().empty());
    CHECK(cudaFree(p) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("launch attributes are heeded, harmless, or refused by name")
{
    void *p = nullptr;
    int n = 3;
    void *arguments[] = {&p, &n};
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = -1;
    CHECK(cudaLaunchKernelExC(&config, &plain, arguments) == cudaSuccess);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {1, 1, 1};
    CHECK(cudaLaunchKernelExC(&config, &plain, arguments) == cudaSuccess);
    CHECK(found().empty());
    attribute.val.clusterDim = {2, 1, 1};
    CHECK(cudaLaunchKernelExC(&config, &plain, arguments) == cudaErrorNotSupported);
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    CHECK(cudaLaunchKernelExC(&config, &plain, arguments) == cudaErrorNotSupported);
    const auto said = found();
    REQUIRE(said.size() == 2);
    CHECK(said[0].kind == finding_kind::unsupported);
    CHECK(said[1].detail.find("cudaLaunchAttributeProgrammaticEvent") != said[1].detail.npos);
    cudaGetLastError();
}

TEST_CASE("pinned, managed and registered memory")
{
    int *p = nullptr;
    REQUIRE(cudaHostAlloc(reinterpret_cast<void **>(&p), 4000, cudaHostAllocMapped) == cudaSuccess);
    p[999] = 5;
    void *seen = nullptr;
    CHECK(cudaHostGetDevicePointer(&seen, p, 0) == cudaSuccess);
    CHECK(seen == p);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, p) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeHost);
    CHECK(cudaFreeHost(p) == cudaSuccess);

    int *managed = nullptr;
    REQUIRE(cudaMallocManaged(reinterpret_cast<void **>(&managed), 4000) == cudaSuccess);
    managed[0] = 1;
    CHECK(cudaPointerGetAttributes(&a, managed) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeManaged);
    const cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0},
                          nowhere = {cudaMemLocationTypeDevice, 9};
    CHECK(cudaMemPrefetchAsync(managed, 4000, gpu, 0, nullptr) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 4001, gpu, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(managed, 4000, nowhere, 0, nullptr) == cudaErrorInvalidDevice);
    CHECK(cudaMemAdvise(managed, 4000, cudaMemAdviseSetReadMostly, gpu) == cudaSuccess);
    int *d = device<int>(4);
    CHECK(cudaMemAdvise(d, 16, cudaMemAdviseSetReadMostly, gpu) == cudaErrorInvalidValue);
    CHECK(cudaPointerGetAttributes(&a, d) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeDevice);
    cudaFree(d);
    cudaFree(managed);

    std::vector<int> own(5000, 3);
    CHECK(cudaHostGetDevicePointer(&seen, own.data(), 0) == cudaErrorInvalidValue);
    REQUIRE(cudaHostRegister(own.data(), 20000, cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(own.data(), 20000, cudaHostRegisterDefault) ==
          cudaErrorHostMemoryAlreadyRegistered);
    own[10] = 77;
    REQUIRE(cudaHostGetDevicePointer(&seen, own.data() + 10, 0) == cudaSuccess);
    memory &m = memory::instance();
    CHECK(*reinterpret_cast<int *>(m.at(reinterpret_cast<address>(seen))) == 77);
    CHECK(*m.shadow_at(reinterpret_cast<address>(seen) - 41) == (initialised | on_host));
    *reinterpret_cast<int *>(m.at(reinterpret_cast<address>(seen))) = 78;
    CHECK(own[10] == 78);
    CHECK(cudaHostUnregister(own.data()) == cudaSuccess);
    CHECK(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);
    CHECK(own[10] == 78);
    CHECK(own[4999] == 3);

    void *shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    CHECK(cudaHostRegister(shared, 4096, cudaHostRegisterDefault) == cudaErrorNotSupported);
    CHECK(found().size() == 1);
    munmap(shared, 4096);
    cudaGetLastError();
}

TEST_CASE("streams and events are checked and complete at once")
{
    cudaStream_t s = nullptr;
    cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(cudaStreamQuery(s) == cudaSuccess);
    CHECK(cudaEventCreate(&a) == cudaSuccess);
    CHECK(cudaEventCreate(&b) == cudaSuccess);
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
    float ms = 5;
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(a, s) == cudaSuccess);
    CHECK(cudaEventRecord(b, s) == cudaSuccess);
    CHECK(cudaEventRecord(untimed, s) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, a, untimed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess);
    CHECK(ms == 0);
    CHECK(cudaStreamWaitEvent(s, a) == cudaSuccess);
    int called = 0;
    CHECK(cudaLaunchHostFunc(
              s, [](void *n) { ++*static_cast<int *>(n); }, &called) == cudaSuccess);
    CHECK(called == 1);
    for (cudaEvent_t e : {a, b, untimed}) CHECK(cudaEventDestroy(e) == cudaSuccess);
    CHECK(cudaEventRecord(a, s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
    CHECK(cudaStreamDestroy(s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaLaunchKernel(&small, 1, 1, nullptr, 0, s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("waits for events of which a run has recorded nothing are counted")
{
    cudaStream_t s = nullptr;
    cudaEvent_t e = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreate(&e) == cudaSuccess);
    timeline &t = timeline::instance();
    t.clear();
    CHECK(cudaStreamWaitEvent(s, e) == cudaSuccess); // never recorded
    CHECK(t.scheduled().idle_waits == 1);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(s, e) == cudaSuccess);
    CHECK(t.scheduled().idle_waits == 1);
    t.clear();
    CHECK(t.scheduled().idle_waits == 0);
    CHECK(cudaStreamWaitEvent(s, e) == cudaSuccess); // recorded in the previous run
    CHECK(t.scheduled().idle_waits == 1);
    CHECK(cudaEventDestroy(e) == cudaSuccess);
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
}

TEST_CASE("properties, attributes and limits tell of the same device")
{
    cudaDeviceProp p;
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(value == p.multiProcessorCount);
    CHECK(value == profile().multiprocessors);
    settings().multiprocessors = 1;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(value == 1);
    settings().multiprocessors = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) ==
          cudaSuccess);
    CHECK(static_cast<std::size_t>(value) == p.sharedMemPerBlockOptin);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture2DHeight, 0) == cudaSuccess);
    CHECK(value == 65536);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0) == cudaSuccess);
    CHECK(value == 0);
    CHECK(cudaGetDeviceProperties(&p, 16) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(16) == cudaErrorInvalidDevice);
    std::size_t bytes = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 12345) == cudaSuccess);
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess);
    CHECK(bytes == 12345);
    char id[20];
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess);
    CHECK(cudaDeviceGetByPCIBusId(&value, id) == cudaSuccess);
    CHECK(value == 0);
    cudaGetLastError();
}

TEST_CASE("several devices have memory, code and peers of their own")
{
    CHECK(in_child([] {
        setenv("SIMULATOR_DEVICES", "3", 1);
        execl("/proc/self/exe", "runtime_test", "--test-case=three devices", "--no-skip", "-m",
              static_cast<char *>(nullptr));
        return false;
    }));
}

TEST_CASE("three devices" * doctest::skip())
{
    int n = 0, can = 0;
    CHECK(cudaGetDeviceCount(&n) == cudaSuccess);
    REQUIRE(n == 3);
    CHECK(cudaSetDevice(2) == cudaSuccess);
    launches().clear();
    CHECK(go(&plain, 1, 1) == cudaSuccess);
    CHECK(launches().back().device == 2);
    char *d = device(100);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, d) == cudaSuccess);
    CHECK(a.device == 2);
    void *here = nullptr, *there = nullptr;
    CHECK(cudaGetSymbolAddress(&here, table) == cudaSuccess);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaGetSymbolAddress(&there, table) == cudaSuccess);
    CHECK(here != there);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 2) == cudaSuccess);
    CHECK(can == 1);
    CHECK(cudaDeviceEnablePeerAccess(2, 0) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(2, 0) == cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    char *e = device(100);
    CHECK(cudaMemcpyPeer(e, 0, d, 2, 100) == cudaSuccess);
    CHECK(cudaMemcpyPeer(e, 0, d, 3, 100) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaFree(e) == cudaErrorInvalidValue);
    CHECK(cudaFree(d) == cudaSuccess);
}

TEST_CASE("what is not offered is refused by name")
{
    found();
    cudaGraph_t graph = nullptr;
    CHECK(cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    const auto all = found();
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == finding_kind::unsupported);
    CHECK(all[0].detail.find("cudaGraphConditionalHandleCreate") != std::string::npos);
}

TEST_CASE("a digest tells bytes apart, also those in memory of a device")
{
    std::vector<std::uint8_t> bytes(1001);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    void *p = nullptr;
    REQUIRE(cudaMalloc(&p, bytes.size()) == cudaSuccess);
    auto on_device = [&] {
        REQUIRE(cudaMemcpy(p, bytes.data(), bytes.size(), cudaMemcpyHostToDevice) == cudaSuccess);
        return simulator_digest(p, bytes.size());
    };
    const auto first = on_device();
    CHECK(first == simulator_digest(bytes.data(), bytes.size()));
    for (std::size_t at : {0, 7, 8, 500, 1000}) {
        bytes[at] ^= 1;
        CHECK(on_device() != first);
        bytes[at] ^= 1;
    }
    std::swap(bytes[3], bytes[400]);
    CHECK(on_device() != first);
    CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("a harness labels, forbids, forgets, and reads findings and counters back")
{
    memory &m = memory::instance();
    char *d = device(256);
    const auto shadow = [&](int i) { return *m.shadow_at(reinterpret_cast<address>(d + i)); };
    cudaMemset(d, 0, 256);
    simulator_forbid(d, 64);
    CHECK(shadow(63) == initialised);
    CHECK(shadow(64) == (initialised | addressable));
    simulator_allow(d - 10, 1000);
    CHECK(shadow(0) == (initialised | addressable));
    CHECK(shadow(-1) == 0);
    CHECK(shadow(256) == 0);
    simulator_forget(d + 8, 8);
    CHECK(shadow(8) == addressable);
    CHECK(shadow(16) == (initialised | addressable));
    int local = 0;
    simulator_forbid(&local, 4);
    simulator_label(&local, 4, "local");
    simulator_allow(&local, 4);

    finding f;
    f.kind = finding_kind::race;
    f.kernel = std::string(200, 'k');
    f.line = 9;
    f.thread = {1, 2, 3};
    findings::instance().add(f);
    simulator_finding out[2];
    REQUIRE(simulator_findings(out, 2) == 1);
    CHECK(out[0].kind == static_cast<int>(finding_kind::race));
    CHECK(std::string(out[0].kernel) == std::string(95, 'k'));
    CHECK(out[0].thread[2] == 3);
    CHECK(simulator_findings(nullptr, 0) == 1);
    std::vector<char> text(simulator_counters(nullptr, 0) + 1);
    CHECK(simulator_counters(text.data(), text.size()) == text.size() - 1);
    CHECK(nlohmann::json::parse(text.data())["transfers"]["memset"] >= 256);
    simulator_begin();
    CHECK(simulator_findings(nullptr, 0) == 0);

    char host[16] = {};
    simulator_label(host, 8, "host");
    CHECK(cudaMemcpy(d, host, 8, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(host + 4, d, 8, cudaMemcpyDeviceToHost) == cudaSuccess); // guards show that
    CHECK(cudaMemcpy(d, host + 4, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    cudaGetLastError();
    REQUIRE(findings::instance().all().size() == 1);
    CHECK(findings::instance().all()[0].array == "host");
    simulator_allow(host, 8);
    CHECK(cudaMemcpy(d, host + 4, 8, cudaMemcpyHostToDevice) == cudaSuccess);
    simulator_begin();
    cudaFree(d);
}

TEST_CASE("a fault is reported before launches that were refused however many")
{
    simulator_begin();
    for (int i = 0; i < 100; ++i) {
        finding refused;
        refused.kind = finding_kind::refused_launch;
        refused.detail = std::to_string(i);
        findings::instance().add(refused);
    }
    finding race;
    race.kind = finding_kind::race;
    findings::instance().add(race);
    simulator_finding out[2];
    CHECK(simulator_findings(out, 2) == 101);
    CHECK(out[0].kind == static_cast<int>(finding_kind::race));
    CHECK(std::string(out[1].detail) == "0");
    simulator_begin();
}
