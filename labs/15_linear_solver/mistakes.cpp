// Recognises the wrong answers of lab 15.
#include "mistakes.hpp"

#include "oracle.hpp"
#include "workloads.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

using namespace grading;

static std::set<std::string> written; // functions

void is_written(const std::string &function) { written.insert(function); }

output<double> no_solution(int n)
{
    return changed_in_place(doubles(static_cast<std::size_t>(n), 0x1.23456789p+300));
}

namespace {

struct known_mistake {
    oracle::way how;
    const char *is, *next;
};

} // namespace

static const known_mistake mistakes[] = {
    {oracle::way::any_row,
     "x is the result of choosing a row again that has been a pivot's already.",
     "In column k, look for the largest number in row k and below it: the rows above have had "
     "their pivots."},
    {oracle::way::right_side_left_out,
     "x is as if the right-hand side had stayed as it was, while rows were exchanged and "
     "subtracted.",
     "Every column right of the pivot's takes part in every exchange and every subtraction, up to "
     "the right-hand side, which is column n. Are all of them reached, also those right of a "
     "panel?"},
    {oracle::way::not_substituted,
     "x is the result if each unknown is computed as if all others were 0.",
     "Once an unknown is known, subtract its multiple from the right-hand sides of all equations "
     "above."},
};

// Wrong ones are computed in the same order, so rounding is all that may differ.
static bool is_result_of(oracle::way how, const doubles &augmented, int n, const output<double> &x)
{
    const doubles wrong = oracle::eliminate(augmented, n, how);
    bool alike = wrong.size() == x.size() && wrong.size() > 1;
    for (std::size_t i = 0; alike && i < wrong.size(); ++i)
        alike = std::abs(x[i] - wrong[i]) <= 1e-6 * std::abs(wrong[i]);
    return alike;
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
    if (result != 0 && written.count(function))
        expect(false, verdict::WRONG_ANSWER, returned + ": singular. The system has one solution.",
               "Are magnitudes compared, since a negative number can be a pivot, too, and so can "
               "a tiny one: only 0 is none? Are all rows from row k on looked at? And are the two "
               "rows then exchanged in every column, the pivot's own included?");
    expect(n == 0 || x.values != no_solution(n).values, verdict::NOT_WRITTEN,
           result == 0 ? function + " returned, and wrote no number of x."
                       : returned + ": singular, and no x. The system has one solution.",
           result == 0 ? ""
                       : "A system is singular if only zeros are left to choose a pivot from: look "
                         "at all rows that have had no pivot yet.");
    expect(result == 0, verdict::WRONG_ANSWER,
           returned + ": singular. The system has one solution.",
           function != "eliminate_ranks"
               ? "Return 0 if there is a pivot for each column. Are the rows exchanged in every "
                 "column, "
                 "the pivot's own included?"
               : "Print the first received column on each rank: is it complete? A scatter's "
                 "counts and displacements count elements of the type that it is given.");
    const double error = oracle::backward_error(augmented, n, x.values);
    const double most = (n + 10) * 0x1p-52;
    for (const known_mistake &known : mistakes)
        expect(error <= most || !is_result_of(known.how, augmented, n, x), verdict::WRONG_ANSWER,
               known.is, known.next);
    expect(error <= most, verdict::WRONG_ANSWER,
           "x does not solve the system of " + std::to_string(n) +
               " equations: in one of them the two sides differ by " + show_element(error) +
               " of the terms' sum; " + show_element(most) + " is allowed.",
           next_for_wrong(function));
}

void expect_pivoted(const std::string &function, const doubles &system, double other,
                    const output<double> &x)
{
    if (x.values != oracle::eliminate(system, 2, oracle::way::no_pivoting)) return;
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

void expect_singular(const std::string &function, int result, const std::string &why)
{
    expect(result != 0, verdict::WRONG_ANSWER,
           function + " returned 0 for a singular system: " + why,
           std::string("When the largest number left in a column is 0, there is no pivot: ") +
               (function == "eliminate_ranks" ? "every rank must return" : "return") +
               " a number other than 0.");
}

void expect_alike(int ranks)
{
    const std::span<const std::uint64_t> returned = returned_by_ranks();
    for (std::size_t i = 0; i < returned.size(); ++i) {
        const std::size_t k = i % std::size_t(ranks);
        const int here = int(returned[i]), first = int(returned[i - k]);
        expect((here == 0) == (first == 0), verdict::WRONG_ANSWER,
               "Rank " + std::to_string(k) + " returned " + std::to_string(here) +
                   ", where rank 0 returned " + std::to_string(first) +
                   ": whether it is 0 must be the same on all ranks.",
               "Only rank 0 knows whether there is a solution. It must tell the others, and they "
               "must return the same: TODO 12.");
    }
}

void expect_shares(const std::vector<counted> &did, int n)
{
    const double all = multiplications(n);
    for (std::size_t k = 0; k < did.size(); ++k) {
        const double share = double(did[k].multiplications) / all;
        const std::string of_all = "The device of rank " + std::to_string(k) + " of 2 did " +
                                   std::to_string(int(100 * share + 0.5)) +
                                   " % of the multiplications that elimination needs";
        expect(share >= 0.2, verdict::WRONG_ANSWER, of_all + ": too few.",
               "Scatter the columns; then each rank's device eliminates in its own.");
        expect(share <= 0.85, verdict::WRONG_ANSWER, of_all + ": it did all the work.",
               "A rank that has the whole system does the whole work: let "
               "each rank eliminate in its own columns only.");
    }
    // Rank 1's columns must get there, and at least its unknowns come back.
    const double least[] = {0.9 * 8 * n * (n + 1) / 2, 0.9 * 8 * n / 2};
    for (std::size_t k = 0; k < did.size(); ++k)
        expect(double(did[k].message_bytes) >= least[k], verdict::WRONG_ANSWER,
               "Rank " + std::to_string(k) + " of 2 sent " + std::to_string(did[k].message_bytes) +
                   " bytes by MPI; it takes " + show_element(least[k]) + " to " +
                   (k == 0 ? "send the other rank its half of the system."
                           : "send back the result of its half of the system."),
               "Scatter the columns, let each rank eliminate in its own, and gather them: with "
               "sends or collective calls.");
}
