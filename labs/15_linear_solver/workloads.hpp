// Systems of equations, and the workloads of lab 15.
#pragma once

#include "grader/grading.hpp"

#include "mistakes.hpp"

// Row i of a system, in column j.
double &at(doubles &augmented, int n, int row, int column);

// n equations of random numbers.
doubles random_system(int n);
// The same, in which row i has numbers only in its own column (and those to the right of it), and
// the rows are in an order of their own.
doubles shuffled_diagonal(int n);
doubles shuffled_triangle(int n);
// A column of zeros.
doubles with_zeros(int n, int column);
// Rows 4 and 17 are the same.
doubles with_equal_rows(int n);
// Two equations, the second of which begins with `other`; 1e-20 becomes the first pivot if the rows
// stay where they are. The wrong result is then the same on every machine.
doubles tiny_pivot(double other);
// Equations that nearly contradict each other: the first n of the Hilbert matrix.
doubles hilbert_system(int n);

// The equations of a speed case.
int equations_to_solve();
// One call of eliminate_one or eliminate, the latter with as many members as there are devices.
enum class solver { one, several };
grading::make_workload solve_system(solver which);

// Multiplications that elimination of n equations needs.
double multiplications(double n);

// The gates of eliminate_one: how often the host waits, and what each multiplication loads and
// stores; and of eliminate, with four members on the simulator.
grading::speed_gates one_waits();
grading::speed_gates one_loads();
grading::speed_gates several_work();
