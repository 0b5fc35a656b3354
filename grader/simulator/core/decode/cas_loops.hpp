// Finds loads whose value is only a guess that a compare-and-swap then verifies.
#pragma once

#include "simulator/ptx/ptx.hpp"

#include <vector>

namespace simulator::core {

// Returns for each statement if it is a plain load whose value reaches the comparison operand of
// an `atom.cas` of the same size at the same address, as in
//
//     old = *p;
//     do assumed = old, old = atomicCAS(p, assumed, f(assumed)); while (old != assumed);
//
// Such a load may run concurrently with atomics of other threads: if one intervenes, the swap
// fails.
std::vector<char> guessing_loads(const ptx::body &);

} // namespace simulator::core
