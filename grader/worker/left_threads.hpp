// The submission's threads, told from the CUDA driver's.
#pragma once

namespace grading {

// Threads of this process beyond the main one, those that the driver started, and `usual` others.
// One that is ending gets a moment to do so. 0 where nobody says.
int left_threads(int usual = 0);

} // namespace grading
