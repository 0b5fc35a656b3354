// Grades lab 13, bodies that attract each other.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;
using oracle::point;
using oracle::pull;
using oracle::triple;
using body_list = std::vector<body>;
using points = std::vector<point>;
using pulls = std::vector<pull>;
using quads = std::vector<float4>;

// Inputs. No two masses are equal.

static body_list random_bodies(std::size_t n, float extent = 1, triple centre = {})
{
    std::vector<float> f = random_floats(6 * n), mass = random_floats(n, 0.25f, 2);
    body_list all;
    for (std::size_t i = 0; i < n; ++i) {
        const float *at = &f[6 * i];
        all.push_back({extent * at[0] + float(centre[0]), extent * at[1] + float(centre[1]),
                       extent * at[2] + float(centre[2]), at[3], at[4], at[5], mass[i]});
    }
    return all;
}

// The same bodies as step takes them. The fourth float of a velocity has no meaning.
struct state {
    quads position_mass, velocity;
};
static state state_of(const body_list &bodies)
{
    state s;
    for (const body &b : bodies) {
        s.position_mass.push_back({b.x, b.y, b.z, b.mass});
        s.velocity.push_back({b.vx, b.vy, b.vz, 1000 + b.x});
    }
    return s;
}

// Comparing. Results are judged body by body, within a bound: sums in different orders need not
// agree in any bit.

struct look_alike {
    std::string cause, next;
    std::function<pulls()> looks_like;
};

// Every term contains a root and a few roundings, so the bound is never below 32 units in the last
// place of the terms' absolute values.
static bool close(const float4 &got, const pull &want, double terms)
{
    terms = std::max(terms, 64.0);
    return within(got.x, want.value[0], terms, want.magnitude[0]) &&
           within(got.y, want.value[1], terms, want.magnitude[1]) &&
           within(got.z, want.value[2], terms, want.magnitude[2]);
}

static std::string in_words(double x, double y, double z)
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
                "be scratch memory that was never written.",
                {}};
    if (all_wrong([&](std::size_t i) { return !got[i].x && !got[i].y && !got[i].z; }))
        return {"All wrong results are 0.",
                "Does the loop reach the last, partial tile? Is the sum stored, or only computed?",
                {}};
    if (imprecise(got, want, wrong))
        return {"That is close, but not as precise as float arithmetic.",
                "Compute in float throughout, and subtract positions before you square them.",
                {}};
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
                "same formula?",
                {}};
    if (first > 0 && n - first == wrong.size())
        return {"All bodies from " + std::to_string(first) + " on are wrong, the rest right.",
                "How is the last, partial block or tile handled?",
                {}};
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
static void expect_fourth(const std::string &name, const quads &got,
                          const std::function<float(std::size_t)> &want, const char *hint)
{
    for (std::size_t i = 0; i < got.size(); ++i)
        expect(got[i].w == want(i), verdict::WRONG_ANSWER,
               name + "[" + std::to_string(i) + "].w should be " + show_element(want(i)) +
                   " and is " + show_element(got[i].w) + ".",
               hint);
}

// The wrong accelerations that the grader recognises.

// Returns for each body i the sum over j of strength(i, j, squared distance) times the vector from
// i to j.
template <class Strength> static pulls summed(const points &all, Strength strength)
{
    pulls sums(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < all.size(); ++j) {
            double square = 0, between[3];
            for (int c = 0; c < 3; ++c) {
                between[c] = all[j].at[c] - all[i].at[c];
                square += between[c] * between[c];
            }
            double by = strength(i, j, square);
            for (int c = 0; c < 3; ++c) {
                sums[i].value[c] += by * between[c];
                sums[i].magnitude[c] += std::abs(by * between[c]);
            }
        }
    return sums;
}

static double cube_of_root(double square) { return square * std::sqrt(square); }

// Only some of the bodies pull, because of tiles of `side` bodies.
static void add_tile_mistakes(std::vector<look_alike> &known, const points &all, double softening,
                              std::size_t side)
{
    auto some = [=, &all](std::size_t from, std::size_t to) {
        return [=, &all] {
            return summed(all, [=, &all](std::size_t, std::size_t j, double square) {
                bool there = from <= j && j < to;
                return there ? all[j].mass / cube_of_root(square + softening * softening) : 0;
            });
        };
    };
    std::size_t n = all.size(), whole = n / side * side, last = (n - 1) / side * side;
    if (n <= side) return;
    known.push_back({"Only the last " + std::to_string(n - last) + " bodies pull.",
                     "The sum must last across all tiles: set it to 0 before the first, and use "
                     "each tile before the next is loaded over it.",
                     some(last, n)});
    auto first = [&](std::size_t count, const char *next) {
        known.push_back(
            {"Only the first " + std::to_string(count) + " bodies pull.", next, some(0, count)});
    };
    if (whole < n)
        first(whole, "n / tile rounds down and leaves out the rest: round up, and fill the last "
                     "tile with points without mass.");
    if (side != whole) first(side, "A block must go through all bodies, one tile at a time.");
}

