// Grades lab 15, linear solver.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

// Several devices are asked for by their number.
constexpr int on_one = 0, on_ranks = -1;
static const char *function_of(int members)
{
    return members == on_one     ? "eliminate_one"
           : members == on_ranks ? "eliminate_ranks"
                                 : "eliminate";
}

// The host could solve the system itself, which only smaller ones allow.
static void expect_eliminated_by_kernels(int n)
{
    if (n >= 33) expect_work_of_kernels(8.0 * n * (n + 1), 0.9 * multiplications(n));
}

static void every_member_is_told()
{
    hint_unwritten("Does each column's message reach every other member completely before a kernel "
                   "there reads it? It is n + 1 numbers: the row of the pivot, and a multiplier "
                   "for each row. Print on which device it was read, and which number of it.");
}

static int solve(const doubles &augmented, int n, output<double> &x, int members)
{
    if (members == on_one) return CALL(eliminate_one, host(augmented), n, host(x));
    if (members == on_ranks) return CALL(eliminate_ranks, host(augmented), n, host(x));
    every_member_is_told();
    return CALL(eliminate, host(augmented), n, host(x), members);
}

static void try_system(const doubles &augmented, int n, int members)
{
    auto x = no_solution(n);
    const int result = solve(augmented, n, x, members);
    expect_solved(function_of(members), result, augmented, n, x);
    expect_eliminated_by_kernels(n);
    if (n > 0) is_written(function_of(members));
}

static void try_tiny_pivot(double other, int members)
{
    const doubles system = tiny_pivot(other);
    auto x = no_solution(2);
    const int result = solve(system, 2, x, members);
    expect_pivoted(function_of(members), system, other, x);
    expect_solved(function_of(members), result, system, 2, x);
}

static void try_small_pivots(int members)
{
    for (double other : {1 + double(random_between(0, 5)), -1 - double(random_between(0, 5))})
        try_tiny_pivot(other, members);
    doubles system = random_system(40);
    for (double scale : {1e-14, 0.0}) {
        for (int k = 0; k < 40; ++k) at(system, 40, k, k) *= scale;
        try_system(system, 40, members);
    }
}

static void try_singular(const doubles &augmented, int n, int members, const std::string &why)
{
    auto x = no_solution(n);
    expect_singular(function_of(members), solve(augmented, n, x, members), why);
}

static void try_singular_ones(int members)
{
    try_system({3, 6}, 1, members); // finding all systems singular is no answer
    try_singular({0, 1}, 1, members, "0 * x = 1.");
    try_singular(with_zeros(20, 13), 20, members, "one of its columns is 0.");
    try_singular(with_equal_rows(20), 20, members, "two of its equations are the same.");
}

static void try_nearly_singular(int members)
{
    try_system(hilbert_system(11), 11, members);
    doubles system = random_system(40);
    for (int j = 0; j < 40; ++j)
        at(system, 40, 22, j) = at(system, 40, 31, j) * (1 + 1e-11 * random_between(-9, 9));
    try_system(system, 40, members);
}

CORRECTNESS_CASE("eliminate_one: one equation, or a column of zeros", 1)
{
    for (double a : {4.0, -0.5, 1e-30}) try_system({a, 10.5}, 1, on_one);
    try_singular({0, 1}, 1, on_one, "0 * x = 1.");
    for (int column : {0, 7, 19})
        try_singular(with_zeros(20, column), 20, on_one, "one of its columns is 0.");
    try_system({}, 0, on_one);
}

CORRECTNESS_CASE("eliminate_one: one unknown per equation", 1)
{
    for (int n : {2, 3, 17, 32}) try_system(shuffled_diagonal(n), n, on_one);
}

CORRECTNESS_CASE("eliminate_one: triangles", 1)
{
    for (int n : {2, 3, 17, 32}) try_system(shuffled_triangle(n), n, on_one);
}

CORRECTNESS_CASE("eliminate_one: a few equations", 1)
{
    try_system({2, 1, 5, 1, 3, 10}, 2, on_one);
    try_system({0, 2, 1, 4, 3, 0, 2, 7, 1, 1, 1, 6}, 3, on_one);
}

CORRECTNESS_CASE("eliminate_one: any size", 1)
{
    for (int n : {1, 2, 15, 16, 17, 33, 70}) try_system(random_system(n), n, on_one);
    if (!simulated()) try_system(random_system(1000), 1000, on_one);
}

CORRECTNESS_CASE("eliminate_one: pivots that are too small", 1) { try_small_pivots(on_one); }

