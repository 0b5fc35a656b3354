// What a lane gets from one that does not take part: undefined, so better of no use as a number.
#pragma once

#include <cstdint>

constexpr std::uint32_t inactive_lane_value = 0x7ff8dead; // as f32, and twice as f64: not a number
