// What this machine has, what each part enables, and how to get what is missing.
#pragma once

#include "text.hpp"

#include <string>
#include <vector>

namespace cli {

// Where to look, so that tests can show a machine that lacks one thing. Programs are looked up on
// PATH.
struct machine_places {
    std::string device_folder = "/dev";
    std::vector<std::string> include_folders = {"/usr/include", "/usr/local/include"};
    std::vector<std::string> toolkit_folders; // with bin/nvcc below
    std::string toolchain;                    // toolchain.json; need not exist
    bool try_sandbox = true;
};
machine_places ordinary_places();

struct diagnosis {
    enum state { there, missing, optional_missing } what;
    std::string part;   // "nvcc"
    std::string found;  // "13.0 at /usr/local/cuda/bin/nvcc", or what is wrong
    std::string effect; // what it enables, or what its absence costs
    std::string remedy; // how to get it, when it is missing
};

std::vector<diagnosis> diagnose(const machine_places &places);
std::string doctor_report(const std::vector<diagnosis> &all, const terminal &out);

// Whether submissions can be shut off from the machine, both when they compile and when they run.
bool sandbox_works();

// Prints the report; 0 when everything required is there, else 99.
int doctor_command();

} // namespace cli
