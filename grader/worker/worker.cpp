// The worker: calls one implementation of a contract at the parent's request. It decides nothing.
//
// Linked with the CUDA runtime it runs kernels on a GPU; linked with the simulator's client it
// sends them to simulated devices in another process. The only difference here is that the client
// defines some of the harness functions, which are weak.
//
//   WORKER                    serves the parent on descriptor 3
//   WORKER --probe            runs a null kernel; prints the error and exits 1 if it cannot run
//   WORKER --peers            prints the bandwidth and latency between each pair of devices
//   WORKER --replay FILE...   makes the call in each FILE, for cuda-gdb, ncu, compute-sanitizer
//   WORKER --ranks N MPIRUN   serves as N ranks of Open MPI, which it starts as WORKER --rank
#include "ranks.hpp"
#include "server.hpp"
#include "signal_gate.hpp"
#include "simulator/runtime/harness.h"
#include "yardstick.hpp"

#include <cuda_runtime_api.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace grading {

int home_device()
{
    static const int device = [] {
        const char *local = std::getenv(local_rank_variable);
        int devices = 0;
        bool choice = local && cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
        return choice ? std::atoi(local) % devices : 0;
    }();
    return device;
}

namespace {

// As recv(), but does not sleep for a millisecond if `awake`: a process that sleeps goes on late,
// by up to half a millisecond.
ssize_t receive(request &r, bool awake)
{
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::milliseconds(1);
    while (awake && clock::now() < end) {
        const ssize_t got = recv(socket_fd, &r, sizeof r, MSG_DONTWAIT);
        if (got >= 0 || errno != EAGAIN) return got;
    }
    return recv(socket_fd, &r, sizeof r, 0);
}

int serve()
{
    const auto input = map_region(input_fd, PROT_READ);
    const auto output = map_region(output_fd, PROT_READ | PROT_WRITE);
    if (input.empty() || output.empty()) {
        std::fprintf(stderr,
                     "A worker is started by the grader, or with --probe or --replay FILE.\n");
        return 2;
    }
    signals().close_for_good();
    if (simulator_is_elsewhere) simulator_is_elsewhere(); // sends the PTX before any input
    auto s =
        std::make_unique<server>(input, output, simulator_is_elsewhere ? role::host : role::all);
    request r;
    bool awake = false;
    while (true) {
        const ssize_t got = receive(r, awake);
        if (got != sizeof r || r.magic != protocol_magic) break;
        awake = (r.flags & stay_awake) != 0;
        reply a = s->handle(r);
        if (take_sent_bytes) a.of_rank[0].sent_bytes = take_sent_bytes();
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) break;
    }
    return 0;
}

int probe()
{
    int devices = 0;
    cudaError_t e = cudaGetDeviceCount(&devices);
    cudaDeviceProp p{};
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&p, 0);
    if (e == cudaSuccess) {
        yardstick_null();
        e = cudaDeviceSynchronize();
    }
    if (e != cudaSuccess) {
        std::printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
        return 1;
    }
    std::printf("%s, compute capability %d.%d, %d device%s\n", p.name, p.major, p.minor, devices,
                devices == 1 ? "" : "s");
    return 0;
}

// Replays a file: the load request, the run request, then the input images at the arguments'
// offsets.
int replay(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    request load, run;
    if (!file.read(reinterpret_cast<char *>(&load), sizeof load) ||
        !file.read(reinterpret_cast<char *>(&run), sizeof run) || load.magic != protocol_magic) {
        std::fprintf(stderr,
                     "%s is no replay file of this version. Grade the case again to make one.\n",
                     path);
        return 2;
    }
    std::string image((std::istreambuf_iterator<char>(file)), {});
    server s(std::as_bytes(std::span(image)), {}, role::all);
    for (const request *r : {&load, &run}) {
        reply a = s.handle(*r);
        if (a.status == reply_status::done) continue;
        std::printf("%s: %s %s\n", r == &load ? "loading" : run.function, a.error_name, a.text);
        return 1;
    }
    std::printf("%s was called once and returned without a CUDA error.\n", run.function);
    if (simulator_counters) std::printf("%s\n", counters_json().c_str());
    return 0;
}

} // namespace
} // namespace grading

// Replaces `syscall` in submissions (compile.sh renames the symbol) and allows futex alone.
extern "C" long futex_only_syscall(long number, ...)
{
    if (number != SYS_futex) {
        std::fprintf(stderr, "syscall(%ld) is refused: no lab needs it.\n", number);
        errno = ENOSYS;
        return -1;
    }
    va_list list;
    va_start(list, number);
    long a[6];
    for (long &one : a) one = va_arg(list, long);
    va_end(list);
    return syscall(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int main(int count, char **arguments)
{
    std::string_view first = count > 1 ? arguments[1] : "";
    using namespace grading;
    if (contract_devices > 1) // only the simulator reads it, at the first call of CUDA
        setenv("SIMULATOR_DEVICES", std::to_string(contract_devices).c_str(), 0);
    if (count == 1) return serve();
    if (first == "--ranks" && count == 4 && lead_ranks)
        return lead_ranks(std::atoi(arguments[2]), arguments[3]);
    if (first == "--rank" && count == 3 && keep_rank) return keep_rank(arguments[2]);
    if (first == "--rank" && count == 2 && be_rank)
        return be_rank([] { return serve(), without_leader; });
    if (first == "--probe" && count == 2) return probe();
    if (first == "--peers" && count == 2) return print_peer_bandwidth();
    if (first == "--replay" && count > 2) {
        int worst = 0;
        for (char *path : std::span(arguments + 2, count - 2))
            worst = std::max(worst, replay(path));
        return worst;
    }
    std::fprintf(stderr, "usage: %s [--probe | --peers | --replay FILE...]\n", arguments[0]);
    return 2;
}
