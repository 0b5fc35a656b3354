// Launches recorded by the mock machine.
#pragma once

#include "simulator/machine/machine.hpp"

namespace simulator::tests {

struct recorded_launch {
    std::string kernel;
    dim grid, block;
    std::uint32_t dynamic_shared;
    std::vector<std::byte> parameters;
    int device;
};

std::vector<recorded_launch> &launches(); // in launch order

} // namespace simulator::tests
