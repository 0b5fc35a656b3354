// Grades lab 03, layouts.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace grading;

// The student chooses how particles lie in memory; they are brought there before the call.
static layout layout_for(task what)
{
    layout form = what == task::drift          ? CALL(drift_layout)
                  : what == task::distance_all ? CALL(distance_all_layout)
                                               : CALL(distance_some_layout);
    expect(form == layout::aos || form == layout::soa, verdict::WRONG_ANSWER,
           std::string(name_of(what)) + "_layout returned " +
               std::to_string(static_cast<int>(form)) + ", which is no layout.",
           "Return layout::aos or layout::soa.");
    return form;
}

// The one that moves the fewest bytes.
static layout likely_layout(task what)
{
    return what == task::distance_some ? layout::aos : layout::soa;
}

static void race_chosen(task what)
{
    const layout likely = likely_layout(what);
    auto is_right = [=] { return layout_for(what) == likely; };
    if (must_guess() && race_particles(what, likely, is_right)) return;
    race_particles(what, layout_for(what));
}

// For messages: a layout is a matrix, and a particle is a row or a column of it.
static extents shape(layout form, std::size_t n)
{
    return form == layout::aos ? extents{n, fields} : extents{fields, n};
}

// In columns, which are as long as there are particles.
static void hint_columns(layout form)
{
    if (form == layout::soa)
        hint_past_the_end("Does every thread without a particle do nothing? If so: field "
                          "f of particle i is float n * f + i, where n is the number of particles, "
                          "not that of threads. What is f multiplied by here?",
                          "particles");
}

// One call each. The places say how many floats past a 256-byte boundary an array begins.

static void try_drift(const floats &aos, float dt)
{
    layout form = layout_for(task::drift);
    floats given = arranged(aos, form);
    output<float> particles = changed_in_place(given);
    std::size_t n = aos.size() / fields;
    hint_columns(form);
    CALL(drift, particles, int(n), dt);
    bool same = std::memcmp(given.data(), particles.values.data(), 4 * given.size()) == 0;
    const bool moves = n > 0 && dt != 0;
    expect(!same || !moves || !kernels_stored(), verdict::WRONG_ANSWER,
           "drift returned, and every particle is where it was, though a kernel stored floats.",
           "It stored what was there before, as if the step were 0: is vx * dt computed in float, "
           "with dt a float all the way, and is it added to the old x?");
    expect_changed_in_place(!same || !moves, "drift returned, and every particle is where it was.",
                            "Does a kernel run at all, and does it write its result? If it does, "
                            "is dt a float all the way to it?");
    // Fields that do not move may be off in the last bit.
    oracle::moved moved = oracle::drift(aos, dt);
    std::vector<double> want(given.begin(), given.end()), magnitude(given.size());
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t at = form == layout::aos ? fields * i + field_x : n * field_x + i;
        want[at] = moved.x[i];
        magnitude[at] = moved.magnitude[i];
    }
    expect_close(particles, want, 2, magnitude, shape(form, n), wrong_drifts(given, form, dt));
    for (std::size_t at = 0; at < given.size(); ++at)
        if (magnitude[at] == 0 && particles[at] != given[at])
            expect(false, verdict::WRONG_ANSWER,
                   "particles[" + std::to_string(at) + "] was changed in its last bits.",
                   "drift changes x, and nothing else.");
}

// Measures all particles, or those in `which`.
static void try_distances(task what, const floats &aos, float3 centre, numbers which, int which_at,
                          int out_at)
{
    const bool some = what == task::distance_some;
    const layout form = layout_for(what);
    const floats given = arranged(aos, form);
    const std::vector<double> all = oracle::distances(aos, centre);
    if (!some) {
        which.resize(all.size());
        std::iota(which.begin(), which.end(), 0);
    }
    std::vector<double> want;
    for (int i : which) want.push_back(all[static_cast<std::size_t>(i)]);
    output<float> out(which.size());
    if (some) {
        hint_past_the_end("`which` and `out` have k elements, and n is the number of particles: "
                          "which of the two is the guard to compare with?",
                          "which");
        CALL(distance_some, given, int(all.size()), centre, misaligned(which, which_at),
             int(which.size()), misaligned(out, out_at));
    } else {
        hint_columns(form);
        CALL(distance_all, given, int(all.size()), centre, misaligned(out, out_at));
    }
    expect_close(out, want, 3, want, {},
                 some ? wrong_choices(given, form, centre, which, all)
                      : wrong_distances(given, form, centre, which));
}

static void try_all(const floats &aos, float3 centre, int out_at = 0)
{
    try_distances(task::distance_all, aos, centre, {}, 0, out_at);
}

static void try_some(const floats &aos, float3 centre, const numbers &which, int which_at = 0,
                     int out_at = 0)
{
    try_distances(task::distance_some, aos, centre, which, which_at, out_at);
}

