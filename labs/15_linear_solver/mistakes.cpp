// Recognises the wrong answers of lab 15.
#include "mistakes.hpp"

#include "oracle.hpp"

#include <cmath>
#include <cstddef>
#include <set>

using namespace grading;

static std::set<std::string> written; // functions

void is_written(const std::string &function) { written.insert(function); }

output<double> no_solution(int n)
{
    return changed_in_place(doubles(static_cast<std::size_t>(n), 0x1.23456789p+300));
}

// The next thing to try where x is wrong and nothing says why.
static const char *next_for_wrong(const std::string &function)
{
    if (function == "eliminate_one")
        return "Work out three equations on paper, and print each message: the row of the pivot, "
               "and a multiplier for each row below. Does the right-hand side take part in every "
               "exchange and every subtraction?";
    if (function == "eliminate")
        return "Does every member know each pivot's row and all multipliers before it uses them, "
               "and does the right-hand side take part in everything?";
    return "Print on rank 1, for column 1, the message that it uses: the row of the pivot, and a "
           "multiplier for each row, n + 1 numbers. Is the broadcast's root the rank that has the "
           "column, column % ranks, is it as long as that, and is it the same on rank 0?";
}

void expect_solved(const std::string &function, int result, const doubles &augmented, int n,
                   const output<double> &x)
{
    const std::string returned = function + " returned " + std::to_string(result);
    if (result != 0 && written.count(function)) {
        bool by_value = oracle::eliminate(augmented, n, oracle::pivoting::positive).empty();
        expect(false, verdict::WRONG_ANSWER, returned + ": singular. The system has one solution.",
               by_value
                   ? "Look for the largest by magnitude: a negative number can be a pivot, too."
                   : "Return 0 if there is a pivot for each column: look at all rows that have had "
                     "none yet.");
    }
    expect(n == 0 || x.values != no_solution(n).values, verdict::NOT_WRITTEN,
           result == 0 ? function + " returned, and wrote no number of x."
                       : returned + ": singular, and no x. The system has one solution.",
           result == 0 ? ""
                       : "A system is singular if only zeros are left to choose a pivot from: look "
                         "at all rows that have had no pivot yet.");
    expect(result == 0, verdict::WRONG_ANSWER,
           returned + ": singular. The system has one solution.",
           function != "eliminate_ranks"
               ? "Return 0 if there is a pivot for each column."
               : "Print the first received column on each rank: is it complete? A scatter's "
                 "counts and displacements count elements of the type that it is given.");
    const doubles any_row = oracle::eliminate(augmented, n, oracle::pivoting::any_row);
    bool alike = any_row.size() == x.size() && any_row.size() > 1;
    for (std::size_t i = 0; alike && i < any_row.size(); ++i)
        alike = std::abs(x[i] - any_row[i]) <= 1e-6 * std::abs(any_row[i]);
    const double error = oracle::backward_error(augmented, n, x.values);
    const double most = (n + 10) * 0x1p-52;
    expect(error <= most || !alike, verdict::WRONG_ANSWER,
           "x is the result of choosing a row again that has been a pivot's already.",
           "In column k, look for the largest number in row k and below it: the rows above have "
           "had their pivots.");
    expect(error <= most, verdict::WRONG_ANSWER,
           "x does not solve the system of " + std::to_string(n) +
               " equations: in one of them the two sides differ by " + show_element(error) +
               " of the terms' sum; " + show_element(most) + " is allowed.",
           next_for_wrong(function));
}

void expect_pivoted(const std::string &function, const doubles &system, double other,
                    const output<double> &x)
{
    if (x.values != oracle::eliminate(system, 2, oracle::pivoting::none)) return;
    if (function == "eliminate_ranks")
        expect(false, verdict::WRONG_ANSWER,
               "x is the result if the rows stay where they are: the first pivot was 1e-20, and "
               "all other digits were lost by rounding.",
               "All ranks must know which row has the largest number, and exchange it with row k "
               "in all of their columns.");
    expect(other < 0, verdict::WRONG_ANSWER,
           "This is the result if the first number is taken for the pivot, here 1e-20: no digit is "
           "right.",
           "Look for the largest in the column and exchange the rows.");
    expect(false, verdict::WRONG_ANSWER,
           "The pivot chosen was 1e-20, although there was a negative number of greater magnitude.",
           "Compare magnitudes: fabs.");
}

void expect_singular(const std::string &function, int result, const char *why)
{
    expect(result != 0, verdict::WRONG_ANSWER,
           function + " returned 0 for a singular system: " + why,
           std::string("When the largest number left in a column is 0, there is no pivot: ") +
               (function == "eliminate_ranks" ? "every rank must return" : "return") +
               " a number other than 0.");
}
