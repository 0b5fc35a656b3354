// The processes of a worker, and the requests to them.
#pragma once

#include "kept_process.hpp"
#include "worker_process.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace grading {

// One process of a worker, and the socket for requests to it.
struct connected_process {
    owned_fd socket;
    kept_process process;

    // If the process has ended, sets `a` to how and returns true.
    bool ended(answer &a)
    {
        const std::optional<process_end> end = process.ended();
        if (!end) return false;
        a.how = end->what == process_end::exited      ? worker_exit::exited
                : end->what == process_end::signalled ? worker_exit::crashed
                                                      : worker_exit::not_started;
        a.status = end->status;
        return true;
    }
};

struct worker::state {
    worker_options options;
    const shared_memory *input = nullptr;
    std::unique_ptr<shared_memory> output;
    owned_fd text;          // the read end of its stdout and stderr
    connected_process host; // runs everything if there are no simulated devices
    // One process with simulated devices per rank; the first rank's holds the arguments. These
    // processes map `input` and `output`; the host code has its own memories, for the arguments
    // that lie on the host.
    std::vector<connected_process> devices;
    std::unique_ptr<shared_memory> host_input, host_output;
    std::map<std::uint32_t, std::vector<argument_descriptor>> sets;
    bool has_answered = false;
    bool awake = false; // the next request is timed
    // Asks the devices for their report if the host code crashes.
    std::optional<request> crash_report_request;
    std::string mpi_folder; // folder for Open MPI's files, if /tmp is not the worker's own
    std::string printed_text;
    std::size_t printed_bytes = 0;
    bool cut = false;

    void start(const shared_memory &input);
    void stop();
    bool read_text(); // false: over the limit
    answer ask(connected_process &target, request what, std::chrono::milliseconds limit);
    answer ask_devices(const request &what, std::chrono::milliseconds limit);
    answer ask_both(const request &what, std::chrono::milliseconds limit);
    answer await_start(std::chrono::milliseconds limit);
    answer ask_all(const request &what, std::chrono::milliseconds limit);
    answer load(request what, std::chrono::milliseconds limit);
    answer run(const request &what, std::chrono::milliseconds limit);
    answer store(const request &what, std::chrono::milliseconds limit);
    bool over_limits(answer &a) const;
    answer finish(answer a);
    ~state()
    {
        stop();
        std::error_code ignored; // a folder left in /tmp does no harm
        if (!mpi_folder.empty()) std::filesystem::remove_all(mpi_folder, ignored);
    }
};

} // namespace grading
