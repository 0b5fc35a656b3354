// Diagnoses the machine: what it has, what each part enables, and how to get what is missing.
#pragma once

#include "cli/submission/toolchain.hpp"
#include "cli/terminal/text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

// The places to search. Tests change them to simulate a machine that lacks one thing. Programs are
// looked up on PATH.
struct machine_places {
    std::string device_folder = "/dev";
    std::string proc_folder = "/proc";
    std::vector<std::string> include_folders = {"/usr/include", "/usr/local/include"};
    std::vector<std::string> toolkit_folders; // with bin/nvcc below
    std::string toolchain;                    // toolchain.json; need not exist
};

struct diagnosis {
    enum state { there, missing, optional_missing } what;
    std::string part;   // "nvcc"
    std::string found;  // "13.0 at /usr/local/cuda/bin/nvcc", or what is wrong
    std::string effect; // what it enables, or what its absence costs
    std::string remedy; // how to get it, when it is missing
};

std::vector<diagnosis> diagnose(const machine_places &places);
// Says of each GPU that NVML shows whether something uses it now; nothing without NVML.
std::vector<diagnosis> diagnose_sharing();
// Says in which sandbox submissions run, and what is lost where the kernel refuses namespaces.
// `built`: a lab whose naive version is built; null: there is none yet. `proc`: the folder /proc.
std::vector<diagnosis> diagnose_sandbox(const std::optional<toolchain> &t, const lab *built,
                                        const std::string &backend, const std::string &proc);
std::string doctor_report(const std::vector<diagnosis> &all, const terminal &out);

// The sandbox for submissions as a lab's grader finds it, which must be built.
struct sandbox_found {
    std::string how;     // "namespaces", "landlock"
    std::string problem; // why there is none; empty: there is one
};
sandbox_found find_sandbox(const toolchain &t, const lab &any, const std::string &backend);

// Prints the report. Returns 0 if everything required is there, else 99.
int doctor_command();

} // namespace cli
