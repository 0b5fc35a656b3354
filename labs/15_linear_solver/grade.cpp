// Grades lab 15, linear solver.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// Several devices are asked for by their number, one by 0.
constexpr int on_one = 0;
static const char *function_of(int members)
{
    return members == on_one ? "eliminate_one" : "eliminate";
}

// The host could solve the system itself, which only smaller ones allow.
static void expect_eliminated_by_kernels(int n)
{
    double each = 8.0 * n * (n + 1), multiplications = double(n) * n * n / 3;
    if (n >= 33) expect_work_of_kernels(each, 0.9 * multiplications);
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

// Has a first pivot of 1e-20 if the rows stay where they are. The wrong result is then the same on
// every machine.
static doubles tiny_pivot(double other)
{
    return {1e-20, 1, 3, other, 2 + double(random_between(0, 5)), 10.5};
}

static void try_small_pivots(int members)
{
    for (double other : {1 + double(random_between(0, 5)), -1 - double(random_between(0, 5))}) {
        const doubles system = tiny_pivot(other);
        auto x = no_solution(2);
        const int result = solve(system, 2, x, members);
        expect_pivoted(function_of(members), system, other, x);
        expect_solved(function_of(members), result, system, 2, x);
    }
    doubles system = random_system(40);
    for (double scale : {1e-14, 0.0}) {
        for (int k = 0; k < 40; ++k) at(system, 40, k, k) *= scale;
        try_system(system, 40, members);
    }
}

static void try_singular(const doubles &augmented, int n, int members, const char *why)
{
    auto x = no_solution(n);
    expect_singular(function_of(members), solve(augmented, n, x, members), why);
}

static doubles with_equal_rows(int n)
{
    doubles rows = random_system(n);
    // The first pivot, a power of two: the rows cancel out to zeros whether a multiplier is a
    // quotient or a product with the pivot's reciprocal.
    at(rows, n, 4, 0) = 2;
    for (int j = 0; j <= n; ++j) at(rows, n, 17, j) = at(rows, n, 4, j);
    return rows;
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

// The gates that the simulator counts.

// Multiplications that elimination needs.
static double multiplications(double n) { return n * n * n / 3; }

// `free`: waits to allocate, to send the system, to copy the result back, to free.
static counted_gate host_waits(double per_column, double free, std::string name, std::string next)
{
    return at_most(std::move(name), {per_column}, "", std::move(next), [free](const counted &c) {
        return std::max(0.0, double(c.host_waits) - free) / equations_to_solve();
    });
}

static counted_gate done_on_devices()
{
    return at_least("multiplications done on devices", {0.9}, "%", "Let kernels eliminate.",
                    [](const counted &c) {
                        return double(c.multiplications) / multiplications(equations_to_solve());
                    });
}

static double system_bytes()
{
    const double n = equations_to_solve();
    return 8 * n * (n + 1);
}

static counted_gate busiest_link()
{
    return at_most(
        "share of the host's bytes that one device gets", {0.35}, "%",
        "Each of four devices should get a fourth. Print each member's share, and its current "
        "device when it copies. Are the shares equal? Are the devices different?",
        [](const counted &c) { return double(c.most_uploaded_bytes) / system_bytes(); });
}

// The devices' input must have been sent to them, and the result from them, in bytes.
static counted_gate uploaded()
{
    return at_least("bytes sent to devices, in multiples of the inputs", {0.9}, "",
                    "Let the devices work on the whole input: work of the host does not count.",
                    [](const counted &c) {
                        return double(c.host_link_bytes - c.staged_bytes) / system_bytes();
                    });
}

static counted_gate downloaded()
{
    return at_least(
        "bytes sent by devices, in multiples of the result", {1}, "",
        "The devices must compute the result: copy it from there.",
        [](const counted &c) { return double(c.downloaded_bytes) / (8.0 * equations_to_solve()); });
}

static double share_of_multiplications(const counted &c, bool of_busiest)
{
    auto four = std::span(c.multiplications_of).first(4);
    auto [least, most] = std::minmax_element(four.begin(), four.end());
    return double(of_busiest ? *most : *least) /
           double(std::max<std::uint64_t>(c.multiplications, 1));
}

// A host that waits for one member after the other puts late work in order, which hides missing
// waits; so other orders are tried as well.
template <class F> static void late_and_shuffled(F tries)
{
    for (stream_work when : {stream_work::late, stream_work::shuffled}) {
        run_streams(when);
        tries();
    }
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

SPEED_CASE("eliminate_one: who waits", 5, 0)
{
    speed_gates gates;
    gates.counted = {
        host_waits(0.2, 8, "waits of the host per column, beyond 8",
                   "While the host waits for a number, the device waits for the host. A kernel can "
                   "read the row of the pivot itself; whether there is a pivot for each column can "
                   "be asked when all kernels have been launched. A copy from or to ordinary "
                   "memory waits by itself, so a wait behind it is a second one."),
        done_on_devices(), uploaded(), downloaded()};
    race(solve_system(solver::one), gates);
}

SPEED_CASE("eliminate_one: what is loaded", 7, 0)
{
    speed_gates gates;
    gates.counted = {
        at_most("bytes loaded and stored per multiplication", {14}, "",
                "With one column's multipliers at a time, each number of the system is loaded and "
                "stored for a single multiplication. Find the pivots and multipliers of a panel of "
                "columns first; then each number right of it is loaded once for all of them.",
                [](const counted &c) {
                    return 32.0 * moved_sectors(c) / multiplications(equations_to_solve());
                }),
        done_on_devices(), uploaded(), downloaded()};
    race(solve_system(solver::one), gates);
}

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
    std::vector<std::pair<int, int>> all;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            if (i != j) all.push_back({i, j});
    close_peers(all);
    try_system(random_system(35), 35, 4);
}

SPEED_CASE("eliminate: who works, who waits", 10, 0)
{
    speed_gates gates;
    gates.counted = {
        host_waits(1, 4 * 8, "waits of the host per column, beyond 8 per member",
                   "While the host waits for a number, all devices wait. The data that one step "
                   "needs from another can stay on the devices, even the row of the pivot. A copy "
                   "from or to ordinary memory waits by itself, so a wait behind it is a second "
                   "one."),
        done_on_devices(),
        at_most("multiplications on the busiest of four devices", {0.4}, "%",
                "Does each member eliminate in its own columns, and in no others?",
                [](const counted &c) { return share_of_multiplications(c, true); }),
        at_least("multiplications on the least busy of four devices", {0.15}, "%",
                 "Deal the columns out in turn: if each member has a block of neighbouring "
                 "columns, the first has nothing to do once its own are done.",
                 [](const counted &c) { return share_of_multiplications(c, false); }),
        busiest_link(),
        uploaded(),
        downloaded()};
    race(solve_system(solver::several), gates);
}

static void expect_alike(int ranks)
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

static void solve_on_ranks(int ranks, const doubles &augmented, int n)
{
    run_on_ranks(ranks);
    every_member_is_told();
    auto x = no_solution(n);
    int result = CALL(eliminate_ranks, host(augmented), n, host(x));
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
    const double other = 4;
    const doubles system = tiny_pivot(other);
    auto x = no_solution(2);
    const int result = CALL(eliminate_ranks, host(system), 2, host(x));
    expect_pivoted("eliminate_ranks", system, other, x);
    expect_solved("eliminate_ranks", result, system, 2, x);
    solve_on_ranks(2, hilbert_system(10), 10);
}

CORRECTNESS_CASE("eliminate_ranks: singular systems", 0.5)
{
    run_on_ranks(2);
    const int n = 20, zero = random_between(1, n - 1);
    doubles system = random_system(n);
    solve_on_ranks(2, system, n); // which has a solution still
    for (int i = 0; i < n; ++i) at(system, n, i, zero) = 0;
    auto x = no_solution(n);
    const int result = CALL(eliminate_ranks, host(system), n, host(x));
    const std::string why = "column " + std::to_string(zero) + " is all zeros.";
    expect_singular("eliminate_ranks", result, why.c_str());
    expect_alike(2);
}

CORRECTNESS_CASE("eliminate_ranks: every rank does its share", 1)
{
    const int n = 100;
    const doubles system = random_system(n);
    std::vector<counted> did = count_ranks([&] { solve_on_ranks(2, system, n); });
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

CORRECTNESS_CASE("eliminate_ranks: four ranks", 1)
{
    // Last, since these ranks must be started. Where they share a GPU, each turn that they take on
    // it costs time.
    const int n = simulated() ? 66 : device().devices < 4 ? 1001 : 2001;
    solve_on_devices_of_ranks(4, n);
}