// Points without mass that fill the last tile of `side`, at the origin, pull as if they had one.
static void add_fill_mistake(std::vector<look_alike> &known, const points &all, double softening,
                             std::size_t side)
{
    std::size_t fill = (side - all.size() % side) % side;
    if (fill == 0) return;
    // The same again and again is rounded the same way each time.
    double rounded = std::sqrt(double(fill));
    known.push_back(
        {"All masses were taken to be 1, also those of the points that fill the last tile.",
         "The pull is proportional to the other body's mass.", [=, &all] {
             pulls sums = summed(all, [=](auto, auto, double square) {
                 return 1 / cube_of_root(square + softening * softening);
             });
             for (std::size_t i = 0; i < all.size(); ++i) {
                 double square = softening * softening;
                 for (double x : all[i].at) square += x * x;
                 for (int c = 0; c < 3; ++c) {
                     double by = double(fill) * all[i].at[c] / cube_of_root(square);
                     sums[i].value[c] -= by;
                     sums[i].magnitude[c] += rounded * std::abs(by);
                 }
             }
             return sums;
         }});
}

static std::vector<look_alike> wrong_pulls(const points &all, double softening)
{
    double e = softening;
    auto law = [&all](auto strength) { return [&all, strength] { return summed(all, strength); }; };
    std::vector<look_alike> known = {
        {"All masses were taken to be 1.", "The pull has the factor mass_j.",
         law([=](auto, auto, double square) { return 1 / cube_of_root(square + e * e); })},
        {"These are forces: the mass of the body itself is a factor too.",
         "An acceleration does not depend on the mass of the body that is pulled.",
         law([=, &all](std::size_t i, std::size_t j, double square) {
             return all[i].mass * all[j].mass / cube_of_root(square + e * e);
         })},
        {"vx was taken for the mass.", "A body has seven floats; the mass is the last of them.",
         law([=, &all](auto, std::size_t j, double square) {
             return all[j].moves[0] / cube_of_root(square + e * e);
         })},
        {"The bodies push each other away.", "The vector from i to j is x_j - x_i.",
         law([=, &all](auto, std::size_t j, double square) {
             return -all[j].mass / cube_of_root(square + e * e);
         })},
        {"The pull was divided by the square of the distance, not its cube.",
         "The vector from i to j has the length of the distance, so divide by the distance once "
         "more.",
         law([=, &all](auto, std::size_t j, double square) {
             return all[j].mass / (square + e * e);
         })},
        {"The velocities were taken for the positions.",
         "A body begins with x, y, z; then vx, vy, vz.",
         [=, &all] {
             points moved = all;
             for (point &p : moved) p.at = p.moves;
             return summed(moved, [=, &moved](auto, std::size_t j, double square) {
                 return moved[j].mass / cube_of_root(square + e * e);
             });
         }},
        {"softening was added to the distance, not to its square.",
         "Add d * d + softening * softening; take the root of that, and the cube of the root.",
         law([=, &all](auto, std::size_t j, double square) {
             double far = std::sqrt(square) + e;
             return all[j].mass / (far * far * far);
         })},
        {"softening was added, not its square.", "d * d + softening * softening.",
         law([=, &all](auto, std::size_t j, double square) {
             return all[j].mass / cube_of_root(square + e);
         })},
        {"The division was by the root, not by its cube.",
         "One over the root, three times: (d * d + softening * softening)^(3/2).",
         law([=, &all](auto, std::size_t j, double square) {
             return all[j].mass / std::sqrt(square + e * e);
         })},
        {"Bodies that are far apart do not pull at each other.",
         "Does an intermediate result exceed the largest float, some 3.4e38? The sixth power of "
         "their distance does. The cube of the reciprocal root stays small.",
         law([=, &all](auto, std::size_t j, double square) {
             const double sixth = std::pow(square + e * e, 3);
             return sixth > std::numeric_limits<float>::max()
                        ? 0
                        : all[j].mass / cube_of_root(square + e * e);
         })},
        {"Nothing is softened but a body's pull on itself.",
         "softening is part of the distance of every two bodies.",
         law([=, &all](std::size_t i, std::size_t j, double square) {
             return i == j || square == 0 ? 0 : all[j].mass / cube_of_root(square);
         })},
    };
    for (std::size_t side : {32, 64, 128, 256, 512, 1024}) {
        add_tile_mistakes(known, all, e, side);
        add_fill_mistake(known, all, e, side);
    }
    return known;
}

