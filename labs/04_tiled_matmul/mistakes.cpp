// Recognises the cause of a wrong product of lab 04 by computing what each known mistake would
// give.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using grading::misconception;

template <class Sum> static std::function<floats()> each_element(const shape &s, Sum sum)
{
    return [=] {
        floats P;
        for (int row = 0; row < s.j; ++row)
            for (int col = 0; col < s.l; ++col) P.push_back(static_cast<float>(sum(row, col)));
        return P;
    };
}

// Reads beyond the end, which only a wrong index makes, count as 0.
static double at(const floats &values, std::size_t i) { return i < values.size() ? values[i] : 0; }

namespace {

// A product with a mistake in it. The defaults have none, with `to`, first_row and second_row k, k
// and l.
struct twist {
    int from = 0, to, times = 1; // the terms of each sum, and how often all of them are added
    int first_row, second_row;   // elements that a row is taken to have
    bool first_across = false, second_across = false; // read transposed
    int rows_of = 0, cols_of = 0; // blocks so large take the other block index for their tiles
    int kept = 0;                 // terms beyond k come from so many before
};

// How tiles of `side` were loaded or read otherwise than they should be.
struct tiling {
    int side;
    bool first_across = false, second_across = false; // the tile is transposed
    bool first_stays = false, second_stays = false;   // each step loads the tile of the first
};

} // namespace

static floats twisted(const floats &M, const floats &N, const shape &s, const twist &t)
{
    return each_element(s, [&](int row, int col) {
        const int r = t.rows_of ? col / t.rows_of * t.rows_of + row % t.rows_of : row;
        const int c = t.cols_of ? row / t.cols_of * t.cols_of + col % t.cols_of : col;
        double sum = 0;
        for (int n = t.from; n < t.to; ++n) {
            const int i = n < s.k ? n : n - t.kept;
            sum += at(M, t.first_across ? area(i, s.j) + r : area(r, t.first_row) + i) *
                   at(N, t.second_across ? area(c, s.k) + i : area(i, t.second_row) + c);
        }
        return t.times * sum;
    })();
}

// A product by tiles, which hold zeros outside their matrices.
static double tiled(const floats &M, const floats &N, const shape &s, const tiling &t, int row,
                    int col)
{
    auto element = [](const floats &values, int rows, int cols, int r, int c) -> double {
        return r < rows && c < cols ? at(values, area(r, cols) + c) : 0;
    };
    const int y = row % t.side, x = col % t.side;
    double sum = 0;
    for (int first = 0; first < s.k; first += t.side)
        for (int i = 0; i < t.side; ++i) {
            const int in_m = t.first_stays ? 0 : first, in_n = t.second_stays ? 0 : first;
            sum += (t.first_across ? element(M, s.j, s.k, row - y + i, in_m + y)
                                   : element(M, s.j, s.k, row, in_m + i)) *
                   (t.second_across ? element(N, s.k, s.l, in_n + x, col - x + i)
                                    : element(N, s.k, s.l, in_n + i, col));
        }
    return sum;
}

