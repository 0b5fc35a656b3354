// This program has a pthread_create of its own, which notes who starts a thread: the driver's begin
// in the driver's library. The C library starts some past it, for timers; those are a submission's.
#include "left_threads.hpp"

#include "grader/simulator/own_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace {

using thread_function = void *(*)(void *);

std::atomic<int> drivers{0}; // threads of the driver's that have not ended

struct beginning {
    thread_function function;
    void *argument;
};

bool is_drivers(thread_function function)
{
    Dl_info where{};
    if (dladdr(reinterpret_cast<void *>(function), &where) == 0 || !where.dli_fname) return false;
    const char *slash = std::strrchr(where.dli_fname, '/');
    const std::string_view name = slash ? slash + 1 : where.dli_fname;
    return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

// However it ends: by its return, pthread_exit, or pthread_cancel.
struct until_the_end {
    ~until_the_end() { --drivers; }
};

void *begin_for_driver(void *given)
{
    static thread_local until_the_end ends;
    static_cast<void>(&ends); // made by its first use
    const std::unique_ptr<beginning> b(static_cast<beginning *>(given));
    return b->function(b->argument);
}

} // namespace

// The linker exports it, since libstdc++ refers to it, and so the driver finds this one.
extern "C" __attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_function function,
               void *argument) noexcept
{
    static const auto start =
        reinterpret_cast<int (*)(pthread_t *, const pthread_attr_t *, thread_function, void *)>(
            dlsym(RTLD_NEXT, "pthread_create"));
    if (!is_drivers(function)) return start(thread, attributes, function, argument);
    std::unique_ptr<beginning> b(new (std::nothrow) beginning{function, argument});
    if (!b) return EAGAIN;
    ++drivers;
    const int failed = start(thread, attributes, begin_for_driver, b.get());
    if (failed != 0)
        --drivers;
    else
        b.release(); // the thread's
    return failed;
}

namespace grading {

int left_threads(int usual)
{
    constexpr int looks = 20;
    int left = 0;
    for (int i = 0; i < looks; ++i) {
        const int all = simulator::own_threads();
        left = all == 0 ? 0 : all - 1 - drivers - usual;
        if (left <= 0) return 0;
        usleep(100);
    }
    return left;
}

} // namespace grading
