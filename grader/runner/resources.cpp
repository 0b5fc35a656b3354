// Reads what the machine has, and divides it among processes that grade side by side.
#include "resources.hpp"

#include "api/inputs.hpp"
#include "process/cores.hpp"
#include "run_options.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <string>

namespace grading {

// Threads that make inputs, or check outputs, go on while this changes.
static std::atomic<bool> is_alone = false;

void work_alone(bool alone) { is_alone = alone; }

std::size_t cores()
{
    if (is_alone) return options().beside_clock > 0 ? options().beside_clock : usable_cores();
    const unsigned processes = static_cast<unsigned>(std::max(1, options().side_by_side));
    return std::max(1u, usable_cores() / processes);
}

std::uint64_t available_memory()
{
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    for (std::uint64_t kib; file >> key >> kib && std::getline(file, unit);)
        if (key == "MemAvailable:")
            return std::min(kib << 10, granted_memory("/sys/fs/cgroup").value_or(kib << 10));
    return 0;
}

std::optional<std::uint64_t> granted_memory(const std::string &folder)
{
    std::uint64_t most = 0, used = 0, cached = 0;
    std::ifstream limit(folder + "/memory.max"), current(folder + "/memory.current");
    if (!(limit >> most) || !(current >> used)) return std::nullopt; // "max" is no number
    std::ifstream parts(folder + "/memory.stat");
    std::string name;
    for (std::uint64_t bytes; parts >> name >> bytes;)
        if (name == "inactive_file") cached = bytes; // is given up at need
    return most - std::min(most, used - std::min(used, cached));
}

int places_at_device(std::uint64_t device_bytes, std::uint64_t host_bytes)
{
    const std::uint64_t by_device = device().memory_free / 10 * 9 / device_bytes;
    const std::uint64_t by_host = available_memory() / host_bytes;
    constexpr std::uint64_t max_places = 64;
    return static_cast<int>(std::clamp<std::uint64_t>(std::min(by_device, by_host), 1, max_places));
}

} // namespace grading
