// Reads what the machine has, and divides it among processes that grade side by side.
#include "resources.hpp"

#include "api/inputs.hpp"
#include "run_options.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace grading {

std::size_t cores()
{
    const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int processes = options().side_by_side;
    if (processes <= 1) return static_cast<std::size_t>(all);
    return static_cast<std::size_t>(std::max(1, all / processes));
}

std::uint64_t available_memory()
{
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    for (std::uint64_t kib; file >> key >> kib && std::getline(file, unit);)
        if (key == "MemAvailable:") return kib << 10;
    return 0;
}

int places_at_device(std::uint64_t device_bytes, std::uint64_t host_bytes)
{
    const std::uint64_t by_device = device().memory_free / 10 * 9 / device_bytes;
    const std::uint64_t by_host = available_memory() / host_bytes;
    constexpr std::uint64_t max_places = 64;
    return static_cast<int>(std::clamp<std::uint64_t>(std::min(by_device, by_host), 1, max_places));
}

} // namespace grading
