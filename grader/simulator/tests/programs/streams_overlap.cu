// The timeline of streams: which steps overlap, which wait, and for what.
#include "check.hpp"

using simulator::copy_way;
using simulator::step_kind;
using simulator::timeline_report;
using simulator::timeline_step;
using simulator::wait_reason;

__global__ void work(float *p, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = p[i];
    for (int r = 0; r < rounds; ++r) x = x * 0.5f + 1;
    p[i] = x;
}

const int n = 1 << 14;

struct memory {
    float *device = nullptr, *pinned = nullptr;
    std::vector<float> pageable = std::vector<float>(n, 1.0f);
    cudaStream_t one = nullptr, two = nullptr;
    cudaEvent_t event = nullptr;
    memory()
    {
        CHECK_CUDA(cudaMalloc(&device, n * sizeof(float)));
        CHECK_CUDA(cudaMallocHost(&pinned, n * sizeof(float)));
        std::fill(pinned, pinned + n, 1.0f);
        CHECK_CUDA(cudaMemset(device, 0, n * sizeof(float)));
        CHECK_CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        CHECK_CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
        CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CHECK_CUDA(cudaDeviceSynchronize());
        simulator_begin();
    }
    ~memory()
    {
        CHECK_CUDA(cudaFree(device));
        CHECK_CUDA(cudaFreeHost(pinned));
        CHECK_CUDA(cudaStreamDestroy(one));
        CHECK_CUDA(cudaStreamDestroy(two));
        CHECK_CUDA(cudaEventDestroy(event));
    }
};

// There, worked on, and back, in pieces that take turns in the streams.
static timeline_report in_pieces(memory &m, int pieces, float *host,
                                 const std::vector<cudaStream_t> &streams)
{
    const int each = n / pieces, bytes = each * static_cast<int>(sizeof(float));
    for (int i = 0; i < pieces; ++i) {
        cudaStream_t s = streams[static_cast<std::size_t>(i) % streams.size()];
        float *d = m.device + i * each, *h = host + i * each;
        CHECK_CUDA(cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, s));
        work<<<each / 256, 256, 0, s>>>(d, each, 400);
        CHECK_CUDA(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));
    }
    CHECK_CUDA(cudaDeviceSynchronize());
    return simulator::timeline::instance().scheduled();
}

static std::vector<timeline_step> steps_of(const timeline_report &t, step_kind kind)
{
    std::vector<timeline_step> all;
    for (const timeline_step &s : t.steps)
        if (s.kind == kind) all.push_back(s);
    return all;
}

static void pieces_in_two_streams_overlap()
{
    memory m;
    const timeline_report t = in_pieces(m, 4, m.pinned, {m.one, m.two});
    const auto copies = steps_of(t, step_kind::copy), kernels = steps_of(t, step_kind::kernel);
    CHECK(copies.size() == 8 && kernels.size() == 4);
    if (copies.size() != 8 || kernels.size() != 4) return;
    const std::uint64_t copy = n / 4 * sizeof(float) / 16; // 16 bytes a tick
    for (const timeline_step &s : copies) CHECK(s.end - s.start == copy);
    const std::uint64_t kernel = kernels[0].duration;
    CHECK(kernel > 2 * copy); // so that the multiprocessors are what all wait for
    // The second piece moves while the first is worked on, and its kernel follows that at once.
    CHECK(copies[0].start == 0 && kernels[0].start == copy);
    CHECK(copies[2].start == copy && copies[2].why == wait_reason::engine);
    CHECK(kernels[1].start == kernels[0].end && kernels[1].why == wait_reason::engine);
    CHECK(kernels[1].held_by == 2);
    // The third begins once its stream has brought back the first.
    CHECK(copies[4].start == copies[1].end && copies[4].why == wait_reason::order);
    CHECK(copies[1].way == copy_way::to_host && copies[1].start == kernels[0].end);
    CHECK(t.ticks == copy + 4 * kernel + copy);
    CHECK(t.serial == 8 * copy + 4 * kernel);
    CHECK(t.copying == 8 * copy && t.hidden == 6 * copy);
    const auto waits = steps_of(t, step_kind::host_wait);
    CHECK(waits.size() == 1 && waits[0].start == 0 && waits[0].end == t.ticks);
    CHECK(waits[0].name == "cudaDeviceSynchronize");
}

