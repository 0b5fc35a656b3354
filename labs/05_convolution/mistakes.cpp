// Tells a wrong filtering of lab 05 from its cause: each mistake as a filtering of its own.
#include "mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

namespace {

// Wrong sums over the image, of which `pixel(r, c)` is what a wrong version takes for the pixel in
// row r and column c, and `tap(y, x)` for the filter's element.
class mistakes {
public:
    mistakes(const floats &image, const shape &s, const floats &filter, int radius, border beyond)
        : image_(image),
          s_(s),
          filter_(filter),
          radius_(radius),
          d_(2 * radius + 1),
          beyond_(beyond)
    {
    }

    double pixel(int r, int c) const { return pixel(r, c, beyond_); }
    double pixel(int r, int c, border beyond) const
    {
        int row = std::clamp(r, 0, s_.rows - 1), col = std::clamp(c, 0, s_.cols - 1);
        return beyond == border::clamped || (r == row && c == col) ? at(row, col) : 0;
    }
    double tap(int y, int x) const { return filter_[std::size_t(y) * d_ + x]; }

    // sum(row, col) of every pixel.
    template <class Sum> auto each(Sum sum) const
    {
        return [=, s = s_] {
            floats out;
            for (int r = 0; r < s.rows; ++r)
                for (int c = 0; c < s.cols; ++c) out.push_back(static_cast<float>(sum(r, c)));
            return out;
        };
    }
    // The sum of term(row, col, y, x) of every pixel.
    template <class Term> auto sums(Term term) const
    {
        return each([=, d = d_](int row, int col) {
            double sum = 0;
            for (int y = 0; y < d; ++y)
                for (int x = 0; x < d; ++x) sum += term(row, col, y, x);
            return sum;
        });
    }
    // Of every pixel that which `taken(row, col, r, c)` says it takes of (r, c).
    template <class Taken> auto pixels(Taken taken) const
    {
        return sums([=, me = *this](int row, int col, int y, int x) {
            return me.tap(y, x) * taken(row, col, row + y - me.radius_, col + x - me.radius_);
        });
    }
    // Of every pixel the right ones, times what `factor(y, x)` says.
    template <class Factor> auto taps(Factor factor) const
    {
        return sums([=, me = *this](int row, int col, int y, int x) {
            return factor(y, x) * me.pixel(row + y - me.radius_, col + x - me.radius_);
        });
    }

    void add_of_taps(misconceptions &known) const
    {
        known.push_back(
            {"All sums are 0.",
             "Constant memory is 0 until something is copied to it. Does each function copy its "
             "own filter, and is the number of bytes that of all its elements, not their count, "
             "nor the size of a pointer? Or is a small filter put into the corner of a table for a "
             "larger radius, and not into its centre?",
             each([](int, int) { return 0; })});
        // The bytes of the first elements, and of what comes after them zeros.
        struct too_few {
            std::size_t elements;
            const char *why;
        };
        constexpr std::size_t pointer_bytes = sizeof(float *);
        const std::size_t all = filter_.size(), of_count = all / sizeof(float);
        for (too_few f : {too_few{of_count, "The copy took the number of elements for the number "
                                            "of bytes: multiply it by sizeof(float)."},
                          too_few{pointer_bytes / sizeof(float),
                                  "That is the size of a pointer: sizeof of a pointer is not the "
                                  "size of the array that it points to."}})
            if (f.elements < all)
                known.push_back({"Only the first " + std::to_string(f.elements) +
                                     " elements of the filter were used, the others were 0.",
                                 f.why, taps([f, me = *this](int y, int x) {
                                     bool there = std::size_t(y) * me.d_ + x < f.elements;
                                     return there ? me.tap(y, x) : 0;
                                 })});
        known.push_back(
            {"The filter was flipped.",
             "lab.hpp applies it as it is: element (y, x) belongs to row r + y - radius and column "
             "c + x - radius.",
             taps([me = *this](int y, int x) { return me.tap(me.d_ - 1 - y, me.d_ - 1 - x); })});
        known.push_back({"The filter was transposed.",
                         "Its element in row y and column x is filter_host[y * d + x].",
                         taps([me = *this](int y, int x) { return me.tap(x, y); })});
        known.push_back({"The filter's last row and column were left out.",
                         "A filter has 2 * radius + 1 elements a side.",
                         taps([me = *this](int y, int x) {
                             return y < me.d_ - 1 && x < me.d_ - 1 ? me.tap(y, x) : 0;
                         })});
        for (bool row : {true, false})
            known.push_back(
                {std::string("The filter's last ") + (row ? "row" : "column") + " was left out.",
                 "A filter has 2 * radius + 1 elements a side: how far does the loop "
                 "over its " +
                     std::string(row ? "rows" : "columns") + " go?",
                 taps([row, me = *this](int y, int x) {
                     return (row ? y : x) < me.d_ - 1 ? me.tap(y, x) : 0;
                 })});
    }