// One call. The places say how many elements past a 256-byte boundary an array begins.
static void try_accelerations(const body_list &bodies, float softening, int bodies_at = 0,
                              int out_at = 0)
{
    points all = oracle::points(bodies);
    output<float4> out(bodies.size());
    hint_past_the_end("n is no multiple of a block or a tile: which threads have no body to load, "
                      "and which have none to store?");
    CALL(accelerations, misaligned(bodies, bodies_at), misaligned(out, out_at), int(bodies.size()),
         softening, scratch);
    expect_bodies("out", out, oracle::accelerations(all, softening), double(bodies.size()),
                  wrong_pulls(all, softening));
    expect_fourth(
        "out", out.values, [](std::size_t) { return 0.0f; }, "out[i].w must be 0.");
}

// The wrong steps that the grader recognises.

namespace {

// The parts of a step, any of which may be wrong.
struct moving {
    points all;
    double softening, dt;
    pulls pull_now;
    void look() { pull_now = oracle::accelerations(all, softening); }
    void kick(double share)
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            for (int c = 0; c < 3; ++c) all[i].moves[c] += pull_now[i].value[c] * dt * share;
    }
    void drift()
    {
        for (point &p : all)
            for (int c = 0; c < 3; ++c) p.at[c] += p.moves[c] * dt;
    }
};

} // namespace

// A state in the form in which it is compared: x, y, z of every position or of every velocity. The
// largest pull of all sets the scale of the change in a step.
static pulls places_of(const moving &m, int steps, bool velocities)
{
    double largest = 0, time = m.dt * steps;
    for (const pull &a : m.pull_now)
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
static std::vector<look_alike> wrong_steps(const moving &start, int steps, const quads &got_places,
                                           const quads &got_velocities, bool velocities)
{
    auto if_both_fit = [&, steps, velocities](const moving &m) {
        const quads &got = velocities ? got_places : got_velocities;
        pulls like = places_of(m, steps, !velocities);
        for (std::size_t i = 0; i < got.size(); ++i)
            if (!close(got[i], like[i], double(got.size()))) return pulls{};
        return places_of(m, steps, velocities);
    };
    auto each = [=](auto a_step) {
        return [=] {
            moving m = start;
            m.look();
            for (int s = 0; s < steps; ++s) a_step(m);
            return if_both_fit(m);
        };
    };
    auto one_step = [=] {
        moving m = start;
        m.all = oracle::step(start.all, start.softening, start.dt, 1);
        m.look();
        return if_both_fit(m);
    };
    std::vector<look_alike> known = {
        {"The kick after the drift uses the pull from before it.",
         "The bodies have moved: compute the accelerations anew.", each([](moving &m) {
             m.look();
             m.kick(0.5);
             m.drift();
             m.kick(0.5);
         })},
        {"Positions were changed before the kick, by the velocities of the step before.",
         "First half a kick, then the drift by the new velocity.", each([](moving &m) {
             m.look();
             m.drift();
             m.kick(1);
         })},
        {"Both kicks were whole ones.", "Half a kick, the drift, half a kick: dt / 2.",
         each([](moving &m) {
             m.kick(1);
             m.drift();
             m.look();
             m.kick(1);
         })},
        {"The positions were changed before the first kick.",
         "Change the velocity first, then the position by the new velocity.", each([](moving &m) {
             m.drift();
             m.kick(0.5);
             m.look();
             m.kick(0.5);
         })},
        {"The kick before the drift was a whole one.", "Half a kick, the drift, half a kick.",
         each([](moving &m) {
             m.look();
             m.kick(1);
             m.drift();
         })},
        {"The kick after the drift is missing.", "Half a kick, the drift, half a kick.",
         each([](moving &m) {
             m.look();
             m.kick(0.5);
             m.drift();
         })},
        {"Positions were changed in both halves of the step.",
         "There is one drift between two kicks.", each([](moving &m) {
             m.kick(0.5);
             m.drift();
             m.look();
             m.kick(0.5);
             m.drift();
         })},
        {"Velocities have not changed.",
         "Is dt / 2 equal to 0? In C++, 1 / 2 is a whole number: 0.",
         each([](moving &m) { m.drift(); })},
        {"A drift, a kick and a drift were made.", "A step begins and ends with half a kick.",
         each([](moving &m) {
             m.dt /= 2;
             m.drift();
             m.look();
             m.dt *= 2;
             m.kick(1);
             m.dt /= 2;
             m.drift();
             m.dt *= 2;
         })},
        {"Positions were changed by half a step.", "The drift is by dt, the kicks are by dt / 2.",
         each([](moving &m) {
             m.kick(0.5);
             m.dt /= 2;
             m.drift();
             m.dt *= 2;
             m.look();
             m.kick(0.5);
         })},
        {"The kick before the drift is missing.", "Half a kick, the drift, half a kick.",
         each([](moving &m) {
             m.drift();
             m.look();
             m.kick(0.5);
         })},
        {"The pull of the beginning was used throughout.",
         "The accelerations change with every drift: compute them anew.", each([](moving &m) {
             m.kick(0.5);
             m.drift();
             m.kick(0.5);
         })},
    };
    if (steps > 1) known.push_back({"Only one step was made.", "Make `steps` of them.", one_step});
    return known;
}

static void expect_moved(const state &before, const output<float4> &position_mass,
                         const output<float4> &velocity, int steps)
{
    auto same = [](const quads &x, const quads &y) {
        return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float4)) == 0;
    };
    bool stands =
        same(before.position_mass, position_mass.values) && same(before.velocity, velocity.values);
    expect(!stands || steps == 0 || before.velocity.empty(), verdict::NOT_WRITTEN,
           "step returned, and every body is where it was.",
           "How many iterations does the loop over the steps have for these numbers? If it has "
           "any: does a kernel run there, and write both arrays?");
    expect_fourth(
        "position_mass", position_mass.values,
        [&](std::size_t i) { return before.position_mass[i].w; }, "Masses do not change.");
    expect_fourth(
        "velocity", velocity.values, [&](std::size_t i) { return before.velocity[i].w; },
        "Only x, y and z of a velocity change.");
}

