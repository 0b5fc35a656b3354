// Counts the submission's threads without those of the CUDA driver.
#pragma once

namespace grading {

// Returns the number of threads of this process without the main one, those that the driver
// started, and `baseline` others. Waits briefly for ending threads. Returns 0 if the number is
// unknown.
int left_threads(int baseline = 0);

} // namespace grading
