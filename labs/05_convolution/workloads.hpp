// Inputs, workloads and gates of lab 05.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// Whole numbers make every sum exact, in whatever order: a wrong one can be told from its cause.
floats inputs_for(std::size_t n, bool whole);
// Points in an image of this size, and up to 3 pixels beyond its edges.
points random_points(std::size_t n, float width, float height);

// Filters: a lens out of focus, a disc, a little more of it to one side; and light from the lower
// right, of radius 2, in which what rises in that direction becomes bright.
floats disc(int radius);
floats relief();
// Calls a function with the picture of a harbour, ends the case if the result is wrong, and keeps
// pictures of both and of their difference.
void filter_the_harbour(border beyond, const floats &filter, int radius);
void separate_the_harbour(int radius);

// The speed cases filter one image: convolve and convolve_clamped with 9 x 9 elements,
// convolve_separable with 17 and 17.
enum class function { direct, clamped, separable };
grading::make_workload large_image(enum function what);
grading::speed_gates filter_gates(); // of convolve: where the filter lies; counted only
grading::speed_gates direct_gates(enum function what);
grading::speed_gates separable_gates();

// One call of sample_bilinear with many points.
grading::make_workload many_samples();
grading::speed_gates sampling_gates();
