// The value that a shuffle returns for an inactive source lane. PTX leaves it undefined: NaN shows.
#pragma once

#include <cstdint>

constexpr std::uint32_t inactive_lane_value = 0x7ff8dead; // a NaN as f32, and two of them as f64
