// What is right in lab 09: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

std::vector<unsigned> quicksort(std::vector<unsigned> data);

} // namespace oracle
