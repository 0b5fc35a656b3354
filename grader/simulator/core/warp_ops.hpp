// Declares the handlers that are compiled once only.
#pragma once

#include "simulator/lanes/handler_table.hpp"

namespace simulator::core {

void list_warp_handlers(handler_sink &);

} // namespace simulator::core
