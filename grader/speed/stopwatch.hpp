// Adds up how long something takes.
#pragma once

#include <chrono>

namespace grading {

// Adds its lifetime in seconds to `sum`.
class stopwatch {
public:
    explicit stopwatch(double &sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
    ~stopwatch()
    {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
        sum_ += took.count();
    }
    stopwatch(const stopwatch &) = delete;
    stopwatch &operator=(const stopwatch &) = delete;

private:
    double &sum_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace grading