// The last particle of as many as there may be, for which there is no memory: a right answer reads
// far behind the few that are there.
static void expect_last_of_all_found()
{
    if (!simulated()) return; // a GPU does not tell what is read past an end
    constexpr int max = 1 << 26;
    layout_for(task::distance_some); // as in every call
    const floats particles(fields);
    const numbers which = {max - 1};
    output<float> out(1);
    auto call = [&] { CALL(distance_some, particles, max, float3{1, 2, 3}, which, 1, out); };
    expect(reads_on("particles", call), verdict::WRONG_ANSWER,
           "Asked for particle 2^26 - 1 of 2^26, distance_some read no particle beyond the first "
           "ones.",
           "Does its index, counted in floats or in bytes, fit the type that it is computed in?");
}

static void try_transpose(int rows, int cols, int in_at = 0, int out_at = 0)
{
    floats in = random_floats(std::size_t(rows) * cols);
    output<float> out(in.size());
    out.row = std::size_t(rows);
    CALL(transpose, misaligned(in, in_at), misaligned(out, out_at), rows, cols);
    expect_equal(out, oracle::transpose(in, rows, cols), {std::size_t(cols), std::size_t(rows)},
                 [&] { return wrong_transposes(in, rows, cols); });
}

// For more tiles of 32 x 32 in one direction than a grid may have blocks in y or z. All their
// elements would take long to simulate: a few are enough to see that kernels begin.
static void expect_tiles_begin(int rows, int cols)
{
    if (!simulated()) return; // a GPU transposes as many
    const floats in = random_floats(100);
    output<float> out(std::size_t(rows) * cols);
    expect_launches("in", [&] { CALL(transpose, in, out, rows, cols); });
}

// The conversion to this layout; `bits`: of floats that are compared bit by bit.
static void convert(layout to, const floats &given, int soa_at = 0, bool bits = false)
{
    const std::size_t n = given.size() / fields;
    const bool splits = to == layout::soa;
    output<float> out(given.size());
    out.row = splits ? n : fields;
    if (splits)
        CALL(to_soa, given, misaligned(out, soa_at), int(n));
    else
        CALL(to_aos, misaligned(given, soa_at), out, int(n));
    const floats want = splits ? oracle::to_soa(given) : oracle::to_aos(given);
    if (bits)
        expect_bits(out, want);
    else
        expect_equal(out, want, shape(to, n), [&] { return wrong_conversions(given); });
}

// Sizes around warps, tiles and blocks; and many blocks.
static const int awkward_sizes[] = {1,   2,   7,   8,   9,   15,   16,   17,  31,
                                    32,  33,  63,  65,  127, 129,  255,  256, 257,
                                    511, 513, 767, 769, 991, 1023, 1025, 1543};
static int many(int if_simulated) { return simulated() ? if_simulated : 250007; }

CORRECTNESS_CASE("drift: a few particles", 0.5) { try_drift(in_sixteenths(5), 0.25f); }
CORRECTNESS_CASE("drift: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_drift(random_particles(n), 0.5f);
}
CORRECTNESS_CASE("drift: steps of any length", 0.5)
{
    for (float dt : {0.1f, -0.3f, 0.0f, 1000.0f, 1e-6f}) try_drift(random_particles(333), dt);
}
CORRECTNESS_CASE("drift: many blocks", 0.5) { try_drift(random_particles(many(20011)), 0.1f); }
CORRECTNESS_CASE("drift: no particles", 0.5)
{
    try_drift(random_particles(2), 0.5f); // nothing at all is no answer
    try_drift({}, 0.5f);
}
SPEED_CASE("drift: speed", 6, 3) { race_chosen(task::drift); }

CORRECTNESS_CASE("distance_all: a few particles", 0.5)
{
    try_all(in_sixteenths(5), {1.5f, -2, 0.25f});
}
CORRECTNESS_CASE("distance_all: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_all(random_particles(n), random_place(1));
}
CORRECTNESS_CASE("distance_all: many blocks, and results that begin anywhere", 0.5)
{
    const float3 centre = random_place(1);
    try_all(with_one_at(centre, random_particles(many(20011))), centre, 3);
    for (int out_at : {1, 2, 5, 31}) try_all(random_particles(1237), random_place(9), out_at);
}
CORRECTNESS_CASE("distance_all: no particles", 0.5)
{
    try_all(random_particles(2), random_place(1)); // nothing at all is no answer
    try_all({}, random_place(1));
}
SPEED_CASE("distance_all: speed", 3.5, 2) { race_chosen(task::distance_all); }

