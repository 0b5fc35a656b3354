// Rounding and saturation of floating-point results.
#pragma once

#include "lanes.hpp"

#include <cfenv>

namespace simulator::core::SIMULATOR_LEVEL {

enum class rounding { nearest, zero, down, up };
constexpr int round_flag(rounding r)
{
    return r == rounding::zero ? FE_TOWARDZERO : r == rounding::down ? FE_DOWNWARD : FE_UPWARD;
}

class rounding_scope {
public:
    explicit rounding_scope(int mode) { std::fesetround(mode); }
    ~rounding_scope() { std::fesetround(FE_TONEAREST); }
    rounding_scope(const rounding_scope &) = delete;
    rounding_scope &operator=(const rounding_scope &) = delete;
};

template <class T> inline T saturated(T v) { return v > T(0) ? (v < T(1) ? v : T(1)) : T(0); }

} // namespace simulator::core::SIMULATOR_LEVEL
