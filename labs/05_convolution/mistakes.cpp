// Tells a wrong filtering of lab 05 from its cause: each mistake as a filtering of its own.
#include "mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

namespace {

// One term of the sum of the pixel in row `row` and column `col`: element (y, x) of the filter lies
// on row r and column c of the image, or beyond it.
struct term {
    int row, col, y, x, r, c;
};

// An image and a filter, as a wrong version may see them.
struct filtering_oracle {
    const floats &image, &filter;
    shape size;
    int radius;
    border edge;
    int d = 2 * radius + 1;

    double tap(int y, int x) const { return filter[std::size_t(y) * d + x]; }
    double pixel(int r, int c) const { return pixel(r, c, edge); }
    double pixel(int r, int c, border beyond) const
    {
        const int row = std::clamp(r, 0, size.rows - 1), col = std::clamp(c, 0, size.cols - 1);
        const bool there = beyond == border::clamped || (r == row && c == col);
        return there ? image[std::size_t(row) * size.cols + col] : 0;
    }
    // The element r * cols + c of the whole array, if there is one, or else its first or last.
    double element(int r, int c, border beyond) const
    {
        const long i = long(r) * size.cols + c, last = long(image.size()) - 1;
        const bool there = i >= 0 && i <= last;
        return there || beyond == border::clamped ? image[std::clamp(i, 0L, last)] : 0;
    }
    // Sums value(*this, term) over the filter, for every pixel.
    template <class Value> floats filtered(Value value) const
    {
        floats out;
        for (int row = 0; row < size.rows; ++row)
            for (int col = 0; col < size.cols; ++col) {
                double sum = 0;
                for (int y = 0; y < d; ++y)
                    for (int x = 0; x < d; ++x)
                        sum +=
                            value(*this, term{row, col, y, x, row + y - radius, col + x - radius});
                out.push_back(static_cast<float>(sum));
            }
        return out;
    }
};
using oracle_in = const filtering_oracle &;

// "4 rows below and 4 columns to the right"
std::string place(const shape &by)
{
    auto part = [](int n, const char *what, const char *more, const char *less) {
        return fmt::format("{} {}{} {}", std::abs(n), what, std::abs(n) == 1 ? "" : "s",
                           n > 0 ? more : less);
    };
    std::string text = by.rows ? part(by.rows, "row", "below", "above") : "";
    if (by.rows && by.cols) text += " and ";
    return text + (by.cols ? part(by.cols, "column", "to the right", "to the left") : "");
}

// Rows, columns, or both of them, in which something is missing or exchanged.
constexpr struct {
    const char *is, *every, *loops;
    bool row, col;
} rows_and_columns[] = {
    {"row and column were", "row and every column were", "rows and columns", true, true},
    {"row was", "row was", "rows", true, false},
    {"column was", "column was", "columns", false, true}};

struct known_filterings {
    filtering_oracle right;
    misconceptions known = {};

    // A version whose terms are value(oracle, term).
    template <class Value> void add(std::string cause, std::string next, Value value)
    {
        known.push_back({std::move(cause), std::move(next),
                         [o = right, value] { return o.filtered(value); }, true});
    }
    // A version that takes tap(oracle, y, x) for an element, and the right pixels.
    template <class Tap> void add_tap(std::string cause, std::string next, Tap tap)
    {
        add(std::move(cause), std::move(next),
            [tap](oracle_in o, const term &t) { return tap(o, t.y, t.x) * o.pixel(t.r, t.c); });
    }
    // A version that takes pixel(oracle, r, c) for a pixel, and the right elements.
    template <class Pixel> void add_pixel(std::string cause, std::string next, Pixel pixel)
    {
        add(std::move(cause), std::move(next),
            [pixel](oracle_in o, const term &t) { return o.tap(t.y, t.x) * pixel(o, t.r, t.c); });
    }

