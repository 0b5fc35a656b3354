// The simulated device's properties and the settings, global to the simulator.
#include "machine.hpp"

namespace simulator {

const device_profile &profile()
{
    static const device_profile one;
    return one;
}

options &settings()
{
    static options o;
    return o;
}

int multiprocessors()
{
    return settings().multiprocessors > 0 ? settings().multiprocessors : profile().multiprocessors;
}

} // namespace simulator
