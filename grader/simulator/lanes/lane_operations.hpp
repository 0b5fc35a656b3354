// Defines handlers that apply one operation, a lambda, to each lane.
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

// Returns the result of setp or set: that of the comparison, combined with predicate c by the
// boolean operator, if any.
inline lane_mask combined(context &c, const instruction &i, lane_mask v)
{
    u32 operation = i.extra & combine_mask;
    if (operation == combine_none) return v;
    lane_mask p = predicate(c, i.c, i.flags & negate_c);
    return operation == combine_and ? v & p : operation == combine_or ? v | p : v ^ p;
}

} // namespace simulator::core::SIMULATOR_LEVEL
