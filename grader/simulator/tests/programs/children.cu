// nvcc: -rdc=true -std=c++17
// Kernels that launch kernels: what runs after what, what sees what, which calls fail and how.
#include "check.hpp"

using simulator::finding_kind;

// A log in device memory: entry 0 counts the others.
__device__ void note(int *log, int what) { log[atomicAdd(log, 1) + 1] = what; }
__global__ void say(int *log, int what) { note(log, what); }
__global__ void set(int *at, int value) { at[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int *at, int value) { at[threadIdx.x] += value; }
__global__ void sum(const int *in, int n, int *out)
{
    int all = 0;
    for (int k = 0; k < n; ++k) all += in[k];
    *out = all;
}

__global__ void in_one_stream(int *log)
{
    for (int k = 1; k <= 5; ++k) say<<<1, 1>>>(log, k);
    note(log, 0); // a parent's own work comes first here
}

__global__ void nested(int *log, int what)
{
    say<<<1, 1, 0, cudaStreamTailLaunch>>>(log, what + 1);
    say<<<1, 1, 0, cudaStreamFireAndForget>>>(log, what);
}

// A grid is complete when all that it launched is; the tail comes after everything else.
__global__ void tails(int *log)
{
    say<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 30);
    nested<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 31);
    say<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 33);
    nested<<<1, 1>>>(log, 10);
    say<<<1, 1>>>(log, 20);
}

struct large {
    double scale;
    char tag;
    int offset[3];
};
template <class T> __global__ void scaled(T *out, large how, short more)
{
    out[threadIdx.x] = static_cast<T>(how.scale * threadIdx.x) + how.offset[2] + how.tag + more;
}

__global__ void with_parameters(float *out)
{
    extern __shared__ float room[];
    large how{2.5, 1, {10, 20, 30}};
    room[threadIdx.x] = 3;
    how.offset[2] += static_cast<int>(room[threadIdx.x]);
    scaled<float><<<1, 4, 0, cudaStreamFireAndForget>>>(out + 4 * threadIdx.x, how, -5);
}

// Each thread has a child for its own element; what all have done is summed up at the tail.
__global__ void fan_out(int *in, int n, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    set<<<1, 1, 0, cudaStreamFireAndForget>>>(in + i, i);
    if (i == 0) sum<<<1, 1, 0, cudaStreamTailLaunch>>>(in, n, out);
}

template <bool waits> __global__ void two_streams(int *at)
{
    cudaStream_t first, second;
    cudaEvent_t ready;
    int errors = cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    errors += cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    errors += cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    set<<<1, 32, 0, first>>>(at, 5);
    errors += cudaEventRecord(ready, first);
    if (waits) errors += cudaStreamWaitEvent(second, ready, 0);
    add<<<1, 32, 0, second>>>(at, 2);
    errors += cudaEventDestroy(ready);
    errors += cudaStreamDestroy(first);
    errors += cudaStreamDestroy(second);
    at[32] = errors;
}

