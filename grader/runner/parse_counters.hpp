// Reads the counters that the simulator sends as JSON.
#pragma once

#include "api/counters.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace grading {

// Reads the counters of one call from the simulator's JSON. Throws std::exception if the text is
// anything else, which is possible because a submission's worker wrote it.
//
// `load_bytes` and `store_bytes` are useful bytes: at each source line the bytes that the lanes
// asked for, but no more than the ideal sectors hold, because lanes of a warp may ask for the same
// word.
counted parse_counters(std::string_view json);

// Extracts the counters' JSON from a worker's answer to command::report, which holds the number of
// findings, these (simulator_finding), the length of the text, and the text. Throws std::exception
// if it is cut short.
std::string report_counters(std::span<const std::byte> report);

} // namespace grading
