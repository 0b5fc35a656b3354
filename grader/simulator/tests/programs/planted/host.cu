// Faults of host code: what it frees, copies, launches, and does not wait for.

__global__ void set_each(int *data, int value) { data[threadIdx.x] = value; }
__global__ void one_more(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 1; // of another stream
}
__global__ void __launch_bounds__(64) bounded(int *data) { data[threadIdx.x] = 2; }

static cudaStream_t new_stream()
{
    cudaStream_t s = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
}

// One stream makes what another one uses.
static void hand_over(bool with_event)
{
    simulator_streams(1);
    const cudaStream_t one = new_stream(), two = new_stream();
    int *data = unwritten<int>(32);
    set_each<<<1, 32, 0, one>>>(data, 4);
    if (with_event) {
        cudaEvent_t made;
        CHECK_CUDA(cudaEventCreate(&made));
        CHECK_CUDA(cudaEventRecord(made, one));
        CHECK_CUDA(cudaStreamWaitEvent(two, made));
    }
    one_more<<<1, 32, 0, two>>>(unwritten<int>(32), data);
    CHECK_CUDA(cudaStreamSynchronize(two));
}

static void launch_refused(dim3 grid, dim3 block, std::size_t shared = 0)
{
    set_each<<<grid, block, shared>>>(unwritten<int>(2048), 1);
    cudaGetLastError();
}

static std::vector<planted> host_faults()
{
    using enum simulator::finding_kind;
    return {
        {"freed twice",
         nullptr,
         use_after_free,
         {"cudaFree", "freed before"},
         [](bool f) {
             int *p = numbers(4);
             CHECK_CUDA(cudaFree(p));
             if (f) cudaFree(p), cudaGetLastError();
         }},
        {"freed twice, the second time in a stream",
         nullptr,
         use_after_free,
         {"cudaFreeAsync"},
         [](bool f) {
             int *p = numbers(4);
             CHECK_CUDA(cudaFree(p));
             if (f) cudaFreeAsync(p, nullptr), cudaGetLastError();
         }},
        {"freed by an address within",
         nullptr,
         out_of_bounds,
         {"cudaFree", "`data`", "start"},
         [](bool f) { cudaFree(numbers(4) + f), cudaGetLastError(); }},
        {"pinned memory freed twice",
         nullptr,
         use_after_free,
         {"cudaFreeHost"},
         [](bool f) {
             int *p = nullptr;
             CHECK_CUDA(cudaMallocHost(&p, 64));
             CHECK_CUDA(cudaFreeHost(p));
             if (f) cudaFreeHost(p), cudaGetLastError();
         }},
        {"a copy that runs past the end",
         nullptr,
         out_of_bounds,
         {"cudaMemcpy", "`data`"},
         [](bool f) {
             int to[8];
             cudaMemcpy(to, numbers(4), f ? 32 : 16, cudaMemcpyDeviceToHost), cudaGetLastError();
         }},
        {"a copy to freed memory",
         nullptr,
         use_after_free,
         {"cudaMemcpy"},
         [](bool f) {
             int *p = numbers(4), from[4] = {};
             if (f) CHECK_CUDA(cudaFree(p));
             cudaMemcpy(p, from, 16, cudaMemcpyHostToDevice), cudaGetLastError();
         }},
        {"a copy from freed pinned memory",
         nullptr,
         use_after_free,
         {"cudaMemcpyAsync"},
         [](bool f) {
             int *host = nullptr;
             CHECK_CUDA(cudaMallocHost(&host, 64));
             host[0] = 1;
             if (f) CHECK_CUDA(cudaFreeHost(host));
             cudaMemcpyAsync(numbers(16), host, 64, cudaMemcpyHostToDevice, nullptr);
             cudaGetLastError();
         }},
        {"a fill past the end",
         nullptr,
         out_of_bounds,
         {"cudaMemset"},
         [](bool f) { cudaMemset(numbers(4), 0, f ? 17 : 16), cudaGetLastError(); }},
        {"too many threads",
         nullptr,
         refused_launch,
         {"(1025, 1, 1) threads"},
         [](bool f) { launch_refused(1, f ? 1025 : 1024); }},
        {"too many threads in three dimensions",
         nullptr,
         refused_launch,
         {"(32, 8, 8)"},
         [](bool f) { launch_refused(1, dim3(32, 8, f ? 8 : 1)); }},
        {"a block too deep",
         nullptr,
         refused_launch,
         {"(1, 1, 65) threads"},
         [](bool f) { launch_refused(1, dim3(1, 1, f ? 65 : 64)); }},
        {"no blocks",
         nullptr,
         refused_launch,
         {"(0, 1, 1) blocks"},
         [](bool f) { launch_refused(f ? 0 : 1, 32); }},
        {"a grid too high",
         nullptr,
         refused_launch,
         {"(1, 65536, 1) blocks"},
         [](bool f) { launch_refused(dim3(1, f ? 65536 : 1), 1); }},
        {"too much shared memory",
         nullptr,
         refused_launch,
         {"49153 bytes"},
         [](bool f) { launch_refused(1, 32, f ? 49153 : 49152); }},
        {"more threads than the kernel was made for",
         nullptr,
         refused_launch,
         {"bounded"},
         [](bool f) { bounded<<<1, f ? 65 : 64>>>(unwritten<int>(65)), cudaGetLastError(); }},
        {"a missing event",
         "// of another stream",
         uninitialised,
         {"`data`"},
         [](bool f) { hand_over(!f); }},
    };
}
