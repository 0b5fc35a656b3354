// Makes and seals memory that processes share.
#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace grading {

shared_memory::shared_memory(std::size_t bytes, bool workers_may_write) : size_(bytes)
{
    memory_ = owned_fd::high(memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) throw_errno("sizing a region");
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
    if (at == MAP_FAILED) throw_errno("mapping a region");
    data_ = static_cast<std::byte *>(at);
    // FUTURE_WRITE leaves our mapping writable and refuses every later one.
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!workers_may_write) seals |= F_SEAL_FUTURE_WRITE;
    if (fcntl(descriptor(), F_ADD_SEALS, seals) != 0) {
        const int problem = errno;
        munmap(data_, size_);
        errno = problem;
        throw_errno("sealing a region");
    }
}

void shared_memory::populate(std::size_t first, std::size_t last) const
{
#ifdef MADV_POPULATE_WRITE
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    first = first / page * page;
    if (first < last) madvise(data_ + first, last - first, MADV_POPULATE_WRITE);
#else
    (void)first, (void)last;
#endif
}

shared_memory::~shared_memory() { munmap(data_, size_); }

} // namespace grading