CORRECTNESS_CASE("distance_some: a few particles", 0.5)
{
    try_some(in_sixteenths(9), {1.5f, -2, 0.25f}, {7, 2, 4, 0, 8});
}
CORRECTNESS_CASE("distance_some: numbers around a warp and a block", 0.5)
{
    for (int k : awkward_sizes)
        try_some(random_particles(1009), random_place(1), random_numbers(k, 1009));
    expect_last_of_all_found();
}
CORRECTNESS_CASE("distance_some: more than there are particles, and many times the same", 0.5)
{
    try_some(random_particles(3), random_place(1), random_numbers(700, 3));
    try_some(random_particles(50), random_place(1), numbers(500, 49));
    const float3 centre = random_place(1);
    try_some(with_one_at(centre, random_particles(1)), centre, numbers(33, 0));
}
CORRECTNESS_CASE("distance_some: many blocks, and arrays that begin anywhere", 0.5)
{
    try_some(random_particles(3001), random_place(1), random_numbers(many(20011), 3001), 1, 3);
    for (int at : {1, 2, 3, 5, 31})
        try_some(random_particles(127), random_place(9), random_numbers(1237, 127), at, at / 2);
}
CORRECTNESS_CASE("distance_some: none of them", 0.5)
{
    try_some(random_particles(2), random_place(1), {1}); // nothing at all is no answer
    try_some(random_particles(7), random_place(1), {});
    try_some({}, random_place(1), {});
}
SPEED_CASE("distance_some: speed", 4, 2) { race_chosen(task::distance_some); }

CORRECTNESS_CASE("transpose: two tiles", 0.5) { try_transpose(32, 64); }
CORRECTNESS_CASE("transpose: sizes around a tile", 0.5)
{
    try_transpose(3, 5);
    for (int rows : {1, 31, 32, 33, 65})
        for (int cols : {1, 7, 32, 33, 64}) try_transpose(rows, cols);
}
CORRECTNESS_CASE("transpose: long and narrow", 0.5)
{
    try_transpose(2, 1031);
    try_transpose(1021, 3);
    // More rows, or columns, than a grid has blocks in its second dimension, times 32.
    try_transpose(1, simulated() ? 70001 : 2200001);
    try_transpose(simulated() ? 70001 : 2200001, 1);
    expect_tiles_begin(32 * 65536 + 1, 1);
    expect_tiles_begin(1, 32 * 65536 + 1);
    try_transpose(0, 7);
    try_transpose(7, 0);
}
CORRECTNESS_CASE("transpose: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_transpose(37, 43, at % 4, at / 4);
}
SPEED_CASE("transpose: speed", 4.5, 3) { race_matrix(transposition::plain); }

// The cases of to_soa and to_aos, which differ in the direction.

static void convert_around_blocks(layout to)
{
    for (int n : awkward_sizes) convert(to, random_particles(n));
}

static void convert_any_bits(layout to)
{
    for (int at : {1, 2, 3, 7, 31}) convert(to, random_particles(301), at);
    convert(to, any_bits(75), 0, true);
}

static void convert_none(layout to)
{
    convert(to, random_particles(2)); // nothing at all is no answer
    convert(to, {});
}

constexpr layout soa_out = layout::soa, aos_out = layout::aos;

CORRECTNESS_CASE("to_soa: a few particles", 0.5) { convert(soa_out, random_particles(5)); }
CORRECTNESS_CASE("to_soa: sizes around a warp and a block", 0.5) { convert_around_blocks(soa_out); }
CORRECTNESS_CASE("to_soa: many blocks", 0.5) { convert(soa_out, random_particles(many(10007))); }
CORRECTNESS_CASE("to_soa: any bits, to any place", 0.5) { convert_any_bits(soa_out); }
CORRECTNESS_CASE("to_soa: no particles", 0.5) { convert_none(soa_out); }
SPEED_CASE("to_soa: bytes moved", 1, 0) { race_bytes_moved(transposition::to_soa); }
SPEED_CASE("to_soa: sectors and banks", 3, 0) { race_matrix(transposition::to_soa); }

CORRECTNESS_CASE("to_aos: a few particles", 0.5) { convert(aos_out, random_particles(5)); }
CORRECTNESS_CASE("to_aos: sizes around a warp and a block", 0.5) { convert_around_blocks(aos_out); }
CORRECTNESS_CASE("to_aos: many blocks", 0.5) { convert(aos_out, random_particles(many(10007))); }
CORRECTNESS_CASE("to_aos: any bits, from any place", 0.5) { convert_any_bits(aos_out); }
CORRECTNESS_CASE("to_aos: no particles", 0.5) { convert_none(aos_out); }
SPEED_CASE("to_aos: bytes moved", 1, 0) { race_bytes_moved(transposition::to_aos); }
SPEED_CASE("to_aos: sectors and banks", 3, 0) { race_matrix(transposition::to_aos); }
