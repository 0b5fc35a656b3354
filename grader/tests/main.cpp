// The main function of every test program, compiled once for all of them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Processes that a test forks would have its handlers. Meson tells of a signal, too.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <doctest/doctest.h>
