// Copies between devices: which take turns, what waits for them, and what freeing memory waits for.
#include "check.hpp"

#include <cstdlib>

using simulator::step_kind;
using simulator::timeline_step;
using simulator::wait_reason;

const int n = 1 << 12, bytes = n * static_cast<int>(sizeof(int));
const std::uint64_t one_copy = bytes / 64; // ticks

__global__ void fill(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(int *to, const int *from)
{
    to[threadIdx.x] += from[threadIdx.x]; // of memory that is gone
}

// Four devices with memory and a stream each, all of whose work is done.
struct devices {
    int *at[4] = {};
    cudaStream_t own[4] = {};
    devices()
    {
        for (int d = 0; d < 4; ++d) {
            use(d);
            CHECK_CUDA(cudaMalloc(&at[d], bytes));
            CHECK_CUDA(cudaMemset(at[d], 0, bytes));
            CHECK_CUDA(cudaStreamCreateWithFlags(&own[d], cudaStreamNonBlocking));
        }
        finish();
        simulator_begin();
    }
    ~devices()
    {
        finish();
        for (int d = 0; d < 4; ++d) {
            use(d);
            CHECK_CUDA(cudaFree(at[d]));
            CHECK_CUDA(cudaStreamDestroy(own[d]));
        }
    }
    static void use(int d) { CHECK_CUDA(cudaSetDevice(d)); }
    static void finish()
    {
        for (int d = 0; d < 4; ++d) {
            use(d);
            CHECK_CUDA(cudaDeviceSynchronize());
        }
    }
    void send(int to, int from, cudaStream_t s = nullptr)
    {
        use(from);
        CHECK_CUDA(cudaMemcpyPeerAsync(at[to], to, at[from], from, bytes, s));
    }
    int first_of(int d)
    {
        int got = -1;
        use(d);
        CHECK_CUDA(cudaMemcpy(&got, at[d], sizeof got, cudaMemcpyDeviceToHost));
        return got;
    }
};

static std::vector<timeline_step> copies()
{
    std::vector<timeline_step> all;
    for (const timeline_step &s : simulator::timeline::instance().scheduled().steps)
        if (s.kind == step_kind::copy) all.push_back(s);
    return all;
}

static std::uint64_t ticks() { return simulator::timeline::instance().scheduled().ticks; }

// From 0 to 1 and from 1 to 2: other engines, and device 1 has part in both.
static void those_of_a_device_take_turns_in_null_streams()
{
    devices m;
    m.send(1, 0);
    m.send(2, 1);
    m.finish();
    const auto all = copies();
    CHECK(all.size() == 2);
    if (all.size() != 2) return;
    for (const timeline_step &s : all) CHECK(s.end - s.start == one_copy);
    CHECK(all[1].start == all[0].end && all[1].why == wait_reason::order);
    CHECK(ticks() == 2 * one_copy);
}

static void they_overlap_in_streams_of_their_own()
{
    devices m;
    m.send(1, 0, m.own[0]);
    m.send(2, 1, m.own[1]);
    m.finish();
    const auto all = copies();
    CHECK(all.size() == 2 && all[0].start == all[1].start);
    CHECK(ticks() == one_copy);
}

// From 0 to 1 and from 2 to 3.
static void those_of_other_devices_overlap_in_null_streams_too()
{
    devices m;
    m.send(1, 0);
    m.send(3, 2);
    m.finish();
    CHECK(copies().size() == 2 && ticks() == one_copy);
}

// Device 1 fills its memory, device 0 fetches that in its own stream, device 1 fills again: nothing
// but the streams says so. Returns what arrived.
static int fetched_between_two_fills(bool null_streams)
{
    devices m;
    cudaStream_t of_0 = null_streams ? nullptr : m.own[0], of_1 = null_streams ? nullptr : m.own[1];
    simulator_streams(1);
    m.use(1);
    fill<<<n / 256, 256, 0, of_1>>>(m.at[1], 5);
    m.use(0);
    CHECK_CUDA(cudaMemcpyPeerAsync(m.at[0], 0, m.at[1], 1, bytes, of_0));
    m.use(1);
    fill<<<n / 256, 256, 0, of_1>>>(m.at[1], 6);
    CHECK_CUDA(cudaStreamSynchronize(of_1));
    m.use(0);
    CHECK_CUDA(cudaStreamSynchronize(of_0));
    const int got = m.first_of(0);
    CHECK(m.first_of(1) == 6);
    simulator_streams(0);
    return got;
}

// Memory of device 0 that a kernel reads, which is queued behind a copy from device 1 or behind a
// fill; then the memory is freed. Returns what was found.
static std::vector<simulator_finding> freed_behind(bool copy, cudaStream_t s, devices &m)
{
    int *gone = nullptr;
    m.use(0);
    CHECK_CUDA(cudaMalloc(&gone, bytes));
    CHECK_CUDA(cudaMemset(gone, 1, bytes));
    m.finish();
    m.use(0);
    simulator_streams(1);
    if (copy)
        CHECK_CUDA(cudaMemcpyPeerAsync(m.at[0], 0, m.at[1], 1, bytes, s));
    else
        CHECK_CUDA(cudaMemsetAsync(m.at[0], 1, bytes, s));
    add<<<1, 32, 0, s>>>(m.at[0], gone);
    CHECK_CUDA(cudaFree(gone));
    cudaDeviceSynchronize(); // fails where the kernel did
    simulator_streams(0);
    return found();
}

static void freed_too_early(bool own_stream)
{
    devices m;
    const auto all = freed_behind(true, own_stream ? m.own[0] : nullptr, m);
    CHECK(all.size() >= 1 && is(all[0], simulator::finding_kind::use_after_free));
    CHECK(all.size() >= 1 && all[0].line == line_with(__FILE__, "// of memory that is gone"));
    std::fflush(stdout);
    _exit(failures != 0); // this process's CUDA has failed
}

static void freeing_waits_for_all_else()
{
    devices m;
    for (cudaStream_t s : {cudaStream_t(nullptr), m.own[0]})
        CHECK(freed_behind(false, s, m).empty());
    CHECK(m.first_of(0) == 2 * 0x01010101);
}

// The arguments of a copy that has ended are no reason.
static void freeing_waits_once_the_copies_are_done()
{
    devices m;
    m.send(0, 1);
    m.send(0, 1, m.own[1]);
    m.finish();
    CHECK(freed_behind(false, nullptr, m).empty());
}

int main()
{
    setenv("SIMULATOR_DEVICES", "4", 1);
    those_of_a_device_take_turns_in_null_streams();
    they_overlap_in_streams_of_their_own();
    those_of_other_devices_overlap_in_null_streams_too();
    CHECK(fetched_between_two_fills(true) == 5);
    CHECK(fetched_between_two_fills(false) != 5); // one more fill was due before anyone waited
    freeing_waits_for_all_else();
    freeing_waits_once_the_copies_are_done();
    CHECK(in_child([] { freed_too_early(false); }));
    CHECK(in_child([] { freed_too_early(true); }));
    return done();
}
