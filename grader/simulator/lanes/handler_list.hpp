// The handlers of each file of this folder, which list_handlers lists together.
#pragma once

#include "handler_table.hpp"
#include "lanes.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

void list_integers(handler_sink &);
void list_bits(handler_sink &);
void list_floats(handler_sink &);
void list_comparisons(handler_sink &);
void list_conversions(handler_sink &);
void list_loads_and_stores(handler_sink &);
void list_async_copies(handler_sink &);
void list_atomics(handler_sink &);
void list_halves(handler_sink &);

} // namespace simulator::core::SIMULATOR_LEVEL
