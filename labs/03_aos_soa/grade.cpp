// Grades lab 03, layouts.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace grading;

// The student chooses how particles lie in memory; they are brought there before the call.

static layout layout_for(task what)
{
    const std::string function = what == task::drift          ? "drift"
                                 : what == task::distance_all ? "distance_all"
                                                              : "distance_some";
    layout form = what == task::drift          ? CALL(drift_layout)
                  : what == task::distance_all ? CALL(distance_all_layout)
                                               : CALL(distance_some_layout);
    expect(form == layout::aos || form == layout::soa, verdict::WRONG_ANSWER,
           function + "_layout returned " + std::to_string(static_cast<int>(form)) +
               ", which is no layout.",
           "Return layout::aos or layout::soa.");
    return form;
}

// For messages: a layout is a matrix, and a particle is a row or a column of it.
static extents shape(layout form, std::size_t n)
{
    return form == layout::aos ? extents{n, fields} : extents{fields, n};
}

// One call each. The places say how many floats past a 256-byte boundary an array begins.

// In columns, which are as long as there are particles.
static void hint_columns(layout form)
{
    if (form == layout::soa)
        hint_past_the_end("Does every thread without a particle do nothing? If so: field "
                          "f of particle i is float n * f + i, where n is the number of particles, "
                          "not that of threads. What is f multiplied by here?",
                          "particles");
}

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

static void try_distance_all(const floats &aos, float3 centre, int out_at = 0)
{
    layout form = layout_for(task::distance_all);
    floats given = arranged(aos, form);
    std::size_t n = aos.size() / fields;
    output<float> out(n);
    hint_columns(form);
    CALL(distance_all, given, int(n), centre, misaligned(out, out_at));
    numbers all(n);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<double> want = oracle::distances(aos, centre);
    expect_close(out, want, 3, want, {}, wrong_distances(given, form, centre, all));
}

static void try_distance_some(const floats &aos, float3 centre, const numbers &which,
                              int which_at = 0, int out_at = 0)
{
    layout form = layout_for(task::distance_some);
    floats given = arranged(aos, form);
    std::size_t n = aos.size() / fields;
    output<float> out(which.size());
    hint_past_the_end("`which` and `out` have k elements, and n is the number of particles: which "
                      "of the two is the guard to compare with?",
                      "which");
    CALL(distance_some, given, int(n), centre, misaligned(which, which_at), int(which.size()),
         misaligned(out, out_at));
    std::vector<double> all = oracle::distances(aos, centre), want;
    for (int i : which) want.push_back(all[static_cast<std::size_t>(i)]);
    expect_close(out, want, 3, want, {}, wrong_choices(given, form, centre, which, all));
}

