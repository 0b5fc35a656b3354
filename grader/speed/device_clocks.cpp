// Loads a few functions of NVML by name: it belongs to the driver, not to the build.
#include "device_clocks.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>
#include <string_view>

namespace grading {

namespace {

// Constants of nvml.h: NVML_CLOCK_SM, and bits of the clocks event (once throttle) reasons.
constexpr int clock_sm = 1;
constexpr unsigned long long hw_slowdown = 0x8, sw_thermal_slowdown = 0x20,
                             hw_thermal_slowdown = 0x40, hw_power_brake_slowdown = 0x80;

template <class F> void find(void *library, const char *name, F &function)
{
    function = reinterpret_cast<F>(dlsym(library, name));
}

// The number of CUDA's device 0, if CUDA_VISIBLE_DEVICES gives it by number. NVML's numbers
// follow the PCI bus; CUDA's surely do only if CUDA_DEVICE_ORDER is PCI_BUS_ID.
std::optional<unsigned> first_visible()
{
    const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
    if (!list) return std::nullopt;
    unsigned index = 0;
    auto [end, error] = std::from_chars(list, list + std::strlen(list), index);
    if (error != std::errc{} || (*end != 0 && *end != ',')) return std::nullopt;
    return index;
}

} // namespace

device_clocks::device_clocks(const std::string &device_name)
{
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library_) return;
    int (*start)() = nullptr;
    find(library_, "nvmlInit_v2", start);
    if (!start || start() != 0) return;
    find(library_, "nvmlShutdown", shut_down_);
    find(library_, "nvmlDeviceGetClockInfo", clock_);
    find(library_, "nvmlDeviceGetCurrentClocksEventReasons", reasons_);
    if (!reasons_) find(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
    if (clock_) device_ = find_device(device_name);
}

device_clocks::~device_clocks()
{
    if (shut_down_) shut_down_();
    if (library_) dlclose(library_);
}

void *device_clocks::find_device(const std::string &name) const
{
    int (*count)(unsigned *) = nullptr;
    int (*handle)(unsigned, void **) = nullptr;
    int (*name_of)(void *, char *, unsigned) = nullptr;
    find(library_, "nvmlDeviceGetCount_v2", count);
    find(library_, "nvmlDeviceGetHandleByIndex_v2", handle);
    find(library_, "nvmlDeviceGetName", name_of);
    unsigned devices = 0;
    if (!count || !handle || !name_of || count(&devices) != 0) return nullptr;

    std::optional<unsigned> visible = devices > 1 ? first_visible() : std::nullopt;
    void *found = nullptr;
    for (unsigned i = 0; i < devices; ++i) {
        void *device = nullptr;
        char text[128] = {};
        if (visible && *visible != i) continue;
        if (handle(i, &device) != 0 || name_of(device, text, sizeof text) != 0) continue;
        if (name != text) continue;
        if (found) return nullptr; // ambiguous: both have the name
        found = device;
    }
    return found;
}

device_state device_clocks::sample() const
{
    device_state s;
    if (!device_) return s;
    unsigned mhz = 0;
    if (clock_(device_, clock_sm, &mhz) == 0) s.sm_mhz = mhz;
    unsigned long long why = 0;
    if (reasons_ && reasons_(device_, &why) == 0)
        s.throttled = why & (hw_slowdown | sw_thermal_slowdown | hw_thermal_slowdown |
                             hw_power_brake_slowdown);
    return s;
}

} // namespace grading
