// Copies and barriers in shared memory that are not waited for.

__device__ unsigned shared_at(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Each thread uses its own element: waiting is enough.
template <bool waits> __global__ void own_element(const float *in, float *out)
{
    __shared__ float tile[64];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, 4); // starts
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x]; // uses
}

// Each thread uses its neighbour's: a barrier as well.
template <bool meets> __global__ void neighbours_element(const float4 *in, float4 *out)
{
    __shared__ float4 tile[64];
    unsigned to = shared_at(tile + threadIdx.x);
    const float4 *from = in + threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); // brings
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (meets) __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // another's
}

// Two buffers: one group may stay under way, and nobody may still read what is overwritten.
template <int under_way, bool second_barrier>
__global__ void two_buffers(const float *in, float *out, int rounds)
{
    __shared__ float tile[2][64];
    float sum = 0;
    auto start = [&](int r) {
        float *to = &tile[r % 2][threadIdx.x];
        if (r < rounds) __pipeline_memcpy_async(to, in + r * 64 + threadIdx.x, 4); // next
        __pipeline_commit();
    };
    start(0);
    for (int r = 0; r < rounds; ++r) {
        start(r + 1);
        __pipeline_wait_prior(under_way);
        __syncthreads();
        sum += tile[r % 2][63 - threadIdx.x]; // sums
        if (second_barrier) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Barriers in memory.
__device__ void make(unsigned long long *at, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_at(at)), "r"(arrivals));
}
__device__ unsigned long long come(unsigned long long *at)
{
    const unsigned to = shared_at(at);
    unsigned long long phase;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(phase) : "r"(to) : "memory");
    return phase;
}
__device__ bool is_over(unsigned at, unsigned long long phase)
{
    int over;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(at), "l"(phase) // for the others
        : "memory");
    return over != 0;
}
__device__ void wait_for_phase(unsigned long long *at, unsigned long long phase)
{
    while (!is_over(shared_at(at), phase)) {
    }
}
__global__ void by_phases(int *out, bool made, int arrivals, bool waits)
{
    __shared__ int row[64];
    __shared__ unsigned long long met;
    if (threadIdx.x == 0 && made) make(&met, arrivals);
    __syncthreads();
    row[threadIdx.x] = threadIdx.x; // for another thread
    const auto phase = come(&met);
    if (waits) wait_for_phase(&met, phase);
    out[threadIdx.x] = row[made ? 63 - threadIdx.x : threadIdx.x];
}

static std::vector<float> increasing_floats(int n)
{
    const auto all = increasing(n);
    return {all.begin(), all.end()};
}

static std::vector<planted> copy_faults()
{
    using enum simulator::finding_kind;
    static const auto place = [](const char *text) {
        return "cp.async at copies.cu:" + std::to_string(line_with(__FILE__, text));
    };
    return {
        {"a copy that is not waited for",
         "// uses",
         race,
         {place("// starts")},
         [](bool f) {
             float *in = upload(std::vector<float>(64, 2)), *out = unwritten<float>(64);
             if (f) return own_element<false><<<1, 64>>>(in, out);
             own_element<true><<<1, 64>>>(in, out);
             CHECK(download(out, 64)[63] == 2);
         }},
        {"waited for by one, used by another",
         "// brings",
         race,
         {"read at copies.cu"},
         [](bool f) {
             auto *in = reinterpret_cast<float4 *>(numbers(256));
             int *out = unwritten<int>(256);
             auto *out4 = reinterpret_cast<float4 *>(out);
             if (f) return neighbours_element<false><<<1, 64>>>(in, out4);
             neighbours_element<true><<<1, 64>>>(in, out4);
             CHECK(download(out, 256)[0] == 252 && download(out, 256)[255] == 3);
         }},
        {"one group too many under way",
         "// sums",
         race,
         {place("// next")},
         [](bool f) {
             float *in = upload(increasing_floats(64 * 6)), *out = unwritten<float>(64);
             if (f) return two_buffers<2, true><<<1, 64>>>(in, out, 6);
             two_buffers<1, true><<<1, 64>>>(in, out, 6);
             CHECK(download(out, 64)[0] == 6 * 63 + 64 * 15);
         }},
        {"a copy into what is still read",
         "// sums",
         race,
         {place("// next")},
         [](bool f) {
             float *in = upload(std::vector<float>(64 * 6, 1)), *out = unwritten<float>(64);
             f ? two_buffers<1, false><<<1, 64>>>(in, out, 6)
               : two_buffers<1, true><<<1, 64>>>(in, out, 6);
         }},
        {"a misaligned copy",
         "// brings",
         misaligned,
         {"`data`"},
         [](bool f) {
             auto *in = reinterpret_cast<float4 *>(numbers(260) + f);
             neighbours_element<true><<<1, 64>>>(in, unwritten<float4>(64));
         }},
        {"a copy from past the end",
         "// brings",
         out_of_bounds,
         {"across the end of `data`"},
         [](bool f) {
             auto *in = reinterpret_cast<float4 *>(numbers(f ? 255 : 256));
             neighbours_element<true><<<1, 64>>>(in, unwritten<float4>(64));
         }},
        {"a barrier in memory that is not waited for",
         "// for another thread",
         race,
         {"`row`"},
         [](bool f) { by_phases<<<1, 64>>>(unwritten<int>(64), true, 64, !f); }},
        {"a barrier in memory that was not made",
         "mbarrier.arrive.shared",
         uninitialised,
         {"`met`"},
         [](bool f) { by_phases<<<1, 64>>>(unwritten<int>(64), !f, 64, !f); }},
        {"a barrier in memory for too many",
         "// for the others",
         endless,
         {"nobody changes"},
         [](bool f) { by_phases<<<1, 64>>>(unwritten<int>(64), true, f ? 65 : 64, true); }},
    };
}
