// The processor cores of this process.
#pragma once

namespace grading {

// The cores that this process may use, by its affinity and by its container's quota; at least 1.
unsigned usable_cores();

// The cores that a grade may keep busy while it takes times on a GPU; 0: none, since there are few.
// On 16 cores times on the device were the same with and without a simulator on 12 of them
// (data/measured/README.md).
unsigned cores_beside_clock(unsigned cores);

} // namespace grading
