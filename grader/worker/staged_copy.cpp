// Several threads copy, each a part, by way of two pinned buffers of its own, of which the device
// has one while the thread has the other. To pin the shared memory itself would take longer than
// all of its copies: the driver then maps each page by itself.
#include "staged_copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace grading {

namespace {

constexpr std::size_t max_threads = 8, chunk = 4 << 20;

class copier {
public:
    copier() = default;
    copier(const copier &) = delete; // its resources live as long as the process
    copier &operator=(const copier &) = delete;

    // On the device that is current.
    cudaError_t open()
    {
        if (opened_) return *opened_;
        cudaError_t e = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        for (buffer &b : buffers_) {
            if (e == cudaSuccess) e = cudaMallocHost(&b.bytes, chunk);
            if (e == cudaSuccess) e = cudaEventCreateWithFlags(&b.free, cudaEventDisableTiming);
        }
        opened_ = e;
        return e;
    }

    cudaError_t put(std::byte *to, const std::byte *from, std::size_t bytes)
    {
        cudaError_t e = cudaSuccess;
        for (std::size_t at = 0, k = 0; at < bytes && e == cudaSuccess; at += chunk, k ^= 1) {
            const std::size_t n = std::min(chunk, bytes - at);
            e = cudaEventSynchronize(buffers_[k].free);
            if (e != cudaSuccess) break;
            std::memcpy(buffers_[k].bytes, from + at, n);
            e = queue(k, to + at, buffers_[k].bytes, n);
        }
        return e == cudaSuccess ? cudaStreamSynchronize(stream_) : e;
    }

    cudaError_t get(std::byte *to, const std::byte *from, std::size_t bytes)
    {
        cudaError_t e = cudaSuccess;
        // One chunk more: each turn takes out what the turn before has queued.
        for (std::size_t at = 0, k = 0; at < bytes + chunk && e == cudaSuccess;
             at += chunk, k ^= 1) {
            if (at < bytes) e = queue(k, buffers_[k].bytes, from + at, std::min(chunk, bytes - at));
            if (at == 0 || e != cudaSuccess) continue;
            const std::size_t last = at - chunk;
            e = cudaEventSynchronize(buffers_[k ^ 1].free);
            if (e == cudaSuccess)
                std::memcpy(to + last, buffers_[k ^ 1].bytes, std::min(chunk, bytes - last));
        }
        return e;
    }

private:
    struct buffer {
        void *bytes = nullptr;
        cudaEvent_t free = nullptr; // when the device is done with it
    };

    cudaError_t queue(std::size_t k, void *to, const void *from, std::size_t bytes)
    {
        const cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_);
        return e == cudaSuccess ? cudaEventRecord(buffers_[k].free, stream_) : e;
    }

    std::optional<cudaError_t> opened_; // how that ended
    cudaStream_t stream_ = nullptr;
    std::array<buffer, 2> buffers_;
};

using copiers = std::array<copier, max_threads>;

cudaError_t copy_part(copier &by, std::byte *to, const std::byte *from, std::size_t bytes,
                      cudaMemcpyKind kind, int device)
{
    cudaError_t e = cudaSetDevice(device); // of this thread
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    if (e == cudaSuccess) e = by.open();
    if (e != cudaSuccess) return e;
    return kind == cudaMemcpyHostToDevice ? by.put(to, from, bytes) : by.get(to, from, bytes);
}

// Calls copy(i, to, from, bytes) for each of the threads, with its part. True if all succeed.
template <class F>
bool copy_by_threads(void *to, const void *from, std::uint64_t bytes, const F &copy)
{
    const std::size_t threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, max_threads);
    std::vector<cudaError_t> ends(threads, cudaErrorNotReady);
    try {
        std::vector<std::jthread> running;
        const std::uint64_t part = (bytes / threads + chunk) / chunk * chunk;
        for (std::size_t i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                const std::uint64_t first = std::min(bytes, i * part);
                ends[i] = copy(i, static_cast<std::byte *>(to) + first,
                               static_cast<const std::byte *>(from) + first,
                               std::min(bytes - first, part));
            });
    } catch (const std::system_error &) { // no further thread can be started
    }
    return std::ranges::all_of(ends, [](cudaError_t e) { return e == cudaSuccess; });
}

} // namespace

cudaError_t host_copy(void *to, const void *from, std::uint64_t bytes, int device)
{
    cudaError_t e = cudaSetDevice(device);
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    if (e != cudaSuccess) return e;
    const auto copy = [](std::size_t, std::byte *into, const std::byte *out_of, std::uint64_t n) {
        std::memcpy(into, out_of, n);
        return cudaSuccess;
    };
    if (!copy_by_threads(to, from, bytes, copy)) std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t staged_copy(void *to, const void *from, std::uint64_t bytes, cudaMemcpyKind kind,
                        int device)
{
    static std::map<int, copiers> by_device;
    copiers &own = by_device[device];
    const auto copy = [&](std::size_t i, std::byte *into, const std::byte *out_of,
                          std::uint64_t n) {
        return copy_part(own[i], into, out_of, n, kind, device);
    };
    if (copy_by_threads(to, from, bytes, copy)) return cudaSuccess;
    // Little memory to pin, or too few threads, are no matter; an error of the device stays.
    return cudaMemcpy(to, from, bytes, kind);
}

} // namespace grading
