// The right results of lab 15: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include <vector>

namespace oracle {

// How the solution of a system is looked for: `largest` is partial pivoting, `none` leaves the
// rows where they are, `positive` takes the largest by value, and none that is not above 0;
// `any_row` looks in all rows, also in those that had their pivots.
enum class pivoting { largest, none, positive, any_row };
// n numbers; empty where the system is singular.
std::vector<double> eliminate(std::vector<double> augmented, int n, pivoting = pivoting::largest);

// How far from the truth x must be at least, were the numbers of the system themselves in doubt by
// so many parts of one: max over the rows of |a x - b| / (|a| |x| + |b|). Elimination with partial
// pivoting stays near 1e-16. Not a number where x is none.
double backward_error(const std::vector<double> &augmented, int n, const std::vector<double> &x);

} // namespace oracle
