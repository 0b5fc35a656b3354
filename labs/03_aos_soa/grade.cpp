// Grades lab 03, layouts.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;

// The student chooses how particles lie in memory; they are brought there before the call.

enum class task { drift, distance_all, distance_some };

static layout known_layout(const char *function, layout form)
{
    expect(form == layout::aos || form == layout::soa, verdict::WRONG_ANSWER,
           std::string(function) + " returned " + std::to_string(static_cast<int>(form)) +
               ", which is no layout.",
           "Return layout::aos or layout::soa.");
    return form;
}

static layout layout_for(task what)
{
    if (what == task::drift) return known_layout("drift_layout", CALL(drift_layout));
    if (what == task::distance_all)
        return known_layout("distance_all_layout", CALL(distance_all_layout));
    return known_layout("distance_some_layout", CALL(distance_some_layout));
}

// For messages: a layout is a matrix, and a particle is a row or a column of it.
static extents shape(layout form, std::size_t n)
{
    return form == layout::aos ? extents{n, fields} : extents{fields, n};
}

// By which several arrays are told apart: sixteenths have exact squares.
static floats in_sixteenths(std::size_t particles)
{
    floats aos = random_floats(particles * fields, -8, 8);
    for (float &value : aos) value = std::round(value * 16) / 16;
    return aos;
}

// One of them is where the distances are measured from: what divides by its distance shows.
static floats with_one_at(float3 centre, floats aos)
{
    const std::size_t i = aos.size() / fields / 2 * fields;
    aos[i + field_x] = centre.x, aos[i + field_y] = centre.y, aos[i + field_z] = centre.z;
    return aos;
}

