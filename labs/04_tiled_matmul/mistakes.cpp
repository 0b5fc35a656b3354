// Recognises the cause of a wrong product of lab 04 by computing what each known mistake would
// give.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
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

// Sums of which some terms are missing, or come twice, because of tiles `side` wide.
static void add_tile_mistakes(misconceptions &known, const floats &M, const floats &N,
                              const shape &s, int side)
{
    auto sums = [=, &M, &N](auto row_of_m, auto col_of_n) {
        return each_element(s, [=, &M, &N](int row, int col) {
            double sum = 0;
            for (int i = 0; i < s.k; ++i)
                sum += at(M, area(row_of_m(row, col), s.k) + i) *
                       at(N, area(i, s.l) + col_of_n(row, col));
            return sum;
        });
    };
    auto some = [=, &M, &N](int from, int to, int times = 1) {
        return each_element(s, [=, &M, &N](int row, int col) {
            double sum = 0;
            for (int i = from; i < to; ++i)
                sum += at(M, area(row, s.k) + i) * at(N, area(i, s.l) + col);
            return times * sum;
        });
    };
    int whole = s.k / side, tiles = (s.k + side - 1) / side, last = (tiles - 1) * side;
    std::string size = std::to_string(side);
    // Tiles of another block, where blockIdx.x and .y, or row and column, were exchanged.
    if (side < s.j || side < s.l) {
        auto row = [](int row, int) { return row; };
        auto col = [](int, int col) { return col; };
        auto row_of_block = [side](int row, int col) { return col / side * side + row % side; };
        auto col_of_block = [side](int row, int col) { return row / side * side + col % side; };
        known.push_back({"The columns of the second matrix are those of the block's rows, in "
                         "blocks of " +
                             size + ".",
                         "Which columns of it belong to a block's columns of the result? The "
                         "index of a tile of the second matrix takes blockIdx.x.",
                         sums(row, col_of_block)});
        known.push_back({"The rows of the first matrix are those of the block's columns, in "
                         "blocks of " +
                             size + ".",
                         "Which rows of it belong to a block's rows of the result? The index of "
                         "a tile of the first matrix takes blockIdx.y.",
                         sums(row_of_block, col)});
    }
    if (tiles > 1) {
        known.push_back({"Only the last " + size + " terms of each sum are there.",
                         "The sum must last across all tiles: set it to 0 before the first, and "
                         "multiply each tile before the next is loaded over it.",
                         some(last, s.k)});
        known.push_back({"Every tile was multiplied as if it were the last one.",
                         "Loading and multiplying belong in one loop: a tile is gone when the next "
                         "is loaded over it.",
                         some(last, s.k, tiles)});
        known.push_back({"Only the first " + size + " terms of each sum are there.",
                         "A block goes through all tiles along its rows of the first matrix: how "
                         "many iterations does the loop have, and where does the last tile begin?",
                         some(0, side)});
    }
    // A product without any whole tile would be 0, which is said for any cause.
    if (whole > 0 && whole < tiles)
        known.push_back(
            {"The last " + std::to_string(s.k - whole * side) + " terms of each sum are missing.",
             "k / tile rounds down and leaves out the rest: round up, and fill the part of the "
             "last tile that hangs over the edge with zeros.",
             some(0, whole * side)});
    // The last tile hangs over the edge and keeps elements of the one before.
    if (whole > 0 && whole < tiles)
        known.push_back(
            {"Elements that the tile before had left beyond the edge were multiplied too.",
             "Fill the part of a tile that hangs over the edge with zeros, each time.",
             each_element(s, [=, &M, &N](int row, int col) {
                 double sum = 0;
                 for (int i = 0; i < tiles * side; ++i) {
                     int term = i < s.k ? i : i - side;
                     sum += at(M, area(row, s.k) + term) * at(N, area(term, s.l) + col);
                 }
                 return sum;
             })});
}

misconceptions wrong_products(const floats &M, const floats &N, const shape &s)
{
    auto product = [=, &M, &N](auto of_m, auto of_n) {
        return each_element(s, [=, &M, &N](int row, int col) {
            double sum = 0;
            for (int i = 0; i < s.k; ++i) sum += at(M, of_m(row, i)) * at(N, of_n(i, col));
            return sum;
        });
    };
    auto m = [=](int row, int i) { return area(row, s.k) + i; };
    auto n = [=](int i, int col) { return area(i, s.l) + col; };
    misconceptions known = {
        {"The second matrix was read transposed.",
         "A sum goes down a column of it: its terms lie a whole row apart.",
         product(m, [=](int i, int col) { return area(col, s.k) + i; })},
        {"The first matrix was read transposed.",
         "A sum goes along a row of it: its terms are neighbours.",
         product([=](int row, int i) { return area(i, s.j) + row; }, n)},
        {"The matrices were multiplied element by element.",
         "An element of the result is a sum: a row times a column.",
         each_element(s, [=, &M, &N](int r, int c) { return at(M, m(r, c)) * at(N, n(r, c)); })},
    };
    struct length {
        const char *name;
        int value;
    };
    for (length wrong : {length{"l", s.l}, {"k", s.k}, {"j", s.j}}) {
        auto of_m = [=](int row, int i) { return area(row, wrong.value) + i; };
        auto of_n = [=](int i, int col) { return area(i, wrong.value) + col; };
        auto taken = [&](const char *which, const char *right) {
            return std::string("The rows of the ") + which + " matrix were taken to be " +
                   wrong.name + " long; they have " + right + " elements.";
        };
        const char *next = "Row i of a j x k matrix begins at i * k, of a k x l matrix at i * l.";
        // If even the second row lies beyond the end, wrong zeros have many causes.
        if (wrong.value != s.k && area(1, wrong.value) < M.size())
            known.push_back({taken("first", "k"), next, product(of_m, n)});
        if (wrong.value != s.l && area(1, wrong.value) < N.size())
            known.push_back({taken("second", "l"), next, product(m, of_n)});
    }
    if (s.l < s.k)
        known.push_back({"Only the first l terms of each sum are there, and there should be k.",
                         "The columns of the first matrix, and the rows of the second, are k.",
                         each_element(s, [=, &M, &N](int row, int col) {
                             double sum = 0;
                             for (int i = 0; i < s.l; ++i)
                                 sum += at(M, m(row, i)) * at(N, n(i, col));
                             return sum;
                         })});
    constexpr int least_tile = 8;
    if (s.k < least_tile && s.k > 0)
        known.push_back({"All elements are 0, and k is less than a tile.",
                         "Does the loop over the tiles run at all? k / tile is 0 here: round up, "
                         "and fill what lies beyond k with zeros. If it runs, print the first "
                         "term of a sum: which of its factors is 0?",
                         each_element(s, [](int, int) { return 0; })});
    for (int side : {8, 16, 32, 64}) add_tile_mistakes(known, M, N, s, side);
    for (misconception<float> &k : known) k.everywhere = true;
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
