// nvcc: -Xcompiler=-Wall
// The helpers of labs 12 and 15, on four devices: threads, exceptions, and who waits for whom.
#include "check.hpp"

#include "../../../../labs/devices.hpp"

#include <stdexcept>

constexpr int members = 4, n = 1000;

static __global__ void add_one(int *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] += 1;
}

// Each thread begins with device 0 and has a current device of its own.
static void one_thread_per_member()
{
    use(3);
    int before[members], chosen[members];
    thread_each(members, [&](int k) {
        CHECK_CUDA(cudaGetDevice(&before[k]));
        use(k);
        CHECK_CUDA(cudaGetDevice(&chosen[k]));
    });
    for (int k = 0; k < members; ++k) CHECK(before[k] == 0 && chosen[k] == k);
    int mine = -1;
    CHECK_CUDA(cudaGetDevice(&mine));
    CHECK(mine == 3);
    thread_each(0, [](int) { CHECK(false); });
}

static void the_caller_gets_an_exception_when_all_are_done()
{
    bool ended[members] = {};
    std::string caught;
    try {
        thread_each(members, [&](int k) {
            if (k == 1 || k == 3) throw std::runtime_error("member " + std::to_string(k));
            use(k);
            ended[k] = true;
        });
    } catch (const std::exception &e) {
        caught = e.what();
    }
    CHECK(caught == "member 1");
    CHECK(ended[0] && ended[2]);
}

// A failed call throws, and what was allocated is freed.
static void failures_are_thrown()
{
    std::size_t before = 0, after = 0, all = 0;
    use(0);
    CHECK_CUDA(cudaMemGetInfo(&before, &all));
    std::string caught;
    try {
        array<int> small(n), none(0), large(all);
    } catch (const cuda_failure &e) {
        caught = e.what();
    }
    CHECK(caught == "cudaMalloc: out of memory");
    CHECK_CUDA(cudaMemGetInfo(&after, &all));
    CHECK(after == before);
    cudaGetLastError();
}

// Around the ring: each member adds 1 and sends everything to the one before it, against the order
// in which the host waits for them.
static void streams_wait_for_each_other()
{
    std::vector<stream> streams = stream_each(members);
    std::vector<array<int>> values = array_each<int>(members, n);
    use(0);
    CHECK_CUDA(cudaMemsetAsync(values[0].at, 0, sizeof(int) * n, streams[0].at));
    for (int step = 2 * members; step > 0; --step) {
        const int k = step % members, next = (step - 1) % members;
        use(k);
        add_one<<<(n + 255) / 256, 256, 0, streams[k].at>>>(values[k].at);
        send(values[next].at, next, values[k].at, k, n, streams[k]);
        streams[k].record();
        streams[next].wait_for(streams[k]);
    }
    finish(streams);
    std::vector<int> got(n);
    CHECK_CUDA(cudaMemcpy(got.data(), values[0].at, sizeof(int) * n, cudaMemcpyDefault));
    CHECK(got == std::vector<int>(n, 2 * members));
}

int main()
{
    setenv("SIMULATOR_DEVICES", "4", 1);
    CHECK(device_of(members + 1) == 1);
    one_thread_per_member();
    the_caller_gets_an_exception_when_all_are_done();
    failures_are_thrown();
    streams_wait_for_each_other();
    return done();
}
