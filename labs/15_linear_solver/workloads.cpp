// Makes the systems and the workloads of lab 15.
#include "workloads.hpp"

#include "lab.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
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

doubles tiny_pivot(double other)
{
    return {1e-20, 1, 3, other, 2 + double(random_between(0, 5)), 10.5};
}

doubles with_equal_rows(int n)
{
    doubles rows = random_system(n);
    // The first pivot, a power of two: the rows cancel out to zeros whether a multiplier is a
    // quotient or a product with the pivot's reciprocal.
    at(rows, n, 4, 0) = 2;
    for (int j = 0; j <= n; ++j) at(rows, n, 17, j) = at(rows, n, 4, j);
    return rows;
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
        const int members = simulated() ? 4 : std::clamp(device().devices, 2, max_members);
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

make_workload solve_system(solver which) { return workload_of<solving>(which); }

double multiplications(double n) { return n * n * n / 3; }

// `free`: waits to allocate, to send the system, to copy the result back, to free.
static counted_gate host_waits(double per_column, double free, std::string name, std::string next)
{
    return at_most(std::move(name), {per_column}, "", std::move(next), [free](const counted &c) {
        return std::max(0.0, double(c.host_waits) - free) / equations_to_solve();
    });
}

static double multiplications_to_do() { return multiplications(equations_to_solve()); }

static counted_gate done_on_devices()
{
    return at_least("multiplications done on devices", {0.9}, "%", "Let kernels eliminate.",
                    per(multiplications_to_do, &counted::multiplications));
}

static double system_bytes()
{
    const double n = equations_to_solve();
    return 8 * n * (n + 1);
}

static counted_gate busiest_link()
{
    return at_most(
        "share of the host's bytes that one device gets", {0.35}, "%",
        "Each of four devices should get a fourth. Print each member's share, and its current "
        "device when it copies. Are the shares equal? Are the devices different?",
        per(system_bytes, &counted::max_uploaded_bytes));
}

// The devices' input must have been sent to them, and the result from them, in bytes.
static counted_gate uploaded()
{
    return at_least(
        "bytes sent to devices, in multiples of the inputs", {0.9}, "",
        "Let the devices work on the whole input: work of the host does not count.",
        per(system_bytes, [](const counted &c) { return c.host_link_bytes - c.staged_bytes; }));
}

static counted_gate downloaded()
{
    return at_least("bytes sent by devices, in multiples of the result", {1}, "",
                    "The devices must compute the result: copy it from there.",
                    per([] { return 8.0 * equations_to_solve(); }, &counted::downloaded_bytes));
}

static double share_of_multiplications(const counted &c, bool of_busiest)
{
    auto four = std::span(c.multiplications_of).first(4);
    auto [least, most] = std::minmax_element(four.begin(), four.end());
    return double(of_busiest ? *most : *least) /
           double(std::max<std::uint64_t>(c.multiplications, 1));
}

speed_gates one_waits()
{
    speed_gates gates;
    gates.counted = {
        host_waits(0.2, 8, "waits of the host per column, beyond 8",
                   "While the host waits for a number, the device waits for the host. A kernel can "
                   "read the row of the pivot itself; whether there is a pivot for each column can "
                   "be asked when all kernels have been launched. A copy from or to ordinary "
                   "memory waits by itself, so a wait behind it is a second one."),
        done_on_devices(), uploaded(), downloaded()};
    return gates;
}

speed_gates one_loads()
{
    speed_gates gates;
    gates.counted = {
        at_most("bytes loaded and stored per multiplication", {18}, "",
                "With one column's multipliers at a time, each number of the system is loaded and "
                "stored for a single multiplication. Find the pivots and multipliers of a panel of "
                "columns first; then each number right of it is loaded once for all of them.",
                per(multiplications_to_do, [](const counted &c) { return 32 * moved_sectors(c); })),
        done_on_devices(), lanes_at_work(), uploaded(), downloaded()};
    return gates;
}

speed_gates several_work()
{
    speed_gates gates;
    gates.counted = {
        host_waits(1, 4 * 8, "waits of the host per column, beyond 8 per member",
                   "While the host waits for a number, all devices wait. The data that one step "
                   "needs from another can stay on the devices, even the row of the pivot. A copy "
                   "from or to ordinary memory waits by itself, so a wait behind it is a second "
                   "one."),
        done_on_devices(),
        at_most("multiplications on the busiest of four devices", {0.4}, "%",
                "Does each member eliminate in its own columns, and in no others?",
                [](const counted &c) { return share_of_multiplications(c, true); }),
        at_least("multiplications on the least busy of four devices", {0.15}, "%",
                 "Deal the columns out in turn: if each member has a block of neighbouring "
                 "columns, the first has nothing to do once its own are done.",
                 [](const counted &c) { return share_of_multiplications(c, false); }),
        busiest_link(),
        uploaded(),
        downloaded()};
    return gates;
}
