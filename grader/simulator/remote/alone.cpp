// A simulated device for one program: cudasim-device --alone DESCRIPTOR, which the program starts.
#include "server.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int count, char **arguments)
{
    if (count != 3 || std::strcmp(arguments[1], "--alone") != 0) {
        std::fprintf(stderr, "Programs start this by themselves.\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    simulator::remote::host_server host(std::atoi(arguments[2]), true);
    while (host.serve_one()) {
    }
    if (!host.complaint().empty()) {
        std::fprintf(stderr, "simulator: %s\n", host.complaint().c_str());
        return 1;
    }
    return 0;
}
