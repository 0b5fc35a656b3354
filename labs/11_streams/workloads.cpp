// Makes the inputs and workloads of lab 11.
#include "workloads.hpp"

#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <utility>

using namespace grading;

floats random_halves(std::size_t n) { return random_floats(n, -0.5f, 0.5f); }

std::size_t raced_elements()
{
    if (simulated()) return (1 << 18) - 35; // some pieces, if they have 256 KiB at least
    double most = std::min(double(1 << 25), double(device().memory_bytes) / 1024);
    return static_cast<std::size_t>(most) / 4096 * 4096 - 35;
}

// As many different sums as there are elements, or nearly: |x| stays below 1/2.
static void fill_with_halves(floats &x, std::mt19937_64 &random)
{
    fill_random(x, random);
    for_all(x.size(), [&](std::size_t i) {
        x[i] *= 0.499997f;
        return true;
    });
}

// The elements that a check looks at: all on the simulator; on a GPU one of each thousand or so,
// of which no submission can know, for each takes thousands of steps.
static std::vector<std::size_t> looked_at(std::size_t n)
{
    const std::size_t each = simulated() ? 1 : 1024;
    std::vector<std::size_t> chosen;
    std::mt19937_64 random(unforeseen());
    for (std::size_t first = 0; first < n; first += each)
        chosen.push_back(first + random() % std::min(each, n - first));
    return chosen;
}

namespace {

class adding : public workload {
public:
    adding(std::mt19937_64 &random, int rounds)
        : rounds_(rounds), a_(raced_elements()), b_(a_.size()), c_(a_.size())
    {
        fill_with_halves(a_, random);
        fill_with_halves(b_, random);
    }
    const char *function() const override { return "add_pipelined"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_pipelined)>::arguments(pinned(a_), pinned(b_), pinned(c_),
                                                          int(a_.size()), rounds_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(a_, random), reorder(b_, random)};
    }
    void check() override
    {
        auto want = [this](std::size_t i) { return oracle::work(a_[i] + b_[i], rounds_); };
        const std::vector<std::size_t> chosen = looked_at(a_.size());
        auto right = [&](std::size_t i) { return c_.values[i] == want(i); };
        constexpr std::size_t per_thread = 512;
        if (for_all(
                chosen.size(), [&](std::size_t k) { return right(chosen[k]); }, per_thread))
            return;
        if (simulated())
            expect_equal(c_, oracle::add_pipelined(a_, b_, rounds_), {},
                         [&] { return wrong_sums(a_, b_, rounds_, c_); });
        std::size_t i = *std::find_if_not(chosen.begin(), chosen.end(), right);
        expect(false, verdict::WRONG_ANSWER,
               "c_host[" + std::to_string(i) + "] should be " + show_element(want(i)) + " and is " +
                   show_element(c_[i]) + ".",
               "The smaller cases are right, so look for what only many pieces have: slots that "
               "are used again, and the last piece.");
    }

private:
    int rounds_;
    floats a_, b_;
    output<float> c_;
};

// As with sums, 1 MiB where it is simulated.
constexpr int merged_count = 12;
int merged_width() { return simulated() ? 301 : 1921; }
int merged_height() { return simulated() ? 313 : 1081; }

class merging : public workload {
public:
    explicit merging(std::mt19937_64 &random)
        : first_(std::size_t(width_) * height_ * merged_count),
          second_(first_.size()),
          out_(first_.size())
    {
        fill_random(first_, random);
        fill_random(second_, random);
    }
    const char *function() const override { return "merge_images"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(merge_images)>::arguments(
            pinned(first_), pinned(second_), pinned(out_), width_, height_, merged_count, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(first_, random), reorder(second_, random)};
    }
    void check() override
    {
        auto right = [this](std::size_t i) {
            return out_.values[i] == (3 * first_[i] + second_[i] + 2) / 4;
        };
        if (!for_all(first_.size(), right))
            expect_equal(out_, oracle::merge_images(first_, second_),
                         {std::size_t(merged_count), std::size_t(height_), std::size_t(width_)},
                         [&] { return wrong_merges(first_, second_, width_ * height_); });
    }

private:
    int width_ = merged_width(), height_ = merged_height();
    pixels first_, second_;
    output<unsigned char> out_;
};

std::size_t raced_values() { return simulated() ? 31 : 4093; }
int raced_rounds() { return simulated() ? 1200 : 100000; }

class branching : public workload {
public:
    explicit branching(std::mt19937_64 &random) : in_(raced_values())
    {
        // Few different values, which make the answer cheap to check.
        for (float &x : in_) x = float(random() % 64) / 64 - 0.5f;
    }
    const char *function() const override { return "diamond"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(diamond)>::arguments(in_, left_, right_, out_, int(in_.size()),
                                                    rounds_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(in_, random)};
    }
    void check() override
    {
        const auto &[lefts, rights] = of_kinds_;
        std::size_t n = in_.size();
        oracle::diamond_result want;
        for (std::size_t i = 0; i < n; ++i) {
            want.left.push_back(lefts[kind_of(i)]);
            want.right.push_back(rights[kind_of(n - 1 - i)]);
            want.out.push_back(want.left[i] - want.right[i]);
        }
        expect_equal(left_, want.left);
        expect_equal(right_, want.right);
        expect_equal(out_, want.out, {}, [&] { return wrong_outs(want); });
    }

private:
    // The results for each of the 64 values on either side.
    static std::pair<floats, floats> answers(int rounds)
    {
        floats kinds;
        for (int k = 0; k < 64; ++k) kinds.push_back(float(k) / 64 - 0.5f);
        floats turned(kinds.rbegin(), kinds.rend());
        return {oracle::diamond(kinds, rounds).left, oracle::diamond(turned, rounds).right};
    }
    std::size_t kind_of(std::size_t i) const { return std::size_t((in_[i] + 0.5f) * 64); }

    int rounds_ = raced_rounds();
    std::pair<floats, floats> of_kinds_ = answers(rounds_);
    floats in_;
    output<float> left_{in_.size()}, right_{in_.size()}, out_{in_.size()};
};

} // namespace

make_workload add_pieces(int rounds) { return workload_of<adding>(rounds); }

make_workload merge_batch() { return workload_of<merging>(); }

make_workload compute_branches() { return workload_of<branching>(); }

double merged_bytes() { return double(merged_width()) * merged_height() * merged_count; }

double multiplications_of_branches() // work() multiplies twice per round
{
    return double(raced_values()) * (4.0 * raced_rounds() + 2);
}

static int measured_rounds()
{
    constexpr double more = 0.63; // (2 - k) / (3 + k), where the sum takes k of a copy: about 6 %
    double copies = naive_cost(add_pieces(0));
    double rounds = simulated() ? 128 : 2048;
    for (int k = 0; k < 3; ++k) {
        double kernel = naive_cost(add_pieces(int(rounds))) - copies;
        rounds = std::clamp(rounds * more * copies / std::max(kernel, copies / 64), 1.0, 65536.0);
    }
    return int(rounds);
}

int balanced_rounds()
{
    static const int rounds = measured_rounds();
    return rounds;
}