// The last particle of as many as there may be, for which there is no memory: a right answer reads
// far behind the few that are there.
static void expect_last_of_all_found()
{
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

// Calls the conversion to this layout; returns what `out` should be.
static floats convert(layout to, const floats &given, output<float> &out, int soa_at = 0)
{
    const int n = static_cast<int>(given.size() / fields);
    if (to == layout::soa)
        CALL(to_soa, given, misaligned(out, soa_at), n);
    else
        CALL(to_aos, misaligned(given, soa_at), out, n);
    return to == layout::soa ? oracle::to_soa(given) : oracle::to_aos(given);
}

static void try_conversion(layout to, const floats &given, int soa_at = 0)
{
    const std::size_t n = given.size() / fields;
    output<float> out(given.size());
    out.row = to == layout::soa ? n : fields;
    const floats want = convert(to, given, out, soa_at);
    expect_equal(out, want, shape(to, n), [&] { return wrong_conversions(given); });
}

// Sizes around warps, tiles and blocks.
static const int awkward_sizes[] = {1,   2,   7,   8,   9,   15,   16,   17,  31,
                                    32,  33,  63,  65,  127, 129,  255,  256, 257,
                                    511, 513, 767, 769, 991, 1023, 1025, 1543};

static int many_particles() { return simulated() ? 10007 : 1000003; }

// Naive keeps its structs, whatever the submission chose.
static void race_in_layouts(task what, speed_gates gates)
{
    layout form = layout_for(what);
    gates.form = form == layout::aos ? "aos" : "soa";
    race(particles_in(form, what), gates,
         form == layout::aos ? make_workload{} : particles_in(layout::aos, what));
}

static const char *const whole_sectors =
    "Memory moves in sectors of 32 bytes. Which fields share a sector with those you need, and are "
    "they needed, too? A particle far from the others takes one sector of each column, but only "
    "one of a struct.";

static counted_gate bytes_per_particle(double max)
{
    return at_most("compulsory bytes per particle", {max}, "bytes", whole_sectors,
                   [](const counted &c) { return double(c.compulsory_bytes) / raced_particles(); });
}

// Lanes far apart in a column have no more compulsory bytes than neighbours, so this gate counts
// all bytes moved.
static counted_gate bytes_moved_per_particle(double max)
{
    return moved_bytes(
        "particle", [] { return double(raced_particles()); }, {max},
        "A column helps where neighbouring lanes handle neighbouring particles: a warp moves every "
        "sector that one of its lanes asks for.");
}

// Without the 8 of the index and the result.
static counted_gate bytes_per_chosen_particle(double max)
{
    return at_most(
        "compulsory bytes per chosen particle", {max}, "bytes", whole_sectors,
        [](const counted &c) { return double(c.compulsory_bytes) / raced_choices() - 8; });
}

// 1024 threads with eight particles each have two blocks here, the second half full.
constexpr double least_share = 1.25;

static const char *const same_bank =
    "Which word of the tile does each lane of a warp ask for at that line? Take these numbers "
    "modulo 32: lanes that agree, but ask for different words, wait for each other.";

static void race_conversion(transposition what)
{
    auto per_particle = [](std::uint64_t sectors) {
        return double(sectors) / double(raced_conversions());
    };
    speed_gates gates;
    gates.counted = {used_by_loads(0.95),
                     used_by_stores(0.95),
                     moved_bytes(
                         "particle", [] { return double(raced_conversions()); },
                         {2 * sizeof(particle) + 7.0},
                         "A particle should be loaded once and stored once, by whatever path."),
                     at_most("sectors loaded per particle", {2.05}, "sectors",
                             "A particle fills two sectors; load them once.",
                             [=](const counted &c) { return per_particle(c.load_sectors); }),
                     at_most("sectors stored per particle", {2.05}, "sectors",
                             "A particle fills two sectors; store them once.",
                             [=](const counted &c) { return per_particle(c.store_sectors); }),
                     bank_conflicts(2, same_bank),
                     lanes_at_work(),
                     blocks_share(least_share)};
    race(matrix_for(what), gates);
}

CORRECTNESS_CASE("drift: a few particles", 0.5) { try_drift(in_sixteenths(5), 0.25f); }

CORRECTNESS_CASE("drift: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_drift(random_particles(n), 0.5f);
}

CORRECTNESS_CASE("drift: steps of any length", 0.5)
{
    for (float dt : {0.1f, -0.3f, 0.0f, 1000.0f, 1e-6f}) try_drift(random_particles(333), dt);
}

CORRECTNESS_CASE("drift: many blocks", 0.5)
{
    try_drift(random_particles(simulated() ? 20011 : 1000003), 0.1f);
}

CORRECTNESS_CASE("drift: no particles", 0.5)
{
    try_drift(random_particles(2), 0.5f); // nothing at all is no answer
    try_drift({}, 0.5f);
}

SPEED_CASE("drift: speed", 6, 3)
{
    speed_gates gates;
    gates.speedup = 3;
    gates.copy = {0.60, 0.75, 0.90}; // plain columns reach 0.80 on an H200
    gates.counted = {bytes_per_particle(13), bytes_moved_per_particle(24), lanes_at_work(),
                     blocks_share(least_share)};
    gates.too_slow =
        "A step needs two fields of sixteen. Which layout moves them without the rest? With that "
        "layout, more bytes in flight help: several particles per thread.";
    race_in_layouts(task::drift, gates);
}

CORRECTNESS_CASE("distance_all: a few particles", 0.5)
{
    try_distance_all(in_sixteenths(5), {1.5f, -2, 0.25f});
}

CORRECTNESS_CASE("distance_all: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_distance_all(random_particles(n), random_place(1));
}

CORRECTNESS_CASE("distance_all: many blocks, and results that begin anywhere", 0.5)
{
    const float3 centre = random_place(1);
    try_distance_all(with_one_at(centre, random_particles(simulated() ? 20011 : 1000003)), centre,
                     3);
    for (int out_at : {1, 2, 5, 31})
        try_distance_all(random_particles(1237), random_place(9), out_at);
}

CORRECTNESS_CASE("distance_all: no particles", 0.5)
{
    try_distance_all(random_particles(2), random_place(1)); // nothing at all is no answer
    try_distance_all({}, random_place(1));
}

SPEED_CASE("distance_all: speed", 3.5, 2)
{
    speed_gates gates;
    gates.speedup = 1.35; // of 36 bytes for 16
    gates.copy = {0.55, 0.75, 0.90};
    gates.counted = {bytes_per_particle(17), bytes_moved_per_particle(32), lanes_at_work(),
                     blocks_share(least_share)};
    gates.too_slow = "A distance needs three fields of eight that share a sector. Which layout "
                     "moves them without the rest?";
    race_in_layouts(task::distance_all, gates);
}

CORRECTNESS_CASE("distance_some: a few particles", 0.5)
{
    try_distance_some(in_sixteenths(9), {1.5f, -2, 0.25f}, {7, 2, 4, 0, 8});
}

CORRECTNESS_CASE("distance_some: numbers around a warp and a block", 0.5)
{
    for (int k : awkward_sizes)
        try_distance_some(random_particles(1009), random_place(1), random_numbers(k, 1009));
    expect_last_of_all_found();
}

CORRECTNESS_CASE("distance_some: more than there are particles, and many times the same", 0.5)
{
    try_distance_some(random_particles(3), random_place(1), random_numbers(700, 3));
    try_distance_some(random_particles(50), random_place(1), numbers(500, 49));
    const float3 centre = random_place(1);
    try_distance_some(with_one_at(centre, random_particles(1)), centre, numbers(33, 0));
}

CORRECTNESS_CASE("distance_some: many blocks, and arrays that begin anywhere", 0.5)
{
    try_distance_some(random_particles(3001), random_place(1),
                      random_numbers(simulated() ? 20011 : 1000003, 3001), 1, 3);
    for (int at : {1, 2, 3, 5, 31})
        try_distance_some(random_particles(127), random_place(9), random_numbers(1237, 127), at,
                          at / 2);
}

CORRECTNESS_CASE("distance_some: none of them", 0.5)
{
    try_distance_some(random_particles(2), random_place(1), {1}); // nothing at all is no answer
    try_distance_some(random_particles(7), random_place(1), {});
    try_distance_some({}, random_place(1), {});
}

SPEED_CASE("distance_some: speed", 4, 2)
{
    speed_gates gates;
    gates.speedup = 0.6; // naive's layout is the right one here; of columns, 0.44 on an H200
    gates.counted = {
        bytes_per_chosen_particle(34),
        // a float at a time, as naive does, 104
        moved_bytes(
            "chosen particle", [] { return double(raced_choices()); }, {130}, whole_sectors),
        lanes_at_work()}; // so few that one block may have all of them
    gates.too_slow = "Particles far apart share no sector. In which layout do x, y and z of one "
                     "particle share theirs?";
    race_in_layouts(task::distance_some, gates);
}

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
    try_transpose(0, 7);
    try_transpose(7, 0);
}

