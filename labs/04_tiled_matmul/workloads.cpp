// Makes the inputs and workloads of lab 04: products of matrices.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;

floats inputs_for(std::size_t n, bool whole)
{
    return whole ? whole_numbers(n, 9) : random_floats(n);
}

bool same_bytes(const floats &x, const floats &y)
{
    return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

// Large enough to keep every multiprocessor of a large GPU busy for some time, and for a small one
// to be through with naive in a tenth of a second. No whole number of tiles, but for the squares.
static shape raced(task what)
{
    if (simulated()) {
        if (what == task::square) return {192, 192, 192};
        return what == task::general ? shape{253, 95, 255} : shape{255, 95, 251};
    }
    bool large = device().multiprocessors >= 80;
    if (what == task::square) return large ? shape{4096, 4096, 4096} : shape{2048, 2048, 2048};
    if (what == task::general) return large ? shape{4001, 3001, 2999} : shape{2001, 1501, 1499};
    return large ? shape{2999, 2001, 4001} : shape{1499, 1001, 2001};
}

// Flips the signs of random rows of `values`, which changes the whole product, so that results kept
// from an earlier call are of little use.
static std::span<std::byte> turn_rows(floats &values, int rows, int cols, std::mt19937_64 &random)
{
    std::vector<bool> turned(static_cast<std::size_t>(rows));
    for (std::size_t row = 0; row < turned.size(); ++row) turned[row] = random() % 2 != 0;
    for_all(turned.size(), [&](std::size_t row) {
        const auto first = values.begin() + std::ptrdiff_t(area(int(row), cols));
        if (turned[row]) std::transform(first, first + cols, first, std::negate<>());
        return true;
    });
    return std::as_writable_bytes(std::span(values));
}

// The sum of `rows` rows of `cols` elements, each row with its own factor.
template <class Factor> static std::vector<double>
fold(const floats &matrix, const std::vector<Factor> &factor, int rows, int cols)
{
    std::vector<double> sum(cols);
    in_ranges(
        sum.size(),
        [&](std::size_t first, std::size_t last) {
            for (int row = 0; row < rows; ++row)
                for (std::size_t col = first; col < last; ++col)
                    sum[col] += double(factor[row]) * matrix[area(row, cols) + col];
            return true;
        },
        (1 << 18) / std::size_t(rows) + 1);
    return sum;
}

namespace {

class multiplying : public workload {
public:
    multiplying(std::mt19937_64 &random, task what)
        : what_(what),
          s_(raced(what)),
          A_(area(s_.j, s_.k)),
          B_(area(s_.k, s_.l)),
          result_(area(s_.j, s_.l))
    {
        fill_random(A_, random);
        fill_random(B_, random);
        if (what == task::scaled) {
            before_.resize(result_.size());
            fill_random(before_, random);
            result_ = changed_in_place(before_);
        }
        draw_signs();
    }
    const char *function() const override
    {
        return what_ == task::square    ? "matmul_square"
               : what_ == task::general ? "matmul"
                                        : "sgemm";
    }
    std::vector<argument> arguments() override
    {
        if (what_ == task::square)
            return remote<decltype(matmul_square)>::arguments(A_, B_, result_, s_.j);
        if (what_ == task::general)
            return remote<decltype(matmul)>::arguments(A_, B_, result_, s_.j, s_.k, s_.l);
        return remote<decltype(sgemm)>::arguments(alpha, A_, B_, beta, result_, s_.j, s_.k, s_.l);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (scaled()) std::copy(before_.begin(), before_.end(), result_.values.begin());
        draw_signs();
        return {renew(A_, random), turn_rows(B_, s_.k, s_.l, random)};
    }
    // Freivalds: with rows added up by random signs u, uP must be (uA)B; that takes time in the
    // size of the matrices. Rounding in float has no preferred direction, so the bound grows with
    // the root of the rows: it lets pass 12 times what one long chain of multiply-adds is expected
    // to leave, and of what TF32 or half leave, a thirteenth at 4096 terms and less at fewer.
    void check() override
    {
        expect(!scaled() || !same_bytes(result(), before_), verdict::NOT_WRITTEN, unchanged,
               does_a_kernel_write);
        std::vector<double> got = fold(result(), signs_, s_.j, s_.l);
        std::vector<double> want = fold(B_, fold(A_, signs_, s_.j, s_.k), s_.k, s_.l);
        if (scaled()) {
            std::vector<double> old = fold(before_, signs_, s_.j, s_.l);
            for (int c = 0; c < s_.l; ++c) want[c] = alpha * want[c] + beta * old[c];
        }
        double bound = 12 * usual_error() * std::sqrt(s_.j);
        for (int c = 0; c < s_.l; ++c)
            if (!(std::abs(got[c] - want[c]) <= bound)) end_at_column(c); // NaN is never right
    }
    double bytes() const override
    {
        return 4.0 * double(A_.size() + B_.size() + (scaled() ? 2 : 1) * result().size());
    }
    double multiply_adds() const override { return ::multiply_adds(what_); }

private:
    static constexpr float alpha = 0.75f, beta = -0.5f;
    bool scaled() const { return what_ == task::scaled; }
    const floats &result() const { return result_.values; }
    // Not from the inputs' generator, whose output a submission sees.
    void draw_signs()
    {
        std::mt19937_64 random(unforeseen());
        signs_.resize(s_.j);
        for (float &sign : signs_) sign = random() % 2 ? 1.0f : -1.0f;
    }
    // The error of an element when k terms in [-1, 1) are added one after the other: u * k /
    // sqrt(54).
    double usual_error() const { return std::ldexp(s_.k, -24) / std::sqrt(54.0); }

    [[noreturn]] void end_at_column(int col)
    {
        std::vector<double> right =
            oracle::column(scaled() ? alpha : 1, A_, B_, s_.j, s_.k, s_.l, col);
        int worst = 0;
        double largest = -1;
        for (int row = 0; row < s_.j; ++row) {
            std::size_t i = area(row, s_.l) + col;
            if (scaled()) right[row] += double(beta) * before_[i];
            double error = std::abs(result()[i] - right[row]);
            if (error <= largest) continue;
            largest = error;
            worst = row;
            if (!std::isfinite(error)) break;
        }
        float got = result()[area(worst, s_.l) + col];
        bool close = largest < 2e-3 * std::sqrt(double(s_.k));
        expect(false, verdict::WRONG_ANSWER,
               "Column " + std::to_string(col) +
                   " of the product is wrong; its worst element, row " + std::to_string(worst) +
                   ", should be " + show_element(float(right[worst])) + " and is " +
                   show_element(got) + "." +
                   (close ? " That is close, but not as precise as float arithmetic." : ""),
               close ? "Compute in float throughout: no half precision, no TF32."
                     : "The smaller cases are right, so look for what only large matrices have: "
                       "many blocks, many tiles, an edge within a tile.");
        std::abort(); // expect has ended the case
    }

    task what_;
    shape s_;
    floats A_, B_, before_, signs_;
    output<float> result_;
};

} // namespace

make_workload product_of(task what) { return workload_of<multiplying>(what); }

double multiply_adds(task what)
{
    shape s = raced(what);
    return 1.0 * s.j * s.k * s.l;
}
