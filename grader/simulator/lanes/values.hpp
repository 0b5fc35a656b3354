// Maps PTX types to C++ types, and values to their representation in a lane; rounds and saturates.
#pragma once

#include "lanes.hpp"

#include <cfenv>
#include <cmath>
#include <type_traits>

namespace simulator::core::SIMULATOR_LEVEL {

struct half {
    u16 bits;
};

// Names of types in opcodes.
template <class T> constexpr const char *type_name = nullptr;
template <> inline constexpr const char *type_name<u8> = "u8";
template <> inline constexpr const char *type_name<u16> = "u16";
template <> inline constexpr const char *type_name<u32> = "u32";
template <> inline constexpr const char *type_name<u64> = "u64";
template <> inline constexpr const char *type_name<s8> = "s8";
template <> inline constexpr const char *type_name<s16> = "s16";
template <> inline constexpr const char *type_name<s32> = "s32";
template <> inline constexpr const char *type_name<s64> = "s64";
template <> inline constexpr const char *type_name<float> = "f32";
template <> inline constexpr const char *type_name<double> = "f64";
template <> inline constexpr const char *type_name<half> = "f16";

template <class T> using storage = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T> constexpr bool is_half = std::is_same_v<T, half>;
template <class T> constexpr bool is_float = std::is_floating_point_v<T> || is_half<T>;
template <class T> constexpr bool is_signed = std::is_signed_v<T> || is_half<T>;

template <class T> inline T value_of(storage<T> s)
{
    if constexpr (std::is_floating_point_v<T>)
        return __builtin_bit_cast(T, s);
    else if constexpr (is_half<T>)
        return {static_cast<u16>(s)};
    else
        return static_cast<T>(s);
}

template <class T> inline storage<T> bits_of(T v)
{
    if constexpr (std::is_floating_point_v<T>)
        return __builtin_bit_cast(storage<T>, v);
    else if constexpr (is_half<T>)
        return v.bits;
    else
        return static_cast<std::make_unsigned_t<T>>(v);
}

// f32 arithmetic returns one quiet NaN, 0x7fffffff (CUDA C++ Programming Guide).
inline float canonical(float f) { return f != f ? value_of<float>(0x7fffffffu) : f; }
inline double canonical(double f) { return f; }

// Flushes a subnormal number to zero of the same sign (.ftz).
inline float flushed(float f)
{
    u32 b = bits_of(f);
    return value_of<float>((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}
inline double flushed(double f) { return f; }
template <bool on, class T> inline T flush_if(T v)
{
    if constexpr (on)
        return flushed(v);
    else
        return v;
}

inline float widen(half h)
{
    u32 sign = (h.bits & 0x8000u) << 16, e = h.bits >> 10 & 31, m = h.bits & 1023;
    if (e == 31) return value_of<float>(sign | 0x7f800000u | m << 13);
    if (e != 0) return value_of<float>(sign | (e + 112) << 23 | m << 13);
    float f = static_cast<float>(m) * 0x1p-24f;
    return sign ? -f : f;
}
template <class T> inline T widen(T v) { return v; }

// In the order of convert_flags from convert_nearest on.
enum class rounding { nearest, zero, down, up };

// Rounds to f16. Takes a double, which holds every narrower value exactly.
inline half narrow(double v, rounding r = rounding::nearest)
{
    u64 b = bits_of(v);
    u16 sign = static_cast<u16>(b >> 48 & 0x8000);
    if (v != v) return {0x7fff};
    double a = std::fabs(v);
    if (a == HUGE_VAL) return {static_cast<u16>(sign | 0x7c00)};
    int e;
    std::frexp(a, &e);
    double unit = std::ldexp(1.0, e - 11 < -24 ? -24 : e - 11), scaled = a / unit;
    bool down = r == rounding::zero || r == (sign ? rounding::up : rounding::down);
    double n = r == rounding::nearest ? std::nearbyint(scaled)
               : down                 ? std::floor(scaled)
                                      : std::ceil(scaled);
    n *= unit;
    if (n >= 65536.0) return {static_cast<u16>(sign | (down ? 0x7bff : 0x7c00))};
    if (n < 0x1p-14) return {static_cast<u16>(sign | static_cast<u16>(n * 0x1p24))};
    std::frexp(n, &e);
    auto m = static_cast<u32>(std::ldexp(n, 11 - e)); // 1024 .. 2047
    return {static_cast<u16>(sign | (e + 14) << 10 | (m & 1023))};
}

// Sets the rounding mode of the CPU, and round-to-nearest at its end.
class rounding_scope {
public:
    explicit rounding_scope(rounding r)
    {
        std::fesetround(r == rounding::zero   ? FE_TOWARDZERO
                        : r == rounding::down ? FE_DOWNWARD
                                              : FE_UPWARD);
    }
    ~rounding_scope() { std::fesetround(FE_TONEAREST); }
    rounding_scope(const rounding_scope &) = delete;
    rounding_scope &operator=(const rounding_scope &) = delete;
};

// Clamps to [0, 1]; NaN becomes 0 (.sat).
template <class T> inline T saturated(T v) { return v > T(0) ? (v < T(1) ? v : T(1)) : T(0); }

} // namespace simulator::core::SIMULATOR_LEVEL
