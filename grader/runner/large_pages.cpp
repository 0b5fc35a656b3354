// Large arrays of a grader lie in large pages, where the system has them: inputs of a benchmark
// have gigabytes, and to map each 4 KiB of them by itself takes longer than to fill them. They
// belong to this process alone.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20, large = 4 * large_page;
// The C library maps larger ones by themselves (mallopt(3), M_MMAP_THRESHOLD).
constexpr std::size_t own_mapping = std::size_t{32} << 20;

void *allocate(std::size_t bytes) noexcept
{
    if (bytes < large) return std::malloc(bytes == 0 ? 1 : bytes);
    const std::size_t whole = (bytes + large_page - 1) / large_page * large_page;
    if (whole < bytes) return nullptr;
    void *p = std::aligned_alloc(large_page, whole);
    if (!p) return nullptr;
    madvise(p, whole, MADV_HUGEPAGE); // a wish: without large pages all is as usual
    // A forked process lacks the largest. Else each of their pages would be copied when it is next
    // written, because the keeper of a worker, which is forked and needs none, lives on. Nor may
    // one that run_groups() forks use such an array that was made before.
    if (bytes > own_mapping) madvise(p, whole, MADV_DONTFORK);
    return p;
}

} // namespace

void *operator new(std::size_t bytes)
{
    while (true) {
        if (void *p = allocate(bytes)) return p;
        const std::new_handler handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
