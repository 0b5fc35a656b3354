// Tells a wrong filtering of lab 05 from its cause: each mistake as a filtering of its own.
#include "mistakes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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
        known.push_back({"All sums are 0.",
                         "Constant memory is 0 until something is copied to it: each function "
                         "copies its own filter.",
                         each([](int, int) { return 0; })});
        known.push_back(
            {"The filter was turned round.",
             "lab.hpp lays it over the image as it is: element (y, x) belongs to row "
             "r + y - radius and column c + x - radius.",
             taps([me = *this](int y, int x) { return me.tap(me.d_ - 1 - y, me.d_ - 1 - x); })});
        known.push_back({"The filter was transposed.",
                         "Its element in row y and column x is filter_host[y * d + x].",
                         taps([me = *this](int y, int x) { return me.tap(x, y); })});
        known.push_back({"The filter's last row and column were left out.",
                         "A filter has 2 * radius + 1 elements a side.",
                         taps([me = *this](int y, int x) {
                             return y < me.d_ - 1 && x < me.d_ - 1 ? me.tap(y, x) : 0;
                         })});
    }

    void add_of_edges(misconceptions &known) const
    {
        bool zero = beyond_ == border::zero;
        if (zero)
            known.push_back({"Beyond the image its nearest pixels were taken.",
                             "Here the pixels beyond the image are 0.",
                             pixels(by_border(border::clamped))});
        else
            known.push_back({"Beyond the image zeros were taken.",
                             "Here a pixel beyond the image is as its nearest one in the image.",
                             pixels(by_border(border::zero))});
        known.push_back(
            {"Beyond the right edge the next row was taken, beyond the left one the row "
             "before.",
             "Row and column each have a bound of their own: r * cols + c lies in the "
             "image for many columns c that do not.",
             pixels([me = *this](int, int, int r, int c) {
                 long i = long(r) * me.s_.cols + c;
                 return i < 0 || i >= long(me.image_.size()) ? 0.0 : double(me.image_[i]);
             })});
        known.push_back({"The pixels near the edges were left out: they are 0.",
                         "Each pixel has a sum, also where the filter hangs over the edge.",
                         each([me = *this](int row, int col) {
                             int R = me.radius_;
                             bool whole = row >= R && row + R < me.s_.rows && col >= R &&
                                          col + R < me.s_.cols;
                             return whole ? me.right(row, col) : 0;
                         })});
        known.push_back({"The pixel took the filter's corner, not its centre.",
                         "Row y of the filter belongs to row r + y - radius of the image.",
                         pixels([me = *this](int, int, int r, int c) {
                             return me.pixel(r + me.radius_, c + me.radius_);
                         })});
    }

    // Blocks of rows x cols pixels that do not see all of what lies around them.
    void add_of_halos(misconceptions &known) const
    {
        for (shape t : {shape{16, 16}, {32, 32}, {8, 32}, {16, 32}}) {
            auto outside = [t](int row, int col, int r, int c) {
                struct sides {
                    bool row, col;
                };
                return sides{r < row / t.rows * t.rows || r >= (row / t.rows + 1) * t.rows,
                             c < col / t.cols * t.cols || c >= (col / t.cols + 1) * t.cols};
            };
            std::string size = std::to_string(t.rows) + " x " + std::to_string(t.cols);
            known.push_back({"Blocks of " + size + " took what lies around them for 0.",
                             "A block needs radius pixels more on every side: the halo.",
                             pixels([=, me = *this](int row, int col, int r, int c) {
                                 auto out = outside(row, col, r, c);
                                 return out.row || out.col ? 0 : me.pixel(r, c);
                             })});
            known.push_back({"Of the halo of blocks of " + size + " the corners are missing.",
                             "The halo is a frame: four sides and four corners.",
                             pixels([=, me = *this](int row, int col, int r, int c) {
                                 auto out = outside(row, col, r, c);
                                 return out.row && out.col ? 0 : me.pixel(r, c);
                             })});
            known.push_back({"Of the halo of blocks of " + size + " the rows are missing.",
                             "The filter reaches radius rows above and below the block as well.",
                             pixels([=, me = *this](int row, int col, int r, int c) {
                                 return outside(row, col, r, c).row ? 0 : me.pixel(r, c);
                             })});
        }
    }

private:
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
    return known;
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
         "Two filters: does the second overwrite the first where they are kept, or the first the "
         "second?",
         by(row_filter, row_filter)},
        {"The column filter was used for the rows too.",
         "Two filters: does the second overwrite the first where they are kept, or the first the "
         "second?",
         by(column_filter, column_filter)},
    };
    mistakes m(image, s, product, radius, border::zero);
    m.add_of_taps(known);
    m.add_of_edges(known);
    m.add_of_halos(known);
    return known;
}

void add_of_filter_before(misconceptions &known, const floats &image, const shape &s,
                          const floats &filter, int radius, border beyond)
{
    static floats last;
    if (floats before = std::exchange(last, filter); before.size() == filter.size())
        known.push_back(
            {"The filter of the call before was used.",
             "Copy the filter in every call: it is another one each time.", [=, &image] {
                 std::vector<double> values =
                     oracle::convolve(image, s.rows, s.cols, before, radius, beyond).values;
                 return floats(values.begin(), values.end());
             }});
}
