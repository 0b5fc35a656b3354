// The right results of lab 13, one pair of bodies after the other.
#include "oracle.hpp"

#include <cmath>
#include <cstddef>

namespace oracle {

std::vector<point> points(const std::vector<body> &bodies)
{
    std::vector<point> all;
    for (const body &b : bodies) all.push_back({{b.x, b.y, b.z}, {b.vx, b.vy, b.vz}, b.mass});
    return all;
}

std::vector<point> points(const std::vector<float4> &position_mass,
                          const std::vector<float4> &velocity)
{
    std::vector<point> all;
    for (std::size_t i = 0; i < position_mass.size(); ++i) {
        const float4 &p = position_mass[i], &v = velocity[i];
        all.push_back({{p.x, p.y, p.z}, {v.x, v.y, v.z}, p.w});
    }
    return all;
}

static double softened(const point &a, const point &b, double softening, triple &between)
{
    double square = softening * softening;
    for (int c = 0; c < 3; ++c) {
        between[c] = b.at[c] - a.at[c];
        square += between[c] * between[c];
    }
    return std::sqrt(square);
}

pull acceleration(const std::vector<point> &all, std::size_t of, double softening)
{
    pull sum{};
    for (const point &other : all) {
        triple between;
        double distance = softened(all[of], other, softening, between);
        double strength = other.mass / (distance * distance * distance);
        for (int c = 0; c < 3; ++c) {
            sum.value[c] += strength * between[c];
            sum.magnitude[c] += std::abs(strength * between[c]);
        }
    }
    return sum;
}

std::vector<pull> accelerations(const std::vector<point> &all, double softening)
{
    std::vector<pull> each;
    for (std::size_t i = 0; i < all.size(); ++i) each.push_back(acceleration(all, i, softening));
    return each;
}

std::vector<point> step(std::vector<point> all, double softening, double dt, int steps)
{
    auto kick = [&](double time) {
        std::vector<pull> each = accelerations(all, softening);
        for (std::size_t i = 0; i < all.size(); ++i)
            for (int c = 0; c < 3; ++c) all[i].moves[c] += each[i].value[c] * time;
    };
    for (int s = 0; s < steps; ++s) {
        kick(dt / 2);
        for (point &p : all)
            for (int c = 0; c < 3; ++c) p.at[c] += p.moves[c] * dt;
        kick(dt / 2);
    }
    return all;
}

double energy(const std::vector<point> &all, double softening)
{
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const triple &v = all[i].moves;
        sum += all[i].mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
        triple between;
        for (std::size_t j = 0; j < i; ++j) // each pair once
            sum -= all[i].mass * all[j].mass / softened(all[i], all[j], softening, between);
    }
    return sum;
}

} // namespace oracle
