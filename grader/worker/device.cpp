// The simulated devices of a worker: a process that holds the device memory, runs kernels, finds
// errors and counts accesses. Its only part of the submission is the PTX.
//
//   cudasim-device               serves the parent on descriptor 3 and the host code on 7
//   cudasim-device --alone N     serves a program without a grader on descriptor N
#include "server.hpp"

#include "simulator/remote/server.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace grading {

extern const entry contract[];
extern const int contract_size, contract_devices;
const entry contract[] = {{}};
const int contract_size = 0;              // this process links no function of a submission
const int contract_devices = max_devices; // use every device

int home_device() { return 0; }

namespace {

using simulator::remote::host_server;

int complain(const host_server &host)
{
    if (host.complaint().empty()) return 0;
    std::fprintf(stderr, "simulator: %s\n", host.complaint().c_str());
    return disturbed_by_host;
}

int serve_alone(int connection)
{
    host_server host(connection, true);
    while (host.serve_one()) {
    }
    return complain(host);
}

int serve()
{
    const auto input = map_region(input_fd, PROT_READ);
    const auto output = map_region(output_fd, PROT_READ | PROT_WRITE);
    if (input.empty() || output.empty()) return 2;
    host_server host(device_fd, false);
    host.allow_work(false);
    const host_gate gate{.let_work = [&](bool allowed) { host.allow_work(allowed); },
                         .take_refused = [&] { return host.take_refused(); },
                         .seal_code = [&] { host.seal_code(); }};
    server s(input, output, role::devices, &gate);
    pollfd wait[2] = {{socket_fd, POLLIN, 0}, {device_fd, POLLIN, 0}};
    while (true) {
        if (poll(wait, 2, -1) < 0) continue;
        if (wait[1].revents && !host.serve_one()) {
            if (const int status = complain(host)) return status;
            wait[1].fd = -1; // the parent notices by itself that the host process ended
        }
        if (!wait[0].revents) continue;
        request r;
        if (recv(socket_fd, &r, sizeof r, 0) != sizeof r || r.magic != protocol_magic) return 0;
        const reply a = s.handle(r);
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) return 0;
        if (a.status == reply_status::left_work) return 0;
    }
}

} // namespace
} // namespace grading

int main(int count, char **arguments)
{
    std::signal(SIGPIPE, SIG_IGN);
    if (count == 3 && std::string_view(arguments[1]) == "--alone")
        return grading::serve_alone(std::atoi(arguments[2]));
    if (count == 1) return grading::serve();
    std::fprintf(stderr, "Programs and graders start this by themselves.\n");
    return 2;
}
