// Fails: twice: 1000 elements | EARLY_EXIT | ended with status 0
// Threat F07: Ends with status 0 where an exception ends the process.
#include "lab.hpp"

#include <exception>
#include <unistd.h>

static void fall() noexcept { throw 1; }

void twice(const float *, float *, int)
{
    std::set_terminate([] { _exit(0); });
    fall();
}
