// Samples the device's clock between timed runs, and looks who else uses the device.
#include "device_clocks.hpp"

#include "process/nvml.hpp"
#include "runner/case_run.hpp"

#include <cstdint>

namespace grading {

namespace {

// Bits of the clocks event (once throttle) reasons in nvml.h.
constexpr std::uint64_t hw_slowdown = 0x8, sw_thermal_slowdown = 0x20, hw_thermal_slowdown = 0x40,
                        hw_power_brake_slowdown = 0x80;

} // namespace

device_clocks::device_clocks(const std::string &device_name) : sharing_(device_name)
{
    static const nvml stays_started; // the next case's starts in no time
    require_alone();
}

void device_clocks::require_alone()
{
    const std::string shared = sharing_.look();
    if (!shared.empty())
        end_case(verdict::INFRA_ERROR, "No time is judged here: " + shared + ".",
                 "Grade when this GPU is yours alone; nvidia-smi lists who uses it.");
}

device_state device_clocks::sample()
{
    require_alone();
    device_state s;
    unsigned mhz = 0;
    if (sharing_.library().sm_clock(sharing_.device(), mhz)) s.sm_mhz = mhz;
    s.throttled =
        sharing_.library().clock_event_reasons(sharing_.device()) &
        (hw_slowdown | sw_thermal_slowdown | hw_thermal_slowdown | hw_power_brake_slowdown);
    return s;
}

} // namespace grading
