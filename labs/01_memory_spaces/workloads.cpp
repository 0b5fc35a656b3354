// Makes the inputs of lab 01's speed cases, and checks their results.
#include "workloads.hpp"

#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

using namespace grading;

bytes random_table(std::mt19937_64 &random)
{
    bytes next(256);
    for (std::size_t s = 0; s < next.size(); ++s) next[s] = static_cast<unsigned char>(s);
    std::shuffle(next.begin(), next.end(), random);
    return next;
}

namespace {

struct workload_parts {
    const char *function;
    std::function<std::vector<argument>()> arguments;
    std::function<std::vector<std::span<std::byte>>(std::mt19937_64 &)> change;
    std::function<void()> check;
    double bytes = 0;
};

class workload_of_parts : public workload {
public:
    explicit workload_of_parts(workload_parts parts) : parts_(std::move(parts)) {}
    const char *function() const override { return parts_.function; }
    std::vector<argument> arguments() override { return parts_.arguments(); }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return parts_.change(random);
    }
    void check() override { parts_.check(); }
    double bytes() const override { return parts_.bytes; }

private:
    workload_parts parts_;
};

// Most of them need these; `in` changes between two calls.
template <class T, class U> struct in_and_out {
    std::vector<T> in;
    output<U> out;
    explicit in_and_out(std::size_t n, std::mt19937_64 &random) : in(n), out(n)
    {
        fill_random(in, random);
    }
};

} // namespace

std::size_t raced_elements()
{
    if (simulated()) return (1 << 14) - 35;
    double most = std::min(double(1 << 28), double(device().memory_bytes) / 64);
    return static_cast<std::size_t>(most / 8) / 4096 * 4096 - 35;
}

make_workload one_more()
{
    return [](std::mt19937_64 &random) {
        struct parts {
            float start = 0;
            output<float> out{1};
        };
        auto p = std::make_shared<parts>();
        p->start = static_cast<float>(random() % 1000);
        return std::make_unique<workload_of_parts>(workload_parts{
            "add_to_global",
            [p] { return remote<decltype(add_to_global)>::arguments(p->start, host(p->out)); },
            [](std::mt19937_64 &) { return std::vector<std::span<std::byte>>{}; },
            [p] { expect_equal(p->out, {p->start + 1}); }});
    };
}

namespace {

// As many sums as keep a core busy: each waits for its own last addition.
using group = std::array<double, 16>;

// The polynomial's values, by Horner's rule.
group values_at(const group &x, std::span<const double> coefficients)
{
    group sum;
    sum.fill(0);
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c)
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = sum[k] * x[k] + *c;
    return sum;
}

group absolutes(group all)
{
    for (double &one : all) one = std::abs(one);
    return all;
}

// True if each y is within the rounding allowed of the polynomial's value at x; there are at least
// as many as in a group.
bool are_polynomials(const floats &y, const floats &x, const floats &coefficients)
{
    const std::vector<double> c(coefficients.begin(), coefficients.end());
    std::vector<double> absolute(c);
    for (double &one : absolute) one = std::abs(one);
    const std::span first_terms = std::span(absolute).first(std::min<std::size_t>(4, c.size()));
    return in_ranges(x.size(), [&](std::size_t first, std::size_t last) {
        group at;
        for (; first < last; first += at.size()) {
            const std::size_t i = std::min(first, last - at.size()); // the last group overlaps
            std::copy_n(&x[i], at.size(), at.begin());
            const group value = values_at(at, c);
            auto right = [&](const group &magnitude) {
                bool all = true;
                for (std::size_t k = 0; k < at.size(); ++k)
                    all &= within(y[i + k], value[k], double(c.size()), magnitude[k]);
                return all;
            };
            // The magnitude of the first terms is a part of the whole, and mostly allows enough.
            if (!right(values_at(absolutes(at), first_terms)) &&
                !right(values_at(absolutes(at), absolute)))
                return false;
        }
        return true;
    });
}

} // namespace

make_workload many_values(int degree)
{
    return [degree](std::mt19937_64 &random) {
        struct parts : in_and_out<float, float> {
            floats c;
            using in_and_out::in_and_out;
        };
        std::size_t n = raced_elements();
        auto p = std::make_shared<parts>(n, random);
        p->c.resize(std::size_t(degree) + 1);
        fill_random(p->c, random);
        return std::make_unique<workload_of_parts>(
            workload_parts{"polynomial",
                           [=] {
                               return remote<decltype(polynomial)>::arguments(p->in, p->out, int(n),
                                                                              host(p->c), degree);
                           },
                           [p](std::mt19937_64 &r) {
                               return std::vector{renew(p->in, r), renew(p->c, r)};
                           },
                           [=] {
                               if (are_polynomials(p->out.values, p->in, p->c)) return;
                               oracle::polynomial_result want = oracle::polynomial(p->in, p->c);
                               expect_close(p->out, want.values, degree + 1, want.magnitudes);
                           },
                           8.0 * double(n)});
    };
}

make_workload many_walks(int steps)
{
    return [steps](std::mt19937_64 &random) {
        struct parts : in_and_out<unsigned char, unsigned char> {
            bytes next;
            using in_and_out::in_and_out;
        };
        std::size_t n = raced_elements();
        auto p = std::make_shared<parts>(n, random);
        p->next = random_table(random);
        return std::make_unique<workload_of_parts>(workload_parts{
            "follow",
            [=] {
                return remote<decltype(follow)>::arguments(p->in, host(p->next), p->out, int(n),
                                                           steps);
            },
            [p](std::mt19937_64 &r) {
                std::swap(p->next[r() % 256], p->next[r() % 256]);
                return std::vector{renew(p->in, r), std::as_writable_bytes(std::span(p->next))};
            },
            [=] {
                bytes all(256);
                for (std::size_t s = 0; s < 256; ++s) all[s] = static_cast<unsigned char>(s);
                bytes last = oracle::follow(all, p->next, steps);
                bool right =
                    for_all(n, [&](std::size_t i) { return p->out.values[i] == last[p->in[i]]; });
                if (!right) expect_equal(p->out, oracle::follow(p->in, p->next, steps));
            },
            2.0 * double(n)});
    };
}

make_workload many_runs()
{
    return [](std::mt19937_64 &random) {
        std::size_t n = raced_elements();
        auto p = std::make_shared<in_and_out<float, float>>(n, random);
        return std::make_unique<workload_of_parts>(workload_parts{
            "small_sort",
            [=] { return remote<decltype(small_sort)>::arguments(p->in, p->out, int(n)); },
            [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
            [=] {
                if (!sorted_in_runs(p->out.values, p->in, run_length))
                    expect_equal(p->out, oracle::small_sort(p->in));
            },
            8.0 * double(n)});
    };
}