CORRECTNESS_CASE("eliminate_one: singular systems", 0.5) { try_singular_ones(on_one); }

CORRECTNESS_CASE("eliminate_one: nearly singular systems", 0.5) { try_nearly_singular(on_one); }

// A host that looks for a flag in pinned memory waits, too, and no call is counted: where work
// comes late, it waits for ever.
SPEED_CASE("eliminate_one: who waits", 4, 0)
{
    right_in_any_order(solve_system(solver::one));
    race(solve_system(solver::one), one_waits());
}

SPEED_CASE("eliminate_one: what is loaded", 10, 0) { race(solve_system(solver::one), one_loads()); }

CORRECTNESS_CASE("eliminate: a few equations", 0.5)
{
    for (int members : {1, 2}) {
        try_system({2, 1, 5, 1, 3, 10}, 2, members);
        try_system({0, 2, 1, 4, 3, 0, 2, 7, 1, 1, 1, 6}, 3, members);
    }
}

CORRECTNESS_CASE("eliminate: any size, any number of members", 1)
{
    for (int n : {1, 2, 15, 33}) try_system(random_system(n), n, 4);
    for (int members : {1, 2, 3, 5, 7}) try_system(random_system(35), 35, members);
    try_system(random_system(70), 70, 3);
    if (!simulated()) try_system(random_system(1000), 1000, device().devices);
    // Not more: naive, too, should need but a part of a call's ten seconds.
    if (!simulated()) try_system(random_system(2001), 2001, device().devices);
    try_system({}, 0, 2);
}

CORRECTNESS_CASE("eliminate: pivots that are too small", 1)
{
    for (int members : {1, 2}) try_small_pivots(members);
}

CORRECTNESS_CASE("eliminate: singular systems", 1)
{
    for (int members : {1, 3}) try_singular_ones(members);
}

CORRECTNESS_CASE("eliminate: nearly singular systems", 0.5)
{
    for (int members : {2, 4}) try_nearly_singular(members);
}

CORRECTNESS_CASE("eliminate: work that comes late", 1.5)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4}) try_system(random_system(35), 35, members);
    });
}

CORRECTNESS_CASE("eliminate: no access to each other", 0.5)
{
    close_all_peers();
    try_system(random_system(35), 35, 4);
}

SPEED_CASE("eliminate: who works, who waits", 8, 0)
{
    race(solve_system(solver::several), several_work());
}

static void solve_on_ranks(int ranks, const doubles &augmented, int n)
{
    run_on_ranks(ranks);
    every_member_is_told();
    auto x = no_solution(n);
    const int result = solve(augmented, n, x, on_ranks);
    expect_solved("eliminate_ranks", result, augmented, n, x);
    if (n > 0) is_written("eliminate_ranks");
    expect_alike(ranks);
}

static void solve_on_devices_of_ranks(int ranks, int n)
{
    solve_on_ranks(ranks, random_system(n), n);
    expect_eliminated_by_kernels(n);
}

CORRECTNESS_CASE("eliminate_ranks: two ranks", 1.5)
{
    for (int n : {1, 2, 33, simulated() ? 50 : 1000, 0}) solve_on_devices_of_ranks(2, n);
}

CORRECTNESS_CASE("eliminate_ranks: a tiny first pivot, and an ill-conditioned system", 1)
{
    run_on_ranks(2);
    try_tiny_pivot(4, on_ranks);
    solve_on_ranks(2, hilbert_system(10), 10);
}

CORRECTNESS_CASE("eliminate_ranks: singular systems", 0.5)
{
    run_on_ranks(2);
    const int n = 20, zero = random_between(1, n - 1);
    solve_on_ranks(2, random_system(n), n); // finding all systems singular is no answer
    try_singular(with_zeros(n, zero), n, on_ranks,
                 "column " + std::to_string(zero) + " is all zeros.");
    expect_alike(2);
}

CORRECTNESS_CASE("eliminate_ranks: every rank does its share", 1)
{
    const int n = 100;
    const doubles system = random_system(n);
    std::vector<counted> did = count_ranks([&] { solve_on_ranks(2, system, n); });
    expect_shares(did, n);
}

CORRECTNESS_CASE("eliminate_ranks: four ranks", 1)
{
    // Last, since these ranks must be started. Where they share a GPU, each turn that they take on
    // it costs time.
    const int n = simulated() ? 66 : device().devices < 4 ? 1001 : 2001;
    solve_on_devices_of_ranks(4, n);
}
