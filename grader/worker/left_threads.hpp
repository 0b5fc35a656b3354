// Counts the submission's threads without those of the CUDA driver.
#pragma once

namespace grading {

// Returns the number of threads of this process besides the main one, those that the driver
// started, and `usual` others. Waits briefly for ending threads. 0 if the count is unknown.
int left_threads(int usual = 0);

} // namespace grading
