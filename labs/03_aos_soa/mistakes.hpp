// The wrong answers of lab 03 that the grader recognises.
#pragma once

#include "grader/grading.hpp"
#include "lab.hpp"

#include <cstddef>
#include <vector>

using floats = std::vector<float>;
using numbers = std::vector<int>;

// Brings an array of structs into a layout, and particles of a layout into an array of structs.
floats arranged(const floats &aos, layout form);
floats structs(const floats &given, layout form);

// `given`: the particles before the step, in the layout that was chosen.
std::vector<grading::misconception<float>> wrong_drifts(const floats &given, layout form, float dt);
// Distances of the particles in `chosen`, in that order.
std::vector<grading::misconception<float>> wrong_distances(const floats &given, layout form,
                                                           float3 centre, const numbers &chosen);
// The same for distance_some; `distances` are those of all particles.
std::vector<grading::misconception<float>> wrong_choices(const floats &given, layout form,
                                                         float3 centre, const numbers &chosen,
                                                         const std::vector<double> &distances);
// `given`: the particles in the layout to convert from.
std::vector<grading::misconception<float>> wrong_conversions(const floats &given);
std::vector<grading::misconception<float>> wrong_transposes(const floats &in, int rows, int cols);

// Ends the case unless these are the same bit by bit: NaN equals nothing.
void expect_bits(const grading::output<float> &got, const floats &want);
