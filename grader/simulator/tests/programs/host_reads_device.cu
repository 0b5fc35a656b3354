// Host code that follows a device pointer crashes, as it does on hardware.
#include "check.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

int main()
{
    int *p = nullptr;
    CHECK_CUDA(cudaMalloc(&p, 64));
    CHECK_CUDA(cudaMemset(p, 0, 64));
    const pid_t child = fork();
    if (child == 0) {
        volatile int *wrong = p;
        _exit(*wrong == 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    return done();
}
