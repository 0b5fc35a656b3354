// Descriptor of a worker's socket to its simulated devices, and its exit status without them.
#pragma once

namespace simulator {

constexpr int connection_fd = 7;
constexpr int status_without_device = 125; // exit status if the devices no longer answer

} // namespace simulator
