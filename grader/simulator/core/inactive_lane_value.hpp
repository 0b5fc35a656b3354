// The value that a shuffle returns for an inactive lane: undefined on hardware, so best no number.
#pragma once

#include <cstdint>

constexpr std::uint32_t inactive_lane_value = 0x7ff8dead; // a NaN as f32, and two of them as f64
