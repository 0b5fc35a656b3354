// The time limit of a request to a worker.
#pragma once

#include <algorithm>
#include <chrono>

namespace grading {

// It is wall-clock time, except where devices are simulated. There it is CPU time of the host
// code, or idleness of all processes: kernels have a limit of their own, which is no time but their
// work, and a busy machine is not the submission's fault. As a last resort a multiple of the limit
// counts as wall-clock time; a larger one while the devices work, who may have little of a core.
class request_limit {
public:
    request_limit(std::chrono::milliseconds limit, bool by_cpu_time)
        : limit_(limit), by_cpu_time_(by_cpu_time)
    {
    }

    // `used` returns the CPU seconds of the host code, and of host code and devices together. It
    // reads /proc, so a call that is answered at once does not need it.
    template <class F> bool over(F used)
    {
        const auto now = clock::now();
        if (!by_cpu_time_) return now - start_ >= limit_;
        if (now - start_ < unmeasured_) return false;
        const auto [host, all] = used();
        if (host_at_first_ < 0) host_at_first_ = host;
        if (all > all_before_ + min_progress) all_before_ = all, last_progress_ = now;
        if (all - host > devices_before_ + min_progress)
            devices_before_ = all - host, last_work_ = now;
        const int most = now - last_work_ < standstill ? max_while_working : max_wall_clock;
        const std::chrono::duration<double> host_time(host - host_at_first_);
        stands_still_ = now - start_ >= limit_ && now - last_progress_ >= standstill;
        return stands_still_ || host_time >= limit_ - unmeasured_ || now - start_ >= most * limit_;
    }
    // True if the limit was exceeded because none of the processes has used a core for some time.
    bool stands_still() const { return stands_still_; }

private:
    using clock = std::chrono::steady_clock;
    static constexpr double min_progress = 0.05; // CPU seconds that count as work
    static constexpr std::chrono::seconds standstill{2};
    static constexpr int max_wall_clock = 6, max_while_working = 30; // in limits

    std::chrono::milliseconds limit_;
    bool by_cpu_time_, stands_still_ = false;
    // Wall-clock time before the first measurement; it counts as CPU time of the host code.
    std::chrono::milliseconds unmeasured_ = std::min(limit_, std::chrono::milliseconds(1000));
    clock::time_point start_ = clock::now(), last_progress_ = start_, last_work_ = start_;
    // CPU seconds; -1: none measured yet
    double host_at_first_ = -1, all_before_ = 0, devices_before_ = 0;
};

} // namespace grading