static void try_step(const body_list &bodies, float softening, float dt, int steps, int at = 0)
{
    state s = state_of(bodies);
    output<float4> position_mass = changed_in_place(s.position_mass);
    output<float4> velocity = changed_in_place(s.velocity);
    CALL(step, misaligned(position_mass, at), misaligned(velocity, 2 * at), int(bodies.size()),
         softening, dt, steps, scratch);
    expect_moved(s, position_mass, velocity, steps);
    moving start{oracle::points(s.position_mass, s.velocity), softening, dt, {}}, end = start;
    end.all = oracle::step(start.all, softening, dt, steps);
    end.look();
    double terms = double(bodies.size());
    expect_bodies("position_mass", position_mass, places_of(end, steps, false), terms,
                  wrong_steps(start, steps, position_mass.values, velocity.values, false));
    expect_bodies("velocity", velocity, places_of(end, steps, true), terms,
                  wrong_steps(start, steps, position_mass.values, velocity.values, true));
}

// Two rotating clusters that fall through each other.

static body_list two_clusters(std::size_t n)
{
    std::vector<float> f = random_floats(4 * n);
    body_list all;
    for (std::size_t i = 0; i < n; ++i) {
        const float *at = &f[4 * i], side = i % 2 ? 1.0f : -1.0f;
        // Dense in the middle, flat, and with about the speed of an orbit around the inner bodies.
        float length = std::max(0.1f, std::hypot(at[0], at[1], at[2]));
        float x = 0.22f * at[0] * length, y = 0.22f * at[1] * length, z = 0.11f * at[2] * length;
        float square = x * x + y * y, turn = 0.55f / std::pow(square + 0.02f, 0.75f);
        all.push_back({x + 0.8f * side, y + 0.3f * side, z, -y * turn - 0.4f * side,
                       x * turn + 0.1f * side, 0, (1 + 0.75f * at[3]) / float(n)});
    }
    return all;
}

// The paths of the bodies, seen from above: 360 x 360 pixels, brighter where they were later.
class trails {
public:
    trails() : pixels_(std::size_t(side) * side) {}
    void draw(const quads &from, const quads &to, float brightness)
    {
        for (std::size_t i = 0; i < to.size(); ++i) {
            float dx = to[i].x - from[i].x, dy = to[i].y - from[i].y;
            int dots = 1 + int(std::min(2 * scale * std::hypot(dx, dy), 1000.0f));
            for (int d = 0; d < dots; ++d)
                add(from[i].x + dx * float(d) / float(dots),
                    from[i].y + dy * float(d) / float(dots), brightness);
        }
    }
    void keep(const quads &at_last)
    {
        draw(at_last, at_last, 1);
        keep_picture("clusters", side, side, pixels_);
    }

private:
    static constexpr int side = 360;
    static constexpr float scale = side / 2.4f;
    void add(float x, float y, float brightness)
    {
        float column = std::floor(side / 2 + scale * x), row = std::floor(side / 2 - scale * y);
        if (column >= 0 && column < side && row >= 0 && row < side)
            pixels_[std::size_t(row) * side + std::size_t(column)] += brightness;
    }
    std::vector<float> pixels_;
};