__global__ void copies(int *at)
{
    at[0] = 7;
    cudaMemcpyAsync(at + 1, at, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(at + 2, 1, 4, 0);
    add<<<1, 3>>>(at, 1);
}

// A copy or fill, and a kernel that nothing but a stream orders after it.
__global__ void moves_beside(int *at, bool fill, bool apart, int bytes)
{
    cudaStream_t second;
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    if (fill)
        cudaMemsetAsync(at + 4, 1, bytes, 0);
    else
        cudaMemcpyAsync(at + 4, at, bytes, cudaMemcpyDeviceToDevice, 0);
    add<<<1, 8, 0, apart ? second : 0>>>(at, 1);
    cudaStreamDestroy(second);
}

__global__ void copied_then_written(int *at)
{
    cudaMemcpyAsync(at + 4, at, 16, cudaMemcpyDeviceToDevice, 0);
    at[1] = 3;
}

// Errors. Each is told once, to the thread whose call it was.
enum {
    told,
    again,
    other_thread,
    config,
    flags,
    timing,
    tail_event,
    alone_wait,
    gone,
    gone_event,
    named,
    text,
    device,
    devices,
    warp,
    no_attribute,
    heap,
    freed,
    not_heap,
    host_copy,
    cases
};
__global__ void errors(int *got)
{
    if (threadIdx.x == 1) got[other_thread] = cudaPeekAtLastError();
    if (threadIdx.x != 0) return;
    set<<<1, 2048>>>(got, 0);
    got[told] = cudaPeekAtLastError() == cudaGetLastError();
    got[again] = cudaGetLastError();
    set<<<0, 1>>>(got, 0);
    got[config] = cudaGetLastError();
    cudaStream_t s;
    cudaEvent_t e;
    got[flags] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    got[timing] = cudaEventCreateWithFlags(&e, cudaEventDefault);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    got[tail_event] = cudaEventRecord(e, cudaStreamTailLaunch);
    got[alone_wait] = cudaStreamWaitEvent(cudaStreamFireAndForget, e, 0);
    cudaStreamDestroy(s);
    cudaGetLastError();
    set<<<1, 1, 0, s>>>(got, 0);
    got[gone] = cudaGetLastError();
    cudaEventDestroy(e);
    got[gone_event] = cudaStreamWaitEvent(0, e, 0);
    const char *name = cudaGetErrorName(cudaErrorInvalidValue);
    got[named] = name[0] == 'c' && name[20] == 'e' && name[21] == 0;
    got[text] = cudaGetErrorString(cudaSuccess)[3] == 'e';
    cudaGetDevice(&got[device]), cudaGetDeviceCount(&got[devices]);
    cudaDeviceGetAttribute(&got[warp], cudaDevAttrWarpSize, 0);
    got[no_attribute] = cudaDeviceGetAttribute(&got[warp], cudaDevAttrWarpSize, 7);
    int *memory = nullptr;
    cudaMalloc(&memory, 4);
    *memory = 3;
    got[heap] = *memory;
    got[freed] = cudaFree(memory);
    got[not_heap] = cudaFree(got);
    got[host_copy] = cudaMemcpyAsync(got, &s, 4, cudaMemcpyDeviceToDevice, 0);
}

// One level deeper each time, until a launch fails.
template <bool tail> __global__ void deeper(int *at, int level, int most)
{
    at[0] = level;
    if (level < most)
        deeper<tail><<<1, 1, 0, tail ? cudaStreamTailLaunch : 0>>>(at, level + 1, most);
    if (const int e = cudaGetLastError()) at[1] = e;
}

__global__ void crowd(int *at, int n)
{
    at[0] = at[1] = 0;
    for (int k = 0; k < n; ++k) {
        set<<<1, 1, 0, cudaStreamFireAndForget>>>(at + 2 + k, 1); // one of many
        if (const int e = cudaGetLastError()) at[0] += 1, at[1] = e;
    }
}

// The memory that a child grid sees.

template <bool barrier> __global__ void hands_over(int *data, int *out)
{
    data[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    if (threadIdx.x == 0) sum<<<1, 1>>>(data, 64, out); // by one thread for all
}

// Two warps meet, and one launches for both; half a warp, and a lane of it launches for the half.
__global__ void warps_hand_over(int *data, int n, int *out)
{
    data[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 0) sum<<<1, 1>>>(data, n, out);
}
__global__ void lanes_hand_over(int *data, int n, int *out)
{
    data[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 16) __syncwarp(0xffff);
    if (threadIdx.x == 3) sum<<<1, 1>>>(data, n, out);
}

// The second warp writes and meets the third, which tells the first by a flag; the first launches.
__global__ void told_by_another(int *data, unsigned *flag, int *out)
{
    if (threadIdx.x >= 32) {
        if (threadIdx.x < 64) data[threadIdx.x - 32] = threadIdx.x;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (threadIdx.x == 64) __threadfence(), atomicExch(flag, 1);
    } else if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
        sum<<<1, 1>>>(data, 32, out);
    }
}

__global__ void writes_late(int *data, int *out)
{
    data[0] = data[1] = 1;
    sum<<<1, 1>>>(data, 2, out); // before
    data[1] = 2;                 // too late
}

__global__ void reads_early(int *data, int *out)
{
    set<<<1, 1>>>(data, 1); // the child
    *out = data[0];         // of nothing yet
}

// The block that comes last launches for all.
template <bool fenced> __global__ void last_block(int *data, unsigned *done, int *out)
{
    data[blockIdx.x] = blockIdx.x;
    if (fenced) __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) sum<<<1, 1>>>(data, gridDim.x, out); // for all blocks
}

