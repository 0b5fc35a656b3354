// What is right in lab 09.
#include "oracle.hpp"

#include <algorithm>

namespace oracle {

std::vector<unsigned> quicksort(std::vector<unsigned> data)
{
    std::sort(data.begin(), data.end());
    return data;
}

} // namespace oracle
