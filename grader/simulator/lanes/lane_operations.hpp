// Handlers that apply one operation, a type with a function `of`, to each lane.
#pragma once

#include "values.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

template <class Op, class T> void unary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(value_of<T>(a[l]))); });
}

template <class Op, class T> void binary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <class Op, class T> void ternary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b),
         e = lanes_of<storage<T>>(c, i.c);
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        return bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]), value_of<T>(e[l])));
    });
}

template <class T> struct unsigned_of {
    using type = T;
};
template <> struct unsigned_of<s16> {
    using type = u16;
};
template <> struct unsigned_of<s32> {
    using type = u32;
};
template <> struct unsigned_of<s64> {
    using type = u64;
};
template <class T> using bare = typename unsigned_of<T>::type;

} // namespace simulator::core::SIMULATOR_LEVEL