__global__ void at_tail(int *data, int *out)
{
    writes_late<<<1, 1, 0, cudaStreamTailLaunch>>>(data, out);
}

__global__ void parents(int *at, int value) { set<<<1, 1>>>(at, value); }
__global__ void cousins(int *at)
{
    parents<<<1, 1, 0, cudaStreamFireAndForget>>>(at, 1);
    parents<<<1, 1, 0, cudaStreamFireAndForget>>>(at, 2);
}

template <int streams> __global__ void siblings(int *at)
{
    set<<<1, 1>>>(at, 1);
    if (streams == 1) add<<<1, 1>>>(at, 1);
    if (streams == 2) add<<<1, 1, 0, cudaStreamFireAndForget>>>(at, 1);
}

__global__ void step_through(int *data, int *out, int n)
{
    out[n] = data[n]; // of the grid that this one follows
    set<<<1, 1>>>(data + n - 1, n);
    if (n > 1) step_through<<<1, 1, 0, cudaStreamTailLaunch>>>(data, out, n - 1);
}

__global__ void lends_shared(int *out)
{
    __shared__ int mine[2];
    mine[1] = 3;
    sum<<<1, 1>>>(mine + 1, 1, out); // shared
}

__global__ void lends_local(int *out, int n)
{
    int mine[4] = {n, 1, 2, 3};
    int *volatile hidden = mine;
    sum<<<1, 1>>>(hidden, n, out); // local
}

__global__ void waits_for_child(int *out)
{
    set<<<1, 1>>>(out, 1);
    while (*(volatile int *)out == 0) { // for ever
    }
}

__global__ void faulty_child(int *out) { set<<<1, 65>>>(out, 1); }
__global__ void for_ever(int *out)
{
    out[0] += 1;
    for_ever<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}
__global__ void pitched(int *out)
{
    cudaMemcpy2DAsync(out, 8, out + 4, 8, 4, 2, cudaMemcpyDeviceToDevice, 0); // not known
}

// A read and a write at one place count apart.
static void one_place(const char *what, finding_kind kind, const char *kernel, const char *line,
                      const char *part)
{
    cudaDeviceSynchronize(); // its error was checked, or is a finding
    const auto all = found();
    expect(!all.empty(), what, __FILE__, __LINE__);
    for (const auto &f : all) {
        const bool good = is(f, kind) && std::string(f.kernel).find(kernel) == 0 &&
                          f.line == (line ? line_with(__FILE__, line) : 0) &&
                          (kind != finding_kind::race || f.other_grid) &&
                          (std::strstr(f.detail, part) || std::strstr(f.where, part));
        expect(good, what, __FILE__, __LINE__);
        if (!good)
            std::printf("kind %d, %s, line %d: %s; %s\n", f.kind, f.kernel, f.line, f.where,
                        f.detail);
    }
}

