// Host memory as the runtime sees it, in the process that owns it.
#include "host.hpp"

#include "thread_count.hpp"

#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace simulator {

namespace {

std::atomic<std::uint64_t> threads = 0;
thread_local std::uint64_t number_of_thread = ++threads;

template <typename function> void each_row(const host_rows &r, function body)
{
    std::uint64_t packed = 0;
    for (std::uint64_t z = 0; z < r.depth; ++z)
        for (std::uint64_t y = 0; y < r.height; ++y, packed += r.width)
            body(z * r.slice + y * r.pitch, packed);
}

// True if other processes or mappings share these pages: only such a mapping can be mapped twice.
bool is_shared(void *pages, std::uint64_t bytes)
{
    void *again = mremap(pages, 0, bytes, MREMAP_MAYMOVE);
    if (again == MAP_FAILED) return false;
    munmap(again, bytes);
    return true;
}

} // namespace

void this_process::read(const void *from, const host_rows &rows, std::byte *to)
{
    auto *start = static_cast<const std::byte *>(from);
    each_row(rows, [&](std::uint64_t there, std::uint64_t packed) {
        std::memcpy(to + packed, start + there, rows.width);
    });
}

void this_process::write(void *to, const host_rows &rows, const std::byte *from)
{
    auto *start = static_cast<std::byte *>(to);
    each_row(rows, [&](std::uint64_t there, std::uint64_t packed) {
        std::memcpy(start + there, from + packed, rows.width);
    });
}

void this_process::call(cudaHostFn_t function, void *data) { function(data); }

void this_process::call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
                        void *data)
{
    function(stream, status, data);
}

bool this_process::make_accessible(address start, std::uint64_t bytes)
{
    return mprotect(reinterpret_cast<void *>(start), bytes, PROT_READ | PROT_WRITE) == 0;
}

void this_process::make_inaccessible(address start, std::uint64_t bytes)
{
    mprotect(reinterpret_cast<void *>(start), bytes, PROT_NONE);
}

host_process::share_result this_process::share_pages(std::uintptr_t pages, address start,
                                                     std::uint64_t bytes)
{
    void *at = reinterpret_cast<void *>(pages);
    if (start < first_ || bytes > bytes_ || start - first_ > bytes_ - bytes)
        return share_result::refused;
    if (is_shared(at, bytes)) return share_result::already_shared;
    std::memcpy(reinterpret_cast<void *>(start), at, bytes);
    void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared_,
                        static_cast<off_t>(start - first_));
    return mapped == at ? share_result::shared : share_result::refused;
}

bool this_process::unshare_pages(std::uintptr_t pages, std::uint64_t bytes)
{
    // A private copy replaces the shared pages atomically, so no reader sees anything else.
    void *at = reinterpret_cast<void *>(pages);
    void *fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return false;
    std::memcpy(fresh, at, bytes);
    if (mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at) return true;
    munmap(fresh, bytes);
    return false;
}

bool this_process::has_other_threads() { return process_threads() != 1; }

std::uint64_t calling_thread() { return number_of_thread; }

void set_calling_thread(std::uint64_t number) { number_of_thread = number; }

} // namespace simulator