    void add_of_edges(misconceptions &known) const
    {
        bool zero = beyond_ == border::zero;
        if (zero)
            known.push_back({"Pixels beyond the image were taken to be the nearest ones.",
                             "Here the pixels beyond the image are 0.",
                             pixels(by_border(border::clamped))});
        else
            known.push_back({"Pixels beyond the image were taken to be 0.",
                             "Here a pixel beyond the image equals the nearest one in the image.",
                             pixels(by_border(border::zero))});
        known.push_back(
            {"Beyond the right edge the next row was read, beyond the left edge the row before.",
             "Row and column each have a bound of their own: r * cols + c lies in the "
             "image for many columns c that do not.",
             pixels([me = *this](int, int, int r, int c) {
                 long i = long(r) * me.s_.cols + c;
                 return i < 0 || i >= long(me.image_.size()) ? 0.0 : double(me.image_[i]);
             })});
        if (!zero)
            known.push_back({"Beyond the image the index r * cols + c was clamped to the first and "
                             "the last pixel.",
                             "The nearest pixel is in the nearest row and the nearest column: "
                             "clamp r and c, each to its own bounds, before they become an index.",
                             pixels([me = *this](int, int, int r, int c) {
                                 const long last = long(me.image_.size()) - 1;
                                 return double(
                                     me.image_[std::clamp(long(r) * me.s_.cols + c, 0L, last)]);
                             })});
        known.push_back({"The pixels near the edges were left out: they are 0.",
                         "Each pixel has a sum, also where the filter hangs over the edge.",
                         each([me = *this](int row, int col) {
                             int R = me.radius_;
                             bool whole = row >= R && row + R < me.s_.rows && col >= R &&
                                          col + R < me.s_.cols;
                             return whole ? me.right(row, col) : 0;
                         })});
        known.push_back({"The filter's corner was placed on the pixel, not its centre.",
                         "Row y of the filter belongs to row r + y - radius of the image.",
                         pixels([me = *this](int, int, int r, int c) {
                             return me.pixel(r + me.radius_, c + me.radius_);
                         })});
        known.push_back({"Row 0 and column 0 of the image were treated as beyond it.",
                         "Row 0 and column 0 belong to the image: compare with >= 0.",
                         pixels([me = *this](int, int, int r, int c) {
                             return r == 0 || c == 0 ? 0 : me.pixel(r, c);
                         })});
        known.push_back({"The image's last row and column were treated as beyond it.",
                         "Row rows - 1 and column cols - 1 belong to the image: compare with "
                         "< rows and < cols.",
                         pixels([me = *this](int, int, int r, int c) {
                             return r == me.s_.rows - 1 || c == me.s_.cols - 1 ? 0 : me.pixel(r, c);
                         })});
    }

