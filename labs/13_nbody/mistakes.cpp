// Compares the results of lab 13, and tells wrong ones from their causes: each mistake as another
// law of the pull, or as another order of the parts of a step.
#include "mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace grading;
using oracle::point;
using oracle::pull;
using oracle::triple;
using pulls = std::vector<pull>;

// `looks_like` returns no results if they cannot be told.
using look_alike = misconception<pull>;

namespace {

// The factor by which the vector from body i to body j counts, if `square` is its length squared.
using strength = std::function<double(const point &i, const point &j, double square)>;

// The parts that a leapfrog is made of.
enum part { accelerate, half_kick, kick, half_drift, drift };

// The bodies between two parts of a step.
struct motion {
    points all;
    double softening, dt;
    pulls accelerations;
    void apply(part p)
    {
        if (p == accelerate) accelerations = oracle::accelerations(all, softening);
        const double time = p == half_kick || p == half_drift ? dt / 2 : dt;
        for (std::size_t i = 0; i < all.size() && p != accelerate; ++i)
            for (int c = 0; c < 3; ++c)
                if (p == half_kick || p == kick)
                    all[i].moves[c] += accelerations[i].value[c] * time;
                else
                    all[i].at[c] += all[i].moves[c] * time;
    }
};

} // namespace

// Every term contains a root and a few roundings, so the bound is never below 32 units in the last
// place of the terms' absolute values.
bool close(const float4 &got, const pull &want, double terms)
{
    terms = std::max(terms, 64.0);
    return within(got.x, want.value[0], terms, want.magnitude[0]) &&
           within(got.y, want.value[1], terms, want.magnitude[1]) &&
           within(got.z, want.value[2], terms, want.magnitude[2]);
}

std::string in_words(double x, double y, double z)
{
    auto of = [](double v) { return show_element(static_cast<float>(v)); };
    return "(" + of(x) + ", " + of(y) + ", " + of(z) + ")";
}

// True if the result is off by little, relative to the expected values.
static bool imprecise(const quads &got, const pulls &want, const std::vector<std::size_t> &wrong)
{
    double squares = 0;
    for (const pull &w : want)
        for (double v : w.value) squares += v * v;
    double usual = std::sqrt(squares / double(want.size()));
    return std::all_of(wrong.begin(), wrong.end(), [&](std::size_t i) {
        const triple &w = want[i].value;
        double error = std::hypot(got[i].x - w[0], got[i].y - w[1], got[i].z - w[2]);
        return error < 2e-3 * std::max(usual, std::hypot(w[0], w[1], w[2]));
    });
}

// Says why these bodies are wrong, and what to try; empty if unknown.
static look_alike recognised(const quads &got, const pulls &want,
                             const std::vector<std::size_t> &wrong, double terms,
                             const std::vector<look_alike> &known)
{
    auto all_wrong = [&](auto is) { return std::all_of(wrong.begin(), wrong.end(), is); };
    for (const look_alike &k : known) {
        pulls other = k.looks_like();
        if (other.size() != got.size()) continue;
        if (all_wrong([&](std::size_t i) { return close(got[i], other[i], terms); })) return k;
    }
    auto nan = [&](std::size_t i) {
        return std::isnan(got[i].x) || std::isnan(got[i].y) || std::isnan(got[i].z);
    };
    if (all_wrong(nan))
        return {"That is not a number (NaN).",
                "0 times infinity is NaN, as in a body's pull on itself without softening; so may "
                "be scratch memory that was never written."};
    if (all_wrong([&](std::size_t i) { return !got[i].x && !got[i].y && !got[i].z; }))
        return {"All wrong results are 0.",
                "A sum of 0 was stored. Has points[j].w the mass, does add_pull add to `sum`, and "
                "does the loop run at all: n / tile is 0 for few bodies?"};
    if (imprecise(got, want, wrong))
        return {"That is close, but not as precise as float arithmetic.",
                "Compute in float throughout, and subtract positions before you square them."};
    std::size_t n = got.size(), first = wrong.front();
    auto whose = [&](std::size_t i) {
        std::size_t j = 0;
        while (j < n && !close(got[i], want[j], terms)) ++j;
        return j;
    };
    if (n > 1 && all_wrong([&](std::size_t i) { return whose(i) < n; }))
        return {"The result of body " + std::to_string(first) + " belongs to body " +
                    std::to_string(whose(first)) + ", and every wrong result belongs to another.",
                "If a thread has several bodies: does it load, use and store the same ones, by the "
                "same formula?"};
    if (first > 0 && n - first == wrong.size())
        return {"All bodies from " + std::to_string(first) + " on are wrong, the rest right.",
                "How is the last, partial block or tile handled?"};
    return {};
}

