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
         "There are degree + 1 coefficients, 0 to degree: does the copy have (degree + 1) * "
         "sizeof(float) bytes, and does the loop begin with coefficients[degree]?",
         with(c.size() < 2 ? c : floats(c.begin(), c.end() - 1))},
        {"Only the first two coefficients, 8 bytes, were copied; the others are 0.",
         "8 bytes is the size of a pointer: what is the operand of sizeof? The copy must have "
         "(degree + 1) * sizeof(float) bytes.",
         with(c.size() < 4 ? c : floats(c.begin(), c.begin() + 2))},
        {"Only the first coefficient was copied.", "cudaMemcpyToSymbol counts bytes, not elements.",
         with({c[0]})},
        {"Every y is 0, as it is if nothing was copied to the coefficients.",
         "Is cudaMemcpyToSymbol called before the launch, for the variable that the kernel reads?",
         with({0.0f})},
        {"One step is missing, that of coefficients_host[0]: each power of x is one too low.",
         "The last coefficient that the loop takes is number 0.",
         with(c.size() < 2 ? c : floats(c.begin() + 1, c.end()))},
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
        {"These are the states after one step too many.",
         "The loop must run `steps` times: k < steps.", after(steps + 1)},
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
    constexpr std::size_t max_in_y = 65535; // of a grid's blocks, by which some cut x as well
    return {
        {"The pieces from number 65535 on stayed as they were.",
         "Which blocks handle these? A grid limited to 65535 blocks is too small if each has one "
         "piece: in x there may be 2147483647 blocks, or let a block go on to further pieces.",
         [&data, block] {
             const std::size_t reach = std::min(data.size(), max_in_y * std::size_t(block));
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
