// Applies the counter gates of a speed case.
#pragma once

#include "api/gates.hpp"

#include <string>

namespace grading {

// True if the value reaches this step of the gate; a step of 0 is not offered, and reached.
bool reaches(const counted_gate &gate, double step, double value);
// The same of the gate's pass step.
bool passes(const counted_gate &gate, double value);

// "sector bytes used by loads: 12.5 %, at least 95 % is required; naive: 12.5 %", and the source
// line responsible for it if it is a gate on memory accesses.
std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive);

} // namespace grading
