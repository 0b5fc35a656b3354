// Device memory: the address range, its shadow, allocations with their names.
#include "memory.hpp"

#include "host.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace simulator {

namespace {

constexpr std::uint64_t page = memory::page_bytes;
constexpr std::uint64_t largest_range = std::uint64_t{1} << 38;
constexpr std::uint64_t smallest_range = std::uint64_t{1} << 36;
constexpr std::uint64_t first_offset =
    1 << 20; // so that "before the first allocation" is in range too

// Start of the heap for malloc in kernels: a separate region, so that other addresses do not
// depend on the kernels' allocations.
constexpr std::uint64_t heap_at(std::uint64_t reserved) { return reserved / 8 * 3; }

constexpr std::uint64_t max_populated_bytes = 64 << 20;

std::uint64_t round_up(std::uint64_t n) { return (n + page - 1) / page * page; }

// A wrong index is often off by a row or a block, so larger allocations get larger red zones.
std::uint64_t red_zone(std::uint64_t bytes)
{
    return round_up(std::clamp<std::uint64_t>(bytes / 8, 64 << 10, 16 << 20));
}

bool host_accessible(memory_kind kind)
{
    return kind == memory_kind::pinned || kind == memory_kind::managed;
}

bool on_device(memory_kind kind)
{
    return kind != memory_kind::pinned && kind != memory_kind::internal;
}

// True if the allocation reduces the device's free memory. The kernel heap has its own size: the
// free memory must not reveal how much a kernel allocated, which may depend on its data.
bool charged(memory_kind kind) { return on_device(kind) && kind != memory_kind::heap; }

// The addresses that programs see must also be free in another process, so they lie where Linux
// maps nothing by default.
void *const fixed_base = reinterpret_cast<void *>(std::uint64_t{1} << 45);

void *map_range(std::uint64_t bytes, int protection, void *hint = nullptr)
{
    void *p = mmap(hint, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

bool map_file(void *at, std::uint64_t bytes, int protection, int file)
{
    return mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) == at;
}

constexpr std::uint64_t template_bytes = 16 << 20;

int template_of(std::uint8_t value)
{
    static std::map<std::uint8_t, int> files; // -1: refused
    if (auto it = files.find(value); it != files.end()) return it->second;
    int &file = files[value];
    file = memfd_create("simulator", MFD_CLOEXEC);
    const std::vector<std::uint8_t> all(template_bytes, value);
    if (file >= 0 && write(file, all.data(), template_bytes) != ssize_t{template_bytes}) {
        close(file);
        file = -1;
    }
    return file;
}

// Programs often touch little of a large allocation. Its shadow maps a file whose bytes all have
// the wanted value, copy-on-write. Returns the number of bytes mapped this way.
std::uint64_t map_filled(std::uint8_t *shadow, std::uint64_t bytes, std::uint8_t value)
{
    const int file = template_of(value);
    std::uint64_t done = 0;
    while (file >= 0 && bytes - done >= template_bytes &&
           mmap(shadow + done, template_bytes, PROT_READ | PROT_WRITE,
                MAP_FIXED | MAP_PRIVATE | MAP_NORESERVE, file, 0) == shadow + done)
        done += template_bytes;
    return done;
}

struct part {
    std::uint64_t bytes;
    std::string name;
};

// Eight bytes per step, because this takes half the time of every copy.
void change_bits(std::uint8_t *shadow, std::uint64_t bytes, std::uint8_t set, std::uint8_t clear)
{
    constexpr std::uint64_t each = 0x0101010101010101;
    for (; bytes >= sizeof each; bytes -= sizeof each, shadow += sizeof each) {
        std::uint64_t word;
        std::memcpy(&word, shadow, sizeof word);
        word = (word & ~(each * clear)) | each * set;
        std::memcpy(shadow, &word, sizeof word);
    }
    for (; bytes; --bytes, ++shadow) *shadow = static_cast<std::uint8_t>((*shadow & ~clear) | set);
}

std::string plural(std::uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

std::string hex(address a)
{
    char digits[16];
    return "0x" + std::string(digits, std::to_chars(digits, digits + 16, a, 16).ptr);
}

} // namespace

struct memory::state {
    std::mutex mutex;
    std::map<address, allocation> allocations;
    std::map<address, part> labels;
    std::map<int, std::uint64_t> used, heap_used;
    std::set<address> on_device_pages;             // managed pages that are on a device
    std::uint64_t managed = 0;                     // live managed allocations
    std::uint64_t host_accessible_allocations = 0; // live allocations that host code can write
    // The heap grows in the lower half's last quarter, shared memory in the upper half.
    std::uint64_t top = first_offset, heap_top = 0, shared_top = 0;
};

memory &memory::instance()
{
    // Never destroyed: kernel memory must outlive every static object of the program.
    static memory *const one = new memory;
    return *one;
}

memory::memory()
{
    shared_file_ = memfd_create("memory shared with the host", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (reserved_ = largest_range; reserved_ >= smallest_range; reserved_ /= 2) {
        auto *data = static_cast<std::byte *>(map_range(reserved_, PROT_READ | PROT_WRITE));
        auto *seen =
            static_cast<std::byte *>(data ? map_range(reserved_, PROT_NONE, fixed_base) : nullptr);
        void *shadow = seen ? map_range(reserved_, PROT_READ | PROT_WRITE) : nullptr;
        const std::uint64_t half = reserved_ / 2;
        if (shadow && ftruncate(shared_file_, static_cast<off_t>(half)) == 0 &&
            map_file(data + half, half, PROT_READ | PROT_WRITE, shared_file_) &&
            map_file(seen + half, half, PROT_NONE, shared_file_)) {
            for (void *window : {static_cast<void *>(data), static_cast<void *>(seen), shadow})
                madvise(window, reserved_, MADV_DONTDUMP);
            base_ = as_address(seen);
            data_ = data;
            shadow_ = static_cast<std::uint8_t *>(shadow);
            state_ = new state;
            state_->heap_top = heap_at(reserved_) + first_offset;
            state_->shared_top = half + first_offset;
            // The host also has this file; shrinking it would kill this process.
            if (fcntl(shared_file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
                return;
            break;
        }
        for (void *window : {static_cast<void *>(data), static_cast<void *>(seen), shadow})
            if (window) munmap(window, reserved_);
    }
    throw std::runtime_error(
        std::string(
            "simulator: cannot reserve addresses for device memory (3 ranges of 64 GiB): ") +
        std::strerror(errno) + "; raise the address-space limit (ulimit -v unlimited) or allow " +
        "overcommit (sysctl vm.overcommit_memory=0)");
}

std::optional<address> memory::allocate(std::uint64_t bytes, memory_kind kind, int device)
{
    std::lock_guard lock(state_->mutex);
    const bool counted = charged(kind);
    const std::uint64_t size = round_up(bytes), zone = red_zone(bytes);
    const bool shared = host_accessible(kind);
    const bool heap = kind == memory_kind::heap;
    std::uint64_t &top = shared ? state_->shared_top : heap ? state_->heap_top : state_->top;
    const std::uint64_t end = shared ? reserved_ : heap ? reserved_ / 2 : heap_at(reserved_);
    if (size < bytes || size > end - top) return std::nullopt;
    if (zone > end - top - size) return std::nullopt;
    if (counted && bytes > profile().global_bytes - state_->used[device]) return std::nullopt;

    const address start = base_ + top;
    if (shared && size && !host().make_accessible(start, size)) return std::nullopt;
    top += size + zone;
    if (counted) state_->used[device] += bytes;
    if (heap) state_->heap_used[device] += bytes;
    if (shared) ++state_->host_accessible_allocations;
    state_->managed += kind == memory_kind::managed;
    state_->allocations[start] = {start, bytes, kind, device, true, {}};
    // Host code can write shared memory unobserved, so all of it counts as initialised.
    const std::uint8_t of_device = on_device(kind) && settings().track_owning_device && !shared
                                       ? device_bit(device)
                                       : std::uint8_t{0};
    const int far = kind == memory_kind::pinned ? on_host : 0;
    const auto fresh = static_cast<std::uint8_t>(shared ? addressable | initialised | far
                                                        : addressable | of_device);
    std::uint64_t filled = 0;
    if (size > max_populated_bytes)
        filled = map_filled(shadow_at(start), bytes, fresh);
    else if (size) // in one call: twice as fast as page by page; failure is harmless
        madvise(shadow_at(start), size, MADV_POPULATE_WRITE);
    mark(start + filled, bytes - filled, fresh, 0xff);
    return start;
}

bool memory::in_one_allocation(address at, std::uint64_t bytes) const
{
    const allocation *a = contains(at) ? find(at) : nullptr;
    return a && a->live && at >= a->start && at - a->start <= a->bytes &&
           bytes <= a->bytes - (at - a->start);
}

bool memory::release(address start)
{
    std::lock_guard lock(state_->mutex);
    auto it = state_->allocations.find(start);
    if (it == state_->allocations.end() || !it->second.live) return false;
    allocation &a = it->second;
    a.live = false;
    state_->managed -= a.kind == memory_kind::managed;
    if (charged(a.kind)) state_->used[a.device] -= a.bytes;
    if (a.kind == memory_kind::heap) state_->heap_used[a.device] -= a.bytes;
    if (host_accessible(a.kind)) --state_->host_accessible_allocations;
    const std::uint64_t size = round_up(a.bytes);
    if (size == 0) return true;
    // The pages return to the system, which zeroes the shadow; the addresses stay reserved.
    if (size > max_populated_bytes)
        mmap(shadow_at(start), size, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    else
        madvise(shadow_at(start), size, MADV_DONTNEED);
    const bool shared = host_accessible(a.kind);
    madvise(at(start), size, shared ? MADV_REMOVE : MADV_DONTNEED);
    if (shared) host().make_inaccessible(start, size);
    return true;
}

const allocation *memory::find(address a) const
{
    std::lock_guard lock(state_->mutex);
    const auto &all = state_->allocations;
    auto after = all.upper_bound(a);
    const allocation *below = after == all.begin() ? nullptr : &std::prev(after)->second;
    if (below && a - below->start < std::max<std::uint64_t>(below->bytes, 1)) return below;
    const auto none = ~std::uint64_t{0};
    const std::uint64_t past = below ? a - below->start - below->bytes : none;
    const std::uint64_t before = after != all.end() ? after->first - a : none;
    const std::uint64_t zone_below = below ? red_zone(below->bytes) + page : 0;
    const std::uint64_t zone_above = after != all.end() ? red_zone(after->second.bytes) : 0;
    if (before < past && before <= zone_above) return &after->second;
    if (below && past < zone_below) return below;
    return before <= zone_above && after != all.end() ? &after->second : nullptr;
}

bool memory::has_managed() const
{
    std::lock_guard lock(state_->mutex);
    return state_->managed != 0;
}

bool memory::migrate(address page)
{
    const allocation *a = find(page);
    if (!a || !a->live || a->kind != memory_kind::managed) return false;
    std::lock_guard lock(state_->mutex);
    return state_->on_device_pages.insert(page).second;
}

void memory::set_residency(address page, std::uint64_t bytes, bool on_device)
{
    std::lock_guard lock(state_->mutex);
    for (address end = page + bytes; page < end; page += page_bytes)
        if (on_device)
            state_->on_device_pages.insert(page);
        else
            state_->on_device_pages.erase(page);
}

void memory::mark(address a, std::uint64_t bytes, std::uint8_t set, std::uint8_t clear)
{
    if (a < base_) {
        bytes -= std::min(bytes, base_ - a);
        a = base_;
    }
    if (!contains(a)) return;
    bytes = std::min(bytes, reserved_ - (a - base_));
    std::uint8_t *shadow = shadow_at(a);
    if (clear == 0xff)
        std::memset(shadow, set, bytes);
    else
        change_bits(shadow, bytes, set, clear);
}

void memory::label(address a, std::uint64_t bytes, std::string name)
{
    const allocation *whole = find(a);
    std::lock_guard lock(state_->mutex);
    if (!whole || a < whole->start || a > whole->start + whole->bytes) return;
    if (whole->start == a && whole->bytes == bytes) state_->allocations[a].name = name;
    // A new label replaces labels that it overlaps: harnesses divide one allocation anew per call.
    auto it = state_->labels.upper_bound(a);
    if (it != state_->labels.begin()) {
        auto below = std::prev(it);
        if (below->first == a || a - below->first < below->second.bytes) it = below;
    }
    while (it != state_->labels.end() && (it->first < a + bytes || it->first == a))
        it = state_->labels.erase(it);
    state_->labels[a] = {bytes, std::move(name)};
}

std::string memory::describe(address a, std::uint64_t bytes) const
{
    finding f;
    locate(f, a, bytes);
    return f.where;
}

void memory::locate(finding &f, address a, std::uint64_t bytes) const
{
    f.place = location::unknown;
    if (a < page) {
        f.where = "null pointer (address " + hex(a) + ")";
        return;
    }
    if (!contains(a)) {
        f.where = "host memory, or no memory at all (address " + hex(a) + ")";
        return;
    }
    const allocation *whole = find(a);
    if (!whole) {
        // An unsigned index that wrapped below 0 lands here. The array is not named: it is too far
        // away.
        const address meant = a - (bytes << 32);
        f.place = location::never_allocated;
        f.where = "device memory that was never allocated (address " + hex(a) + ")";
        if (bytes == 0 || !contains(meant) || !find(meant)) return;
        std::string near = describe(meant, bytes);
        std::erase(near, '`');
        f.place = location::wrapped_index;
        f.where = "device memory that was never allocated, 2^32 elements from " + near;
        return;
    }

    std::lock_guard lock(state_->mutex);
    address start = whole->start;
    std::uint64_t size = whole->bytes;
    std::string name = whole->name;
    const auto distance = [a](address from, std::uint64_t n) {
        return a < from ? from - a : a < from + n ? 0 : a - (from + n) + 1;
    };
    // Prefer the nearest label inside the allocation to the allocation itself.
    auto it = state_->labels.lower_bound(whole->start);
    std::uint64_t nearest = ~std::uint64_t{0};
    for (; it != state_->labels.end() && it->first <= whole->start + whole->bytes; ++it)
        if (const auto d = distance(it->first, it->second.bytes); d < nearest) {
            nearest = d;
            start = it->first, size = it->second.bytes, name = it->second.name;
        }

    const std::string what =
        name.empty() ? "an allocation of " + plural(size) : "`" + name + "` (" + plural(size) + ")";
    const address end = start + size;
    f.array = name;
    f.array_bytes = size;
    if (a >= end) {
        f.place = a == end ? location::just_past_end : location::past_end;
        f.distance = a - end;
        f.where = (a == end ? "just" : plural(a - end)) + " past the end of ";
    } else if (a < start) {
        f.place = location::before_start;
        f.distance = start - a;
        f.where = plural(start - a) + " before the start of ";
    } else {
        const bool across = a + bytes > end;
        f.place = across ? location::across_end : location::inside;
        f.distance = a - start;
        f.where = across ? "across the end of " : "byte " + std::to_string(a - start) + " of ";
    }
    f.where += what + (whole->live ? "" : ", already freed");
}

std::uint64_t memory::used(int device) const
{
    std::lock_guard lock(state_->mutex);
    return state_->used[device];
}

std::uint64_t memory::heap_used(int device) const
{
    std::lock_guard lock(state_->mutex);
    return state_->heap_used[device];
}

std::uint64_t memory::used_on_all_devices() const
{
    std::lock_guard lock(state_->mutex);
    std::uint64_t bytes = 0;
    for (const auto *all : {&state_->used, &state_->heap_used})
        for (const auto &[device, n] : *all) bytes += n;
    return bytes;
}

bool memory::shared_with_host() const
{
    std::lock_guard lock(state_->mutex);
    return state_->host_accessible_allocations != 0;
}

static host_process *other_host = nullptr;

// Here, because a client links host.cpp without device memory.
host_process &host()
{
    const memory &m = memory::instance();
    static this_process here(m.shared_file(), m.shared(), m.reserved() / 2);
    return other_host ? *other_host : here;
}

void set_host(host_process *other) { other_host = other; }

} // namespace simulator