static void order()
{
    int *log = upload(std::vector<int>(16, 0));
    in_one_stream<<<1, 1>>>(log);
    CHECK(download(log, 7) == std::vector<int>{6, 0, 1, 2, 3, 4, 5});
    CHECK_CUDA(cudaMemset(log, 0, 64));
    tails<<<1, 1>>>(log);
    CHECK(download(log, 8) == std::vector<int>{7, 10, 11, 20, 30, 31, 32, 33});
    float *out = upload(std::vector<float>(8, 0));
    with_parameters<<<1, 2, 8>>>(out);
    CHECK(download(out, 8) == std::vector<float>{29, 31.5, 34, 36.5, 29, 31.5, 34, 36.5});
    int *in = upload(std::vector<int>(1000, 0)), *total = upload(std::vector<int>(64, 0));
    fan_out<<<10, 100>>>(in, 1000, total);
    CHECK(download(total, 1)[0] == 499500);
    two_streams<true><<<1, 1>>>(total);
    CHECK(download(total, 33)[32] == 0);
    CHECK(download(total, 32) == std::vector<int>(32, 7));
    copies<<<1, 1>>>(total);
    CHECK(download(total, 3) == std::vector<int>{8, 8, 0x01010102});
    CHECK(done() == 0);
}

static void error_codes()
{
    int *got = upload(std::vector<int>(5000, 0));
    errors<<<1, 2>>>(got);
    const auto e = download(got, cases);
    const int invalid = cudaErrorInvalidValue, handle = cudaErrorInvalidResourceHandle;
    CHECK(e == std::vector<int>{1,       0,       0,       cudaErrorInvalidConfiguration,
                                invalid, invalid, invalid, invalid,
                                handle,  handle,  1,       1,
                                0,       1,       32,      cudaErrorInvalidDevice,
                                3,       0,       invalid, invalid});
    deeper<false><<<1, 1>>>(got, 0, 24);
    CHECK(download(got, 2) == std::vector<int>{24, 0});
    deeper<false><<<1, 1>>>(got, 0, 25);
    CHECK(download(got, 2) == std::vector<int>{24, cudaErrorLaunchMaxDepthExceeded});
    CHECK_CUDA(cudaMemset(got, 0, 8));
    deeper<true><<<1, 1>>>(got, 0, 100);
    CHECK(download(got, 2) == std::vector<int>{100, 0});
    simulator_begin();
    crowd<<<1, 1>>>(got, 2048);
    CHECK(download(got, 2) == std::vector<int>{0, 0});
    CHECK(found().empty());
    crowd<<<1, 1>>>(got, 2050);
    CHECK(download(got, 2) == std::vector<int>{2, cudaErrorLaunchPendingCountExceeded});
    one_place("too many", finding_kind::refused_launch, "crowd", "// one of many", "2048 launches");
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    crowd<<<1, 1>>>(got, 2050);
    CHECK(download(got, 2) == std::vector<int>{0, 0});
}

