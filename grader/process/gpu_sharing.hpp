// Says who else uses a GPU, so that no time is judged that another program may have lengthened.
//
// A device counts as shared
//   - in MIG mode: a slice's neighbours share its power and clock, and need not be visible;
//   - while an MPS daemon runs, which lets kernels of several processes run at the same time;
//   - while another process has a CUDA context on it, also an idle one: it may wake at any time;
//   - while a process that draws takes a tenth of its time. A desktop's compositor and browser are
//     listed on every such machine and take little, so their presence alone forbids nothing.
//
// Which processes are the grader's own is read from /proc: it is their ancestor. That presumes that
// NVML tells identifiers of this PID namespace, which is known once it tells one of ours. Else, as
// in a container where it tells the host's, only their number is compared with ours.
#pragma once

#include "nvml.hpp"

#include <string>

namespace grading {

class gpu_sharing {
public:
    // `cuda_name`: the name of CUDA's device 0.
    explicit gpu_sharing(const std::string &cuda_name);

    // Returns what shares the device now, in words: "another process (pid 4711, python) uses this
    // GPU"; empty: nothing that is known. Processes that have ended may still be listed for a
    // moment, so a process that cannot be found in /proc counts only once it was there in
    // `lasting` looks in a row.
    std::string look();
    static constexpr int lasting = 6;

    const nvml &library() const { return library_; }
    nvml::device device() const { return device_; }

private:
    nvml library_;
    nvml::device device_;
    int looks_with_unknown_ = 0;
};

// The same at one moment, for a device on which this program runs nothing: every process counts.
std::string shared_now(const nvml &library, nvml::device d);

} // namespace grading