    // Of a tile that begins elsewhere, by the radius or by the one that it has room for.
    void add_of_places(misconceptions &known) const
    {
        for (int far : {radius_, 4, 8, 16})
            for (shape by : {shape{far, far}, {-far, -far}, {far, 0}, {0, far}})
                if (far > 0)
                    known.push_back(
                        {"Each sum is the one that belongs " + place(by) + ".",
                         "Which pixel of the image is the first one of the tile? It lies radius "
                         "rows above the block's first pixel and radius columns to its left, with "
                         "the same radius as in the index into the tile.",
                         pixels([by, me = *this](int, int, int r, int c) {
                             return me.pixel(r + by.rows, c + by.cols);
                         })});
    }

    // Of a table of taps for a larger radius than the filter has, into whose first place it was
    // put.
    void add_of_tables(misconceptions &known) const
    {
        for (int table : {2, 4, 8, 16}) {
            const int far = table - radius_;
            const bool told_by_places = far == radius_ || far == 4 || far == 8 || far == 16;
            if (far <= 0 || told_by_places) continue;
            known.push_back(
                {"Each sum is the one that belongs " + place({-far, -far}) +
                     ", as if the filter lay in the first rows and columns of a table for radius " +
                     std::to_string(table) + ".",
                 "The filter's centre belongs in the table's centre, with the same number of zeros "
                 "on every side.",
                 pixels([far, me = *this](int, int, int r, int c) {
                     return me.pixel(r - far, c - far);
                 })});
        }
    }

    // Blocks of rows x cols pixels that do not see all of what lies around them. An image of few
    // rows or columns shows no more than what is missing in the other direction.
    void add_of_halos(misconceptions &known) const
    {
        const shape blocks[] = {{16, 16}, {32, 32}, {8, 32}, {16, 32}, {32, 8}, {64, 32}};
        struct sides {
            bool row, col;
        };
        auto add = [&](const shape &t, const std::string &cause, const char *next, auto missing) {
            std::string size = std::to_string(t.rows) + " x " + std::to_string(t.cols);
            known.push_back({fmt::format(fmt::runtime(cause), size), next,
                             pixels([=, me = *this](int row, int col, int r, int c) {
                                 sides out = {
                                     r < row / t.rows * t.rows || r >= (row / t.rows + 1) * t.rows,
                                     c < col / t.cols * t.cols || c >= (col / t.cols + 1) * t.cols};
                                 return missing(out) ? 0 : me.pixel(r, c);
                             })});
        };
        for (const shape &t : blocks) {
            add(t, "In the halo of blocks of {} the rows are missing.",
                "The filter reaches radius rows above and below the block as well.",
                [](sides out) { return out.row; });
            add(t, "In the halo of blocks of {} the columns are missing.",
                "The filter reaches radius columns to the left and right of the block as well.",
                [](sides out) { return out.col; });
        }
        for (const shape &t : blocks) {
            add(t, "In the halo of blocks of {} the corners are missing.",
                "The halo is a frame: four sides and four corners.",
                [](sides out) { return out.row && out.col; });
            add(t, "Blocks of {} took the pixels around them to be 0.",
                "A block needs radius pixels more on every side: the halo.",
                [](sides out) { return out.row || out.col; });
        }
    }

private:
    // "4 rows below and 4 columns to the right"
    static std::string place(const shape &by)
    {
        auto part = [](int n, const char *what, const char *more, const char *less) {
            return std::to_string(std::abs(n)) + " " + what + (std::abs(n) == 1 ? " " : "s ") +
                   (n > 0 ? more : less);
        };
        std::string text = by.rows ? part(by.rows, "row", "below", "above") : "";
        if (by.rows && by.cols) text += " and ";
        return text + (by.cols ? part(by.cols, "column", "to the right", "to the left") : "");
    }
    double at(int r, int c) const { return image_[std::size_t(r) * s_.cols + c]; }
    std::function<double(int, int, int, int)> by_border(border beyond) const
    {
        return [=, me = *this](int, int, int r, int c) { return me.pixel(r, c, beyond); };
    }
    double right(int row, int col) const
    {
        double sum = 0;
        for (int y = 0; y < d_; ++y)
            for (int x = 0; x < d_; ++x)
                sum += tap(y, x) * pixel(row + y - radius_, col + x - radius_);
        return sum;
    }

