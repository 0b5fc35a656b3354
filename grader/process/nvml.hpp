// The driver's management library (NVML), loaded by name: it belongs to the driver, not to the
// build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grading {

// Loads libnvidia-ml.so.1. Without it there are no devices, and nothing is known.
class nvml {
public:
    nvml();
    ~nvml();
    nvml(const nvml &) = delete;
    nvml &operator=(const nvml &) = delete;

    using device = void *; // a handle; null: no device

    std::vector<device> devices() const;
    std::string name_of(device d) const;
    std::string driver_version() const; // "580.65.06"; empty: unknown

    // Returns CUDA's device 0, which has this name; null if several have it and
    // CUDA_VISIBLE_DEVICES does not choose one. A slice's name ends with its own, as in "NVIDIA
    // H200 MIG 1g.18gb"; NVML knows the whole device.
    device find(const std::string &cuda_name) const;

    // The clock of the multiprocessors in MHz; false: unknown.
    bool sm_clock(device d, unsigned &mhz) const;
    // Bits NVML_CLOCKS_EVENT_REASON_... of nvml.h; 0: none, or unknown.
    std::uint64_t clock_event_reasons(device d) const;

    bool sliced(device d) const; // MIG mode is on

    // Process identifiers as NVML tells them. In a container they can be those of the host, or 0,
    // or be left out.
    struct processes {
        std::vector<unsigned> compute, graphics, mps_clients; // a process can be in several
    };
    processes processes_on(device d) const;
    // The share of the multiprocessors' time, 0 to 100, that a process took on average in the last
    // two seconds; 0: none, or unknown.
    unsigned busy_percent(device d, unsigned pid) const;
    // The path of a process's program; empty: unknown.
    std::string program_of(unsigned pid) const;

private:
    // Returns null if the library has no such function.
    template <class F> F function(const char *name) const;
    std::vector<unsigned> listed(const char *function, device d) const;

    void *library_ = nullptr;
    bool started_ = false;
};

} // namespace grading