    void add_taps()
    {
        add("All sums are 0.",
            "Constant memory is 0 until something is copied to it. Does each function copy its "
            "own filter, and is the number of bytes that of all its elements, not their count, "
            "nor the size of a pointer? Or is a small filter put into the corner of a table for a "
            "larger radius, and not into its centre? Or is the pixel still 0 that the sums "
            "take?",
            [](oracle_in, const term &) { return 0; });
        const std::size_t all = right.filter.size();
        auto only_first = [&](std::size_t n, const char *why) {
            if (n >= all) return;
            add_tap(fmt::format("Only the first {} elements of the filter were used, the others "
                                "were 0.",
                                n),
                    why, [n](oracle_in o, int y, int x) {
                        return std::size_t(y) * o.d + x < n ? o.tap(y, x) : 0;
                    });
        };
        constexpr std::size_t bytes_of_pointer = sizeof(float *),
                              of_pointer = bytes_of_pointer / sizeof(float);
        if (all / sizeof(float) == of_pointer)
            only_first(of_pointer,
                       "The copy needs d * d * sizeof(float) bytes. Was it given the "
                       "number of elements, or sizeof of a pointer, which is 8 whatever "
                       "it points to?");
        only_first(all / sizeof(float), "The copy took the number of elements for the number of "
                                        "bytes: multiply it by sizeof(float).");
        only_first(of_pointer, "That is the size of a pointer: sizeof of a pointer is not the size "
                               "of the array that it points to.");
        add_tap("The filter was flipped.",
                "lab.hpp applies it as it is: element (y, x) belongs to row r + y - radius and "
                "column c + x - radius.",
                [](oracle_in o, int y, int x) { return o.tap(o.d - 1 - y, o.d - 1 - x); });
        add_tap("The filter was transposed.",
                "Its element in row y and column x is filter_host[y * d + x].",
                [](oracle_in o, int y, int x) { return o.tap(x, y); });
        for (const auto &l : rows_and_columns)
            add_tap(fmt::format("The filter's last {} left out.", l.is),
                    fmt::format("A filter has 2 * radius + 1 elements per side: how far does the "
                                "loop over its {} go?",
                                l.loops),
                    [l](oracle_in o, int y, int x) {
                        return (l.row && y == o.d - 1) || (l.col && x == o.d - 1) ? 0 : o.tap(y, x);
                    });
    }

    void add_edges()
    {
        if (right.edge == border::zero)
            add_pixel("Pixels beyond the image were taken to be the nearest ones.",
                      "Here the pixels beyond the image are 0.",
                      [](oracle_in o, int r, int c) { return o.pixel(r, c, border::clamped); });
        else
            add_pixel("Pixels beyond the image were taken to be 0.",
                      "Here a pixel beyond the image equals the nearest one in the image.",
                      [](oracle_in o, int r, int c) { return o.pixel(r, c, border::zero); });
        add_pixel("Beyond the right edge the next row was read, beyond the left edge the row "
                  "before.",
                  "Row and column each have a bound of their own: r * cols + c lies in the "
                  "image for many columns c that do not.",
                  [](oracle_in o, int r, int c) { return o.element(r, c, border::zero); });
        if (right.edge == border::clamped) add_clamps();
        add("The pixels near the edges were left out: they are 0.",
            "Each pixel has a sum, also where the filter hangs over the edge.",
            [](oracle_in o, const term &t) {
                auto whole = [&](int i, int n) { return i >= o.radius && i + o.radius < n; };
                const bool inside = whole(t.row, o.size.rows) && whole(t.col, o.size.cols);
                return inside ? o.tap(t.y, t.x) * o.pixel(t.r, t.c) : 0;
            });
        add_pixel("The filter's corner was placed on the pixel, not its centre.",
                  "Row y of the filter belongs to row r + y - radius of the image.",
                  [](oracle_in o, int r, int c) { return o.pixel(r + o.radius, c + o.radius); });
        add_pixel("Row 0 and column 0 of the image were treated as beyond it.",
                  "Row 0 and column 0 belong to the image: compare with >= 0.",
                  [](oracle_in o, int r, int c) { return r == 0 || c == 0 ? 0 : o.pixel(r, c); });
        add_pixel("The image's last row and column were treated as beyond it.",
                  "Row rows - 1 and column cols - 1 belong to the image: compare with "
                  "< rows and < cols.",
                  [](oracle_in o, int r, int c) {
                      return r == o.size.rows - 1 || c == o.size.cols - 1 ? 0 : o.pixel(r, c);
                  });
    }

    void add_clamps()
    {
        add_pixel("Beyond the image the index r * cols + c was clamped to the first and the last "
                  "pixel.",
                  "The nearest pixel is in the nearest row and the nearest column: clamp r and c, "
                  "each to its own bounds, before they become an index.",
                  [](oracle_in o, int r, int c) { return o.element(r, c, border::clamped); });
        for (const auto &e : rows_and_columns)
            for (bool last : {true, false})
                add_pixel(
                    fmt::format("Every {} taken to be the {}.", e.every, last ? "last" : "first"),
                    "max(c, 0) moves what lies left of the image to column 0, and min(c, cols "
                    "- 1) what lies right of it to the last column: are max and min "
                    "exchanged? Rows likewise.",
                    [e, last](oracle_in o, int r, int c) {
                        const int row = last ? o.size.rows - 1 : 0,
                                  col = last ? o.size.cols - 1 : 0;
                        return o.pixel(e.row ? row : r, e.col ? col : c);
                    });
    }

