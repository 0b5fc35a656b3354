// Wrong answers of lab 13 that the grader recognises. Results are judged body by body, within a
// bound: sums in different orders need not agree in any bit.
#pragma once

#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <cstddef>
#include <string>
#include <vector>

using points = std::vector<oracle::point>;
using quads = std::vector<float4>;

// True if x, y and z of `got` are within the bound of a sum of so many terms.
bool close(const float4 &got, const oracle::pull &want, double terms);

// For messages: "(x, y, z)" of the place or velocity.
std::string in_words(double x, double y, double z);
inline std::string in_words(const float4 &got) { return in_words(got.x, got.y, got.z); }

// Ends the case unless these are the accelerations of all bodies.
void expect_accelerations(const grading::output<float4> &out, const points &all, double softening);

// A call of step, with the bodies before it.
struct step_call {
    quads position_mass, velocity;
    float softening, dt;
    int steps;
};

// Ends the case if the call left every body where it was, or changed a mass or the fourth
// float of a velocity.
void expect_moved(const step_call &call, const grading::output<float4> &position_mass,
                  const grading::output<float4> &velocity);

// Ends the case unless the bodies are where the call had to bring them. `recognise`: a message may
// name the part of the step that was wrong.
void expect_stepped(const step_call &call, const grading::output<float4> &position_mass,
                    const grading::output<float4> &velocity, bool recognise);
