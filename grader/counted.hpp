// What the simulator counted of one call, and the counted gates of a speed case.
#pragma once

#include "grading.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace grading {

// Reads the counters of one call from the simulator's JSON. Throws std::exception when the text is
// anything else: a submission's worker wrote it, so it may be.
//
// `load_bytes` and `store_bytes` are the bytes of use: at each source line those asked for, a word
// that many lanes ask for counted no more often than its sector holds it.
counted parse_counters(std::string_view json);

// The counters' JSON out of a worker's answer to command::report: a count, so many
// simulator_finding, a length, so many bytes of text. Throws std::exception when it is cut short.
std::string report_counters(std::span<const std::byte> report);

// "12.5 %" of 0.125 in "%", "4 sectors a request" of 4; the number alone where there is no unit.
std::string show_counted(double value, const std::string &unit);

// Is the gate's pass step reached, or none asked for?
bool passes(const counted_gate &gate, double value);

// "sector bytes used by loads: 12.5 %, at least 95 % is required; naive: 12.5 %", and the source
// line behind it where it is one of memory accesses.
std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive);

} // namespace grading
