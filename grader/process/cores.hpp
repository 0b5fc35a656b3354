// The processor cores of this process.
#pragma once

namespace grading {

// The cores that this process may use, by its affinity and by its container's quota; at least 1.
unsigned usable_cores();

} // namespace grading
