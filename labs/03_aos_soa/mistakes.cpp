// Recognises the cause of a wrong answer of lab 03.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace grading;

static layout other(layout form) { return form == layout::aos ? layout::soa : layout::aos; }

floats arranged(const floats &aos, layout form)
{
    return form == layout::soa ? oracle::to_soa(aos) : aos;
}

floats structs(const floats &given, layout form)
{
    return form == layout::soa ? oracle::to_aos(given) : given;
}

static const char *const wrong_layout = "The particles were taken for the other layout.";
static const char *const wrong_layout_hint =
    "What the function named ..._layout returns, and how the kernel finds a field, must be the "
    "same layout; lab.hpp has both formulas.";

std::vector<misconception<float>> wrong_drifts(const floats &given, layout form, float dt)
{
    // Particles in `as` moved by `move(the particle's fields)`.
    auto moved = [&given](layout as, auto move) {
        return [&given, as, move] {
            floats aos = structs(given, as);
            for (std::size_t i = 0; i < aos.size(); i += fields) move(&aos[i]);
            return arranged(aos, as);
        };
    };
    return {
        {wrong_layout, wrong_layout_hint,
         moved(other(form), [dt](float *p) { p[field_x] += p[field_vx] * dt; })},
        {"x was moved by vx, without dt.", "A step lasts dt: x += vx * dt.",
         moved(form, [](float *p) { p[field_x] += p[field_vx]; })},
        {"The step was left in vx.", "Only x changes: keep the step in a local variable.",
         moved(form,
               [dt](float *p) {
                   p[field_vx] *= dt;
                   p[field_x] += p[field_vx];
               })},
        {"x was set to the step, not moved by it.", "x += vx * dt.",
         moved(form, [dt](float *p) { p[field_x] = p[field_vx] * dt; })},
        {"dt was truncated to a whole number.",
         "dt is a float: keep it one in every argument on its way to the kernel.",
         moved(form, [dt](float *p) { p[field_x] += p[field_vx] * std::trunc(dt); })},
        {"The field after the right one was taken for vx.", "vx is field 8, counted from 0.",
         moved(form, [dt](float *p) { p[field_x] += p[field_vx + 1] * dt; })},
    };
}

// For the particles in `chosen`, in that order.
std::vector<misconception<float>> wrong_distances(const floats &given, layout form, float3 centre,
                                                  const numbers &chosen)
{
    // Particles in `as`, with these fields for x, y and z.
    auto measured = [&given, &chosen, centre](layout as, auto measure,
                                              const std::array<int, 3> &from) {
        return [&given, &chosen, centre, as, measure, from] {
            floats aos = structs(given, as), out;
            for (int i : chosen) {
                const float *p = &aos[std::size_t(fields) * i];
                out.push_back(
                    measure(p[from[0]] - centre.x, p[from[1]] - centre.y, p[from[2]] - centre.z));
            }
            return out;
        };
    };
    auto distance = [](float x, float y, float z) { return std::sqrt(x * x + y * y + z * z); };
    const std::array<int, 3> xyz = {field_x, field_y, field_z};
    std::vector<misconception<float>> known = {
        {wrong_layout, wrong_layout_hint, measured(other(form), distance, xyz)},
        {"These are the squares of the distances.", "Take the square root: sqrtf.",
         measured(
             form, [](float x, float y, float z) { return x * x + y * y + z * z; }, xyz)},
        {"z was left out.", "A distance in space has three terms under the root.",
         measured(
             form, [](float x, float y, float) { return std::sqrt(x * x + y * y); }, xyz)},
        {"These are the distances from the origin.", "Subtract `centre` from x, y and z first.",
         measured(
             form,
             [centre, distance](float x, float y, float z) {
                 return distance(x + centre.x, y + centre.y, z + centre.z);
             },
             xyz)},
    };
    for (std::size_t axis = 0; axis < xyz.size(); ++axis)
        for (int taken = 0; taken < fields; ++taken) {
            if (taken == xyz[axis]) continue;
            const std::string name(1, "xyz"[axis]);
            std::array<int, 3> from = xyz;
            from[axis] = taken;
            known.push_back({"Field " + std::to_string(taken) + " was taken for " + name + ".",
                             name + " is field " + std::to_string(xyz[axis]) + ", counted from 0.",
                             measured(form, distance, from)});
        }
    return known;
}

std::vector<misconception<float>> wrong_choices(const floats &given, layout form, float3 centre,
                                                const numbers &chosen,
                                                const std::vector<double> &distances)
{
    std::vector<misconception<float>> known = wrong_distances(given, form, centre, chosen);
    known.push_back({"These are the first particles, not those that `which` names.",
                     "out[j] is for particle which[j].", [&chosen, &distances] {
                         floats first(chosen.size());
                         for (std::size_t j = 0; j < first.size(); ++j)
                             first[j] = static_cast<float>(distances[j % distances.size()]);
                         return first;
                     }});
    return known;
}

// For a conversion of `given`.
std::vector<misconception<float>> wrong_conversions(const floats &given)
{
    return {{"The floats were copied in the order they had.",
             "Field f of particle i is float 16 * i + f of `aos` and float n * f + i of `soa`.",
             [&given] { return given; }}};
}

std::vector<misconception<float>> wrong_transposes(const floats &in, int rows, int cols)
{
    return {
        {"The tiles are in their places, but each still has its rows as rows.",
         "Exchange the indices within the tile as well: tile[x][y] = ..., ... = tile[y][x].",
         [&in, rows, cols] {
             constexpr int tile = 32;
             floats out = oracle::transpose(in, rows, cols);
             for (int r = 0; r < rows; ++r)
                 for (int c = 0; c < cols; ++c) {
                     int to_c = c / tile * tile + r % tile, to_r = r / tile * tile + c % tile;
                     if (to_c < cols && to_r < rows)
                         out[std::size_t(to_c) * rows + to_r] = in[std::size_t(r) * cols + c];
                 }
             return out;
         }},
    };
}

// NaN looks alike whatever its bits.
static std::string shown_bits(float x)
{
    char bits[16];
    std::snprintf(bits, sizeof bits, " (0x%08x)", std::bit_cast<std::uint32_t>(x));
    return show_element(x) + bits;
}

void expect_bits(const output<float> &got, const floats &want)
{
    for (std::size_t i = 0; i < want.size(); ++i)
        expect(std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i]),
               verdict::WRONG_ANSWER,
               "Element " + std::to_string(i) + " is " + shown_bits(got[i]) + ", and should be " +
                   shown_bits(want[i]) + ", bit by bit.",
               "Copy the floats without computing with them: load and store them as they are. A "
               "texture, too, alters the bits of a NaN.");
}
