// Grades the lab of access patterns: one call, whose counts sectors.py compares.
#include "grader/grading.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

using namespace grading;

// Copies `count` elements of `width` floats.
template <class Index>
static void copy_to(float *to, const float *from, int count, int width, Index index)
{
    for (int i = 0; i < count; ++i) {
        auto [target, source] = index(i);
        std::copy_n(from + width * source, width, to + width * target);
    }
}

static std::vector<float> touched(const std::vector<float> &in, const std::vector<int> &places)
{
    std::vector<float> all(pattern_rows * row_length);
    auto copy = [&](pattern_row row, int width, auto index) {
        copy_to(all.data() + row * row_length, in.data(), patterned / width, width, index);
    };
    using to_from = std::pair<int, int>;
    auto strides = [&](pattern_row row, int from, int to) {
        copy(row, 1, [=](int i) { return to_from(to * i % patterned, from * i % patterned); });
    };
    strides(strides_2_to_3, 2, 3);
    strides(strides_33_to_2, 33, 2);
    strides(strides_3_to_33, 3, 33);
    copy(offsets_1_to_8, 1, [](int i) { return to_from(i + 8, i + 1); });
    copy(offsets_8_to_1, 1, [](int i) { return to_from(i + 1, i + 8); });
    copy(reversed, 1, [](int i) { return to_from(i, patterned - 1 - i); });
    copy(at_random, 1, [&](int i) { return to_from(places[i], places[patterned - 1 - i]); });
    copy(broadcast, 1, [](int i) { return to_from(i, i / 32); });
    copy(two_places, 1, [](int i) {
        int within = i / 32 * 16 + i % 16;
        return i % 32 < 16 ? to_from(within, within) : to_from(within + 1040, within + 1001);
    });
    copy(even_lanes, 1, [](int i) { return to_from(i / 2 * 2, i / 2 * 2); });
    std::memcpy(&all[single_bytes * row_length], reinterpret_cast<const char *>(in.data()) + 20,
                patterned);
    copy(pairs, 2, [](int i) { return to_from(i + 1, i); });
    copy(quads, 4, [](int i) { return to_from(i + 1, i); });
    for (pattern_row row : {transpose_strided, transpose_unpadded, transpose_padded})
        for (int r = 0; r < matrix_rows; ++r)
            for (int c = 0; c < matrix_cols; ++c)
                all[row * row_length + c * matrix_rows + r] = in[r * matrix_cols + c];
    copy(pairs_in_shared, 2, [](int i) {
        int first = i / pattern_block * pattern_block;
        int here = std::min(pattern_block, patterned / 2 - first);
        return to_from(i, first + here - 1 - (i - first));
    });
    return all;
}

namespace {

class touching : public workload {
public:
    explicit touching(std::mt19937_64 &random)
        : x_(row_length),
          places_(patterned),
          wide_(row_length),
          y_(pattern_rows * row_length),
          wide_out_(row_length)
    {
        fill_random(x_, random);
        std::iota(places_.begin(), places_.end(), 0);
        for (int i = patterned; i > 1; --i) std::swap(places_[i - 1], places_[random() % i]);
        for (double &v : wide_) v = static_cast<double>(random() % 1000);
    }
    const char *function() const override { return "touch"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(touch)>::arguments(x_, places_, wide_, y_, wide_out_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        fill_random(x_, random);
        return {std::as_writable_bytes(std::span(x_))};
    }
    void call()
    {
        CALL(touch, x_, places_, wide_, y_, wide_out_);
        check();
    }
    void check() override
    {
        expect_equal(y_, touched(x_, places_), {std::size_t(pattern_rows), row_length});
        std::vector<double> wide_want(row_length);
        std::copy_n(wide_.begin() + 1, patterned, wide_want.begin() + 4);
        expect_equal(wide_out_, wide_want);
    }

private:
    std::vector<float> x_;
    std::vector<int> places_;
    std::vector<double> wide_;
    output<float> y_;
    output<double> wide_out_;
};

} // namespace

CORRECTNESS_CASE("touch: every pattern", 1) { touching(random_source()).call(); }

SPEED_CASE("touch: what each pattern moves", 1, 0)
{
    race([](std::mt19937_64 &random) { return std::make_unique<touching>(random); }, {});
}
