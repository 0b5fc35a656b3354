// The SM clock and throttling as the driver's management library (NVML) reports them.
#pragma once

#include "paired_benchmark.hpp"

#include <string>

namespace grading {

// Loads libnvidia-ml.so.1 at run time. Nothing is known without it, or if it shows several devices
// of this name and CUDA_VISIBLE_DEVICES does not choose one.
class device_clocks {
public:
    explicit device_clocks(const std::string &device_name);
    ~device_clocks();
    device_clocks(const device_clocks &) = delete;
    device_clocks &operator=(const device_clocks &) = delete;

    device_state sample() const; // without the rate of multiply-adds

private:
    void *find_device(const std::string &name) const;

    void *library_ = nullptr, *device_ = nullptr;
    int (*shut_down_)() = nullptr;
    int (*clock_)(void *, int, unsigned *) = nullptr;
    int (*reasons_)(void *, unsigned long long *) = nullptr;
};

} // namespace grading