// NaN cannot be drawn.
static void expect_finite(const quads &places, int steps)
{
    for (std::size_t i = 0; i < places.size(); ++i)
        expect(std::isfinite(places[i].x) && std::isfinite(places[i].y) &&
                   std::isfinite(places[i].z),
               verdict::WRONG_ANSWER,
               "position_mass[" + std::to_string(i) + "] is not a position, but " +
                   in_words(places[i].x, places[i].y, places[i].z) + ", after " +
                   std::to_string(steps) + " good steps.",
               "0 times infinity is NaN, as in a body's pull on itself without softening: is "
               "softening in every distance?");
}

// A leapfrog keeps the energy within half a thousandth here, whatever the seed; Euler's method ends
// with a third too much and more.
static void expect_energy_kept(std::size_t n)
{
    constexpr float softening = 0.1f, dt = 0.02f;
    constexpr int calls = 20, steps = 5;
    constexpr double allowed = 0.01;
    state s = state_of(two_clusters(n));
    double before = oracle::energy(oracle::points(s.position_mass, s.velocity), softening);
    trails picture;
    for (int c = 0; c < calls; ++c) {
        output<float4> position_mass = changed_in_place(s.position_mass);
        output<float4> velocity = changed_in_place(s.velocity);
        CALL(step, position_mass, velocity, int(n), softening, dt, steps, scratch);
        expect_moved(s, position_mass, velocity, steps);
        expect_finite(position_mass.values, c * steps);
        picture.draw(s.position_mass, position_mass.values, 0.04f + 0.12f * float(c) / calls);
        s = {position_mass.values, velocity.values};
    }
    picture.keep(s.position_mass);
    double after = oracle::energy(oracle::points(s.position_mass, s.velocity), softening);
    double gain = (after - before) / std::abs(before);
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.2g", 100 * std::abs(gain));
    expect(std::abs(gain) <= allowed, verdict::WRONG_ANSWER,
           "After 100 steps the bodies have " + std::string(percent) + " % " +
               (gain > 0 ? "more" : "less") +
               " energy than at first; a leapfrog keeps it within 1 %.",
           "No outside force acts on them, so the energy should stay the same. Does every kick use "
           "the pull at the bodies' current positions, in the last of several steps as well?");
}

// The speed cases.

// On a GPU enough for some milliseconds; not a multiple of a block or a tile.
static int raced_bodies(bool stepping)
{
    if (simulated()) return 2039;
    if (device().multiprocessors < 80) return stepping ? 30011 : 50021;
    return stepping ? 70001 : 100003;
}

// New positions and masses. Velocities stay the same.
static void renew(body_list &bodies, std::mt19937_64 &random)
{
    std::uniform_real_distribution<float> place_of(-1, 1), mass_of(0.25f, 2);
    for (body &b : bodies) {
        b.x = place_of(random), b.y = place_of(random), b.z = place_of(random);
        b.mass = mass_of(random);
    }
}

static constexpr const char *many_bodies =
    "The smaller cases are right, so look for what only many bodies have: many blocks, many tiles, "
    "parts of sums.";

static std::string wrong_body(const char *name, std::size_t i, const float4 &got,
                              const triple &want)
{
    return std::string(name) + "[" + std::to_string(i) + "] should be " +
           in_words(want[0], want[1], want[2]) + " and is " + in_words(got.x, got.y, got.z) + ".";
}

namespace {

// Sums looked at closely: each within its bound, and all together much closer. Summed one after
// the other in float, 70001 and 100003 bodies leave 0.03 of the bound, by the mean of squares;
// 0.06 is the most that any order leaves. Crowds that pull as one, or half precision, leave more.
class close_look {
public:
    close_look(const char *name, std::size_t terms) : name_(name), terms_(double(terms)) {}
    void add(std::size_t i, const float4 &got, const pull &want)
    {
        expect(close(got, want, terms_), verdict::WRONG_ANSWER,
               wrong_body(name_, i, got, want.value), many_bodies);
        const float coordinates[] = {got.x, got.y, got.z};
        for (int c = 0; c < 3; ++c) {
            double bound = 4 * std::sqrt(terms_) * 0x1p-24 * want.magnitude[c];
            double share = (coordinates[c] - want.value[c]) / std::max(bound, 1e-300);
            squares_ += share * share;
            ++count_;
        }
    }
    void expect_precise() const
    {
        expect(squares_ <= 0.08 * 0.08 * count_, verdict::WRONG_ANSWER,
               std::string(name_) +
                   " is close, but not as precise as sums of all bodies in float are.",
               "Let every body pull for itself, and compute in float throughout.");
    }

private:
    const char *name_;
    double terms_, squares_ = 0;
    int count_ = 0;
};

// The bodies to check closely in a round: all on the simulator; on a GPU a few, which no submission
// can know.
std::vector<std::size_t> looked_at(std::size_t n)
{
    constexpr std::size_t few = 24;
    std::vector<std::size_t> chosen(simulated() ? n : few);
    std::mt19937_64 random(unforeseen());
    for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = simulated() ? k : random() % n;
    return chosen;
}

} // namespace

