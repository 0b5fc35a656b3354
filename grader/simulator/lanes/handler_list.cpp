// Lists all handlers that are compiled for one instruction set.
#include "lanes.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

void list_handlers(handler_sink &out)
{
    list_integers(out);
    list_bits(out);
    list_floats(out);
    list_comparisons(out);
    list_conversions(out);
    list_loads_and_stores(out);
    list_async_copies(out);
    list_atomics(out);
    list_halves(out);
}

} // namespace simulator::core::SIMULATOR_LEVEL
