// Handlers that apply one operation, a lambda, to each lane.
#pragma once

#include "values.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

template <auto op, class T> void unary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(op(value_of<T>(a[l]))); });
}

template <auto op, class T> void binary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(op(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <auto op, class T> void ternary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b),
         e = lanes_of<storage<T>>(c, i.c);
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        return bits_of<T>(op(value_of<T>(a[l]), value_of<T>(b[l]), value_of<T>(e[l])));
    });
}

// The comparison's result combined with predicate c: setp and set.
inline lane_mask combined(context &c, const instruction &i, lane_mask v)
{
    u32 how = i.extra & combine_mask;
    if (how == combine_none) return v;
    lane_mask p = predicate(c, i.c, i.flags & negate_c);
    return how == combine_and ? v & p : how == combine_or ? v | p : v ^ p;
}

} // namespace simulator::core::SIMULATOR_LEVEL
