// The simulator's counters of one call, under the name by which two labs include them.
#pragma once

#include "api/counters.hpp"