CORRECTNESS_CASE("transpose: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_transpose(37, 43, at % 4, at / 4);
}

SPEED_CASE("transpose: speed", 4.5, 3)
{
    speed_gates gates;
    gates.speedup = 3.5; // without padding 2.8 on an H200, with it 4.9
    gates.counted = {used_by_loads(0.95),
                     used_by_stores(0.95),
                     moved_bytes(
                         "element", [] { return double(raced_elements()); }, {9.6},
                         "Every element should be loaded once and stored once, by whatever path."),
                     bank_conflicts(1.1, same_bank),
                     conflicts_per_element([] { return double(raced_elements()); }, 0.03),
                     lanes_at_work(),
                     blocks_share(1.5)}; // tiles of 64 x 128 have three blocks
    gates.too_slow = "Read rows and write rows: the transposition happens in a tile in shared "
                     "memory. And check in which banks the lanes of a warp collide.";
    race(matrix_for(transposition::plain), gates);
}

// The cases of to_soa and to_aos, which differ in the direction.

static void convert_around_blocks(layout to)
{
    for (int n : awkward_sizes) try_conversion(to, random_particles(n));
}

static void convert_any_bits(layout to)
{
    for (int at : {1, 2, 3, 7, 31}) try_conversion(to, random_particles(301), at);
    const floats given = any_bits(75);
    output<float> out(given.size());
    const floats want = convert(to, given, out);
    expect_bits(out, want);
}

static void convert_none(layout to)
{
    try_conversion(to, random_particles(2)); // nothing at all is no answer
    try_conversion(to, {});
}

CORRECTNESS_CASE("to_soa: a few particles", 0.5)
{
    try_conversion(layout::soa, random_particles(5));
}

CORRECTNESS_CASE("to_soa: sizes around a warp and a block", 0.5)
{
    convert_around_blocks(layout::soa);
}

CORRECTNESS_CASE("to_soa: many blocks", 0.5)
{
    try_conversion(layout::soa, random_particles(many_particles()));
}

CORRECTNESS_CASE("to_soa: any bits, to any place", 0.5) { convert_any_bits(layout::soa); }

CORRECTNESS_CASE("to_soa: no particles", 0.5) { convert_none(layout::soa); }

SPEED_CASE("to_soa: sectors and banks", 4, 0) { race_conversion(transposition::to_soa); }

CORRECTNESS_CASE("to_aos: a few particles", 0.5)
{
    try_conversion(layout::aos, random_particles(5));
}

CORRECTNESS_CASE("to_aos: sizes around a warp and a block", 0.5)
{
    convert_around_blocks(layout::aos);
}

CORRECTNESS_CASE("to_aos: many blocks", 0.5)
{
    try_conversion(layout::aos, random_particles(many_particles()));
}

CORRECTNESS_CASE("to_aos: any bits, from any place", 0.5) { convert_any_bits(layout::aos); }

CORRECTNESS_CASE("to_aos: no particles", 0.5) { convert_none(layout::aos); }

SPEED_CASE("to_aos: sectors and banks", 4, 0) { race_conversion(transposition::to_aos); }