static float3 random_place(float most)
{
    floats at = random_floats(3, -most, most);
    return {at[0], at[1], at[2]};
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

static numbers all_of(std::size_t n)
{
    numbers all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<int>(i);
    return all;
}

static void expect_distances(const output<float> &out, const std::vector<double> &want,
                             const std::vector<misconception<float>> &known)
{
    expect_close(out, want, 3, want, {}, known);
}

static void try_distance_all(const floats &aos, float3 centre, int out_at = 0)
{
    layout form = layout_for(task::distance_all);
    floats given = arranged(aos, form);
    std::size_t n = aos.size() / fields;
    output<float> out(n);
    hint_columns(form);
    CALL(distance_all, given, int(n), centre, misaligned(out, out_at));
    numbers all = all_of(n);
    expect_distances(out, oracle::distances(aos, centre),
                     wrong_distances(given, form, centre, all));
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
    std::vector<misconception<float>> known = wrong_distances(given, form, centre, which);
    known.push_back({"These are the first particles, not those that `which` names.",
                     "out[j] is for particle which[j].", [&] {
                         floats first(which.size());
                         for (std::size_t j = 0; j < first.size(); ++j)
                             first[j] = static_cast<float>(all[j % all.size()]);
                         return first;
                     }});
    expect_distances(out, want, known);
}

// The last particle of as many as there may be, for which there is no memory: a right answer reads
// far behind the few that are there.
static void expect_last_of_all_found()
{
    constexpr int most = 1 << 26;
    layout_for(task::distance_some); // as in every call
    const floats particles(fields);
    const numbers which = {most - 1};
    output<float> out(1);
    auto call = [&] { CALL(distance_some, particles, most, float3{1, 2, 3}, which, 1, out); };
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

static void try_to_soa(const floats &aos, int soa_at = 0)
{
    std::size_t n = aos.size() / fields;
    output<float> soa(aos.size());
    soa.row = n;
    CALL(to_soa, aos, misaligned(soa, soa_at), int(n));
    expect_equal(soa, oracle::to_soa(aos), shape(layout::soa, n),
                 [&] { return wrong_conversions(aos); });
}

static void try_to_aos(const floats &soa, int soa_at = 0)
{
    std::size_t n = soa.size() / fields;
    output<float> aos(soa.size());
    aos.row = fields;
    CALL(to_aos, misaligned(soa, soa_at), aos, int(n));
    expect_equal(aos, oracle::to_aos(soa), shape(layout::aos, n),
                 [&] { return wrong_conversions(soa); });
}

static floats random_particles(int n) { return random_floats(std::size_t(n) * fields); }

static numbers random_numbers(int k, int n) { return random_ints(std::size_t(k), 0, n - 1); }

// Sizes around warps, tiles and blocks.
static const int awkward_sizes[] = {1,   2,   7,   8,   9,   15,   16,   17,  31,
                                    32,  33,  63,  65,  127, 129,  255,  256, 257,
                                    511, 513, 767, 769, 991, 1023, 1025, 1543};

// On a GPU seven sets of arguments for two workers fit the device. A multiple of 32, so that every
// column begins at a sector, and no whole number of blocks, so that who drops the tail is not
// timed.
static int raced_particles()
{
    if (simulated()) return 12000;
    double most =
        std::min(double(1 << 24), double(device().memory_bytes) / (128 * sizeof(particle)));
    return static_cast<int>(most) / 4096 * 4096 - 96;
}

// In [-1, 1), by its number: what a call must leave alone can be checked without a copy.
static float value_of(std::uint64_t seed, std::uint64_t number)
{
    std::uint64_t h = (seed + number) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return static_cast<float>(h >> 40) * 0x1p-23f - 1;
}

// New values for a stretch of `values` somewhere.
static std::span<std::byte> renew(floats &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<float> stretch = std::span(values).subspan(first, count);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}

namespace {

// Many particles in a layout. Only x is kept beside them.
class crowd {
public:
    crowd(std::mt19937_64 &random, layout form, int n)
        : form_(form), seed_(random()), n_(static_cast<std::size_t>(n)), x_(n_)
    {
        for_all(n_, [this](std::size_t i) {
            x_[i] = field_of(i, field_x);
            return true;
        });
    }
    std::size_t size() const { return n_; }
    std::size_t at(std::size_t i, int f) const
    {
        return form_ == layout::aos ? fields * i + std::size_t(f) : n_ * std::size_t(f) + i;
    }
    float field_of(std::size_t i, int f) const
    {
        return value_of(seed_, fields * i + std::size_t(f));
    }
    float x(std::size_t i) const { return x_[i]; }
    floats lie() const
    {
        floats values(fields * n_);
        for_all(n_, [&](std::size_t i) {
            for (int f = 0; f < fields; ++f) values[at(i, f)] = field_of(i, f);
            return true;
        });
        return values;
    }
    // New places for a stretch of particles, in `values` too; returns the floats that hold them.
    std::span<float> renew(floats &values, std::mt19937_64 &random)
    {
        std::size_t count = std::min<std::size_t>(n_, 4096), first = random() % (n_ - count + 1);
        fill_random(std::span(x_).subspan(first, count), random);
        for (std::size_t i = first; i < first + count; ++i) values[at(i, field_x)] = x_[i];
        std::size_t a_particle = form_ == layout::aos ? fields : 1;
        return std::span(values).subspan(at(first, field_x), count * a_particle);
    }

private:
    layout form_;
    std::uint64_t seed_;
    std::size_t n_;
    floats x_;
};

class drifting : public workload {
public:
    drifting(std::mt19937_64 &random, layout form)
        : crowd_(random, form, raced_particles()), particles_(0)
    {
        particles_ = changed_in_place(crowd_.lie());
        if (form == layout::soa) particles_.count = crowd_.size(); // x is all that changes
    }
    const char *function() const override { return "drift"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(drift)>::arguments(particles_, int(crowd_.size()), dt);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        crowd_.renew(particles_.values, random);
        for_all(crowd_.size(), [this](std::size_t i) {
            particles_.values[crowd_.at(i, field_x)] = crowd_.x(i);
            return true;
        });
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        // In columns, the benchmark on a GPU has seen that all but x is as it was.
        const bool x_alone = !simulated() && particles_.count < particles_.size();
        if (for_all(crowd_.size(), [this, x_alone](std::size_t i) {
                bool all = right(i, field_x);
                for (int f = 0; f < fields && !x_alone; ++f) all &= right(i, f);
                return all;
            }))
            return;
        bool none = for_all(crowd_.size(),
                            [this](std::size_t i) { return value(i, field_x) == crowd_.x(i); });
        expect(!none, verdict::NOT_WRITTEN, "drift returned, and every particle is where it was.",
               "Does a kernel run at all, and does it write its result?");
        for (std::size_t i = 0; i < crowd_.size(); ++i)
            for (int f = 0; f < fields; ++f)
                expect(right(i, f), verdict::WRONG_ANSWER,
                       "Of " + std::to_string(crowd_.size()) + " particles, field " +
                           std::to_string(f) + " of particle " + std::to_string(i) + " is " +
                           show_element(value(i, f)) + " and should be " +
                           show_element(static_cast<float>(want(i, f))) + ".",
                       "The smaller cases are right, so look for what only many particles have: "
                       "many blocks, and indices beyond a million.");
    }
    double bytes() const override { return 12.0 * double(crowd_.size()); }
    bool restored_for_naive() const override { return false; } // a step is a step, from anywhere

private:
    static constexpr float dt = 0.125f;
    float value(std::size_t i, int f) const { return particles_.values[crowd_.at(i, f)]; }
    double want(std::size_t i, int f) const
    {
        if (f != field_x) return crowd_.field_of(i, f);
        return crowd_.x(i) + double(crowd_.field_of(i, field_vx)) * dt;
    }
    bool right(std::size_t i, int f) const
    {
        if (f != field_x) return value(i, f) == crowd_.field_of(i, f);
        return within(value(i, f), want(i, f), 2, 1 + dt); // fields are in [-1, 1)
    }

    crowd crowd_;
    output<float> particles_;
};

// Measures the distances of all particles, or of one in sixteen.
class measuring : public workload {
public:
    measuring(std::mt19937_64 &random, layout form, task what)
        : what_(what), crowd_(random, form, raced_particles()), particles_(crowd_.lie()), out_(0)
    {
        if (some()) which_.resize(crowd_.size() / 16 - 35);
        draw(which_, random);
        out_ = output<float>(some() ? which_.size() : crowd_.size());
    }
    const char *function() const override { return some() ? "distance_some" : "distance_all"; }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(crowd_.size());
        if (!some()) return remote<decltype(distance_all)>::arguments(particles_, n, centre, out_);
        return remote<decltype(distance_some)>::arguments(particles_, n, centre, which_,
                                                          int(which_.size()), out_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (!some()) return {std::as_writable_bytes(crowd_.renew(particles_, random))};
        std::size_t count = std::min<std::size_t>(which_.size(), 4096);
        std::size_t first = random() % (which_.size() - count + 1);
        std::span<int> stretch = std::span(which_).subspan(first, count);
        draw(stretch, random);
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        auto right = [this](std::size_t j) { return within(out_.values[j], want(j), 3, want(j)); };
        if (for_all(out_.size(), right)) return;
        std::vector<double> all(out_.size());
        for (std::size_t j = 0; j < all.size(); ++j) all[j] = want(j);
        expect_distances(out_, all, {});
    }
    double bytes() const override { return (some() ? 20.0 : 16.0) * double(out_.size()); }

private:
    static constexpr float3 centre = {0.25f, -1.5f, 0.75f};
    bool some() const { return what_ == task::distance_some; }
    void draw(std::span<int> numbers, std::mt19937_64 &random) const
    {
        for (int &i : numbers) i = static_cast<int>(random() % crowd_.size());
    }
    double want(std::size_t j) const
    {
        std::size_t i = some() ? static_cast<std::size_t>(which_[j]) : j;
        double x = double(crowd_.x(i)) - centre.x;
        double y = double(crowd_.field_of(i, field_y)) - centre.y;
        double z = double(crowd_.field_of(i, field_z)) - centre.z;
        return std::sqrt(x * x + y * y + z * z);
    }

    task what_;
    crowd crowd_;
    floats particles_;
    numbers which_;
    output<float> out_;
};

class converting : public workload {
public:
    converting(std::mt19937_64 &random, layout to)
        : to_(to), n_(particles()), in_(fields * n_), out_(in_.size())
    {
        fill_random(in_, random);
    }
    static std::size_t particles() // two arrays of them: half as many
    {
        return static_cast<std::size_t>(simulated() ? 5984 : (raced_particles() + 96) / 2 - 96);
    }
    const char *function() const override { return to_ == layout::soa ? "to_soa" : "to_aos"; }
    std::vector<argument> arguments() override
    {
        if (to_ == layout::soa) return remote<decltype(to_soa)>::arguments(in_, out_, int(n_));
        return remote<decltype(to_aos)>::arguments(in_, out_, int(n_));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        const floats &aos = to_ == layout::soa ? in_ : out_.values;
        const floats &soa = to_ == layout::soa ? out_.values : in_;
        if (for_all(n_, [&](std::size_t i) {
                bool all = true;
                for (std::size_t f = 0; f < fields; ++f)
                    all &= soa[n_ * f + i] == aos[fields * i + f];
                return all;
            }))
            return;
        expect_equal(out_, to_ == layout::soa ? oracle::to_soa(in_) : oracle::to_aos(in_),
                     shape(to_, n_));
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    layout to_;
    std::size_t n_;
    floats in_;
    output<float> out_;
};

class transposing : public workload {
public:
    explicit transposing(std::mt19937_64 &random) : in_(elements()), out_(elements())
    {
        fill_random(in_, random);
    }
    // Multiples of a tile, so that rows begin at sectors; powers of two would hide nothing either,
    // but some memories deal badly with them.
    static int rows() { return simulated() ? 96 : 32 * 257; }
    static int cols() { return simulated() ? 160 : 32 * 129; }
    static std::size_t elements() { return std::size_t(rows()) * cols(); }
    const char *function() const override { return "transpose"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(transpose)>::arguments(in_, out_, rows(), cols());
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        const std::size_t height = std::size_t(rows()), width = std::size_t(cols());
        if (for_all(in_.size(), [&](std::size_t i) {
                return out_.values[i % width * height + i / width] == in_[i];
            }))
            return;
        expect_equal(out_, oracle::transpose(in_, rows(), cols()), {width, height});
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    floats in_;
    output<float> out_;
};

} // namespace

// Naive keeps its structs, whatever the submission chose.
template <class F> static void race_in_layouts(task what, F in, const speed_gates &gates)
{
    layout form = layout_for(what);
    race(in(form), gates, form == layout::aos ? make_workload{} : in(layout::aos));
}

static const char *const whole_sectors =
    "Memory moves in sectors of 32 bytes. Which fields share a sector with those you need, and are "
    "they needed, too? A particle far from the others takes one sector of each column, but only "
    "one of a struct.";

static counted_gate bytes_per_particle(double most)
{
    return at_most("compulsory bytes per particle", {most}, "bytes", whole_sectors,
                   [](const counted &c) { return double(c.compulsory_bytes) / raced_particles(); });
}

// Lanes far apart in a column have no more compulsory bytes than neighbours, so this gate counts
// all bytes moved.
static counted_gate bytes_moved_per_particle(double most)
{
    return moved_bytes(
        "particle", [] { return double(raced_particles()); }, {most},
        "A column helps where neighbouring lanes handle neighbouring particles: a warp moves every "
        "sector that one of its lanes asks for.");
}

// Without the 8 of the index and the result.
static counted_gate bytes_per_chosen_particle(double most)
{
    return at_most("compulsory bytes per chosen particle", {most}, "bytes", whole_sectors,
                   [](const counted &c) {
                       return double(c.compulsory_bytes) / (raced_particles() / 16 - 35) - 8;
                   });
}

// 1024 threads with eight particles each have two blocks here, the second half full.
constexpr double least_share = 1.25;

static speed_gates conversion_gates()
{
    auto a_particle = [](std::uint64_t sectors) {
        return double(sectors) / double(converting::particles());
    };
    speed_gates gates;
    gates.counted = {
        used_by_loads(0.95),
        used_by_stores(0.95),
        moved_bytes(
            "particle", [] { return double(converting::particles()); },
            {2 * sizeof(particle) + 7.0},
            "A particle should be loaded once and stored once, by whatever path."),
        at_most("sectors loaded per particle", {2.05}, "sectors",
                "A particle fills two sectors; load them once.",
                [=](const counted &c) { return a_particle(c.load_sectors); }),
        at_most("sectors stored per particle", {2.05}, "sectors",
                "A particle fills two sectors; store them once.",
                [=](const counted &c) { return a_particle(c.store_sectors); }),
        bank_conflicts(2, "Which word of the tile does each lane of a warp ask for at that line? "
                          "Take these numbers modulo 32: lanes that agree, but ask for different "
                          "words, wait for each other."),
        lanes_at_work(),
        blocks_share(least_share)};
    return gates;
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
    auto in = [](layout form) -> make_workload {
        return [form](std::mt19937_64 &random) { return std::make_unique<drifting>(random, form); };
    };
    race_in_layouts(task::drift, in, gates);
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

static auto distances_in(task what)
{
    return [what](layout form) -> make_workload {
        return [=](std::mt19937_64 &random) {
            return std::make_unique<measuring>(random, form, what);
        };
    };
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
    race_in_layouts(task::distance_all, distances_in(task::distance_all), gates);
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
            "chosen particle", [] { return raced_particles() / 16 - 35.0; }, {130}, whole_sectors),
        lanes_at_work()}; // so few that one block may have all of them
    gates.too_slow = "Particles far apart share no sector. In which layout do x, y and z of one "
                     "particle share theirs?";
    race_in_layouts(task::distance_some, distances_in(task::distance_some), gates);
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
    gates.counted = {
        used_by_loads(0.95),
        used_by_stores(0.95),
        moved_bytes(
            "element", [] { return double(transposing::elements()); }, {9.6},
            "Every element should be loaded once and stored once, by whatever path."),
        bank_conflicts(1.1, "Which word of the tile does each lane of a warp ask for at that line? "
                            "Take these numbers modulo 32: lanes that agree, but ask for different "
                            "words, wait for each other."),
        conflicts_per_element([] { return double(transposing::elements()); }, 0.03),
        lanes_at_work(),
        blocks_share(1.5)}; // tiles of 64 x 128 have three blocks
    gates.too_slow = "Read rows and write rows: the transposition happens in a tile in shared "
                     "memory. And check in which banks the lanes of a warp collide.";
    race([](std::mt19937_64 &random) { return std::make_unique<transposing>(random); }, gates);
}

// NaN looks alike whatever its bits.
static std::string shown_bits(float x)
{
    char bits[16];
    std::snprintf(bits, sizeof bits, " (0x%08x)", std::bit_cast<std::uint32_t>(x));
    return show_element(x) + bits;
}

// NaN equals nothing, so these are compared by their bits.
static void expect_bits(const output<float> &got, const floats &want)
{
    for (std::size_t i = 0; i < want.size(); ++i)
        expect(std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i]),
               verdict::WRONG_ANSWER,
               "Element " + std::to_string(i) + " is " + shown_bits(got[i]) + ", and should be " +
                   shown_bits(want[i]) + ", bit by bit.",
               "Copy the floats without computing with them: load and store them as they are. A "
               "texture, too, alters the bits of a NaN.");
}

// All bits that a float may have, also those of no number.
static floats any_bits(std::size_t particles)
{
    floats values(particles * fields);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random_source()()) &
                                         (i % 3 == 0 ? 0x807fffffu : 0xffffffffu));
    return values;
}

