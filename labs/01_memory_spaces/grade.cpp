// Grades lab 01, memory spaces.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
using floats = std::vector<float>;
using bytes = std::vector<unsigned char>;
using points = std::vector<float2>;

// Inputs.

static bytes random_bytes(std::size_t n)
{
    bytes all(n);
    fill_random(all, random_source());
    return all;
}

// A table in which a walk does not come to rest: every state has one before it.
static bytes random_table(std::mt19937_64 &random)
{
    bytes next(256);
    for (std::size_t s = 0; s < next.size(); ++s) next[s] = static_cast<unsigned char>(s);
    std::shuffle(next.begin(), next.end(), random);
    return next;
}

static points random_points(std::size_t n, float width, float height)
{
    floats x = random_floats(n, -3, width + 2), y = random_floats(n, -3, height + 2);
    points at;
    for (std::size_t i = 0; i < n; ++i) at.push_back({x[i], y[i]});
    return at;
}

// What wrong answers look like.

static std::vector<misconception<float>> wrong_polynomials(const floats &x, const floats &c)
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
        {"The coefficients were taken in the opposite order.",
         "coefficients_host[0] stands alone, coefficients_host[degree] before x^degree.",
         with(floats(c.rbegin(), c.rend()))},
        {"The coefficient of x^degree is missing.",
         "There are degree + 1 coefficients: how many bytes is that?",
         with(c.size() < 2 ? c : floats(c.begin(), c.end() - 1))},
        {"Only the first two coefficients, 8 bytes, have arrived; the others are 0.",
         "A size of 8 bytes is often that of a pointer: of what is sizeof taken? It is "
         "(degree + 1) * sizeof(float) that must be copied.",
         with(c.size() < 4 ? c : floats(c.begin(), c.begin() + 2))},
        {"Only the first coefficient has arrived.",
         "cudaMemcpyToSymbol counts bytes, not elements.", with({c[0]})},
    };
}

static std::vector<misconception<unsigned char>> wrong_walks(const bytes &start, const bytes &next,
                                                             int steps)
{
    auto after = [&start, &next](int k) {
        return [&start, &next, k] { return oracle::follow(start, next, k); };
    };
    return {
        {"These are the states after one step less.", "A loop of `steps` turns: k < steps.",
         after(std::max(steps - 1, 0))},
    };
}

