// The right results of lab 15: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include <vector>

namespace oracle {

// How a system is solved: `right` is elimination with partial pivoting. `no_pivoting` leaves the
// rows where they are; `any_row` looks in all rows, also in those that had their pivots;
// `right_side_left_out` exchanges and subtracts only left of the right-hand side; `not_substituted`
// computes each unknown as if all others were 0.
enum class way { right, no_pivoting, any_row, right_side_left_out, not_substituted };
// n numbers; empty where the system is singular.
std::vector<double> eliminate(std::vector<double> augmented, int n, way = way::right);

// How far from the truth x must be at least, were the numbers of the system themselves in doubt by
// so many parts of one: max over the rows of |a x - b| / (|a| |x| + |b|). Elimination with partial
// pivoting stays near 1e-16. Not a number where x is none.
double backward_error(const std::vector<double> &augmented, int n, const std::vector<double> &x);

} // namespace oracle