    // Blocks that do not see all of what lies around them. An image of few rows or columns shows no
    // more than what is missing in the other direction, so these come first.
    void add_halos()
    {
        struct halo {
            const char *cause, *next;
            bool (*missing)(bool row, bool col); // for a pixel in another row or column of blocks
        };
        const halo sides[] = {
            {"In the halo of blocks of {} x {} the rows are missing.",
             "The filter reaches radius rows above and below the block as well.",
             [](bool row, bool) { return row; }},
            {"In the halo of blocks of {} x {} the columns are missing.",
             "The filter reaches radius columns to the left and right of the block as well.",
             [](bool, bool col) { return col; }}};
        const halo more[] = {{"In the halo of blocks of {} x {} the corners are missing.",
                              "The halo is a frame: four sides and four corners.",
                              [](bool row, bool col) { return row && col; }},
                             {"Blocks of {} x {} took the pixels around them to be 0.",
                              "A block needs radius pixels more on every side: the halo.",
                              [](bool row, bool col) { return row || col; }}};
        for (const auto &kinds : {std::span(sides), std::span(more)})
            for (shape block : {shape{16, 16}, {32, 32}, {8, 32}, {16, 32}, {32, 8}, {64, 32}})
                for (const halo &h : kinds)
                    add(fmt::format(fmt::runtime(h.cause), block.rows, block.cols), h.next,
                        [block, missing = h.missing](oracle_in o, const term &t) {
                            auto outside = [](int i, int of, int n) {
                                return i < of / n * n || i >= (of / n + 1) * n;
                            };
                            return missing(outside(t.r, t.row, block.rows),
                                           outside(t.c, t.col, block.cols))
                                       ? 0
                                       : o.tap(t.y, t.x) * o.pixel(t.r, t.c);
                        });
    }

    // A tile that begins elsewhere, by the radius or by the one that it has room for; or a filter
    // in the first rows and columns of a table of taps for a larger radius.
    void add_places()
    {
        const int radius = right.radius;
        auto add_moved = [&](const shape &by, const std::string &more, const char *next) {
            add_pixel(
                "Each sum is the one that belongs " + place(by) + more + ".", next,
                [by](oracle_in o, int r, int c) { return o.pixel(r + by.rows, c + by.cols); });
        };
        for (int far : {radius, 4, 8, 16})
            for (shape by : {shape{far, far}, {-far, -far}, {far, 0}, {0, far}})
                if (far > 0)
                    add_moved(by, "",
                              "Which pixel of the image is the first one of the tile? It lies "
                              "radius rows above the block's first pixel and radius columns to its "
                              "left, with the same radius as in the index into the tile. Without a "
                              "tile: element (y, x) of the filter lies on row r + y - radius and "
                              "column c + x - radius: is radius subtracted from both?");
        for (int table : {2, 4, 8, 16}) {
            const int far = table - radius;
            if (far <= 0 || far == radius || far == 4 || far == 8 || far == 16) continue;
            add_moved({-far, -far},
                      fmt::format(", as if the filter lay in the first rows and columns of a table "
                                  "for radius {}",
                                  table),
                      "The filter's centre belongs in the table's centre, with the same number of "
                      "zeros on every side.");
        }
    }
};

floats rounded(const std::vector<double> &values) { return {values.begin(), values.end()}; }

} // namespace

misconceptions wrong_filterings(const floats &image, const shape &s, const floats &filter,
                                int radius, border beyond)
{
    known_filterings all{{image, filter, s, radius, beyond}};
    all.add_taps();
    all.add_edges();
    all.add_halos();
    all.add_places();
    return all.known;
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
    floats one(length(radius));
    one[std::size_t(radius)] = 1;
    misconceptions known;
    auto add = [&](const char *cause, const char *next, const floats &row, const floats &column) {
        auto filtered = [&image, s, radius, row, column] {
            return rounded(
                oracle::convolve_separable(image, s.rows, s.cols, row, column, radius).values);
        };
        known.push_back({cause, next, filtered, true});
    };
    const char *two_places = "Two filters need two places: is one copied over the other?";
    add("The two filters were exchanged.",
        "row_filter_host runs along a row, from column to column; column_filter_host from row to "
        "row.",
        column_filter, row_filter);
    add("Only the rows were filtered.", "The second pass, down the columns, is missing.",
        row_filter, one);
    add("Only the columns were filtered.", "The first pass, along the rows, is missing.", one,
        column_filter);
    add("The row filter was used for the columns too.", two_places, row_filter, row_filter);
    add("The column filter was used for the rows too.", two_places, column_filter, column_filter);
    const misconceptions others = wrong_filterings(image, s, product, radius, border::zero);
    known.insert(known.end(), others.begin(), others.end());
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
                 return rounded(
                     oracle::convolve(image, s.rows, s.cols, before, radius, beyond).values);
             }});
}