// Both copies of a piece come before those of the next, though all first ones could start at once.
static void copies_go_in_the_order_of_their_queueing()
{
    memory m;
    const int each = n / 4, bytes = each * static_cast<int>(sizeof(float));
    for (int i = 0; i < 4; ++i)
        CHECK_CUDA(cudaMemcpyAsync(m.device + i * each, m.pinned + i * each, bytes,
                                   cudaMemcpyHostToDevice, i < 2 ? m.one : m.two));
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto copies = steps_of(simulator::timeline::instance().scheduled(), step_kind::copy);
    CHECK(copies.size() == 4);
    for (std::size_t i = 1; i < copies.size(); ++i) {
        CHECK(copies[i].start == copies[i - 1].end && copies[i].held_by == i);
    }
}

// A graph within a graph is no way round the one engine for copies to the device.
static void steps_of_inner_graphs_need_engines()
{
    memory m;
    cudaGraph_t inner, outer;
    cudaGraphExec_t ready;
    CHECK_CUDA(cudaStreamBeginCapture(m.one, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(
        cudaMemcpyAsync(m.device, m.pinned, n * sizeof(float), cudaMemcpyHostToDevice, m.one));
    work<<<n / 256, 256, 0, m.one>>>(m.device, n, 100);
    CHECK_CUDA(cudaStreamEndCapture(m.one, &inner));
    CHECK_CUDA(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t node[2];
    for (cudaGraphNode_t &k : node)
        CHECK_CUDA(cudaGraphAddChildGraphNode(&k, outer, nullptr, 0, inner));
    CHECK_CUDA(cudaGraphInstantiate(&ready, outer, 0));
    CHECK_CUDA(cudaGraphLaunch(ready, m.two));
    CHECK_CUDA(cudaDeviceSynchronize());
    const timeline_report t = simulator::timeline::instance().scheduled();
    const auto copies = steps_of(t, step_kind::copy), kernels = steps_of(t, step_kind::kernel);
    CHECK(copies.size() == 2 && kernels.size() == 2);
    if (copies.size() != 2 || kernels.size() != 2) return;
    CHECK(copies[1].start == copies[0].end && copies[1].why == wait_reason::engine);
    CHECK(kernels[0].start == copies[0].end && kernels[1].start == copies[1].end);
    CHECK_CUDA(cudaGraphExecDestroy(ready));
    CHECK_CUDA(cudaGraphDestroy(outer));

    cudaGraph_t within = inner, around = nullptr;
    cudaError_t e = cudaSuccess;
    int levels = 0;
    for (; levels < 1000 && e == cudaSuccess; ++levels) {
        CHECK_CUDA(cudaGraphCreate(&around, 0));
        e = cudaGraphAddChildGraphNode(node, around, nullptr, 0, within);
        within = around;
    }
    CHECK_ERROR(cudaErrorInvalidValue, e); // the stack would not be enough for any number
    CHECK(levels == 101);
    cudaGetLastError();
}

static void nothing_overlaps_in_the_null_stream()
{
    memory m;
    const timeline_report t = in_pieces(m, 4, m.pinned, {nullptr});
    CHECK(t.copying > 0 && t.hidden == 0);
    CHECK(t.ticks == t.serial);
}

static void nothing_overlaps_with_pageable_memory()
{
    memory m;
    const timeline_report t = in_pieces(m, 4, m.pageable.data(), {m.one, m.two});
    CHECK(t.copying > 0 && t.hidden == 0);
    CHECK(t.ticks == t.serial);
    const auto copies = steps_of(t, step_kind::copy);
    CHECK(copies.size() == 8 && copies[2].why == wait_reason::host);
}

// Asking again adds nothing; more than is kept is counted, and gives no figures that look true.
static void a_long_program_is_cut()
{
    memory m;
    work<<<1, 32, 0, m.one>>>(m.device, 32, 1);
    for (int i = 0; i < 10000; ++i) CHECK_CUDA(cudaStreamSynchronize(m.one));
    timeline_report t = simulator::timeline::instance().scheduled();
    CHECK(t.steps.size() == 2 && t.left_out == 0);
    for (int i = 0; i < 5000; ++i) CHECK_CUDA(cudaEventRecord(m.event, m.one));
    t = simulator::timeline::instance().scheduled();
    CHECK(t.steps.size() == 4096 && t.left_out == 5002 - 4096);
    CHECK_CUDA(cudaDeviceSynchronize());
}

// The same work in two streams, with and without what orders it.
static timeline_report two_kernels(memory &m, bool with_event)
{
    work<<<4, 256, 0, m.one>>>(m.device, n / 2, 100);
    CHECK_CUDA(cudaEventRecord(m.event, m.one));
    if (with_event) CHECK_CUDA(cudaStreamWaitEvent(m.two, m.event));
    work<<<4, 256, 0, m.two>>>(m.device + n / 2, n / 2, 100);
    CHECK_CUDA(cudaStreamSynchronize(m.one));
    CHECK_CUDA(cudaStreamSynchronize(m.two));
    return simulator::timeline::instance().scheduled();
}

static void events_are_waited_for()
{
    memory m;
    const timeline_report t = two_kernels(m, true);
    const auto kernels = steps_of(t, step_kind::kernel), waits = steps_of(t, step_kind::event_wait);
    CHECK(kernels.size() == 2 && waits.size() == 1);
    if (kernels.size() != 2 || waits.size() != 1) return;
    CHECK(kernels[1].start == kernels[0].end && kernels[1].why == wait_reason::order);
    CHECK(waits[0].start == 0 && waits[0].end == kernels[0].end);
    CHECK(waits[0].stream_or_thread == kernels[1].stream_or_thread);
    CHECK(t.steps[kernels[1].held_by - 1].kind == step_kind::event_record);
    for (const timeline_step &k : kernels) CHECK(k.critical);
}

// Four blocks each: half of the multiprocessors.
static void small_kernels_run_side_by_side()
{
    memory m;
    const auto kernels = steps_of(two_kernels(m, false), step_kind::kernel);
    CHECK(kernels.size() == 2 && kernels[0].start == 0 && kernels[1].start == 0);
}

// A wait of the host between them orders two streams too.
static void what_the_host_waits_for_is_over()
{
    memory m;
    work<<<4, 256, 0, m.one>>>(m.device, n / 2, 100);
    CHECK_CUDA(cudaEventRecord(m.event, m.one));
    CHECK_CUDA(cudaEventSynchronize(m.event));
    work<<<4, 256, 0, m.two>>>(m.device + n / 2, n / 2, 100);
    CHECK_CUDA(cudaStreamSynchronize(m.two));
    const auto kernels = steps_of(simulator::timeline::instance().scheduled(), step_kind::kernel);
    CHECK(kernels.size() == 2 && kernels[1].start == kernels[0].end);
    CHECK(kernels[1].why == wait_reason::host);
}

// Addresses, which stand before it, are never used again.
static std::string timeline_text()
{
    std::string text(simulator_counters(nullptr, 0) + 1, 0);
    simulator_counters(text.data(), text.size());
    return text.substr(text.find(R"("timeline":)"));
}

static void the_same_run_gives_the_same_bytes()
{
    std::string text[2];
    for (std::string &t : text) {
        memory m;
        in_pieces(m, 8, m.pinned, {m.one, m.two});
        t = timeline_text();
    }
    CHECK(text[0] == text[1]);
    CHECK(text[0].find(R"("lane":"stream 2")") != std::string::npos);
}

int main()
{
    pieces_in_two_streams_overlap();
    copies_go_in_the_order_of_their_queueing();
    steps_of_inner_graphs_need_engines();
    nothing_overlaps_in_the_null_stream();
    nothing_overlaps_with_pageable_memory();
    events_are_waited_for();
    small_kernels_run_side_by_side();
    what_the_host_waits_for_is_over();
    a_long_program_is_cut();
    the_same_run_gives_the_same_bytes();
    return done();
}