static void judge(const std::string &name, const quads &got, const pulls &want, double terms,
                  const std::vector<look_alike> &known, verdict v)
{
    std::vector<std::size_t> wrong;
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!close(got[i], want[i], terms)) wrong.push_back(i);
    if (wrong.empty()) return;
    std::size_t i = wrong.front();
    const triple &w = want[i].value;
    look_alike why = recognised(got, want, wrong, terms, known);
    expect(false, v,
           std::to_string(wrong.size()) + " of " + std::to_string(got.size()) + " bodies " +
               (wrong.size() == 1 ? "is" : "are") + " wrong; the first is " + name + "[" +
               std::to_string(i) + "]: expected " + in_words(w[0], w[1], w[2]) + ", got " +
               in_words(got[i].x, got[i].y, got[i].z) + (why.cause.empty() ? "." : ". ") +
               why.cause,
           why.next);
}

static void expect_bodies(const std::string &name, const output<float4> &got, const pulls &want,
                          double terms, const std::vector<look_alike> &known)
{
    judge(name, got.values, want, terms, known, verdict::WRONG_ANSWER);
    if (!got.again.empty()) judge(name, got.again, want, terms, known, verdict::NONDETERMINISTIC);
}

// The fourth float of each body.
static void expect_fourth(const std::string &name, const quads &got, const quads &want,
                          const char *hint)
{
    for (std::size_t i = 0; i < got.size(); ++i)
        expect(got[i].w == want[i].w, verdict::WRONG_ANSWER,
               name + "[" + std::to_string(i) + "].w should be " + show_element(want[i].w) +
                   " and is " + show_element(got[i].w) + ".",
               hint);
}

static pulls summed(const points &all, const strength &by)
{
    pulls sums(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const point &j : all) {
            double square = 0, between[3];
            for (int c = 0; c < 3; ++c) {
                between[c] = j.at[c] - all[i].at[c];
                square += between[c] * between[c];
            }
            const double factor = by(all[i], j, square);
            for (int c = 0; c < 3; ++c) {
                sums[i].value[c] += factor * between[c];
                sums[i].magnitude[c] += std::abs(factor * between[c]);
            }
        }
    return sums;
}

static double cube_of_root(double square) { return square * std::sqrt(square); }

// Only some of the bodies pull, because of tiles of `tile` bodies.
static void add_tile_mistakes(std::vector<look_alike> &known, const points &all, double softening,
                              std::size_t tile)
{
    const std::size_t n = all.size(), whole = n / tile * tile, last = (n - 1) / tile * tile;
    auto add = [&](const char *which, std::size_t from, std::size_t to, const char *next) {
        auto by = [=, first = all.data()](const point &, const point &j, double square) {
            const std::size_t index = std::size_t(&j - first);
            const bool there = from <= index && index < to;
            return there ? j.mass / cube_of_root(square + softening * softening) : 0;
        };
        known.push_back(
            {std::string("Only the ") + which + " " + std::to_string(to - from) + " bodies pull.",
             next, [=, &all] { return summed(all, by); }});
    };
    if (n <= tile) return;
    add("last", last, n,
        "The sum must last across all tiles: set it to 0 before the first, and use each tile "
        "before the next is loaded over it.");
    if (whole < n)
        add("first", 0, whole,
            "Is there a loop over all tiles, one after the other, also over the last, which may "
            "not be full? n / tile rounds down and leaves that out: round up, and fill it with "
            "points without mass.");
    if (tile != whole)
        add("first", 0, tile, "A block must go through all bodies, one tile at a time.");
}

// Points without mass that fill the last tile of `tile`, at the origin, pull as if they had one.
static void add_fill_mistake(std::vector<look_alike> &known, const points &all, double softening,
                             std::size_t tile)
{
    const std::size_t fill = (tile - all.size() % tile) % tile;
    if (fill == 0) return;
    auto pull_of_mass_1 = [=](const point &, const point &, double square) {
        return 1 / cube_of_root(square + softening * softening);
    };
    known.push_back(
        {"All masses were taken to be 1, also those of the points that fill the last tile.",
         "The pull is proportional to the other body's mass.", [=, &all] {
             pulls sums = summed(all, pull_of_mass_1);
             for (std::size_t i = 0; i < all.size(); ++i) {
                 const pull one = summed({all[i], point{}}, pull_of_mass_1)[0];
                 for (int c = 0; c < 3; ++c) {
                     const double by = double(fill) * one.value[c];
                     sums[i].value[c] += by;
                     // The same again and again is rounded the same way each time.
                     sums[i].magnitude[c] += std::sqrt(double(fill)) * std::abs(by);
                 }
             }
             return sums;
         }});
}