static void visibility()
{
    int *data = upload(std::vector<int>(96, 0)), *out = upload(std::vector<int>(64, 0));
    unsigned *done = upload(std::vector<unsigned>(3, 0));
    simulator_begin();
    hands_over<true><<<1, 64>>>(data, out);
    CHECK(download(out, 1)[0] == 2016);
    last_block<true><<<9, 1>>>(data, done, out);
    CHECK(download(out, 1)[0] == 36);
    warps_hand_over<<<1, 96>>>(data, 64, out);
    CHECK(download(out, 1)[0] == 2016);
    lanes_hand_over<<<1, 32>>>(data, 16, out);
    CHECK(download(out, 1)[0] == 120);
    told_by_another<<<1, 96>>>(data, done + 2, out);
    CHECK(download(out, 1)[0] == 1520);
    siblings<1><<<1, 1>>>(data);
    CHECK(download(data, 1)[0] == 2);
    step_through<<<1, 1>>>(data, out, 50);
    CHECK(::done() == 0);
    simulator_begin(), hands_over<false><<<1, 64>>>(data, out);
    one_place("no barrier", finding_kind::race, "sum", "all += in[k]", "no barrier comes");
    simulator_begin(), last_block<false><<<9, 1>>>(data, done + 1, out);
    one_place("no fence", finding_kind::race, "sum", "all += in[k]",
              "orders that before the launch");
    simulator_begin(), warps_hand_over<<<1, 96>>>(data, 96, out);
    one_place("a third warp", finding_kind::race, "sum", "all += in[k]", "no barrier comes");
    simulator_begin(), lanes_hand_over<<<1, 32>>>(data, 32, out);
    one_place("half a warp", finding_kind::race, "sum", "all += in[k]", "no barrier comes");
    simulator_begin(), at_tail<<<1, 1>>>(data, out);
    one_place("late at the tail", finding_kind::race, "sum", "all += in[k]", "a child may run");
    simulator_begin(), cousins<<<1, 1>>>(data);
    one_place("cousins", finding_kind::race, "set", "at[blockIdx.x * ", "the two grids");
    simulator_begin(), writes_late<<<1, 1>>>(data, out);
    one_place("written late", finding_kind::race, "sum", "all += in[k]", "a child may run");
    CHECK_CUDA(cudaMalloc(&data, 256)); // nobody has written it
    simulator_begin(), reads_early<<<1, 1>>>(data, out);
    one_place("read early", finding_kind::race, "set", "at[blockIdx.x * ", "TailLaunch sees");
    simulator_begin(), siblings<2><<<1, 1>>>(data);
    one_place("siblings", finding_kind::race, "add", "at[threadIdx.x] +=", "the two grids");
    simulator_begin(), two_streams<false><<<1, 1>>>(data);
    one_place("two streams", finding_kind::race, "add", "at[threadIdx.x] +=", "the two grids");
    data = upload(std::vector<int>(64, 3));
    for (int bytes : {16, 13})
        for (bool fill : {false, true}) {
            simulator_begin(), moves_beside<<<1, 1>>>(data, fill, false, bytes);
            CHECK_CUDA(cudaDeviceSynchronize());
            CHECK(found().empty());
            simulator_begin(), moves_beside<<<1, 1>>>(data, fill, true, bytes);
            one_place("moved beside", finding_kind::race, "add",
                      "at[threadIdx.x] +=", "the two grids");
        }
    CHECK(download(data, 5)[4] == 0x01010101 + 1); // filled last, then one more
    simulator_begin(), copied_then_written<<<1, 1>>>(data);
    one_place("written beside a copy", finding_kind::race, "cudaMemcpyAsync", nullptr,
              "a child may run");
}

static void fault(const char *what, void (*launch)(int *), cudaError_t error, finding_kind kind,
                  const char *kernel, const char *line, const char *part)
{
    const bool good = in_child([=] {
        int *out = upload(std::vector<int>(64, 0));
        simulator_begin(), simulator_limit_work(10'000'000);
        launch(out);
        CHECK_ERROR(error, cudaDeviceSynchronize());
        one_place(what, kind, kernel, line, part);
    });
    expect(good, what, __FILE__, __LINE__);
}

int main()
{
    for (int seed = 0; seed < 4; ++seed) simulator_schedule(seed != 0, seed), order();
    simulator_schedule(0, 1);
    error_codes();
    visibility();
    fault(
        "shared", [](int *out) { lends_shared<<<1, 1>>>(out); }, cudaErrorIllegalAddress,
        finding_kind::non_global_argument, "lends_shared", "// shared", "byte 4 of `mine`");
    fault(
        "local", [](int *out) { lends_local<<<1, 1>>>(out, 4); }, cudaErrorIllegalAddress,
        finding_kind::non_global_argument, "lends_local", "// local", "local memory");
    fault(
        "child", [](int *out) { faulty_child<<<1, 1>>>(out); }, cudaErrorIllegalAddress,
        finding_kind::out_of_bounds, "set", "at[blockIdx.x * ", "256 bytes");
    fault(
        "unknown", [](int *out) { pitched<<<1, 1>>>(out); }, cudaErrorNotSupported,
        finding_kind::unsupported, "pitched", "// not known", "Memcpy2DAsync");
    CHECK(in_child([] {
        int *out = upload(std::vector<int>(1, 0));
        simulator_begin(), simulator_limit_work(10'000'000);
        for_ever<<<1, 1>>>(out);
        CHECK_ERROR(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
        CHECK(found().size() == 1 && is(found()[0], finding_kind::endless));
    }));
    return failures != 0;
}
