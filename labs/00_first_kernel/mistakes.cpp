// Recognises the cause of a wrong answer of lab 00 by computing what each known mistake would give.
#include "mistakes.hpp"
#include "lab.hpp"

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

using grading::misconception;

// n elements, each computed from its index.
template <class T, class F> static std::function<std::vector<T>()> each(std::size_t n, F element)
{
    return [=] {
        std::vector<T> values;
        for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<T>(element(i)));
        return values;
    };
}

std::vector<misconception<int>> wrong_numbers()
{
    return {
        {"Each thread stored blockIdx.x, the number of its block: there is one block, number 0.",
         "The number of a thread in its block is threadIdx.x.",
         each<int>(64, [](std::size_t) { return 0; })},
        {"Each thread stored blockDim.x, which says how many threads a block has.",
         "The number of a thread in its block is threadIdx.x.",
         each<int>(64, [](std::size_t) { return 64; })},
    };
}

// The elements from `first` on, as they were before the call.
static misconception<float> left_alone(const floats &y, const floats &got, std::size_t first)
{
    const std::string from = std::to_string(first), n = std::to_string(y.size());
    const std::size_t blocks = (y.size() + block_size - 1) / block_size;
    return {"From element " + from + " on everything is as it was.",
            "Which thread has element " + from +
                "? If there is none, the launch starts too few: " + n + " elements need " +
                std::to_string(blocks) + " blocks of " + std::to_string(block_size) +
                " threads, and a division that drops the remainder makes one too few. If there is "
                "one, look at the condition before the store.",
            each<float>(y.size(),
                        [&y, &got, first](std::size_t i) { return i < first ? got[i] : y[i]; }),
            true};
}

std::vector<misconception<float>> wrong_saxpy(float a, const floats &x, const floats &y,
                                              const floats &got)
{
    const std::size_t n = y.size();
    std::vector<misconception<float>> known = {
        {"y was left out: this is a * x[i].", "Add what y[i] was before.",
         each<float>(n, [&x, a](std::size_t i) { return a * x[i]; })},
        {"a was left out: this is x[i] + y[i].", "Multiply x[i] by a.",
         each<float>(n, [&x, &y](std::size_t i) { return x[i] + y[i]; })},
        {"x and y were exchanged: this is a * y[i] + x[i].", "It is x that a multiplies.",
         each<float>(n, [&x, &y, a](std::size_t i) { return a * y[i] + x[i]; })},
        {"y was multiplied, too: this is a * (x[i] + y[i]).", "It is x alone that a multiplies.",
         each<float>(n, [&x, &y, a](std::size_t i) { return a * (x[i] + y[i]); })},
        {"This was done twice: a * x[i] was added to y[i] two times.",
         "Does each element have one thread, and is the kernel launched once?",
         each<float>(n, [&x, &y, a](std::size_t i) { return 2 * a * x[i] + y[i]; })},
    };
    std::size_t first = 0;
    while (first < n && got[first] == a * x[first] + y[first]) ++first;
    if (first < n) known.push_back(left_alone(y, got, first));
    return known;
}

std::vector<misconception<float>> wrong_copies(float a, const floats &x, const floats &y,
                                               const floats &got)
{
    std::vector<misconception<float>> known = wrong_saxpy(a, x, y, got);
    // The last is what left_alone() says, since something is wrong.
    known.back().next += " Or has the copy back too few bytes? sizeof of a pointer is 8.";
    const std::size_t quarter = y.size() / sizeof(float);
    known.insert(known.begin(),
                 {"Only the first quarter of y_host is the result, the rest is as it was.",
                  "cudaMemcpy counts bytes, and n bytes are a quarter of n floats: does each copy "
                  "have n * sizeof(float)? If so: has the launch a thread for each element?",
                  each<float>(y.size(), [a, &x, &y, quarter](std::size_t i) {
                      return i < quarter ? a * x[i] + y[i] : y[i];
                  })});
    return known;
}

