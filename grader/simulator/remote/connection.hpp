// Where a worker finds its simulated devices, and how it ends without them.
#pragma once

namespace simulator::remote {

constexpr int given_connection = 7;        // the descriptor
constexpr int status_without_device = 125; // of a process whose devices no longer answer

} // namespace simulator::remote
