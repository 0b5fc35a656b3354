// Workloads of lab 12: buffers of all members, and two batches of images.
#pragma once

#include "grader/grading.hpp"

#include "mistakes.hpp"

#include <cstddef>

// Floats per buffer, and pixels per batch. A buffer is long enough for a link's speed to show; a
// round hands all of it over anew.
std::size_t buffer_size();
std::size_t batch_size();

grading::make_workload broadcast_buffers();
grading::make_workload reduce_buffers();
grading::make_workload merge_batches();

// The gates, with four members on the simulator.
grading::speed_gates broadcast_gates();
grading::speed_gates reduce_gates();
grading::speed_gates reduce_speed();
grading::speed_gates merge_gates();
