// Maps PTX types to C++ types, and values to their representation in a lane.
#pragma once

#include "lanes.hpp"

#include <cmath>

namespace simulator::core::SIMULATOR_LEVEL {

struct half {
    u16 bits;
};

template <class T> struct named;
template <> struct named<u8> {
    static constexpr const char *u = "u8", *b = "b8";
};
template <> struct named<u16> {
    static constexpr const char *u = "u16", *b = "b16";
};
template <> struct named<u32> {
    static constexpr const char *u = "u32", *b = "b32";
};
template <> struct named<u64> {
    static constexpr const char *u = "u64", *b = "b64";
};
template <> struct named<s8> {
    static constexpr const char *u = "s8";
};
template <> struct named<s16> {
    static constexpr const char *u = "s16";
};
template <> struct named<s32> {
    static constexpr const char *u = "s32";
};
template <> struct named<s64> {
    static constexpr const char *u = "s64";
};
template <> struct named<float> {
    static constexpr const char *u = "f32";
};
template <> struct named<double> {
    static constexpr const char *u = "f64";
};
template <> struct named<half> {
    static constexpr const char *u = "f16";
};

template <int bytes> struct storage_of {
    using type = u32;
};
template <> struct storage_of<8> {
    using type = u64;
};
template <class T> using storage = typename storage_of<sizeof(T)>::type;

template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<double> = true;
template <> constexpr bool is_float<half> = true;
template <class T> constexpr bool is_signed = T(-1) < T(0);
template <> constexpr bool is_signed<half> = true;

template <class A, class B> struct same {
    static constexpr bool value = false;
};
template <class A> struct same<A, A> {
    static constexpr bool value = true;
};
template <class A, class B> constexpr bool is_same = same<A, B>::value;

template <class T> inline T value_of(storage<T> s)
{
    if constexpr (is_same<T, float> || is_same<T, double>) {
        T v;
        __builtin_memcpy(&v, &s, sizeof v);
        return v;
    } else if constexpr (is_same<T, half>) {
        return {static_cast<u16>(s)};
    } else {
        return static_cast<T>(s);
    }
}

inline float canonical(float f)
{
    u32 bits = 0x7fffffffu;
    float nan;
    __builtin_memcpy(&nan, &bits, 4);
    return f != f ? nan : f;
}
inline double canonical(double f) { return f; }

template <class T> inline storage<T> bits_of(T v)
{
    if constexpr (is_same<T, float> || is_same<T, double>) {
        storage<T> s;
        __builtin_memcpy(&s, &v, sizeof s);
        return s;
    } else if constexpr (is_same<T, half>) {
        return v.bits;
    } else if constexpr (sizeof(T) == 1) {
        return static_cast<u8>(v);
    } else if constexpr (sizeof(T) == 2) {
        return static_cast<u16>(v);
    } else {
        return static_cast<storage<T>>(v);
    }
}

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

// Rounds to a half: to nearest even (mode 0), towards zero (1), down (2) or up (3), which is the
// order of convert_flags from convert_nearest on. Takes a double because every narrower value fits.
inline half narrow(double v, int mode = 0)
{
    u64 b = bits_of(v);
    u16 sign = static_cast<u16>(b >> 48 & 0x8000);
    if (v != v) return {0x7fff};
    double a = std::fabs(v);
    if (a == HUGE_VAL) return {static_cast<u16>(sign | 0x7c00)};
    int e;
    std::frexp(a, &e);
    double unit = std::ldexp(1.0, e - 11 < -24 ? -24 : e - 11), scaled = a / unit;
    bool down = mode == 1 || (mode == 2 && !sign) || (mode == 3 && sign);
    double r = mode == 0 ? std::nearbyint(scaled) : down ? std::floor(scaled) : std::ceil(scaled);
    r *= unit;
    if (r >= 65536.0) return {static_cast<u16>(sign | (down ? 0x7bff : 0x7c00))};
    if (r < 0x1p-14) return {static_cast<u16>(sign | static_cast<u16>(r * 0x1p24))};
    std::frexp(r, &e);
    auto m = static_cast<u32>(std::ldexp(r, 11 - e)); // 1024 .. 2047
    return {static_cast<u16>(sign | (e + 14) << 10 | (m & 1023))};
}

template <class T> inline auto wide_value(T v)
{
    if constexpr (is_same<T, half>)
        return widen(v);
    else
        return v;
}

} // namespace simulator::core::SIMULATOR_LEVEL
