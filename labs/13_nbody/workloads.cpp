// Inputs and workloads of lab 13: bodies that attract each other.
#include "workloads.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;
using oracle::pull;
using oracle::triple;
using body_list = std::vector<body>;

body_list random_bodies(std::size_t n, float extent, triple centre)
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

step_call call_with(const body_list &bodies, float softening, float dt, int steps)
{
    step_call call{{}, {}, softening, dt, steps};
    for (const body &b : bodies) {
        call.position_mass.push_back({b.x, b.y, b.z, b.mass});
        call.velocity.push_back({b.vx, b.vy, b.vz, 1000 + b.x}); // the fourth has no meaning
    }
    return call;
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

namespace {

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

} // namespace

// NaN cannot be drawn.
static void expect_finite(const quads &places, int steps)
{
    for (std::size_t i = 0; i < places.size(); ++i)
        expect(std::isfinite(places[i].x) && std::isfinite(places[i].y) &&
                   std::isfinite(places[i].z),
               verdict::WRONG_ANSWER,
               "position_mass[" + std::to_string(i) + "] is not a position, but " +
                   in_words(places[i]) + ", after " + std::to_string(steps) + " good steps.",
               "0 times infinity is NaN, as in a body's pull on itself without softening: is "
               "softening in every distance?");
}

// A leapfrog keeps the energy within half a thousandth here, whatever the seed; Euler's method ends
// with a third too much and more.
void expect_energy_kept(std::size_t n)
{
    constexpr float softening = 0.1f, dt = 0.02f;
    constexpr int calls = 20, steps = 5;
    constexpr double allowed = 0.01;
    step_call now = call_with(two_clusters(n), softening, dt, steps);
    auto energy = [&now] {
        return oracle::energy(oracle::points(now.position_mass, now.velocity), softening);
    };
    const double before = energy();
    trails picture;
    for (int c = 0; c < calls; ++c) {
        output<float4> position_mass = changed_in_place(now.position_mass);
        output<float4> velocity = changed_in_place(now.velocity);
        CALL(step, position_mass, velocity, int(n), softening, dt, steps, scratch);
        expect_moved(now, position_mass, velocity);
        expect_finite(position_mass.values, c * steps);
        picture.draw(now.position_mass, position_mass.values, 0.04f + 0.12f * float(c) / calls);
        now.position_mass = position_mass.values;
        now.velocity = velocity.values;
    }
    picture.keep(now.position_mass);
    double gain = (energy() - before) / std::abs(before);
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.2g", 100 * std::abs(gain));
    expect(std::abs(gain) <= allowed, verdict::WRONG_ANSWER,
           "After 100 steps the bodies have " + std::string(percent) + " % " +
               (gain > 0 ? "more" : "less") +
               " energy than at first; a leapfrog keeps it within 1 %.",
           "No outside force acts on them, so the energy should stay the same. Does every kick use "
           "the pull at the bodies' current positions, in the last of several steps as well?");
}

// On a GPU enough for some milliseconds; not a multiple of a block or a tile.
int raced_bodies(motion_of what)
{
    const bool stepping = what == motion_of::steps;
    if (simulated()) return 2039;
    if (device().multiprocessors < 80) return stepping ? 30011 : 50021;
    return stepping ? 70001 : 100003;
}

int raced_steps() { return simulated() ? 2 : 1; }

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
           in_words(want[0], want[1], want[2]) + " and is " + in_words(got) + ".";
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

class attracting : public workload {
public:
    explicit attracting(std::mt19937_64 &random)
        : bodies_(static_cast<std::size_t>(raced_bodies(motion_of::accelerations))),
          out_(bodies_.size())
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
        : bodies_(static_cast<std::size_t>(raced_bodies(motion_of::steps))),
          position_mass_(0),
          velocity_(0),
          dt(16 / float(bodies_.size()))
    {
        std::uniform_real_distribution<float> speed(-1, 1);
        for (body &b : bodies_) b.vx = speed(random), b.vy = speed(random), b.vz = speed(random);
        renew(bodies_, random);
        begin_anew();
    }
    const char *function() const override { return "step"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(step)>::arguments(position_mass_, velocity_, int(bodies_.size()),
                                                 softening, dt, before_.steps, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(bodies_, random);
        begin_anew();
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        expect_moved(before_, position_mass_, velocity_);
        points start = oracle::points(before_.position_mass, before_.velocity);
        points now = oracle::points(position_mass_.values, velocity_.values);
        expect_same_motion(start, now);
        if (before_.steps > 1) return expect_stepped(before_, position_mass_, velocity_, false);
        close_look look("velocity", now.size());
        for (std::size_t i : looked_at(now.size())) expect_one(start, now, i, look);
        look.expect_precise();
    }
    double bytes() const override { return 64.0 * double(bodies_.size()); }
    double multiply_adds() const override
    {
        return 13.0 * (before_.steps + 1) * double(bodies_.size()) * double(bodies_.size());
    }

private:
    static constexpr float softening = 0.0625f;
    void begin_anew()
    {
        before_ = call_with(bodies_, softening, dt, raced_steps());
        position_mass_ = changed_in_place(before_.position_mass);
        velocity_ = changed_in_place(before_.velocity);
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
    step_call before_;
    output<float4> position_mass_, velocity_;
    float dt; // so large that the pull at the end of a step clearly differs from that at its
              // beginning
};

} // namespace

make_workload many_bodies_of(motion_of what)
{
    return [what](std::mt19937_64 &random) -> std::unique_ptr<workload> {
        if (what == motion_of::steps) return std::make_unique<stepping>(random);
        return std::make_unique<attracting>(random);
    };
}
