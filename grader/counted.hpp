// What the simulator counted of one call, and the counted gates of a speed case.
#pragma once

#include "grading.hpp"

#include <string>
#include <string_view>

namespace grading {

// Reads the counters of one call from the simulator's JSON. Throws std::exception when the text is
// anything else: a submission's worker wrote it, so it may be.
//
// `load_bytes` and `store_bytes` are the bytes of use: at each source line those asked for, a word
// that many lanes ask for counted no more often than its sector holds it.
counted parse_counters(std::string_view json);

// Steps that a value reaches, of pass, good and excellent; a step of 0 is not offered.
struct reached_steps {
    bool pass = true;
    int reached = 0, offered = 0;
};
reached_steps judge_counted(const counted_gate &gate, double value);

// "sector bytes used by loads: 12.5 %, at least 95 % is required; naive: 12.5 %", and the source
// line behind it where it is one of memory accesses.
std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive);

} // namespace grading
