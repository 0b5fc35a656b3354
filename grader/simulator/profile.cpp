// The simulated device, as every part of the simulator sees it.
#include "machine.hpp"

namespace simulator {

const device_profile &profile()
{
    static const device_profile one;
    return one;
}

} // namespace simulator
