// When work in streams runs: what must follow what, and what a missing wait or event shows.
#include "check.hpp"

__global__ void fill(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value;
}

__global__ void add_one(int *to, const int *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] + 1;
}

__global__ void break_down(int *p) { *p = 1; }

enum order { at_once, late, random_order };
const int n = 1000;

struct buffers {
    int *a = nullptr, *b = nullptr, *host = nullptr;
    cudaStream_t one = nullptr, two = nullptr;
    cudaEvent_t event = nullptr;
    buffers()
    {
        CHECK_CUDA(cudaMalloc(&a, n * sizeof(int)));
        CHECK_CUDA(cudaMalloc(&b, n * sizeof(int)));
        CHECK_CUDA(cudaMallocHost(&host, n * sizeof(int)));
        CHECK_CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        CHECK_CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
        CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        host[0] = -1;
    }
    ~buffers()
    {
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaFree(a));
        CHECK_CUDA(cudaFree(b));
        CHECK_CUDA(cudaFreeHost(host));
        CHECK_CUDA(cudaStreamDestroy(one));
        CHECK_CUDA(cudaStreamDestroy(two));
        CHECK_CUDA(cudaEventDestroy(event));
    }
};

// One stream makes what the other one uses.
static void hand_over(buffers &m, bool with_event)
{
    fill<<<4, 256, 0, m.one>>>(m.a, n, 41);
    if (with_event) {
        CHECK_CUDA(cudaEventRecord(m.event, m.one));
        CHECK_CUDA(cudaStreamWaitEvent(m.two, m.event));
    }
    add_one<<<4, 256, 0, m.two>>>(m.b, m.a, n);
    CHECK_CUDA(cudaMemcpyAsync(m.host, m.b, n * sizeof(int), cudaMemcpyDeviceToHost, m.two));
}

static void missing_event_shows()
{
    for (const order o : {at_once, late, random_order}) {
        simulator_begin(), simulator_streams(o), simulator_schedule(0, 1);
        buffers m;
        hand_over(m, true);
        CHECK_CUDA(cudaStreamSynchronize(m.two));
        CHECK(m.host[0] == 42 && m.host[n - 1] == 42);
        CHECK(found().empty());
    }
    simulator_begin(), simulator_streams(late);
    {
        buffers m;
        hand_over(m, false);
        CHECK_CUDA(cudaStreamSynchronize(m.two));
        const auto all = found(); // the second stream's kernel ran first
        CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::uninitialised));
    }
    int wrong = 0;
    for (int seed = 0; seed < 16; ++seed) {
        simulator_begin(), simulator_streams(random_order), simulator_schedule(0, seed);
        buffers m;
        hand_over(m, false);
        CHECK_CUDA(cudaDeviceSynchronize());
        wrong += !found().empty();
    }
    CHECK(wrong > 0 && wrong < 16);
}

// Two branches that nothing joins: what follows one of them runs before the other has.
static void missing_join_shows_late()
{
    for (const bool with_event : {true, false}) {
        simulator_begin(), simulator_streams(late);
        buffers m;
        fill<<<4, 256, 0, m.one>>>(m.a, n, 1);
        fill<<<4, 256, 0, m.two>>>(m.b, n, 2);
        if (with_event) {
            CHECK_CUDA(cudaEventRecord(m.event, m.two));
            CHECK_CUDA(cudaStreamWaitEvent(m.one, m.event));
        }
        add_one<<<4, 256, 0, m.one>>>(m.a, m.b, n);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK(found().empty() == with_event);
    }
}

static void missing_wait_shows()
{
    simulator_begin(), simulator_streams(late);
    buffers m;
    fill<<<4, 256, 0, m.one>>>(m.a, n, 7);
    CHECK_CUDA(cudaMemcpyAsync(m.host, m.a, n * sizeof(int), cudaMemcpyDeviceToHost, m.one));
    CHECK(m.host[0] == -1);
    CHECK_ERROR(cudaErrorNotReady, cudaStreamQuery(m.one));
    cudaGetLastError();
    while (cudaStreamQuery(m.one) == cudaErrorNotReady) cudaGetLastError();
    CHECK(m.host[0] == 7);

    CHECK_CUDA(
        cudaEventRecord(m.event, m.two)); // an event that says nothing about the other stream
    fill<<<4, 256, 0, m.one>>>(m.a, n, 8);
    CHECK_CUDA(cudaMemcpyAsync(m.host, m.a, n * sizeof(int), cudaMemcpyDeviceToHost, m.one));
    CHECK_CUDA(cudaEventSynchronize(m.event));
    CHECK(m.host[0] == 7);
    CHECK_CUDA(cudaEventRecord(m.event, m.one));
    CHECK_ERROR(cudaErrorNotReady, cudaEventQuery(m.event));
    cudaGetLastError();
    CHECK_CUDA(cudaEventSynchronize(m.event));
    CHECK(m.host[0] == 8);

    // Ordinary memory: read at once on its way in, waited for on its way out.
    std::vector<int> ordinary(n, 5);
    CHECK_CUDA(
        cudaMemcpyAsync(m.a, ordinary.data(), n * sizeof(int), cudaMemcpyHostToDevice, m.one));
    ordinary.assign(n, 6);
    CHECK_CUDA(
        cudaMemcpyAsync(ordinary.data(), m.a, n * sizeof(int), cudaMemcpyDeviceToHost, m.one));
    CHECK(ordinary[n - 1] == 5);
    // Pinned memory: read when the copy's turn comes.
    for (int i = 0; i < n; ++i) m.host[i] = 1;
    CHECK_CUDA(cudaMemcpyAsync(m.a, m.host, n * sizeof(int), cudaMemcpyHostToDevice, m.one));
    for (int i = 0; i < n; ++i) m.host[i] = 2;
    CHECK_CUDA(cudaStreamSynchronize(m.one));
    CHECK(download(m.a, n)[n - 1] == 2);
    CHECK(found().empty());
}