    const floats &image_;
    shape s_;
    const floats &filter_;
    int radius_, d_;
    border beyond_;
};

} // namespace

misconceptions wrong_filterings(const floats &image, const shape &s, const floats &filter,
                                int radius, border beyond)
{
    misconceptions known;
    mistakes m(image, s, filter, radius, beyond);
    m.add_of_taps(known);
    m.add_of_edges(known);
    m.add_of_halos(known);
    m.add_of_places(known);
    m.add_of_tables(known);
    for (auto &k : known) k.everywhere = true;
    return known;
}

floats product_of(const floats &row_filter, const floats &column_filter)
{
    floats product;
    for (float y : column_filter)
        for (float x : row_filter) product.push_back(x * y);
    return product;
}

misconceptions wrong_products(const floats &image, const shape &s, const floats &row_filter,
                              const floats &column_filter, const floats &product, int radius)
{
    auto by = [&image, s, radius](const floats &row, const floats &column) {
        return [&image, s, radius, row, column] {
            std::vector<double> values =
                oracle::convolve_separable(image, s.rows, s.cols, row, column, radius).values;
            return floats(values.begin(), values.end());
        };
    };
    floats one(length(radius));
    one[std::size_t(radius)] = 1;
    misconceptions known = {
        {"The two filters were exchanged.",
         "row_filter_host runs along a row, from column to column; column_filter_host from row to "
         "row.",
         by(column_filter, row_filter)},
        {"Only the rows were filtered.", "The second pass, down the columns, is missing.",
         by(row_filter, one)},
        {"Only the columns were filtered.", "The first pass, along the rows, is missing.",
         by(one, column_filter)},
        {"The row filter was used for the columns too.",
         "Two filters need two places: is one copied over the other?", by(row_filter, row_filter)},
        {"The column filter was used for the rows too.",
         "Two filters need two places: is one copied over the other?",
         by(column_filter, column_filter)},
    };
    mistakes m(image, s, product, radius, border::zero);
    m.add_of_taps(known);
    m.add_of_edges(known);
    m.add_of_halos(known);
    m.add_of_places(known);
    m.add_of_tables(known);
    for (auto &k : known) k.everywhere = true;
    return known;
}

void add_of_filter_before(misconceptions &known, const floats &image, const shape &s,
                          const floats &filter, int radius, border beyond)
{
    static floats last;
    if (floats before = std::exchange(last, filter); before.size() == filter.size())
        known.push_back(
            {"The filter of the call before was used.",
             "Copy the filter in every call: it is a different one each time.", [=, &image] {
                 std::vector<double> values =
                     oracle::convolve(image, s.rows, s.cols, before, radius, beyond).values;
                 return floats(values.begin(), values.end());
             }});
}

void add_of_fractions(misconceptions &known, const floats &out)
{
    known.push_back({"Image and filter are whole numbers in this call, but these sums are not.",
                     "What else was added up? Does this function copy its own filter, or does it "
                     "use the one that another function left in constant memory?",
                     [&out] {
                         bool fraction = std::any_of(out.begin(), out.end(), [](float v) {
                             return std::isfinite(v) && v != std::trunc(v);
                         });
                         return fraction ? out : floats();
                     }});
}

constexpr double sample_tolerance = 1.0 / 128;
static bool near_sample(float got, double want) { return std::abs(got - want) <= sample_tolerance; }

// Says why samples are wrong: they are those of other points, or lie beyond one kind of edge;
// empty: the cause is not known.
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

void expect_samples(const output<float> &got, const bytes &image, int width, int height,
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
