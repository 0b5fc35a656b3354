// Runs tasks in parallel on the cores.
#include "parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace cli {

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &task,
                  const std::function<void(std::size_t)> &done)
{
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<char> finished(count, 0);
    std::exception_ptr error;
    auto fail = [&] {
        next = count; // no further task starts
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
    };
    auto work = [&] {
        for (std::size_t i; (i = next++) < count;) {
            try {
                task(i);
            } catch (...) {
                fail();
            }
            std::lock_guard lock(mutex);
            finished[i] = 1;
            changed.notify_one();
        }
    };
    const std::size_t used = std::min<std::size_t>(threads, count);
    std::vector<std::jthread> pool;
    while (pool.size() < used) pool.emplace_back(work);
    for (std::size_t i = 0; i < count; ++i) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return finished[i] || error; });
        if (error) break;
        lock.unlock();
        try {
            if (done) done(i);
        } catch (...) {
            fail();
            break;
        }
    }
    pool.clear(); // joins
    if (error) std::rethrow_exception(error);
}

} // namespace cli
