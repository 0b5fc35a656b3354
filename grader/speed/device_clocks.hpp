// The SM clock and throttling as the driver's management library (NVML) reports them, and a guard
// against other users of the device.
#pragma once

#include "paired_benchmark.hpp"
#include "process/gpu_sharing.hpp"

#include <string>

namespace grading {

// Nothing is known without NVML, or if it shows several devices of this name and
// CUDA_VISIBLE_DEVICES does not choose one.
class device_clocks {
public:
    // Both end the case with INFRA_ERROR if the device is shared: time on it says nothing. A
    // benchmark samples around each pair of runs, so also before the first and after the last.
    explicit device_clocks(const std::string &device_name);
    device_state sample(); // without the rate of multiply-adds

private:
    void require_alone();

    gpu_sharing sharing_;
};

} // namespace grading
