// Counters of one call from the simulator, and the counter gates of a speed case.
#pragma once

#include "grading.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace grading {

constexpr std::uint64_t sector_bytes = 32; // the unit in which device memory is accessed

// Sectors moved at a source line beyond the fewest that would do.
inline std::uint64_t wasted(const counted::site &s)
{
    return s.sectors > s.ideal_sectors ? s.sectors - s.ideal_sectors : 0;
}

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

// True if the gate's pass step is reached, or if it has none.
bool passes(const counted_gate &gate, double value);

// "sector bytes used by loads: 12.5 %, at least 95 % is required; naive: 12.5 %", and the source
// line responsible for it if it is a gate on memory accesses.
std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive);

} // namespace grading