std::vector<misconception<unsigned char>> wrong_mirrors(const bytes &in, int width, int height)
{
    auto from = [&in, width, height](auto source) {
        return each<unsigned char>(in.size(), [&in, width, height, source](std::size_t i) {
            const int x = static_cast<int>(i) % width, y = static_cast<int>(i) / width;
            const auto k = static_cast<std::size_t>(source(x, y));
            return k < in.size() ? in[k] : 0;
        });
    };
    return {
        {"The picture is as it was.",
         "The pixel in column x moves to column width - 1 - x, counted from 0.",
         from([=](int x, int y) { return y * width + x; })},
        {"The picture was turned upside down.",
         "Left and right change places, so it is x, not y, that is subtracted.",
         from([=](int x, int y) { return (height - 1 - y) * width + x; })},
        {"The picture was mirrored in both directions.",
         "Only left and right change places: each pixel stays in its row.",
         from([=](int x, int y) { return (height - 1 - y) * width + width - 1 - x; })},
        {"The rows were taken to be `height` pixels long.",
         "A row has `width` pixels, so row y begins at element y * width.",
         from([=](int x, int y) { return y * height + width - 1 - x; })},
        {"x and y were exchanged where `in` was read.",
         "x is the column: threadIdx.x and blockIdx.x belong to it. Element y * width + x is in "
         "column x, row y.",
         from([=](int x, int y) { return (width - 1 - x) * height + y; })},
    };
}

// The elements of `out` of those pixels (x, y) for which `lacks_thread` holds.
template <class F> static std::vector<std::size_t> of_pixels(int width, int height, F lacks_thread)
{
    std::vector<std::size_t> elements;
    for (int y = 0; y < height; ++y)
        for (int x = width - 1; x >= 0; --x)
            if (lacks_thread(x, y)) elements.push_back(std::size_t(y) * width + width - 1 - x);
    return elements;
}

std::vector<grading::elements_left_out> unwritten_mirrors(int width, int height)
{
    constexpr int side = 16; // of a block
    // Where x counts rows it stays below the height, rounded up to whole blocks.
    const int rows = (height + side - 1) / side * side;
    if (rows == side) return {}; // then x looks the same without its block
    return {
        {of_pixels(width, height, [=](int x, int) { return x >= rows; }),
         "These pixels have no thread if x and y are exchanged, since the grid has more "
         "threads in x than in y: x is made of threadIdx.x, blockDim.x and blockIdx.x."},
        {of_pixels(width, height, [](int x, int) { return x >= side; }),
         "These pixels have no thread if x is threadIdx.x alone: blockIdx.x * blockDim.x threads "
         "are in the blocks before."},
        {of_pixels(width, height, [](int, int y) { return y >= side; }),
         "These pixels have no thread if y is threadIdx.y alone: blockIdx.y * blockDim.y rows of "
         "threads are in the blocks before."},
        {of_pixels(width, height, [](int x, int y) { return x >= side || y >= side; }),
         "These pixels have no thread if x and y are threadIdx.x and threadIdx.y alone: the blocks "
         "before count, too, as they do for i in saxpy."},
    };
}

std::vector<misconception<float>> wrong_differences(const floats &in)
{
    return {{"The two elements were exchanged: this is in[i] - in[i + 1].",
             "Subtract in[i] from the element behind it.",
             each<float>(in.size() - 1, [&in](std::size_t i) { return in[i] - in[i + 1]; })}};
}

std::vector<misconception<int>> wrong_reversals(const ints &data)
{
    return {{"The elements are where they were.",
             "Which element of `copy` belongs at place t? The first one moves to the end.",
             each<int>(data.size(), [&data](std::size_t i) { return data[i]; }), true}};
}

// The sum of the block's elements 0, step, 2 * step and so on, `count` of them.
static std::function<ints()> part_of_each(const ints &in, std::size_t count, std::size_t step)
{
    return each<int>(in.size() / block_size, [=, &in](std::size_t block) {
        int sum = 0;
        for (std::size_t k = 0; k < count; ++k) sum += in[block * block_size + k * step];
        return sum;
    });
}

std::vector<misconception<int>> wrong_sums(const ints &in)
{
    std::vector<misconception<int>> known = {
        {"Each sum is the block's first element alone.",
         "Are the other elements added to it before thread 0 stores it?", part_of_each(in, 1, 1)},
        {"Each sum has every second element only: the step that adds neighbours is missing.",
         "One step must add partial[t + 1] to partial[t], the last one if the distances halve, the "
         "first one if they double: does the loop have it?",
         part_of_each(in, block_size / 2, 2)},
        {"Each sum is that of the first block.",
         "Which element does a thread load? Block b begins at element b * block_size.",
         each<int>(in.size() / block_size,
                   [&in](std::size_t) {
                       return std::accumulate(in.begin(), in.begin() + block_size, 0);
                   })},
    };
    for (std::size_t count = 2; count < block_size; count *= 2)
        known.push_back({"Each sum has only the first " + std::to_string(count) + " of " +
                             std::to_string(block_size) + " elements.",
                         "If the distances halve, the first step adds elements that are half of " +
                             std::to_string(block_size) +
                             " apart; if they double, the last step does. Does the loop have it?",
                         part_of_each(in, count, 1)});
    return known;
}