namespace {

class attracting : public workload {
public:
    explicit attracting(std::mt19937_64 &random)
        : bodies_(static_cast<std::size_t>(raced_bodies(false))), out_(bodies_.size())
    {
        renew(bodies_, random);
    }
    const char *function() const override { return "accelerations"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(accelerations)>::arguments(bodies_, out_, int(bodies_.size()),
                                                          softening, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(bodies_, random);
        return {std::as_writable_bytes(std::span(bodies_))};
    }
    // A few bodies are computed anew. The forces of all bodies cancel, so that a wrong one among
    // many shows in their sum.
    void check() override
    {
        points all = oracle::points(bodies_);
        double largest = 0, weight = 0;
        triple force{};
        close_look look("out", all.size());
        for (std::size_t i : looked_at(all.size())) {
            pull want = oracle::acceleration(all, i, softening);
            look.add(i, out_[i], want);
            for (double size : want.magnitude) largest = std::max(largest, size);
        }
        look.expect_precise();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const float4 &a = out_[i];
            weight += all[i].mass;
            force[0] += all[i].mass * a.x;
            force[1] += all[i].mass * a.y;
            force[2] += all[i].mass * a.z;
        }
        expect(std::hypot(force[0], force[1], force[2]) <= 0x1p-19 * largest * weight,
               verdict::WRONG_ANSWER,
               "Of " + std::to_string(all.size()) +
                   " bodies some accelerations are wrong: the sum of mass times acceleration over "
                   "all bodies should be 0, and is not.",
               many_bodies);
    }
    double bytes() const override { return 44.0 * double(bodies_.size()); }
    double multiply_adds() const override
    {
        return 13.0 * double(bodies_.size()) * double(bodies_.size());
    }

private:
    static constexpr float softening = 0.0625f;
    body_list bodies_;
    output<float4> out_;
};

// On a GPU one step, of which every body can be checked by itself; else two.
class stepping : public workload {
public:
    explicit stepping(std::mt19937_64 &random)
        : bodies_(static_cast<std::size_t>(raced_bodies(true))),
          position_mass_(0),
          velocity_(0),
          dt(16 / float(bodies_.size()))
    {
        std::uniform_real_distribution<float> speed(-1, 1);
        for (body &b : bodies_) b.vx = speed(random), b.vy = speed(random), b.vz = speed(random);
        renew(bodies_, random);
        begin_anew();
    }
    static int steps() { return simulated() ? 2 : 1; }
    const char *function() const override { return "step"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(step)>::arguments(position_mass_, velocity_, int(bodies_.size()),
                                                 softening, dt, steps(), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(bodies_, random);
        begin_anew();
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        expect_moved(before_, position_mass_, velocity_, steps());
        moving start{oracle::points(before_.position_mass, before_.velocity), softening, dt, {}};
        points now = oracle::points(position_mass_.values, velocity_.values);
        expect_same_motion(start.all, now);
        if (steps() > 1) return expect_all(start);
        close_look look("velocity", now.size());
        for (std::size_t i : looked_at(now.size())) expect_one(start.all, now, i, look);
        look.expect_precise();
    }
    double bytes() const override { return 64.0 * double(bodies_.size()); }
    double multiply_adds() const override
    {
        return 13.0 * (steps() + 1) * double(bodies_.size()) * double(bodies_.size());
    }

private:
    static constexpr float softening = 0.0625f;
    void begin_anew()
    {
        before_ = state_of(bodies_);
        position_mass_ = changed_in_place(before_.position_mass);
        velocity_ = changed_in_place(before_.velocity);
    }
    void expect_all(moving m) const
    {
        m.all = oracle::step(m.all, softening, dt, steps());
        m.look();
        double terms = double(m.all.size());
        expect_bodies("position_mass", position_mass_, places_of(m, steps(), false), terms, {});
        expect_bodies("velocity", velocity_, places_of(m, steps(), true), terms, {});
    }
    // The second kick uses the pull at the new positions.
    void expect_one(const points &start, const points &now, std::size_t i, close_look &look) const
    {
        pull first = oracle::acceleration(start, i, softening);
        pull second = oracle::acceleration(now, i, softening);
        pull at, moves;
        for (int c = 0; c < 3; ++c) {
            double half = start[i].moves[c] + first.value[c] * dt / 2;
            at.value[c] = start[i].at[c] + half * dt;
            moves.value[c] = half + second.value[c] * dt / 2;
            moves.magnitude[c] =
                std::abs(start[i].moves[c]) + (first.magnitude[c] + second.magnitude[c]) * dt / 2;
            at.magnitude[c] = std::abs(start[i].at[c]) + moves.magnitude[c] * dt;
        }
        expect(close(position_mass_[i], at, 1), verdict::WRONG_ANSWER,
               wrong_body("position_mass", i, position_mass_[i], at.value), many_bodies);
        look.add(i, velocity_[i], moves);
    }
    // No outside force acts on the bodies, so their total momentum stays the same.
    static void expect_same_motion(const points &before, const points &now)
    {
        triple lost{};
        double size = 0;
        for (std::size_t i = 0; i < now.size(); ++i)
            for (int c = 0; c < 3; ++c) {
                lost[c] += now[i].mass * (now[i].moves[c] - before[i].moves[c]);
                size += now[i].mass * std::abs(before[i].moves[c]);
            }
        expect(std::hypot(lost[0], lost[1], lost[2]) <= 0x1p-19 * size, verdict::WRONG_ANSWER,
               "Of " + std::to_string(now.size()) +
                   " bodies some velocities are wrong: the sum of mass times velocity over all "
                   "bodies should stay the same, and does not.",
               many_bodies);
    }

    body_list bodies_;
    state before_;
    output<float4> position_mass_, velocity_;
    float dt; // so large that the pull at the end of a step clearly differs from that at its
              // beginning
};

} // namespace

static make_workload attract_bodies()
{
    return [](std::mt19937_64 &random) { return std::make_unique<attracting>(random); };
}

static make_workload step_bodies()
{
    return [](std::mt19937_64 &random) { return std::make_unique<stepping>(random); };
}

static speed_gates gates_of(bool stepping_too)
{
    double n = raced_bodies(stepping_too), times = stepping_too ? stepping::steps() + 1 : 1;
    double interactions = times * n * n;
    speed_gates gates;
    // On an H200 a tile alone reaches 1.8 and 30 %, several bodies per thread, too few blocks, 2.6
    // and 45 %; with the fewer bodies of a step 1.4 and 21 %, 2.0 and 31 %.
    gates.speedup = stepping_too ? 1.7 : 2.1;
    gates.fma = {stepping_too ? 0.26 : 0.36, 0.65, 0.75};
    gates.fma_needed = 0.5; // terms that a pair have in common may be computed once for both
    gates.counted = {
        at_most("sectors per interaction", {0.0075}, "", // a tile of 128 has 0.0039, packing 0.002
                "Every thread reads all bodies from global memory for itself. Let the threads of a "
                "block load a tile of them into shared memory together, and read them from there.",
                [=](const counted &c) { return moved_sectors(c) / interactions; }),
        at_most(
            "exact divisions and roots per interaction", {0.05}, "",
            "An exact division takes about ten instructions, an exact square root as many, and a "
            "whole interaction needs no more than thirteen. Use rsqrtf, which is one over a root.",
            [=](const counted &c) {
                return double(c.exact_divisions + c.exact_square_roots) / interactions;
            }),
        // An occasional sum in double, such as one per tile, is a small part of an interaction.
        at_most("operations in double per interaction", {0.2}, "",
                "Most GPUs have one unit for double to every 64 for float. The contract asks for "
                "float: are all constants floats (0.5f), and the functions (rsqrtf, not rsqrt)?",
                [=](const counted &c) { return double(c.double_operations) / interactions; }),
        at_most("accesses per interaction", {0.07, 0.04, 0.02}, "",
                "Each body that a thread reads serves only one interaction. Let the thread have "
                "several bodies of its own, and use each body it reads for all of them.",
                [=](const counted &c) { return accesses(c) / interactions; }),
        // Two blocks of 1024 bodies. With 2048 there are 49 on a GPU, for 132 multiprocessors.
        blocks_share(1.5), lanes_at_work()};
    auto multiplied = [=](const counted &c) { return double(c.multiplications) / interactions; };
    auto spare_threads = [n](const counted &c) -> std::string {
        double each = double(c.threads) / double(std::max<std::uint64_t>(c.launches, 1));
        if (each < 2 * n) return {};
        return "A launch has " + std::to_string(std::llround(each)) +
               " threads on average, and there are " + std::to_string(std::llround(n)) +
               " bodies: is the grid's size computed from n, and do blocks without a body work, "
               "too?";
    };
    for (counted_gate &gate : gates.counted)
        if (gate.name.starts_with("sectors") || gate.name.starts_with("accesses"))
            gate.cause = spare_threads;
    // The two bodies of a pair may share common terms.
    gates.counted.push_back(at_least("multiplications by kernels per interaction", {4}, "",
                                     "Let kernels compute every pull, and the host none.",
                                     multiplied));
    // If missed, it also explains the other gates. Blocks of 384 bodies, the last of which has few
    // of its own, have 10.5 and those of 640 have 11.3; computing the pull anew before each step
    // makes 12.
    if (stepping_too)
        gates.counted.insert(
            gates.counted.begin(),
            at_most("multiplications per interaction", {11.7}, "",
                    "The pull was computed more than steps + 1 times (TODO 5): the pull after one "
                    "step is the pull before the next. An interaction takes nine.",
                    multiplied));
    if (stepping_too) gates.counted.front().about = "step";
    gates.too_slow =
        "An interaction needs no more than thirteen instructions: no exact root, no division. Then "
        "let each thread have several bodies, so that each body it reads serves several "
        "interactions; and make sure that there are enough blocks for all multiprocessors.";
    return gates;
}

static void expect_nothing_kept(const char *function, const std::function<void()> &call)
{
    expect(!leaks(call), verdict::RESOURCE_LIMIT,
           std::string("Device memory that ") + function +
               " allocated is still in use after it has returned, and the next call takes more.",
           "Free all memory that a call allocates, or use the scratch memory that the contract "
           "provides.");
}

CORRECTNESS_CASE("accelerations: a few bodies", 2) { try_accelerations(random_bodies(5), 0.3f); }

CORRECTNESS_CASE("accelerations: sizes around a tile and a block", 3.5)
{
    try_accelerations({}, 1);
    for (std::size_t n : {1, 2, 31, 32, 33, 63, 65, 127, 128, 129, 255, 256, 257, 511, 513, 700})
        try_accelerations(random_bodies(n), 0.1f);
}

CORRECTNESS_CASE("accelerations: more than one block of any size", 1)
{
    try_accelerations(random_bodies(1031), 0.05f);
}

CORRECTNESS_CASE("accelerations: near, far, and at the same place", 2)
{
    body_list bodies = random_bodies(90);
    for (std::size_t i = 0; i < 30; ++i) { // thirty in one place, thirty far from all
        bodies[i].x = 0.5f, bodies[i].y = -0.25f, bodies[i].z = 0.125f;
        bodies[30 + i].x *= 1e5f, bodies[30 + i].y *= 1e5f, bodies[30 + i].z *= 1e5f;
    }
    bodies[40].mass = bodies[70].mass = 0;
    for (float softening : {1e-4f, 1.0f, 1e3f}) try_accelerations(bodies, softening);
    // Two that are near each other, and one as far from them as the contract allows.
    body_list corners = random_bodies(3);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const float at = i == 2 ? -1e6f : 1e6f - 100 * float(i);
        corners[i].x = corners[i].y = corners[i].z = at;
        corners[i].mass *= 1e5f;
    }
    try_accelerations(corners, 1);
}

