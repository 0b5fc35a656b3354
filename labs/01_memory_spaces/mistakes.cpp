// Tells a wrong answer of lab 01 from its cause.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

using namespace grading;

std::vector<misconception<float>> wrong_polynomials(const floats &x, const floats &c)
{
    // By multiply-adds in float, as kernels do it: what is recognised must agree in every bit.
    auto with = [&x](floats coefficients) {
        return [&x, coefficients] {
            floats y;
            for (float each : x) {
                float sum = coefficients.back();
                for (std::size_t k = coefficients.size() - 1; k-- > 0;)
                    sum = std::fma(sum, each, coefficients[k]);
                y.push_back(sum);
            }
            return y;
        };
    };
    return {
        {"The coefficients were used in the opposite order.",
         "coefficients_host[0] is the constant term, coefficients_host[degree] the factor of "
         "x^degree.",
         with(floats(c.rbegin(), c.rend()))},
        {"The coefficient of x^degree is missing.",
         "There are degree + 1 coefficients: how many bytes is that?",
         with(c.size() < 2 ? c : floats(c.begin(), c.end() - 1))},
        {"Only the first two coefficients, 8 bytes, were copied; the others are 0.",
         "8 bytes is the size of a pointer: what is the operand of sizeof? The copy must have "
         "(degree + 1) * sizeof(float) bytes.",
         with(c.size() < 4 ? c : floats(c.begin(), c.begin() + 2))},
        {"Only the first coefficient was copied.", "cudaMemcpyToSymbol counts bytes, not elements.",
         with({c[0]})},
    };
}

std::vector<misconception<unsigned char>> wrong_walks(const bytes &start, const bytes &next,
                                                      int steps)
{
    auto after = [&start, &next](int k) {
        return [&start, &next, k] { return oracle::follow(start, next, k); };
    };
    return {
        {"These are the states after one step too few.",
         "The loop must run `steps` times: k < steps.", after(std::max(steps - 1, 0))},
    };
}

std::vector<misconception<float>> wrong_sorts(const floats &in)
{
    // The network with the same pairs in every round: 0 and 1, ..., or 1 and 2, ...
    auto same_pairs = [&in](std::size_t first) {
        return [&in, first] {
            floats out = in;
            for (std::size_t run = 0; run < out.size(); run += run_length)
                for (std::size_t k = first; k + 1 < run_length && run + k + 1 < out.size(); k += 2)
                    if (out[run + k + 1] < out[run + k]) std::swap(out[run + k], out[run + k + 1]);
            return out;
        };
    };
    return {
        {"Only the elements 0 and 1, 2 and 3, ... of each run were put in order.",
         "Odd rounds compare 1 and 2, 3 and 4, ...: where does their loop begin?", same_pairs(0)},
        {"Only the elements 1 and 2, 3 and 4, ... of each run were put in order.",
         "Even rounds compare 0 and 1, 2 and 3, ...: where does their loop begin?", same_pairs(1)},
        {"The last run was padded with zeros, and they were sorted in.",
         "Padding beyond n must come last: INFINITY is larger than any element.",
         [&in] {
             floats padded = in;
             padded.resize((in.size() + run_length - 1) / run_length * run_length);
             floats out = oracle::small_sort(padded);
             out.resize(in.size());
             return out;
         }},
        {"The runs are sorted the other way round.", "Smallest first.",
         [&in] {
             floats out = in;
             for (std::size_t i = 0; i < out.size(); i += run_length)
                 std::sort(out.begin() + std::ptrdiff_t(i),
                           out.begin() + std::ptrdiff_t(std::min(i + run_length, out.size())),
                           std::greater<float>());
             return out;
         }},
    };
}

std::vector<misconception<float>> wrong_reversals(const floats &data, int block)
{
    constexpr std::size_t most_in_y = 65535; // of a grid's blocks, by which some cut x as well
    return {
        {"The pieces from number 65535 on stayed as they were.",
         "Which blocks handle these? A grid limited to 65535 blocks is too small if each has one "
         "piece: in x there may be 2147483647 blocks, or let a block go on to further pieces.",
         [&data, block] {
             const std::size_t reach = std::min(data.size(), most_in_y * std::size_t(block));
             floats out = oracle::reverse_blocks(floats(data.begin(), data.begin() + reach), block);
             out.insert(out.end(), data.begin() + reach, data.end());
             return out;
         }},
        {"The whole array was reversed.", "Each piece of `block` elements keeps its place.",
         [&data] { return floats(data.rbegin(), data.rend()); }},
        {"The last piece, which is shorter, stayed as it was.",
         "It has n % block elements, and is reversed too.",
         [&data, block] {
             floats out = oracle::reverse_blocks(data, block);
             auto whole = std::ptrdiff_t(data.size()) / block * block;
             std::copy(data.begin() + whole, data.end(), out.begin() + whole);
             return out;
         }},
    };
}

constexpr double sample_tolerance = 1.0 / 128;

bool near_sample(float got, double want) { return std::abs(got - want) <= sample_tolerance; }

const char *why_wrong(const output<float> &got, const std::vector<double> &want, const bytes &image,
                      int width, int height, const points &at)
{
    auto all = [&](auto like) {
        for (std::size_t i = 0; i < want.size(); ++i)
            if (!near_sample(got[i], like(i))) return false;
        return true;
    };
    auto at_points = [&](auto move) {
        points moved;
        for (float2 p : at) moved.push_back(move(p));
        std::vector<double> values = oracle::sample_bilinear(image, width, height, moved);
        return all([&](std::size_t i) { return values[i]; });
    };
    if (at_points([](float2 p) { return float2{p.x - 0.5f, p.y - 0.5f}; }))
        return "Everything is half a pixel off: to the texture unit the centre of the first texel "
               "is at 0.5, to this contract at 0.";
    if (at_points([](float2 p) { return float2{std::floor(p.x + 0.5f), std::floor(p.y + 0.5f)}; }))
        return "These are the nearest pixels: cudaFilterModeLinear interpolates between the four "
               "around the point.";
    // Counts the wrong samples inside the image, to its left or right, and above or below it.
    auto beyond = [](float x, int size) { return x < 0 || x > float(size - 1); };
    std::size_t inside = 0, aside = 0, above = 0, both = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (near_sample(got[i], want[i])) continue;
        bool in_x = beyond(at[i].x, width), in_y = beyond(at[i].y, height);
        ++(in_x && in_y ? both : in_x ? aside : in_y ? above : inside);
    }
    if (inside > 0) return "";
    if (aside > 0 && above == 0)
        return "All wrong samples lie to the left or right of the image, where the pixels at its "
               "edge are repeated: addressMode[0] is for x, and the edge is that of the texture's "
               "array, which must be as wide as the image.";
    if (above > 0 && aside == 0)
        return "All wrong samples lie above or below the image, where the pixels at its edge are "
               "repeated: addressMode[1] is for y, and the edge is that of the texture's array, "
               "which must be as high as the image.";
    return "All wrong samples lie outside the image, where the pixels at the edge are repeated for "
           "ever: use cudaAddressModeClamp, in x and in y.";
}
