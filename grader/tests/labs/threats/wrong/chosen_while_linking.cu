// Fails: twice: 1000 elements | EARLY_EXIT | ended with status 0
// Threat F05: Ends the process while the loader chooses among its functions.
#include "lab.hpp"

#include <unistd.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

extern "C" {
static void chosen() {}
static void (*choose())()
{
#ifdef __x86_64__ // no library is there yet
    long number = 231;
    asm volatile("syscall" : "+a"(number) : "D"(0L) : "rcx", "r11", "memory");
#else
    register long number asm("x8") = 94, status asm("x0") = 0;
    asm volatile("svc #0" : : "r"(number), "r"(status) : "memory");
#endif
    return chosen;
}
void indirect() __attribute__((ifunc("choose")));
}

void twice(const float *x, float *y, int n)
{
    indirect();
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
