// The wrong answers of lab 15 that the grader recognises, and its messages for them.
#pragma once

#include "grader/grading.hpp"

#include <string>
#include <vector>

using doubles = std::vector<double>;

// An array for x that holds numbers which no call would write.
grading::output<double> no_solution(int n);

// Ends the case if x does not solve the system, or if `function` did not return 0.
void expect_solved(const std::string &function, int result, const doubles &augmented, int n,
                   const grading::output<double> &x);

// The next solved system proves that `function` is written: what it returns is judged from then on.
void is_written(const std::string &function);

// Ends the case if x is what a system of two equations gives whose first pivot is 1e-20, that is if
// the rows were not exchanged. `other`: the first number of the second equation.
void expect_pivoted(const std::string &function, const doubles &system, double other,
                    const grading::output<double> &x);

// Ends the case if `function` returned 0 for a system that is singular for this reason.
void expect_singular(const std::string &function, int result, const std::string &why);

// Ends the case if some of the ranks of a call returned 0 and others did not.
void expect_alike(int ranks);

// Ends the case if the device of one of two ranks did all of the work for n equations, or too
// little, or if a rank sent fewer bytes than its share takes.
void expect_shares(const std::vector<grading::counted> &did, int n);
