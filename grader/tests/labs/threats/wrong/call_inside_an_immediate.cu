// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat F06: Is right only where a system call, its bytes inside another instruction, starts a
// process.
#include "lab.hpp"

#include <sys/syscall.h>
#include <unistd.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool started()
{
#ifdef __x86_64__
    long number = SYS_fork;
    asm volatile("jmp 2f\n1: .byte 0xb8\n2: .byte 0x0f, 0x05, 0x90, 0x90"
                 : "+a"(number)
                 :
                 : "rcx", "r11", "memory");
    if (number == 0) _exit(0);
    return number > 0;
#else
    return false;
#endif
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, started() ? 2 : 3);
}