CORRECTNESS_CASE("to_soa: a few particles", 0.5) { try_to_soa(random_particles(5)); }

CORRECTNESS_CASE("to_soa: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_to_soa(random_particles(n));
}

CORRECTNESS_CASE("to_soa: many blocks", 0.5)
{
    try_to_soa(random_particles(simulated() ? 10007 : 1000003));
}

CORRECTNESS_CASE("to_soa: any bits, to any place", 0.5)
{
    for (int at : {1, 2, 3, 7, 31}) try_to_soa(random_particles(301), at);
    floats aos = any_bits(75), want = oracle::to_soa(aos);
    output<float> soa(aos.size());
    CALL(to_soa, aos, soa, 75);
    expect_bits(soa, want);
}

CORRECTNESS_CASE("to_soa: no particles", 0.5)
{
    try_to_soa(random_particles(2)); // nothing at all is no answer
    try_to_soa({});
}

SPEED_CASE("to_soa: sectors and banks", 4, 0)
{
    race([](std::mt19937_64 &random) { return std::make_unique<converting>(random, layout::soa); },
         conversion_gates());
}

CORRECTNESS_CASE("to_aos: a few particles", 0.5) { try_to_aos(random_particles(5)); }

CORRECTNESS_CASE("to_aos: sizes around a warp and a block", 0.5)
{
    for (int n : awkward_sizes) try_to_aos(random_particles(n));
}

CORRECTNESS_CASE("to_aos: many blocks", 0.5)
{
    try_to_aos(random_particles(simulated() ? 10007 : 1000003));
}

CORRECTNESS_CASE("to_aos: any bits, from any place", 0.5)
{
    for (int at : {1, 2, 3, 7, 31}) try_to_aos(random_particles(301), at);
    floats soa = any_bits(75), want = oracle::to_aos(soa);
    output<float> aos(soa.size());
    CALL(to_aos, soa, aos, 75);
    expect_bits(aos, want);
}

CORRECTNESS_CASE("to_aos: no particles", 0.5)
{
    try_to_aos(random_particles(2)); // nothing at all is no answer
    try_to_aos({});
}

SPEED_CASE("to_aos: sectors and banks", 4, 0)
{
    race([](std::mt19937_64 &random) { return std::make_unique<converting>(random, layout::aos); },
         conversion_gates());
}
