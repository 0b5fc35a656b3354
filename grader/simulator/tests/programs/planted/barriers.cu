// Barriers that not all threads come to, or not in the same way, and threads that wait for ever.

// The classic: a guard that returns before the barrier.
template <bool returns> __global__ void guarded(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 0;
    if (returns && i >= n) return;
    if (i < n) tile[threadIdx.x] = in[i];
    __syncthreads(); // after the guard
    if (i < n) out[i] = tile[threadIdx.x];
}

template <bool inside> __global__ void in_bounds_test(int *out, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < n) {
        tile[threadIdx.x] = threadIdx.x;
        if (inside) __syncthreads(); // in the test
        out[threadIdx.x] = tile[threadIdx.x];
    }
    if (!inside) __syncthreads();
    if (threadIdx.x < n) out[threadIdx.x] += 1;
    __syncthreads(); // for all
    if (threadIdx.x < n) out[threadIdx.x] += 1;
}

// As many rounds as a thread has elements: the last threads have fewer.
template <bool ragged> __global__ void rounds(int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int last = ragged ? n : (n + blockDim.x - 1) / blockDim.x * blockDim.x;
    for (int i = threadIdx.x; i < last; i += blockDim.x) {
        if (i < n) atomicAdd(&sum, i);
        __syncthreads(); // in the loop
    }
    if (threadIdx.x == 0) *out = sum;
}

template <int other> __global__ void counted_barrier(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, %0;" ::"r"(other) : "memory"); // of another count
    out[threadIdx.x] = 1;
}

// The second warp waits at a barrier that the first never comes to.
template <bool answered> __global__ void waiting(int *out)
{
    if (threadIdx.x >= 32 || answered) asm volatile("bar.sync 3, 64;" ::: "memory"); // forever
    out[threadIdx.x] = 1;
    asm volatile("bar.sync 4, 64;" ::: "memory"); // the first warp
}

__global__ void reductions(const int *in, int *out)
{
    int i = threadIdx.x;
    int n = __syncthreads_count(in[i] > 0), any = __syncthreads_or(i == 63),
        all = __syncthreads_and(i < 64);
    out[i] = n == 64 && any && all;
}

// Lanes of a warp that wait for a lane that never comes.
template <unsigned mask> __global__ void lanes_wait(int *out)
{
    if (threadIdx.x < 16) __syncwarp(mask); // half the warp
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 3);
}

template <unsigned mask> __global__ void votes(int *out)
{
    unsigned v = 0;
    if (threadIdx.x < 16) v = __ballot_sync(mask, threadIdx.x < 8); // votes
    out[threadIdx.x] = __shfl_sync(~0u, v, 3);
}

// The mask leaves out lanes that come all the same.
template <unsigned mask> __global__ void sums(int *out)
{
    const int v = __shfl_xor_sync(mask, threadIdx.x, 1); // exchanges
    out[threadIdx.x] = v;
}

// Both sides of a branch wait for the whole warp, at different exchanges.
template <bool inside> __global__ void crossed(int *out)
{
    int v = threadIdx.x;
    if (inside && v < 8)
        v = __shfl_sync(~0u, v, 3) + __shfl_sync(~0u, v, 2); // the first lanes
    else
        v = __shfl_sync(~0u, v, 1); // the other lanes
    out[threadIdx.x] = v;
}

__device__ void wait_for(int *flag)
{
    while (*const_cast<volatile int *>(flag) == 0) { // waits
    }
}

// Each of two blocks waits for the other's flag before it raises its own.
template <bool waits_first> __global__ void after_you(int *flags)
{
    if (waits_first) wait_for(flags + 1 - blockIdx.x);
    atomicExch(flags + blockIdx.x, 1);
    if (!waits_first) wait_for(flags + 1 - blockIdx.x);
}

__global__ void counts_up(unsigned *out, unsigned to)
{
    for (unsigned i = 0; i != to; i += 2) atomicAdd(out, i + threadIdx.x); // for ever
}

__global__ void asserts(const int *in) { assert(in[threadIdx.x] < 8); } // must hold
__global__ void traps(int wrong)
{
    if (wrong) __trap(); // gives up
}

static std::string guard_place()
{
    return "after the test at barriers.cu:" +
           std::to_string(line_with(__FILE__, "if (returns && i"));
}

