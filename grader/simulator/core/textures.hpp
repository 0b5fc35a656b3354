// Defines the selectors of texture fetches (instruction::offset) and surface accesses (`count`).
#pragma once

#include <cstdint>

namespace simulator::core {

inline constexpr std::int64_t texture_dimensions = 3; // 1 to 3
inline constexpr std::int64_t texture_layered = 4;
inline constexpr std::int64_t texture_by_index = 8; // coordinates are integers

// The effect of a surface access outside the surface, in instruction::flags.
enum class outside_surface : std::uint8_t { trap, clamp, zero };

} // namespace simulator::core
