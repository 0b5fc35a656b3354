// Loads whose value is only a guess that a compare-and-swap then proves.
#pragma once

#include "ptx.hpp"

#include <vector>

namespace simulator::core {

// For each statement: whether it is a plain load of which the value reaches the operand that an
// `atom.cas` of the same size at the same address compares with, as in
//
//     old = *p;
//     do assumed = old, old = atomicCAS(p, assumed, f(assumed)); while (old != assumed);
//
// Such a load may meet atomics of other threads: when they come between, the swap fails.
std::vector<char> guessing_loads(const ptx::body &);

} // namespace simulator::core