// The legacy stream follows other streams, and they follow it, unless they were made not to.
static void legacy_stream()
{
    simulator_begin(), simulator_streams(late);
    buffers m;
    cudaStream_t blocking;
    CHECK_CUDA(cudaStreamCreate(&blocking));
    fill<<<4, 256, 0, blocking>>>(m.a, n, 1);
    add_one<<<4, 256>>>(m.b, m.a, n);
    add_one<<<4, 256, 0, blocking>>>(m.a, m.b, n);
    CHECK_CUDA(cudaStreamSynchronize(blocking));
    CHECK(download(m.a, n)[n - 1] == 3);
    CHECK(found().empty());
    fill<<<4, 256, 0, m.one>>>(m.b, n, 9);
    CHECK(download(m.b, n)[0] == 2); // which did not wait for the non-blocking one
    CHECK_CUDA(cudaStreamSynchronize(m.one));
    CHECK(download(m.b, n)[0] == 9);
    fill<<<4, 256, 0, blocking>>>(m.b, n, 10);
    CHECK_CUDA(cudaStreamDestroy(blocking)); // its work is done all the same
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(download(m.b, n)[0] == 10);
}

static void callbacks()
{
    struct notes {
        int seen = 0;
        cudaError_t inside = cudaSuccess, status = cudaErrorUnknown;
    } c;
    for (const order o : {at_once, late}) {
        simulator_begin(), simulator_streams(o);
        buffers m;
        c = {};
        fill<<<4, 256, 0, m.one>>>(m.a, n, 3);
        CHECK_CUDA(cudaStreamAddCallback(
            m.one,
            [](cudaStream_t, cudaError_t status, void *data) {
                static_cast<notes *>(data)->seen = 1;
                static_cast<notes *>(data)->status = status;
            },
            &c, 0));
        CHECK_CUDA(cudaLaunchHostFunc(
            m.one,
            [](void *data) {
                auto *c = static_cast<notes *>(data);
                c->seen = c->seen == 1 ? 2 : -1;
                c->inside = cudaDeviceSynchronize();
            },
            &c));
        CHECK(c.seen == (o == late ? 0 : 2));
        CHECK_CUDA(cudaStreamSynchronize(m.one));
        CHECK(c.seen == 2);
        CHECK(c.status == cudaSuccess);
        CHECK(c.inside == cudaErrorNotPermitted); // host functions may not call the runtime
        cudaGetLastError();
    }
}

// Memory that goes in its stream's order: use after that is found.
static void use_after_async_free()
{
    simulator_begin(), simulator_streams(at_once);
    buffers m;
    int *p = nullptr;
    CHECK_CUDA(cudaMallocAsync(&p, n * sizeof(int), m.one));
    fill<<<4, 256, 0, m.one>>>(p, n, 1);
    CHECK_CUDA(cudaFreeAsync(p, m.one));
    CHECK_ERROR(cudaErrorInvalidValue,
                cudaMemcpyAsync(m.host, p, 4, cudaMemcpyDeviceToHost, m.one));
    cudaGetLastError();
    auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::use_after_free));
    CHECK_ERROR(cudaErrorInvalidValue, cudaFreeAsync(p, m.one));
    cudaGetLastError();
    CHECK(found().size() == 2);

    simulator_begin(), simulator_streams(late);
    CHECK_CUDA(cudaMallocAsync(&p, n * sizeof(int), m.one));
    fill<<<4, 256, 0, m.one>>>(p, n, 1);
    CHECK_CUDA(cudaMemcpyAsync(m.host, p, 4, cudaMemcpyDeviceToHost, m.one));
    CHECK_CUDA(cudaFreeAsync(p, m.one)); // after both
    CHECK_CUDA(cudaStreamSynchronize(m.one));
    CHECK(m.host[0] == 1);
    CHECK(found().empty());
}

// A fault comes up where the program waits; what was queued behind it never runs.
static void fault_cancels()
{
    simulator_begin(), simulator_streams(late);
    static int calls = 0;
    static cudaError_t heard = cudaSuccess;
    cudaStream_t s;
    CHECK_CUDA(cudaStreamCreate(&s));
    break_down<<<1, 1, 0, s>>>(nullptr);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaLaunchHostFunc(
        s, [](void *) { ++calls; }, nullptr));
    CHECK_CUDA(cudaStreamAddCallback(
        s, [](cudaStream_t, cudaError_t status, void *) { heard = status; }, nullptr, 0));
    CHECK_ERROR(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
    CHECK(calls == 0);
    CHECK(heard == cudaErrorIllegalAddress);
    CHECK_ERROR(cudaErrorIllegalAddress, cudaStreamDestroy(s));
}

int main()
{
    missing_event_shows();
    missing_join_shows_late();
    missing_wait_shows();
    legacy_stream();
    callbacks();
    use_after_async_free();
    fault_cancels();
    return failures != 0;
}
