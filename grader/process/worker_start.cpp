// Starts the processes of a worker.
//
// If the machine allows it, a worker is confined to a sandbox, whose namespaces its keeper shares.
#include "worker_state.hpp"

#include "simulator/machine/thread_count.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace grading {

namespace {

std::vector<std::string> minimal_environment(bool lazy_loading)
{
    std::vector<std::string> result{"PATH=/usr/bin:/bin", "LC_ALL=C", "CUDA_CACHE_DISABLE=1",
                                    std::string("CUDA_MODULE_LOADING=") +
                                        (lazy_loading ? "LAZY" : "EAGER")};
    // The machine, not the student, decides where the driver is and which devices the
    // grader may use.
    for (const char *name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
        if (const char *value = getenv(name)) result.push_back(std::string(name) + "=" + value);
    return result;
}

void show_gpus(sandbox &s)
{
    s.show("/dev/dxg", true);
    std::error_code ignored;
    for (const std::filesystem::directory_entry &e :
         std::filesystem::directory_iterator("/dev", ignored))
        if (e.path().filename().string().starts_with("nvidia")) s.show(e.path().string(), true);
}

// Returns a sandbox that shows the system's libraries and `program`, and without simulated devices
// the GPU's device files; nothing else of the machine: no solution, no grader, no user's file.
sandbox sandbox_of(const worker_options &o, confinement how, const std::string &program,
                   const std::string &seen_at)
{
    // Simulated devices send the host code a descriptor of the memory that both map.
    const bool simulates = program == o.device;
    const bool ranks = o.ranks > 0;
    sandbox s(how, {.proc = o.proc,
                    .processes = ranks,
                    .local_sockets = o.proc || simulates,
                    .loopback = ranks});
    s.show_system();
    s.show("/sys");
    if (o.device.empty()) show_gpus(s);
    std::error_code missing; // the worker then fails to start, and its answer says so
    s.show(std::filesystem::canonical(program, missing).string(), seen_at);
    if (ranks) { // Open MPI reads these besides libraries
        s.show(std::filesystem::canonical(o.mpirun, missing).string(), o.mpirun);
        s.show("/etc/openmpi");
        s.show("/usr/share/openmpi");
    }
    return s;
}

std::pair<owned_fd, owned_fd> connected(int type)
{
    int pair[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0) throw_errno("socketpair");
    return {owned_fd::high(pair[0]), owned_fd::high(pair[1])};
}

} // namespace

void worker::state::start(const shared_memory &input)
{
    this->input = &input;
    output = std::make_unique<shared_memory>(options.output_bytes, true);
    pipe_ends printed = make_pipe();

    confinement how = options.sandbox ? available_confinement(options.proc) : confinement::none;
    std::vector<std::string> environment = minimal_environment(options.lazy_loading);
    if (options.ranks && how != confinement::namespaces) {
        how = confinement::none; // Open MPI needs what Landlock forbids
        char folder[] = "/tmp/cuda-workbook-ranks.XXXXXX";
        if (!mkdtemp(folder)) throw_errno("making a folder in /tmp");
        mpi_folder = folder;
        environment.push_back("TMPDIR=" + mpi_folder);
    }
    if (options.devices > 1)
        environment.push_back("SIMULATOR_DEVICES=" + std::to_string(options.devices));
    // CPU time of one process, in all its threads: ten minutes of every core. It ends a process
    // that survives the limits of its requests.
    const std::uint64_t cpu_seconds =
        600 * std::uint64_t{std::max(1u, std::thread::hardware_concurrency())};

    auto begin = [&](connected_process &p, const std::string &program, const shared_memory &in,
                     const shared_memory &out, const std::vector<owned_fd> &connections) {
        auto [ours, theirs] = connected(SOCK_SEQPACKET);
        process_setup setup;
        setup.environment = environment;
        setup.program = how == confinement::namespaces ? "/worker" : program;
        const sandbox within = sandbox_of(options, how, program, setup.program);
        setup.within = &within;
        setup.arguments = {setup.program};
        if (options.ranks && &p == &host)
            setup.arguments.insert(setup.arguments.end(),
                                   {"--ranks", std::to_string(options.ranks), options.mpirun});
        setup.descriptors = {{printed.in.get(), 1},
                             {printed.in.get(), 2},
                             {theirs.get(), socket_fd},
                             {in.descriptor(), input_fd},
                             {out.descriptor(), output_fd}};
        for (std::size_t k = 0; k < connections.size(); ++k)
            setup.descriptors.push_back({connections[k].get(), device_fd + static_cast<int>(k)});
        setup.own_status_fd = simulator::proc_status_fd;
        setup.limits = {{RLIMIT_NOFILE, 1024}, {RLIMIT_CPU, cpu_seconds}};
        if (&p == &host) setup.limits.push_back({RLIMIT_FSIZE, 1 << 30});
        p.process = kept_process(setup);
        p.socket = std::move(ours);
    };
    if (options.device.empty()) {
        begin(host, options.program, input, *output, {});
    } else {
        host_input = std::make_unique<shared_memory>(input.size(), false);
        host_output = std::make_unique<shared_memory>(options.output_bytes, true);
        std::vector<owned_fd> to_devices;
        for (int k = 0; k < std::max(1, options.ranks); ++k) {
            auto [to_device, to_host] = connected(SOCK_STREAM);
            std::vector<owned_fd> one;
            one.push_back(std::move(to_host));
            begin(devices.emplace_back(), options.device, input, *output, one);
            to_devices.push_back(std::move(to_device));
        }
        begin(host, options.program, *host_input, *host_output, to_devices);
    }
    text = std::move(printed.out);
    fcntl(text.get(), F_SETFL, O_NONBLOCK);
}

} // namespace grading
