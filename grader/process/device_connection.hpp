// Descriptor of a worker's connection to its simulated devices, and its exit status without them.
#pragma once

namespace simulator {

constexpr int given_connection = 7;        // the descriptor
constexpr int status_without_device = 125; // exit status if the devices no longer answer

} // namespace simulator
