// Makes the systems and the workloads of lab 15.
#include "workloads.hpp"

#include "lab.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

using namespace grading;

double &at(doubles &augmented, int n, int row, int column)
{
    return augmented[std::size_t(row) * std::size_t(n + 1) + std::size_t(column)];
}

doubles random_system(int n)
{
    doubles a;
    for (float x : random_floats(std::size_t(n) * std::size_t(n + 1))) a.push_back(x);
    return a;
}

// Which column is the first one with a number, by row: not its own, where n is more than 1.
static std::vector<int> shuffled(int n)
{
    std::vector<int> first(static_cast<std::size_t>(n));
    std::iota(first.begin(), first.end(), 0);
    std::shuffle(first.begin(), first.end(), random_source());
    for (int i = 0; n > 1 && i < n; ++i)
        if (first[std::size_t(i)] == i)
            std::swap(first[std::size_t(i)], first[std::size_t((i + 1) % n)]);
    return first;
}

static doubles cleared_up_to_the_diagonal(int n, bool right_of_it_too)
{
    doubles a = random_system(n);
    const std::vector<int> first = shuffled(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const int own = first[std::size_t(i)];
            if (j < own || (right_of_it_too && j > own)) at(a, n, i, j) = 0;
            // Not a small one: rounding must not grow along the triangle.
            if (j == own) at(a, n, i, j) = random_between(0, 1) ? 2 : -1;
        }
    return a;
}

doubles shuffled_diagonal(int n) { return cleared_up_to_the_diagonal(n, true); }

doubles shuffled_triangle(int n) { return cleared_up_to_the_diagonal(n, false); }

doubles with_zeros(int n, int column)
{
    doubles a = random_system(n);
    for (int i = 0; i < n; ++i) at(a, n, i, column) = 0;
    return a;
}

doubles hilbert_system(int n)
{
    doubles a;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= n; ++j) a.push_back(j < n ? 1.0 / (i + j + 1) : i % 3 - 1.0);
    return a;
}

int equations_to_solve() { return simulated() ? 96 : 1024; }

namespace {

class solving : public workload {
public:
    solving(std::mt19937_64 &random, solver which) : which_(which) { renew(random); }
    const char *function() const override
    {
        return which_ == solver::one ? "eliminate_one" : "eliminate";
    }
    std::vector<argument> arguments() override
    {
        if (which_ == solver::one)
            return remote<decltype(eliminate_one)>::arguments(host(a_), n_, host(x_));
        // On the simulator always four; else as many as there are, or two that share.
        const int members = simulated() ? 4 : std::clamp(device().devices, 2, most_devices);
        return remote<decltype(eliminate)>::arguments(host(a_), n_, host(x_), members);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(random);
        return {std::as_writable_bytes(std::span(a_))};
    }
    void check() override { expect_solved(function(), 0, a_, n_, x_); }
    bool in_kernels() const override { return false; } // the gates count what they must do

private:
    void renew(std::mt19937_64 &random)
    {
        std::uniform_real_distribution<double> any(-1, 1);
        a_.resize(std::size_t(n_) * std::size_t(n_ + 1));
        for (double &x : a_) x = any(random);
        x_ = no_solution(n_);
    }

    solver which_;
    int n_ = equations_to_solve();
    doubles a_;
    output<double> x_{0};
};

} // namespace

make_workload solve_system(solver which)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<solving>(random, which); };
}
