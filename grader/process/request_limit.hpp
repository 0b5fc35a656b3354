// The time limit of a request to a worker.
#pragma once

#include <algorithm>
#include <chrono>

namespace grading {

// It is wall-clock time, except where devices are simulated. There it is core time of the host
// code, or standstill of all processes: kernels have a limit of their own, and a busy machine is
// not the submission's fault.
class request_limit {
public:
    request_limit(std::chrono::milliseconds limit, bool by_cores)
        : limit_(limit), by_cores_(by_cores)
    {
    }

    // `used` returns the core seconds of the host code, and of host code and devices; it is called
    // only now and then.
    template <class F> bool over(F used)
    {
        const auto now = clock::now();
        if (!by_cores_) return now - start_ >= limit_;
        if (now - start_ < at_first_) return false;
        const auto [host, all] = used();
        if (host_before_ < 0) host_before_ = host;
        if (all > all_before_ + min_progress) all_before_ = all, moved_ = now;
        const std::chrono::duration<double> of_core(host - host_before_);
        stands_still_ = now - start_ >= limit_ && now - moved_ >= standstill;
        return stands_still_ || of_core >= limit_ - at_first_ || now - start_ >= patience * limit_;
    }
    // True if none of its processes has been at work for some time.
    bool stands_still() const { return stands_still_; }

private:
    using clock = std::chrono::steady_clock;
    static constexpr double min_progress = 0.05; // core seconds that count as work
    static constexpr std::chrono::seconds standstill{2};
    static constexpr int patience = 6;

    std::chrono::milliseconds limit_;
    bool by_cores_, stands_still_ = false;
    std::chrono::milliseconds at_first_ = std::min(limit_, std::chrono::milliseconds(1000));
    clock::time_point start_ = clock::now(), moved_ = start_;
    double host_before_ = -1, all_before_ = 0;
};

} // namespace grading
