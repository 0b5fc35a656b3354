// Kernels and the code they come from, shared by registration, launches and queries.
#pragma once

#include "runtime.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace simulator::runtime {

struct binary; // defined in registration.cpp

struct kernel {
    binary *from;
    std::string name;
    std::optional<std::uint32_t> dynamic_shared; // cudaFuncAttributeMaxDynamicSharedMemorySize
};

kernel *find_kernel(const void *function); // by host function or handle; null if unknown
// Like resolve(function, out), for the given device.
cudaError_t resolve(const void *function, int device, resolved &out);

} // namespace simulator::runtime