static std::vector<misconception<float>> wrong_sorts(const floats &in)
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
        {"The last run was filled up with zeros, and they were sorted in.",
         "What lies beyond n must come last: INFINITY is larger than any element.",
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

static std::vector<misconception<float>> wrong_reversals(const floats &data, int block)
{
    constexpr std::size_t most_in_y = 65535; // of a grid's blocks, by which some cut x as well
    return {
        {"The pieces from number 65535 on stayed as they were.",
         "Who has these? A grid cut to 65535 blocks is too small where each has one piece: in x "
         "there may be 2147483647, or a block may go on to further pieces.",
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

static std::vector<misconception<float>> wrong_transposes(const floats &in, int rows, int cols)
{
    return {
        {"The tiles are in their places, but each still has its rows as rows.",
         "Exchange the indices within the tile as well: tile[x][y] = ..., ... = tile[y][x].",
         [&in, rows, cols] {
             constexpr int tile = 32;
             floats out = oracle::transpose(in, rows, cols);
             for (int r = 0; r < rows; ++r)
                 for (int c = 0; c < cols; ++c) {
                     int to_c = c / tile * tile + r % tile, to_r = r / tile * tile + c % tile;
                     if (to_c < cols && to_r < rows)
                         out[std::size_t(to_c) * rows + to_r] = in[std::size_t(r) * cols + c];
                 }
             return out;
         }},
    };
}

static std::vector<misconception<float>> wrong_scalings(const floats &before, float factor,
                                                        int rounds)
{
    auto after = [&before, factor](int k) {
        return [&before, factor, k] { return oracle::scale_managed(before, factor, k); };
    };
    std::vector<misconception<float>> known = {
        {"Every element was scaled once, whatever `rounds` is.", "`rounds` times over.", after(1)},
    };
    // By factor^rounds; powf may be a few last bits off.
    float power = static_cast<float>(std::pow(double(factor), rounds));
    for (int k = 0; k < 8; ++k) power = std::nextafter(power, 0.0f);
    for (int k = -8; k <= 8; ++k, power = std::nextafter(power, 2 * power))
        known.push_back({"Every element was multiplied once, by a power of `factor`.",
                         "Each round rounds to float, and a power is rounded elsewhere: multiply "
                         "`rounds` times, one after the other.",
                         [&before, power] { return oracle::scale_managed(before, power, 1); }});
    return known;
}

// What changes in place is not written at all where it is as it was before.
static void expect_changed(const char *function, const output<float> &got, const floats &before,
                           const floats &want)
{
    if (want == before || got.values != before) return;
    std::string message = std::string(function) + " returned, and every element is as it was";
    expect(!kernels_stored(), verdict::WRONG_ANSWER, message + ", though a kernel stored elements.",
           "It stored what was there before: is everything moved twice, or stored where it was "
           "loaded?");
    expect_changed_in_place(false, message + ".",
                            "Does a kernel run at all, and does it write its result?");
}

static void expect_scaled(const output<float> &got, const floats &before, float factor, int rounds)
{
    floats want = oracle::scale_managed(before, factor, rounds);
    expect_changed("scale_managed", got, before, want);
    expect_equal(got, want, {}, [&] { return wrong_scalings(before, factor, rounds); });
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_polynomial(std::size_t n, int degree, int x_at = 0, int y_at = 0)
{
    floats x = random_floats(n), c = random_floats(std::size_t(degree) + 1);
    output<float> y(n);
    CALL(polynomial, misaligned(x, x_at), misaligned(y, y_at), int(n), host(c), degree);
    oracle::polynomial_result want = oracle::polynomial(x, c);
    expect_close(y, want.values, degree + 1, want.magnitudes, {}, wrong_polynomials(x, c));
}

static void try_follow(std::size_t n, int steps, int start_at = 0, int out_at = 0)
{
    bytes start = random_bytes(n), next = random_table(random_source());
    output<unsigned char> out(n);
    CALL(follow, misaligned(start, start_at), host(next), misaligned(out, out_at), int(n), steps);
    expect_equal(out, oracle::follow(start, next, steps), {},
                 [&] { return wrong_walks(start, next, steps); });
}

static void try_sort(const floats &in, int in_at = 0, int out_at = 0)
{
    output<float> out(in.size());
    hint_another_order("Take a run of 16 falling numbers, and look at it after each round: which "
                       "pairs were compared in that round, and which should be?");
    CALL(small_sort, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::small_sort(in), {}, [&] { return wrong_sorts(in); });
}

static void try_reverse(std::size_t n, int block, int at = 0)
{
    floats before = random_floats(n);
    output<float> data = changed_in_place(before);
    hint_past_the_end("The last piece is shorter where n is no multiple of `block`. How long is "
                      "it? Loading, storing and turning round must all go by that length.",
                      "data");
    CALL(reverse_blocks, misaligned(data, at), int(n), block);
    floats want = oracle::reverse_blocks(before, block);
    expect_changed("reverse_blocks", data, before, want);
    expect_equal(data, want, {}, [&] { return wrong_reversals(before, block); });
}

static void try_transpose(int rows, int cols, int in_at = 0, int out_at = 0)
{
    floats in = random_floats(std::size_t(rows) * cols);
    output<float> out(in.size());
    out.row = std::size_t(rows);
    CALL(transpose, misaligned(in, in_at), misaligned(out, out_at), rows, cols);
    expect_equal(out, oracle::transpose(in, rows, cols), {std::size_t(cols), std::size_t(rows)},
                 [&] { return wrong_transposes(in, rows, cols); });
}

constexpr double sample_tolerance = 1.0 / 128;

static bool near_sample(float got, double want) { return std::abs(got - want) <= sample_tolerance; }

// What is said of samples that are those of other points, or on another scale.
static const char *why_wrong(const output<float> &got, const std::vector<double> &want,
                             const bytes &image, int width, int height, const points &at)
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
        return "These are the nearest pixels: cudaFilterModeLinear asks for their mean.";
    // Of wrong samples, those that lie inside the image, to its left or right, above or below it.
    auto beyond = [](float x, int size) { return x < 0 || x > float(size - 1); };
    std::size_t inside = 0, aside = 0, above = 0, both = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (near_sample(got[i], want[i])) continue;
        bool in_x = beyond(at[i].x, width), in_y = beyond(at[i].y, height);
        ++(in_x && in_y ? both : in_x ? aside : in_y ? above : inside);
    }
    if (inside > 0) return "";
    if (aside > 0 && above == 0)
        return "All that are wrong lie to the left or right of the image, where the pixels at its "
               "edge go on: addressMode[0] is for x, and the edge is that of the texture's array, "
               "which must be as wide as the image.";
    if (above > 0 && aside == 0)
        return "All that are wrong lie above or below the image, where the pixels at its edge go "
               "on: addressMode[1] is for y, and the edge is that of the texture's array, which "
               "must be as high as the image.";
    return "All that are wrong lie outside the image, where the pixels at the edge go on for ever: "
           "cudaAddressModeClamp, in x and in y.";
}

static void expect_samples(const output<float> &got, const bytes &image, int width, int height,
                           const points &at)
{
    std::vector<double> want = oracle::sample_bilinear(image, width, height, at);
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (near_sample(got[i], want[i])) continue;
        std::string cause = why_wrong(got, want, image, width, height, at);
        expect(false, verdict::WRONG_ANSWER,
               "out[" + std::to_string(i) + "], sampled at x = " + show_element(at[i].x) +
                   ", y = " + show_element(at[i].y) + ", is " + show_element(got[i]) +
                   ", and should be " + show_element(float(want[i])) + ", give or take 1/128." +
                   (cause.empty() ? "" : " " + cause),
               cause.empty()
                   ? "Which four pixels are around that point, and how near is it to each?"
                   : "What does the texture's description say about it, and which "
                     "coordinates does the kernel pass?");
    }
}

static void try_samples(int width, int height, const points &at, int image_at = 0)
{
    bytes image = random_bytes(std::size_t(width) * height);
    output<float> out(at.size());
    CALL(sample_bilinear, misaligned(image, image_at), width, height, misaligned(at, image_at % 2),
         misaligned(out, image_at), int(at.size()));
    expect_samples(out, image, width, height, at);
}

static void try_upload(std::size_t n)
{
    floats source = random_floats(n);
    output<float> dst(n);
    results_are_copied();
    CALL(upload, acquired(source), misaligned(dst, int(n % 4)), n);
    expect_equal(dst, source);
}

static void expect_sums(const output<double> &got, const floats &mapped)
{
    int passes = int(got.size());
    std::vector<double> want = oracle::sum_mapped(mapped, passes);
    floats sizes = mapped;
    for (float &x : sizes) x = std::abs(x);
    std::vector<double> magnitudes = oracle::sum_mapped(sizes, passes);
    for (std::size_t p = 0; p < want.size(); ++p) {
        bool in_float = std::abs(got[p] - want[p]) <= 1e-5 * magnitudes[p];
        expect(std::abs(got[p] - want[p]) <= 1e-10 * magnitudes[p], verdict::WRONG_ANSWER,
               "out[" + std::to_string(p) + "] is " + show_element(got[p]) +
                   ", and the elements to the power of " + std::to_string(p + 1) + " add up to " +
                   show_element(want[p]) + ": it is off by " +
                   show_element(std::abs(got[p] - want[p])) + "." +
                   (in_float ? " That is as far as float goes." : ""),
               in_float ? "Multiply and add as double."
                        : "out[p] is the sum of all mapped[i] to the power of p + 1. Does every "
                          "pass begin with 0?");
    }
}

static void try_sums(std::size_t n, int passes)
{
    floats values = random_floats(n);
    output<double> out{std::size_t(passes)};
    CALL(sum_mapped, mapped(values), int(n), passes, out, scratch);
    expect_sums(out, values);
    expect_work_of_kernels(4.0 * double(n), double(n) * (passes - 1));
}

static void need_managed_pages()
{
    expect(device().pages_on_demand != 0, verdict::SKIPPED,
           "On this machine kernels cannot fetch single pages of managed memory "
           "(concurrentManagedAccess is 0), so all of it moves before a launch, whoever prefetches "
           "what.");
}

static void try_managed(std::size_t n, float factor, int rounds)
{
    floats before = random_floats(n);
    output<float> data = changed_in_place(before);
    CALL(scale_managed, managed(data), int(n), factor, rounds);
    expect_scaled(data, before, factor, rounds);
    if (rounds > 0) expect_work_of_kernels(8.0 * double(n), double(n) * rounds);
}

// What is raced: a function, its arguments, and what changes between two calls.

namespace {

struct race_parts {
    const char *function;
    std::function<std::vector<argument>()> arguments;
    std::function<std::vector<std::span<std::byte>>(std::mt19937_64 &)> change;
    std::function<void()> check;
    double bytes = 0;
    bool in_kernels = true;
};

class one_race : public workload {
public:
    explicit one_race(race_parts parts) : parts_(std::move(parts)) {}
    const char *function() const override { return parts_.function; }
    std::vector<argument> arguments() override { return parts_.arguments(); }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return parts_.change(random);
    }
    void check() override { parts_.check(); }
    double bytes() const override { return parts_.bytes; }
    bool in_kernels() const override { return parts_.in_kernels; }

private:
    race_parts parts_;
};

// What most races need; `in` is what changes.
template <class T, class U> struct in_and_out {
    std::vector<T> in;
    output<U> out;
    explicit in_and_out(std::size_t n, std::mt19937_64 &random) : in(n), out(n)
    {
        fill_random(in, random);
    }
};

} // namespace

// New values for a stretch of `values` somewhere.
template <class T>
static std::span<std::byte> renew(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<T> stretch = std::span(values).subspan(first, count);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}

// How many elements of so many bytes, read and written, a race has: no whole number of blocks.
static std::size_t raced(std::size_t simulated_elements, double element_bytes)
{
    if (simulated()) return simulated_elements - 35;
    double most = std::min(double(1 << 28), double(device().memory_bytes) / 64);
    return static_cast<std::size_t>(most / element_bytes) / 4096 * 4096 - 35;
}

static make_workload add_race()
{
    return [](std::mt19937_64 &random) {
        struct parts {
            float start = 0;
            output<float> out{1};
        };
        auto p = std::make_shared<parts>();
        p->start = static_cast<float>(random() % 1000);
        return std::make_unique<one_race>(race_parts{
            "add_to_global",
            [p] { return remote<decltype(add_to_global)>::arguments(p->start, host(p->out)); },
            [](std::mt19937_64 &) { return std::vector<std::span<std::byte>>{}; },
            [p] { expect_equal(p->out, {p->start + 1}); }});
    };
}

static make_workload polynomial_race(int degree)
{
    return [degree](std::mt19937_64 &random) {
        struct parts : in_and_out<float, float> {
            floats c;
            using in_and_out::in_and_out;
        };
        std::size_t n = raced(1 << 14, 8);
        auto p = std::make_shared<parts>(n, random);
        p->c.resize(std::size_t(degree) + 1);
        fill_random(p->c, random);
        return std::make_unique<one_race>(
            race_parts{"polynomial",
                       [=] {
                           return remote<decltype(polynomial)>::arguments(p->in, p->out, int(n),
                                                                          host(p->c), degree);
                       },
                       [p](std::mt19937_64 &r) {
                           return std::vector{renew(p->in, r), renew(p->c, r)};
                       },
                       [=] {
                           bool right = for_all(n, [&](std::size_t i) {
                               double value = 0, magnitude = 0, power = 1;
                               for (double c : p->c) {
                                   value += c * power;
                                   magnitude += std::abs(c * power);
                                   power *= p->in[i];
                               }
                               return within(p->out.values[i], value, degree + 1, magnitude);
                           });
                           if (right) return;
                           oracle::polynomial_result want = oracle::polynomial(p->in, p->c);
                           expect_close(p->out, want.values, degree + 1, want.magnitudes);
                       },
                       8.0 * double(n)});
    };
}

static make_workload follow_race(int steps)
{
    return [steps](std::mt19937_64 &random) {
        struct parts : in_and_out<unsigned char, unsigned char> {
            bytes next;
            using in_and_out::in_and_out;
        };
        std::size_t n = raced(1 << 14, 8);
        auto p = std::make_shared<parts>(n, random);
        p->next = random_table(random);
        return std::make_unique<one_race>(race_parts{
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

static std::size_t raced_in_runs() { return raced(1 << 14, 8); }

static make_workload sort_race()
{
    return [](std::mt19937_64 &random) {
        std::size_t n = raced_in_runs();
        auto p = std::make_shared<in_and_out<float, float>>(n, random);
        return std::make_unique<one_race>(race_parts{
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

// Multiples of a tile, so that rows begin at sectors; powers of two would hide nothing either, but
// some memories deal badly with them.
static int raced_rows() { return simulated() ? 96 : 32 * 257; }
static int raced_cols() { return simulated() ? 160 : 32 * 129; }

static make_workload transpose_race()
{
    int rows = raced_rows(), cols = raced_cols();
    return [=](std::mt19937_64 &random) {
        std::size_t n = std::size_t(rows) * cols;
        auto p = std::make_shared<in_and_out<float, float>>(n, random);
        return std::make_unique<one_race>(race_parts{
            "transpose",
            [=] { return remote<decltype(transpose)>::arguments(p->in, p->out, rows, cols); },
            [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
            [=] {
                bool right = for_all(n, [&](std::size_t i) {
                    return p->out.values[i % cols * rows + i / cols] == p->in[i];
                });
                if (!right)
                    expect_equal(p->out, oracle::transpose(p->in, rows, cols),
                                 {std::size_t(cols), std::size_t(rows)});
            },
            8.0 * double(n)});
    };
}

static make_workload sample_race()
{
    return [](std::mt19937_64 &random) {
        struct parts : in_and_out<unsigned char, float> {
            points at;
            using in_and_out::in_and_out;
        };
        int width = simulated() ? 61 : 2003, height = simulated() ? 47 : 1501;
        auto p = std::make_shared<parts>(std::size_t(width) * height, random);
        std::size_t n = simulated() ? 4001 : 10000019;
        std::uniform_real_distribution<float> x(-3, float(width) + 2), y(-3, float(height) + 2);
        for (std::size_t i = 0; i < n; ++i) p->at.push_back({x(random), y(random)});
        p->out = output<float>(n);
        return std::make_unique<one_race>(race_parts{
            "sample_bilinear",
            [=] {
                return remote<decltype(sample_bilinear)>::arguments(p->in, width, height, p->at,
                                                                    p->out, int(n));
            },
            [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
            [=] { expect_samples(p->out, p->in, width, height, p->at); }, 12.0 * double(n)});
    };
}

// Of as many floats as the host and its link have time for.
constexpr std::size_t linked_floats = (1 << 23) - 35;

static make_workload upload_race()
{
    return [](std::mt19937_64 &random) {
        std::size_t n = simulated() ? 20001 : linked_floats;
        auto p = std::make_shared<in_and_out<float, float>>(n, random);
        race_parts parts{
            "upload",
            [=] { return remote<decltype(upload)>::arguments(acquired(p->in), p->out, n); },
            [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
            [p] { expect_equal(p->out, p->in); }};
        parts.in_kernels = false;
        return std::make_unique<one_race>(parts);
    };
}

static make_workload sum_race(int passes)
{
    return [passes](std::mt19937_64 &random) {
        struct parts {
            floats in;
            output<double> out;
        };
        auto p = std::make_shared<parts>(parts{floats(simulated() ? 20001 : linked_floats),
                                               output<double>(std::size_t(passes))});
        fill_random(p->in, random);
        return std::make_unique<one_race>(
            race_parts{"sum_mapped",
                       [=] {
                           return remote<decltype(sum_mapped)>::arguments(
                               mapped(p->in), int(p->in.size()), passes, p->out, scratch);
                       },
                       [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
                       [p] { expect_sums(p->out, p->in); }});
    };
}

static make_workload managed_race(int rounds)
{
    constexpr float factor = 1.25f;
    return [=](std::mt19937_64 &random) {
        struct parts {
            floats before;
            output<float> data;
        };
        floats before(simulated() ? 40001 : linked_floats);
        fill_random(before, random);
        auto p = std::make_shared<parts>(parts{before, changed_in_place(before)});
        return std::make_unique<one_race>(race_parts{
            "scale_managed",
            [=] {
                return remote<decltype(scale_managed)>::arguments(
                    managed(p->data), int(p->before.size()), factor, rounds);
            },
            [p](std::mt19937_64 &r) {
                std::span<std::byte> changed = renew(p->before, r);
                p->data.values = p->before;
                auto at = changed.data() - reinterpret_cast<std::byte *>(p->before.data());
                return std::vector{std::as_writable_bytes(std::span(p->data.values))
                                       .subspan(std::size_t(at), changed.size())};
            },
            [=] { expect_scaled(p->data, p->before, factor, rounds); }});
    };
}

// What the simulator must see.

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

CORRECTNESS_CASE("device_facts: what the runtime says", 2)
{
    limit_multiprocessors(0);
    output<device_facts_t> out(1);
    grading::call<decltype(::device_facts)>("device_facts", host(out));
    const device_facts_t &got = out.values[0];
    const grading::device_facts &facts = device();
    auto same = [](const char *what, auto said, auto right, const char *hint) {
        expect(said == static_cast<decltype(said)>(right), verdict::WRONG_ANSWER,
               std::string(what) + " is " + std::to_string(said) + ", and should be " +
                   std::to_string(right) + ".",
               hint);
    };
    auto of_a_block = [](auto said, auto of_multiprocessor) {
        return said == static_cast<decltype(said)>(of_multiprocessor)
                   ? "This is what a multiprocessor has; one block may use less."
                   : "Which member of cudaDeviceProp says what a block may use at most?";
    };
    const char *look = "cudaGetDeviceProperties fills a structure: which of its members is this?";
    same("devices", got.devices, facts.devices, "cudaGetDeviceCount says how many.");
    std::string name(got.name, strnlen(got.name, sizeof got.name));
    expect(name.substr(0, sizeof facts.name - 1) == facts.name, verdict::WRONG_ANSWER,
           "name is \"" + name + "\", and should be \"" + facts.name + "\".",
           "Copy the characters and the zero that ends them.");
    same("multiprocessors", got.multiprocessors, facts.multiprocessors, look);
    same("threads_a_block", got.threads_a_block, facts.threads_a_block,
         of_a_block(got.threads_a_block, facts.threads_a_multiprocessor));
    same("shared_a_block", got.shared_a_block, facts.shared_a_block,
         of_a_block(got.shared_a_block, facts.shared_a_multiprocessor));
    same("constant_memory", got.constant_memory, facts.constant_bytes, look);
    same("l2", got.l2, facts.l2_bytes, look);
    same("warp_size", got.warp_size, facts.warp, look);
    same("copy_engines", got.copy_engines, facts.copy_engines, look);
}

CORRECTNESS_CASE("add_to_global: one more", 0.5)
{
    for (float start : {-2.5f, 1.0f, 16777216.0f, 0.0f, 3.25f}) {
        output<float> out(1);
        CALL(add_to_global, start, host(out));
        expect_equal(out, {start + 1}, {},
                     {{"This is what was to be set: nothing was added.",
                       "Three steps, in this order: cudaMemcpyToSymbol, a kernel that adds, "
                       "cudaMemcpyFromSymbol. Does each come, and where it should? Host code that "
                       "names the variable means another "
                       "one, of its own.",
                       [=] { return floats{start}; }}});
    }
}

SPEED_CASE("add_to_global: a kernel does it", 2, 0)
{
    speed_gates gates;
    gates.naive_may_pass = true; // those are held back who leave the kernel out
    gates.counted = {at_least("kernels launched", {1}, "",
                              "Copying a sum there and back is no work of the device.",
                              [](const counted &c) { return double(c.launches); })};
    race(add_race(), gates);
}

CORRECTNESS_CASE("polynomial: a few elements", 0.5) { try_polynomial(10, 3); }

CORRECTNESS_CASE("polynomial: every degree", 0.5)
{
    for (int degree = most_coefficients - 1; degree >= 0; --degree) try_polynomial(70, degree);
    try_polynomial(0, 4);
}

CORRECTNESS_CASE("polynomial: sizes and places", 0.5)
{
    for (int n : {1, 31, 32, 33, 255, 257, 1025, 4099}) try_polynomial(std::size_t(n), 5);
    for (int at = 0; at < 16; ++at) try_polynomial(1237, 7, at % 4, at / 4);
}

SPEED_CASE("polynomial: what is loaded", 3.5, 0)
{
    // Not timed: see the handout.
    constexpr int degree = 31;
    speed_gates gates;
    auto of_an_element = [](const counted &c) {
        double requests = memory_requests(c) - double(c.constant_requests);
        return 32 * requests / double(raced(1 << 14, 8));
    };
    gates.counted = {
        at_most("global loads an element", {1.05}, "",
                "All threads read the same coefficient at the same moment: that is what constant "
                "memory is for. Only x has to come from global memory, once.",
                of_an_element),
        moved_bytes(
            "an element", [] { return double(raced(1 << 14, 8)); }, {12},
            "x comes from memory, and y goes there: 8 bytes. All threads read the same "
            "coefficient at the same moment: that is what constant memory is for."),
        at_most("bytes copied a call", {4 * (degree + 1)}, "",
                "Copy the degree + 1 coefficients, once a call, before the launch.",
                [](const counted &c) { return double(c.copied_bytes); }),
        lanes_at_work(),
    };
    race(polynomial_race(degree), gates);
}

CORRECTNESS_CASE("follow: a few steps", 0.5)
{
    for (int steps : {3, 1, 0, 7}) try_follow(40, steps);
}

CORRECTNESS_CASE("follow: sizes and places", 1.5)
{
    for (int n : {1, 31, 33, 255, 256, 257, 1025, 4099}) try_follow(std::size_t(n), 5);
    for (int at = 0; at < 16; ++at) try_follow(1237, 4, at % 4, at / 4);
    try_follow(5003, 300, 31, 9);
    try_follow(0, 3);
}

SPEED_CASE("follow: speed", 3.5, 2)
{
    speed_gates gates;
    gates.speedup = 5;
    gates.counted = {
        at_most(
            "constant addresses a request", {1}, "",
            "Constant memory gives one address a moment to all lanes of a warp; lanes that ask for "
            "different ones wait for each other. Shared memory has 32 banks.",
            [](const counted &c) {
                return share(double(c.constant_addresses), double(c.constant_requests));
            }),
        // 3 where each block of 256 threads brings the table to shared memory; from global memory
        // some 500.
        moved_bytes(
            "an element", [] { return double(raced(1 << 14, 8)); }, {16},
            "Each lane reads the table somewhere else, at each step. Let a block bring it "
            "to shared memory, once."),
        lanes_at_work()};
    gates.too_slow = "Each lane goes its own way through the table. Where do 32 different reads "
                     "at a time cost least?";
    race(follow_race(64), gates);
}

CORRECTNESS_CASE("small_sort: one run", 0.5)
{
    try_sort({3, -1, 0, 2, 7, -5, 1, 8, -2, 4, 11, -9, 5, 6, -4, 10});
    try_sort(random_floats(16));
}

CORRECTNESS_CASE("small_sort: a shorter run at the end", 0.5)
{
    for (int n = 34; n >= 0; --n) try_sort(random_floats(std::size_t(n)));
    for (int n : {4081, 4095, 4097, 8193, 8207}) try_sort(random_floats(std::size_t(n)));
}

CORRECTNESS_CASE("small_sort: sorted, reversed, equal and infinite", 0.5)
{
    floats rising, falling, few, odd = random_floats(1001);
    for (int i = 0; i < 999; ++i) {
        rising.push_back(static_cast<float>(i));
        falling.push_back(static_cast<float>(-i));
        few.push_back(static_cast<float>(i * i % 3));
    }
    for (std::size_t i = 0; i < odd.size(); i += 3)
        odd[i] = i % 2 ? std::numeric_limits<float>::infinity()
                       : -std::numeric_limits<float>::infinity();
    for (const floats &in : {rising, falling, few, odd, floats(500, 7.5f)}) try_sort(in);
}

CORRECTNESS_CASE("small_sort: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_sort(random_floats(1237), at % 4, at / 4);
    try_sort(random_floats(5003), 31, 9);
}

SPEED_CASE("small_sort: speed", 3.5, 2)
{
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {
        at_least(
            "accesses that are not to local memory", {1}, "%",
            "Registers have no addresses: an array lives in them only if every index is known when "
            "the kernel is compiled. Unroll all loops over it, and let no index depend on data.",
            [](const counted &c) {
                double others = double(c.load_requests + c.store_requests);
                return share(others, others + double(c.local_requests));
            }),
        // 64 where each lane loads and stores its run a float at a time
        moved_bytes(
            "an element", [] { return double(raced_in_runs()); }, {80},
            "A run is loaded once and stored once; in between it belongs into registers."),
        lanes_at_work()};
    gates.too_slow = "Is the run in registers, and does each lane ask for 16 bytes at a time?";
    race(sort_race(), gates);
}

CORRECTNESS_CASE("reverse_blocks: a few pieces", 0.5)
{
    try_reverse(10, 5);
    try_reverse(12, 4);
}

CORRECTNESS_CASE("reverse_blocks: a shorter piece at the end", 0.5)
{
    for (int n : {1, 7, 11, 100, 1001, 2500}) try_reverse(std::size_t(n), 64);
    for (int at = 1; at < 4; ++at) try_reverse(203, 64, at);
    try_reverse(5, 1024);
    try_reverse(0, 8);
}

CORRECTNESS_CASE("reverse_blocks: pieces of any size", 1)
{
    for (int block : {1, 2, 3, 31, 32, 33, 63, 100, 255, 256, 257, 511, 1000, 1023, 1024})
        try_reverse(3001, block);
    // More pieces than a grid has blocks in its second dimension, or than 16 bits hold.
    try_reverse(140003, 2);
}

CORRECTNESS_CASE("transpose: two tiles", 0.5) { try_transpose(32, 64); }

CORRECTNESS_CASE("transpose: sizes around a tile", 0.5)
{
    try_transpose(3, 5);
    for (int rows : {1, 31, 32, 33, 65})
        for (int cols : {1, 7, 32, 33, 64}) try_transpose(rows, cols);
}

CORRECTNESS_CASE("transpose: long and narrow", 0.5)
{
    try_transpose(2, 1031);
    try_transpose(1021, 3);
    // More rows, or columns, than a grid has blocks in its second dimension, times 32.
    try_transpose(1, simulated() ? 70001 : 2200001);
    try_transpose(simulated() ? 70001 : 2200001, 1);
    try_transpose(0, 7);
    try_transpose(7, 0);
}

CORRECTNESS_CASE("transpose: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_transpose(37, 43, at % 4, at / 4);
}

SPEED_CASE("transpose: speed", 3.5, 2)
{
    speed_gates gates;
    gates.speedup = 3.5; // without padding 2.8 on an H200, with it 4.9
    gates.counted = {
        used_by_loads(0.95),
        used_by_stores(0.95),
        moved_bytes(
            "an element", [] { return double(raced_rows()) * raced_cols(); }, {9.6},
            "Every element is loaded once and stored once, whatever way it takes."),
        bank_conflicts(1.1, "Which word of the tile does each lane of a warp ask for at that line? "
                            "Take these numbers modulo 32: lanes that agree, but ask for different "
                            "words, wait for each other."),
        conflicts_an_element([] { return double(raced_rows()) * raced_cols(); }, 0.03),
        lanes_at_work(),
        blocks_share(1.5)}; // tiles of 64 x 128 have three blocks
    gates.too_slow = "Read rows and write rows: a tile in shared memory turns them. And look which "
                     "banks the lanes of a warp meet in.";
    race(transpose_race(), gates);
}

CORRECTNESS_CASE("sample_bilinear: on the pixels", 0.5)
{
    points at;
    for (int row = 0; row < 3; ++row)
        for (int col = 0; col < 5; ++col) at.push_back({float(col), float(row)});
    try_samples(5, 3, at);
}

CORRECTNESS_CASE("sample_bilinear: between and outside", 0.5)
{
    try_samples(40, 30, random_points(700, 40, 30));
    try_samples(2, 2, {{0.5f, 0.5f}, {0.25f, 0}, {-100, 0.5f}, {1.5f, 1.5f}, {0, 1e6f}});
}

CORRECTNESS_CASE("sample_bilinear: images of any size", 0.5)
{
    for (int width : {1, 3, 32, 33, 200})
        for (int height : {1, 2, 17})
            try_samples(width, height, random_points(40, float(width), float(height)), width % 5);
    try_samples(9, 9, {});
}

CORRECTNESS_CASE("sample_bilinear: call after call", 0.5)
{
    bool more = leaks([] { try_samples(30, 20, random_points(50, 30, 20)); });
    expect(!more, verdict::RESOURCE_LIMIT,
           "Device memory that sample_bilinear allocated is still taken when it has returned, and "
           "the next call takes more.",
           "Free the array, when the kernel has ended and the texture is destroyed.");
}

SPEED_CASE("sample_bilinear: one fetch a sample", 1.5, 0)
{
    speed_gates gates;
    auto fetches = [](const counted &c) {
        return 32 * double(c.texture_requests) / (simulated() ? 4001 : 10000019);
    };
    gates.counted = {at_most("texture fetches a sample", {1.05}, "",
                             "One filtered fetch reads the four texels and weighs them.", fetches),
                     at_least("bytes a sample read through a texture", {3.9}, "",
                              "Let the texture unit do the interpolation: cudaFilterModeLinear, "
                              "and tex2D in the kernel.",
                              [](const counted &c) { return double(c.texture_bytes) / 4001; }),
                     // its place and the fetch; and what brings the image into an array
                     at_most("requests to load a sample", {3.2}, "",
                             "Where a sample lies, and one filtered fetch: nothing else is to be "
                             "loaded for it.",
                             [](const counted &c) { return 32 * memory_requests(c) / 4001; }),
                     lanes_at_work()};
    race(sample_race(), gates);
}

CORRECTNESS_CASE("upload: what arrives", 0.5)
{
    for (std::size_t n : {10, 1, 1025, 100003}) try_upload(n);
}

// A copy to a pinned buffer within upload would hide what acquire has not done.
static void expect_pinned()
{
    floats some = random_floats(1000);
    constexpr int known_to_the_device = 1; // cudaMemoryTypeHost
    int type = grading::call<int(const float *)>("yardstick_memory_type", acquired(some));
    expect(type == known_to_the_device, verdict::TOO_SLOW,
           type == 0 ? "acquire returned ordinary, pageable memory: the device cannot read it by "
                       "itself, and what upload copies must pass through a pinned buffer first."
                     : "acquire returned memory that the caller cannot fill: it is the device's.",
           "Pin the memory when it is acquired, not when it is uploaded: cudaMallocHost.");
}

SPEED_CASE("upload: speed", 3.5, 2)
{
    speed_gates gates;
    gates.speedup = 1.3;
    gates.counted = {at_least(
        "uploaded from pinned memory", {1}, "%",
        "The copy engine reads physical addresses, so pages must not move meanwhile: pinned "
        "memory has none that do. All else is copied to a pinned buffer first.",
        [](const counted &c) {
            return share(double(c.host_link_bytes - c.pageable_bytes), 4.0 * 20001);
        })};
    gates.too_slow = "Which memory does acquire give, and does upload copy once?";
    results_are_copied();
    race(upload_race(), gates);
    expect_pinned();
}

CORRECTNESS_CASE("sum_mapped: one pass", 0.5)
{
    for (std::size_t n : {10, 1, 33, 1025, 20011, 0}) try_sums(n, 1);
}

CORRECTNESS_CASE("sum_mapped: several passes", 0.5)
{
    for (int passes : {2, 3, 8, 16}) try_sums(3001, passes);
    run_streams(stream_work::late);
    for (int passes : {2, 5}) try_sums(3001, passes);
}

// The host, too, reaches what these functions work on, and no copy shows it.
static counted_gate multiplied_by_kernels(double elements, double least)
{
    return at_least("multiplications by kernels, an element", {least}, "",
                    "The host can compute this, too: let a kernel do it.",
                    [=](const counted &c) { return double(c.multiplications) / elements; });
}

SPEED_CASE("sum_mapped: speed", 1.5, 1)
{
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {
        at_most("host-link bytes an element", {4.1}, "",
                "Mapped memory stays on the host: each time a kernel reads it, it crosses the "
                "link. Let "
                "it cross once: into scratch, or into a kernel that does all passes at a time.",
                [](const counted &c) { return double(c.host_link_bytes) / 20001; }),
        multiplied_by_kernels(20001, 6.5), lanes_at_work()};
    gates.too_slow = "How often does each element cross the link to the host?";
    race(sum_race(8), gates);
}

CORRECTNESS_CASE("scale_managed: a few rounds", 0.5)
{
    need_managed_pages();
    for (int rounds : {3, 1, 0, 8}) try_managed(1000, 1.1f, rounds);
    for (std::size_t n : {1, 33, 1025, 5003, 0}) try_managed(n, -0.75f, 2);
}

SPEED_CASE("scale_managed: speed", 1.5, 1)
{
    need_managed_pages();
    speed_gates gates;
    gates.speedup = 1.5;
    gates.counted = {
        at_least("pages there before a kernel asked", {1}, "%",
                 "A kernel that meets a page of managed memory on the host stops until it has "
                 "come, page "
                 "by page. cudaMemPrefetchAsync brings all of them before, in large pieces.",
                 [](const counted &c) {
                     return std::max(0.0, 1 - share(double(c.managed_pages) * 4096, 4.0 * 40001));
                 }),
        multiplied_by_kernels(40001, 3.5),
        at_least("compulsory bytes an element", {7.5}, "bytes",
                 "Every element is read and written, 4 bytes each way: let kernels do both.",
                 [](const counted &c) { return double(c.compulsory_bytes) / 40001; }),
        lanes_at_work()};
    gates.too_slow = "What does the first kernel wait for?";
    race(managed_race(4), gates);
}