CORRECTNESS_CASE("accelerations: a cluster far from the origin", 1)
{
    try_accelerations(random_bodies(150, 1, {30, -10, 20}), 0.5f);
}

CORRECTNESS_CASE("accelerations: arrays that begin anywhere", 1)
{
    for (int at : {1, 2, 3, 5}) try_accelerations(random_bodies(70), 0.2f, at, 1);
    expect_nothing_kept("accelerations", [] { try_accelerations(random_bodies(70), 0.2f); });
    run_streams(stream_work::late);
    try_accelerations(random_bodies(70), 0.2f);
}

SPEED_CASE("accelerations: speed", 11.5, 5) { race(attract_bodies(), gates_of(false)); }

CORRECTNESS_CASE("step: one step of a few bodies", 1.5)
{
    try_step(random_bodies(5), 0.5f, 0.125f, 1);
}

CORRECTNESS_CASE("step: several steps, one, and none", 3)
{
    try_step(random_bodies(33), 0.5f, 0.02f, 2);
    try_step(random_bodies(300), 0.5f, 0.004f, 4);
    try_step(random_bodies(700), 0.5f, 0.002f, 1);
    try_step(random_bodies(64), 0.5f, 0.02f, 3, 1);
    try_step(random_bodies(40), 0.5f, 0.1f, 0);
    try_step({}, 0.5f, 0.1f, 3);
    expect_nothing_kept("step", [] { try_step(random_bodies(33), 0.5f, 0.02f, 2); });
    run_streams(stream_work::late);
    try_step(random_bodies(33), 0.5f, 0.02f, 2);
}

CORRECTNESS_CASE("step: the energy of two clusters over 100 steps", 3)
{
    expect_energy_kept(simulated() ? 160 : 2048);
}

SPEED_CASE("step: speed", 10.5, 5) { race(step_bodies(), gates_of(true)); }
