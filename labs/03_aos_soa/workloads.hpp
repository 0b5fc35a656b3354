// Inputs, workloads and gates of lab 03.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <functional>

floats random_particles(int n);
// By which several arrays are told apart: sixteenths have exact squares.
floats in_sixteenths(std::size_t particles);
// All bits that a float may have, also those of no number.
floats any_bits(std::size_t particles);
// One of them is where the distances are measured from: what divides by its distance shows.
floats with_one_at(float3 centre, floats aos);
float3 random_place(float max);
numbers random_numbers(int k, int n);

// The functions whose particles lie as the submission chose.
enum class task { drift, distance_all, distance_some };
const char *name_of(task);

// One call with many particles, and one with a large matrix.
enum class transposition { plain, to_soa, to_aos };
grading::make_workload particles_in(layout form, task what);
grading::make_workload matrix_for(transposition what);
// The speed cases, with their gates. Returns false if is_right(), which may be empty, does: the
// layout was not chosen.
bool race_particles(task what, layout chosen, std::function<bool()> is_right = {});
void race_matrix(transposition what);
// Counts only the bytes that a conversion moves.
void race_bytes_moved(transposition conversion);