void add_of_fractions(misconceptions &known, const floats &out)
{
    known.push_back({"Image and filter are whole numbers in this call, but these sums are not.",
                     "Is the sum divided, or multiplied, by something? lab.hpp asks for the sum "
                     "itself. If not, what else was added up: does this function copy its own "
                     "filter, or does it use the one that another function left in constant "
                     "memory?",
                     [&out] {
                         bool fraction = std::any_of(out.begin(), out.end(), [](float v) {
                             return std::isfinite(v) && v != std::trunc(v);
                         });
                         return fraction ? out : floats();
                     }});
}

constexpr double sample_tolerance = 1.0 / 128;

// What wrong samples have in common, and what to look at; both empty: not known.
struct sampling_mistake {
    const char *cause = "", *next = "";
};

static sampling_mistake mistake_in(const output<float> &got, const bytes &image, int width,
                                   int height, const points &at)
{
    const char *description = "What does the texture's description say about it, and which "
                              "coordinates does the kernel pass?";
    // The samples at other points, times a factor.
    auto are_at = [&](auto move, double factor = 1) {
        points moved;
        for (float2 p : at) moved.push_back(move(p));
        const auto values = oracle::sample_bilinear(image, width, height, moved);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!(std::abs(got[i] / factor - values[i]) <= sample_tolerance)) return false;
        return true;
    };
    auto here = [](float2 p) { return p; };
    if (are_at([](float2 p) { return float2{p.x - 0.5f, p.y - 0.5f}; }))
        return {"Everything is half a pixel off: to the texture unit the centre of the first texel "
                "is at 0.5, to this contract at 0.",
                description};
    if (are_at([](float2 p) { return float2{std::floor(p.x + 0.5f), std::floor(p.y + 0.5f)}; }))
        return {"These are the nearest pixels: cudaFilterModeLinear interpolates between the four "
                "around the point.",
                description};
    if (are_at([](float2 p) { return float2{p.y, p.x}; }))
        return {"All samples are those at (y, x): the coordinates are exchanged.",
                "tex2D takes x, which counts columns, before y, which counts rows."};
    if (are_at(here, 255) || are_at(here, 1.0 / 255))
        return {"All samples are wrong by a factor of 255.",
                "With cudaReadModeNormalizedFloat a fetch returns fractions of 255: store them as "
                "they are."};
    // Counts the wrong samples inside the image, to its left or right, and above or below it.
    const auto want = oracle::sample_bilinear(image, width, height, at);
    auto beyond = [](float x, int size) { return x < 0 || x > float(size - 1); };
    std::size_t inside = 0, aside = 0, above = 0, both = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (std::abs(got[i] - want[i]) <= sample_tolerance) continue;
        bool in_x = beyond(at[i].x, width), in_y = beyond(at[i].y, height);
        ++(in_x && in_y ? both : in_x ? aside : in_y ? above : inside);
    }
    if (inside > 0) return {};
    if (aside > 0 && above == 0)
        return {"All wrong samples lie to the left or right of the image, where the pixels at its "
                "edge are repeated: addressMode[0] is for x, and the edge is that of the texture's "
                "array, which must be as wide as the image.",
                description};
    if (above > 0 && aside == 0)
        return {"All wrong samples lie above or below the image, where the pixels at its edge are "
                "repeated: addressMode[1] is for y, and the edge is that of the texture's array, "
                "which must be as high as the image.",
                description};
    return {"All wrong samples lie outside the image, where the pixels at the edge are repeated "
            "for ever: use cudaAddressModeClamp, in x and in y.",
            description};
}

void expect_samples(const output<float> &got, const bytes &image, int width, int height,
                    const points &at)
{
    auto right = [&](std::size_t i) {
        return std::abs(got[i] - oracle::sample(image, width, height, at[i])) <= sample_tolerance;
    };
    if (for_all(at.size(), right, 1 << 18)) return;
    const auto want = oracle::sample_bilinear(image, width, height, at);
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (std::abs(got[i] - want[i]) <= sample_tolerance) continue;
        const sampling_mistake m = mistake_in(got, image, width, height, at);
        expect(false, verdict::WRONG_ANSWER,
               fmt::format("out[{}], sampled at x = {}, y = {}, is {}, and should be {}, give or "
                           "take 1/128.{}{}",
                           i, show_element(at[i].x), show_element(at[i].y), show_element(got[i]),
                           show_element(float(want[i])), m.cause[0] ? " " : "", m.cause),
               m.cause[0] ? m.next
                          : "Which four pixels are around that point, and how near is it to each?");
    }
}
