// Defines the modes of texture fetches (instruction::offset) and of surface accesses
// (instruction::count, instruction::flags).
#pragma once

#include <cstdint>

namespace simulator::core {

inline constexpr std::int64_t texture_dimensions = 3; // the bits that hold 1, 2 or 3
inline constexpr std::int64_t texture_layered = 4;
inline constexpr std::int64_t texture_by_index = 8; // integer coordinates: tex1Dfetch

// The out-of-bounds behaviour of a surface access (.trap, .clamp, .zero), in instruction::flags.
enum class outside_surface : std::uint8_t { trap, clamp, zero };

} // namespace simulator::core