static std::vector<look_alike> wrong_pulls(const points &all, double e)
{
    using at = const point &;
    auto softened = [e](double square) { return cube_of_root(square + e * e); };
    std::vector<look_alike> known;
    auto law = [&](const char *cause, const char *next, const strength &by) {
        known.push_back({cause, next, [=, &all] { return summed(all, by); }});
    };
    law("All masses were taken to be 1.", "The pull has the factor mass_j.",
        [=](at, at, double square) { return 1 / softened(square); });
    law("These are forces: the mass of the body itself is a factor too.",
        "An acceleration does not depend on the mass of the body that is pulled.",
        [=](at i, at j, double square) { return i.mass * j.mass / softened(square); });
    law("vx was taken for the mass.", "A body has seven floats; the mass is the last of them.",
        [=](at, at j, double square) { return j.moves[0] / softened(square); });
    law("The bodies push each other away.", "The vector from i to j is x_j - x_i.",
        [=](at, at j, double square) { return -j.mass / softened(square); });
    law("The pull was divided by the square of the distance, not its cube.",
        "The vector from i to j has the length of the distance, so divide by the distance once "
        "more.",
        [=](at, at j, double square) { return j.mass / (square + e * e); });
    known.push_back({"The velocities were taken for the positions.",
                     "A body begins with x, y, z; then vx, vy, vz.", [=, &all] {
                         points moved = all;
                         for (point &p : moved) p.at = p.moves;
                         return oracle::accelerations(moved, e);
                     }});
    law("softening was added to the distance, not to its square.",
        "Add d * d + softening * softening; take the root of that, and the cube of the root.",
        [=](at, at j, double square) { return j.mass / std::pow(std::sqrt(square) + e, 3); });
    law("softening was added, not its square.", "d * d + softening * softening.",
        [=](at, at j, double square) { return j.mass / cube_of_root(square + e); });
    law("The division was by the root, not by its cube.",
        "One over the root, three times: (d * d + softening * softening)^(3/2).",
        [=](at, at j, double square) { return j.mass / std::sqrt(square + e * e); });
    law("Bodies that are far apart do not pull at each other.",
        "Does an intermediate result exceed the largest float, some 3.4e38? The sixth power of "
        "their distance does. The cube of the reciprocal root stays small.",
        [=](at, at j, double square) {
            const bool fits = std::pow(square + e * e, 3) <= std::numeric_limits<float>::max();
            return fits ? j.mass / softened(square) : 0;
        });
    law("Nothing is softened but a body's pull on itself.",
        "softening is part of the distance of every two bodies.",
        [=](at, at j, double square) { return square == 0 ? 0 : j.mass / cube_of_root(square); });
    for (std::size_t tile : {32, 64, 128, 256, 512, 1024}) {
        add_tile_mistakes(known, all, e, tile);
        add_fill_mistake(known, all, e, tile);
    }
    return known;
}

void expect_accelerations(const output<float4> &out, const points &all, double softening)
{
    expect_bodies("out", out, oracle::accelerations(all, softening), double(all.size()),
                  wrong_pulls(all, softening));
    expect_fourth("out", out.values, quads(out.size()), "out[i].w must be 0.");
}

// A state in the form in which it is compared: x, y, z of every position or of every velocity. The
// largest pull of all sets the scale of the change in a step.
static pulls coordinates_of(const motion &m, int steps, bool velocities)
{
    double largest = 0, time = m.dt * steps;
    for (const pull &a : m.accelerations)
        for (double size : a.magnitude) largest = std::max(largest, size);
    pulls values;
    for (const point &p : m.all) {
        pull v{velocities ? p.moves : p.at, {}};
        for (int c = 0; c < 3; ++c) {
            double moved = std::abs(p.moves[c]) + time * largest;
            v.magnitude[c] = velocities ? moved : std::abs(p.at[c]) + time * moved;
        }
        values.push_back(v);
    }
    return values;
}

