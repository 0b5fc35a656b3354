// A kernel that waits for host code to write memory that both see, and one that waits in vain.
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void wait_for(volatile int *flag, int *seen)
{
    while (*flag == 0) {
    }
    *seen = *flag;
}

int main()
{
    int *flag = nullptr, *seen = nullptr;
    CHECK_CUDA(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
    CHECK_CUDA(cudaMalloc(&seen, 4));
    *flag = 0;
    std::atomic<bool> started = false;
    std::thread host([&] {
        while (!started) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the kernel waits meanwhile
        __atomic_store_n(flag, 7, __ATOMIC_RELEASE);
    });
    started = true;
    wait_for<<<1, 32>>>(flag, seen);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(download(seen, 1)[0] == 7);
    host.join();
    CHECK(done() == 0);

    *flag = 0; // now there is nobody else who could
    const auto before = std::chrono::steady_clock::now();
    wait_for<<<1, 32>>>(flag, seen);
    CHECK_ERROR(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
    CHECK(found().size() == 1);
    return failures != 0;
}