misconceptions wrong_products(const floats &M, const floats &N, const shape &s)
{
    misconceptions known;
    const twist right{.to = s.k, .first_row = s.k, .second_row = s.l};
    auto add = [&](const std::string &cause, const std::string &next,
                   const std::function<floats()> &looks_like) {
        known.push_back({cause, next, looks_like, true});
    };
    auto with = [&, s](auto change) {
        twist t = right;
        change(t);
        return [=, &M, &N] { return twisted(M, N, s, t); };
    };
    auto terms = [&](int from, int to, int times = 1) {
        return with([=](twist &t) { t.from = from, t.to = to, t.times = times; });
    };
    add("The second matrix was read transposed.",
        "A sum goes down a column of it: its terms lie a whole row apart.",
        with([](twist &t) { t.second_across = true; }));
    add("The first matrix was read transposed.",
        "A sum goes along a row of it: its terms are neighbours.",
        with([](twist &t) { t.first_across = true; }));
    add("The matrices were multiplied element by element.",
        "An element of the result is a sum: a row times a column.",
        each_element(s, [=, &M, &N](int r, int c) {
            return at(M, area(r, s.k) + c) * at(N, area(r, s.l) + c);
        }));
    for (auto [name, length] : {std::pair{"l", s.l}, {"k", s.k}, {"j", s.j}})
        for (bool first : {true, false}) {
            // If even the second row lies beyond the end, wrong zeros have many causes.
            if (length == (first ? s.k : s.l) || area(1, length) >= (first ? M : N).size())
                continue;
            add(std::string("The rows of the ") + (first ? "first" : "second") +
                    " matrix were taken to be " + name + " long; they have " + (first ? "k" : "l") +
                    " elements.",
                "Row i of a j x k matrix begins at i * k, of a k x l matrix at i * l.",
                with([first, length = length](twist &t) {
                    (first ? t.first_row : t.second_row) = length;
                }));
        }
    if (s.l < s.k)
        add("Only the first l terms of each sum are there, and there should be k.",
            "The columns of the first matrix, and the rows of the second, are k.", terms(0, s.l));
    constexpr int min_tile = 8;
    if (s.k < min_tile && s.k > 0)
        add("All elements are 0, and k is less than a tile.",
            "Does the loop over the tiles run at all? k / tile is 0 here: round up, and fill what "
            "lies beyond k with zeros. If it runs, print the first term of a sum: which of its "
            "factors is 0?",
            terms(0, 0));
    // Sums of which some terms are missing, or come twice, because of tiles `side` wide.
    for (int side : {8, 16, 32, 64}) {
        int whole = s.k / side, tiles = (s.k + side - 1) / side, last = (tiles - 1) * side;
        std::string size = std::to_string(side);
        if (side < s.j || side < s.l) { // tiles of another block
            add("The columns of the second matrix are those of the block's rows, in blocks of " +
                    size + ".",
                "Which columns of it belong to a block's columns of the result? The index of a "
                "tile of the second matrix takes blockIdx.x.",
                with([=](twist &t) { t.cols_of = side; }));
            add("The rows of the first matrix are those of the block's columns, in blocks of " +
                    size + ".",
                "Which rows of it belong to a block's rows of the result? The index of a tile of "
                "the first matrix takes blockIdx.y.",
                with([=](twist &t) { t.rows_of = side; }));
        }
        auto by_tiles = [&, s](const tiling &t) {
            return each_element(
                s, [=, &M, &N](int row, int col) { return tiled(M, N, s, t, row, col); });
        };
        const std::string of_size = " matrix, " + size + " x " + size + ", ";
        if (tiles > 1) {
            const char *across = "Element (r, c) of a tile belongs at [r][c], where r goes with "
                                 "threadIdx.y and c with threadIdx.x, and a sum goes along a row "
                                 "of the first tile and down a column of the second.";
            add("Each tile of the first" + of_size + "was stored or read transposed.", across,
                by_tiles({.side = side, .first_across = true}));
            add("Each tile of the second" + of_size + "was stored or read transposed.", across,
                by_tiles({.side = side, .second_across = true}));
            add("The tiles of both matrices, " + size + " x " + size +
                    ", were stored or read transposed.",
                across, by_tiles({.side = side, .first_across = true, .second_across = true}));
            add("Every step took the first tile of the first" + of_size + "again.",
                "From step to step this tile slides to the right: its columns begin at the step's "
                "first one, too.",
                by_tiles({.side = side, .first_stays = true}));
            add("Every step took the first tile of the second" + of_size + "again.",
                "From step to step this tile slides down: its rows begin at the step's first one, "
                "too.",
                by_tiles({.side = side, .second_stays = true}));
            add("Only the last " + size + " terms of each sum are there.",
                "The sum must last across all tiles: set it to 0 before the first, and multiply "
                "each tile before the next is loaded over it.",
                terms(last, s.k));
            add("Every tile was multiplied as if it were the last one.",
                "Loading and multiplying belong in one loop: a tile is gone when the next is "
                "loaded over it.",
                terms(last, s.k, tiles));
            add("Only the first " + size + " terms of each sum are there.",
                "A block goes through all tiles along its rows of the first matrix: how many "
                "iterations does the loop have, and where does the last tile begin?",
                terms(0, side));
        }
        // A product without any whole tile would be 0, which is said for any cause.
        if (whole == 0 || whole == tiles) continue;
        add("The last " + std::to_string(s.k - whole * side) + " terms of each sum are missing.",
            "k / tile rounds down and leaves out the rest: round up, and fill the part of the last "
            "tile that hangs over the edge with zeros.",
            terms(0, whole * side));
        add("Elements that the tile before had left beyond the edge were multiplied too.",
            "Fill the part of a tile that hangs over the edge with zeros, each time.",
            with([=](twist &t) { t.to = tiles * side, t.kept = side; }));
    }
    return known;
}

misconceptions wrong_scalings(float alpha, const floats &A, const floats &B, float beta,
                              const floats &C, const shape &s)
{
    auto AB = std::make_shared<std::vector<double>>(oracle::matmul(A, B, s.j, s.k, s.l).values);
    auto combined = [=](auto how) {
        return each_element(s, [=](int row, int col) {
            std::size_t i = area(row, s.l) + col;
            return how((*AB)[i], double(C[i]));
        });
    };
    double a = alpha, b = beta;
    misconceptions known = {
        {"They kept the value that C had before the call.",
         "Which threads should write these elements, and what stops them?",
         combined([](double, double c) { return c; })},
        {"The old C was not added.", "C is read too: beta times it is part of the result.",
         combined([=](double ab, double) { return a * ab; })},
        {"The old C was added without beta.", "beta scales the values of C from before the call.",
         combined([=](double ab, double c) { return a * ab + c; })},
        {"The product was not scaled by alpha.", "alpha scales the whole sum, once.",
         combined([=](double ab, double c) { return ab + b * c; })},
        {"alpha scaled the old C as well.", "alpha * (A B) + beta * C: each has its own factor.",
         combined([=](double ab, double c) { return a * (ab + b * c); })},
        {"alpha and beta were exchanged.", "alpha scales the product, beta the old C.",
         combined([=](double ab, double c) { return b * ab + a * c; })},
    };
    // A submission that passes with whole factors and fails with others.
    auto cut = [&](const char *name, double value, auto how) {
        if (value != std::trunc(value))
            known.insert(known.begin(),
                         {std::string(name) + " was truncated to a whole number.",
                          std::string("Through which variables and parameters does ") + name +
                              " travel to the kernel? One of them is an int.",
                          combined(how)});
    };
    cut("alpha", a, [=](double ab, double c) { return std::trunc(a) * ab + b * c; });
    cut("beta", b, [=](double ab, double c) { return a * ab + std::trunc(b) * c; });
    return known;
}