// Different mistakes lead to the same positions, or the same velocities; never both.
static std::vector<look_alike> wrong_steps(const motion &start, int steps, const quads &got_places,
                                           const quads &got_velocities, bool velocities)
{
    auto if_both_fit = [&, steps, velocities](const motion &m) {
        const quads &got = velocities ? got_places : got_velocities;
        pulls like = coordinates_of(m, steps, !velocities);
        for (std::size_t i = 0; i < got.size(); ++i)
            if (!close(got[i], like[i], double(got.size()))) return pulls{};
        return coordinates_of(m, steps, velocities);
    };
    auto each = [=](const std::vector<part> &step) {
        return [=] {
            motion m = start;
            m.apply(accelerate);
            for (int s = 0; s < steps; ++s)
                for (part p : step) m.apply(p);
            return if_both_fit(m);
        };
    };
    const char *halves = "Half a kick, the drift, half a kick.";
    std::vector<look_alike> known = {
        {"The kick after the drift uses the pull from before it.",
         "The bodies have moved: compute the accelerations anew.",
         each({accelerate, half_kick, drift, half_kick})},
        {"Positions were changed before the kick, by the velocities of the step before.",
         "First half a kick, then the drift by the new velocity.", each({accelerate, drift, kick})},
        {"Both kicks were whole ones.", "Half a kick, the drift, half a kick: dt / 2.",
         each({kick, drift, accelerate, kick})},
        {"The positions were changed before the first kick.",
         "Change the velocity first, then the position by the new velocity.",
         each({drift, half_kick, accelerate, half_kick})},
        {"The kick before the drift was a whole one.", halves, each({accelerate, kick, drift})},
        {"The kick after the drift is missing.", halves, each({accelerate, half_kick, drift})},
        {"Positions were changed in both halves of the step.",
         "There is one drift between two kicks.",
         each({half_kick, drift, accelerate, half_kick, drift})},
        {"Velocities have not changed.",
         "Is the changed velocity stored? And is the kick's factor 0: 1 / 2 * dt is, for in C++ "
         "1 / 2 is a whole number, 0?",
         each({drift})},
        {"A drift, a kick and a drift were made.", "A step begins and ends with half a kick.",
         each({half_drift, accelerate, kick, half_drift})},
        {"Positions were changed by half a step.", "The drift is by dt, the kicks are by dt / 2.",
         each({half_kick, half_drift, accelerate, half_kick})},
        {"The kick before the drift is missing.", halves, each({drift, accelerate, half_kick})},
        {"The pull of the beginning was used throughout.",
         "The accelerations change with every drift: compute them anew.",
         each({half_kick, drift, half_kick})},
    };
    if (steps > 1)
        known.push_back({"Only one step was made.", "Make `steps` of them.", [=] {
                             motion m = start;
                             m.all = oracle::step(start.all, start.softening, start.dt, 1);
                             m.apply(accelerate);
                             return if_both_fit(m);
                         }});
    return known;
}

void expect_moved(const step_call &call, const output<float4> &position_mass,
                  const output<float4> &velocity)
{
    auto same = [](const quads &x, const quads &y) {
        return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float4)) == 0;
    };
    bool stands =
        same(call.position_mass, position_mass.values) && same(call.velocity, velocity.values);
    expect(!stands || call.steps == 0 || call.velocity.empty(), verdict::NOT_WRITTEN,
           "step returned, and every body is where it was.",
           "How many iterations does the loop over the steps have for these numbers? If it has "
           "any: does a kernel run there, and write both arrays?");
    expect_fourth("position_mass", position_mass.values, call.position_mass,
                  "Masses do not change.");
    expect_fourth("velocity", velocity.values, call.velocity,
                  "Only x, y and z of a velocity change.");
}

void expect_stepped(const step_call &call, const output<float4> &position_mass,
                    const output<float4> &velocity, bool recognise)
{
    const int steps = call.steps;
    motion start{oracle::points(call.position_mass, call.velocity), call.softening, call.dt, {}};
    motion end = start;
    end.all = oracle::step(start.all, call.softening, call.dt, steps);
    end.apply(accelerate);
    auto judged = [&](const char *name, const output<float4> &got, bool velocities) {
        std::vector<look_alike> known;
        if (recognise)
            known = wrong_steps(start, steps, position_mass.values, velocity.values, velocities);
        expect_bodies(name, got, coordinates_of(end, steps, velocities), double(end.all.size()),
                      known);
    };
    judged("position_mass", position_mass, false);
    judged("velocity", velocity, true);
}
