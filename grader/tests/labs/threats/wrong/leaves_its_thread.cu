// Fails: twice: 1000 elements | CRASH | SIGABRT
// Threat A17: Ends the thread that called it, and returns nowhere.
#include "lab.hpp"

#include <pthread.h>

void twice(const float *, float *, int) { pthread_exit(nullptr); }
