// Tells wrong answers of lab 11 from their causes.
#include "mistakes.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

std::vector<misconception<float>> wrong_sums(const floats &a, const floats &b, int rounds,
                                             const output<float> &c)
{
    auto with = [](const floats &x, const floats &y, int k) {
        return [&x, &y, k] { return oracle::add_pipelined(x, y, k); };
    };
    std::vector<misconception<float>> known = {
        {"This is the sum alone: `work` was left out.", "c = work(a + b, rounds).", with(a, b, 0)},
        {"`work` did one round, whatever `rounds` is.", "Pass `rounds` on to the kernel.",
         with(a, b, 1)},
        {"`a` was added to itself.", "Two arrays are copied in, to two places in the slot.",
         with(a, a, rounds)},
    };
    // If each wrong sum is that of other elements, says of which; for few elements only.
    constexpr std::size_t few = 32;
    if (a.size() > few) return known;
    const floats want = oracle::add_pipelined(a, b, rounds);
    floats looks = want;
    std::string first;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; c[i] != want[i] && k < a.size() * a.size(); ++k) {
            const std::size_t of_a = k / a.size(), of_b = k % a.size();
            if (oracle::work(a[of_a] + b[of_b], rounds) != c[i]) continue;
            looks[i] = c[i];
            if (first.empty())
                first = "c_host[" + std::to_string(i) + "] of a_host[" + std::to_string(of_a) +
                        "] and b_host[" + std::to_string(of_b) + "]";
        }
    known.push_back(
        {"Each of them is computed from elements with other indices: " + first + ".",
         "Which copy loaded these: does each begin at its piece's first element, in both arrays "
         "and in the slot? And what waits until the previous piece in the slot is done?",
         [looks] { return looks; }});
    return known;
}

std::vector<misconception<unsigned char>> wrong_merges(const pixels &first, const pixels &second,
                                                       int per_image)
{
    auto each = [&first, &second](auto merged) {
        return [&first, &second, merged] {
            pixels out;
            for (std::size_t i = 0; i < first.size(); ++i)
                out.push_back(static_cast<unsigned char>(merged(int(first[i]), int(second[i]))));
            return out;
        };
    };
    return {
        {"The weights are exchanged.", "Three parts of the first image, one of the second.",
         each([](int f, int s) { return (f + 3 * s + 2) / 4; })},
        {"The mean was not rounded.", "Add 2 before you divide by 4.",
         each([](int f, int s) { return (3 * f + s) / 4; })},
        {"Both images have the same weight.", "Three parts of the first image, one of the second.",
         each([](int f, int s) { return (f + s + 1) / 2; })},
        {"3 * first does not fit in a byte, and its upper bits were lost.",
         "Compute as int, and convert only the result to a byte.",
         each([](int f, int s) { return ((3 * f + s + 2) % 256) / 4; })},
        {"Every image is merged as the first of the batch.",
         "Image k begins at k * width * height, in all three arrays.",
         [&first, &second, per_image] {
             pixels one = oracle::merge_images(first, second), out;
             for (std::size_t i = 0; i < one.size(); ++i)
                 out.push_back(one[i % std::size_t(per_image)]);
             return out;
         }},
    };
}

std::vector<misconception<float>> wrong_rights(const oracle::diamond_result &want, int rounds)
{
    return {
        {"top was read from its first element on.", "right[i] is computed from top[n - 1 - i].",
         [&want, rounds] {
             floats right;
             for (float x : want.top) right.push_back(oracle::work(x / 2, rounds));
             return right;
         }},
        {"This is the other branch, backwards.", "The right one begins with half of top.",
         [&want] { return floats(want.left.rbegin(), want.left.rend()); }},
    };
}

std::vector<misconception<float>> wrong_outs(const oracle::diamond_result &want)
{
    return {
        {"This is right - left.", "left - right.",
         [&want] {
             floats out = want.out;
             for (float &x : out) x = -x;
             return out;
         }},
        {"This is left alone.", "Was `right` complete when the branches were joined?",
         [&want] { return want.left; }},
    };
}