static std::vector<planted> barrier_faults()
{
    using enum simulator::finding_kind;
    return {
        {"a return before the barrier",
         "// after the guard",
         barrier,
         {"28 had ended", guard_place(), "36 threads"},
         [](bool f) {
             int *in = numbers(128), *out = unwritten<int>(128);
             if (f) return guarded<true><<<2, 64>>>(in, out, 100);
             guarded<true><<<2, 64>>>(in, out, 128);
             guarded<false><<<2, 64>>>(in, out, 100);
         }},
        {"a barrier in a branch",
         "// in the test",
         barrier,
         {"40 threads", "24 wait at the barrier at barriers.cu"},
         [](bool f) {
             if (f) return in_bounds_test<true><<<1, 64>>>(unwritten<int>(64), 40);
             in_bounds_test<true><<<1, 64>>>(unwritten<int>(64), 64);
             in_bounds_test<false><<<1, 64>>>(unwritten<int>(64), 40);
         }},
        {"a barrier in a loop of unequal rounds",
         "// in the loop",
         barrier,
         {"36 threads", "28 had ended"},
         [](bool f) {
             int *out = unwritten<int>(1);
             f ? rounds<true><<<1, 64>>>(out, 100) : rounds<false><<<1, 64>>>(out, 100);
         }},
        {"counts that differ",
         "// of another count",
         barrier,
         {"barrier 1 waits for 64 threads", "for 32 threads"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? counted_barrier<32><<<1, 64>>>(out) : counted_barrier<64><<<1, 64>>>(out);
         }},
        {"a count that is no multiple of 32",
         "// of another count",
         barrier,
         {"48 threads", "multiple of 32"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? counted_barrier<48><<<1, 64>>>(out) : counted_barrier<64><<<1, 64>>>(out);
         }},
        {"a barrier that nobody else comes to",
         "// forever",
         barrier,
         {"32 threads wait at it while 32 wait at barrier 4 at barriers.cu",
          "nobody in the block can go on"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? waiting<false><<<1, 64>>>(out) : waiting<true><<<1, 64>>>(out);
             if (!f) reductions<<<1, 64>>>(upload(std::vector<int>(64, 1)), out);
         }},
        {"__syncwarp for absent lanes",
         "// half the warp",
         barrier,
         {"16 threads wait at it for lanes of their warp while 16 wait at the shuffle at"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? lanes_wait<~0u><<<1, 32>>>(out) : lanes_wait<0xffff><<<1, 32>>>(out);
         }},
        {"a vote of absent lanes",
         "// votes",
         barrier,
         {"16 threads wait at it for lanes of their warp while 16 wait at the shuffle at"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? votes<0x1ffff><<<1, 32>>>(out) : votes<0xffff><<<1, 32>>>(out);
         }},
        {"a mask without the caller",
         "// exchanges",
         barrier,
         {"the mask that a thread gives to it does not name the thread itself"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? sums<0xffff><<<1, 32>>>(out) : sums<~0u><<<1, 32>>>(out);
         }},
        {"exchanges on both sides of a branch",
         "// the other lanes",
         barrier,
         {"24 threads wait at it", "8 wait at the shuffle at"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? crossed<true><<<1, 32>>>(out) : crossed<false><<<1, 32>>>(out);
         }},
        {"two flags that wait for each other",
         "// waits",
         endless,
         {"nobody changes"},
         [](bool f) {
             int *flags = upload(std::vector<int>(2, 0));
             f ? after_you<true><<<2, 1>>>(flags) : after_you<false><<<2, 1>>>(flags);
         }},
        {"a flag that nobody raises",
         "// waits",
         endless,
         {"nobody changes"},
         [](bool f) { after_you<false><<<f ? 1 : 2, 1>>>(upload(std::vector<int>(2, 0))); }},
        {"a loop without an end",
         "// for ever",
         endless,
         {"without ending"},
         [](bool f) {
             simulator_limit_work(100000);
             counts_up<<<1, 1>>>(reinterpret_cast<unsigned *>(numbers(1)), f ? 99 : 100);
         }},
        {"an assertion",
         "// must hold",
         trap,
         {"in[threadIdx.x] < 8"},
         [](bool f) { asserts<<<1, f ? 9 : 8>>>(numbers(9)); }},
        {"a trap", "// gives up", trap, {"traps"}, [](bool f) { traps<<<1, 1>>>(f); }},
    };
}
