// Declares the handlers that are compiled once only.
#pragma once

#include "core_levels.hpp"

namespace simulator::core {

void list_warp_handlers(handler_sink &);

} // namespace simulator::core
