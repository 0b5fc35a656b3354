// Allocation and copies: cudaMalloc, cudaMemcpy, cudaMemset and their like.
#include "runtime.hpp"

#include "counters.hpp"
#include "finding.hpp"
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sys/mman.h>

namespace simulator::runtime {

namespace {

constexpr std::size_t pitch_alignment = 512;
constexpr std::size_t largest_pitch = 0x7fffffff; // cudaDeviceProp::memPitch
constexpr std::uintptr_t page = 4096;

address as_address(const void *p) { return reinterpret_cast<address>(p); }

// Host memory that cudaHostRegister made visible to kernels.
struct registration {
    std::uint64_t bytes;        // as registered
    address device;             // where kernels see it
    std::uintptr_t first_page;  // in the host's addresses
    std::uint64_t mapped_bytes; // whole pages
    address mapped;             // their allocation
};

struct owned_memory {
    std::set<address> starts; // what this runtime allocated and has not freed
    std::map<std::uintptr_t, registration> registered;
};

owned_memory &owned()
{
    // Never destroyed: objects that outlive main may still free their memory.
    static auto *const one = new owned_memory;
    return *one;
}

cudaError_t allocate(void **out, std::size_t bytes, memory_kind kind)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    const auto start = memory::instance().allocate(bytes, kind, current_device());
    if (!start) return cudaErrorMemoryAllocation;
    owned().starts.insert(*start);
    *out = reinterpret_cast<void *>(*start);
    return cudaSuccess;
}

void find_misuse(finding_kind kind, const char *function, const void *at, std::uint64_t bytes,
                 bool write, std::string detail)
{
    finding f;
    f.kind = kind;
    f.kernel = function;
    f.write = write;
    f.address = as_address(at);
    f.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffffff));
    f.where = memory::instance().describe(f.address, bytes);
    f.detail = std::move(detail);
    findings::instance().add(std::move(f));
}

cudaError_t release(void *p, const char *function, bool pinned)
{
    if (!p) return cudaSuccess;
    memory &m = memory::instance();
    const allocation *a = m.contains(as_address(p)) ? m.find(as_address(p)) : nullptr;
    if (a && a->start == as_address(p) && !a->live)
        find_misuse(finding_kind::use_after_free, function, p, a->bytes, false,
                    std::string(function) + " was given memory that was freed before");
    const bool right = a && a->live && a->start == as_address(p) &&
                       (a->kind == memory_kind::pinned) == pinned && owned().starts.erase(a->start);
    if (!right) return cudaErrorInvalidValue;
    m.release(as_address(p));
    return cudaSuccess;
}

// One side of a copy: bytes this process can touch, and what is known about them.
struct side {
    std::byte *bytes = nullptr;
    address start = 0;              // as programs see it
    std::uint8_t *shadow = nullptr; // null: ordinary host memory
    bool host = true;               // on the host's side of the link
};

enum class wanted { host, device, any };

// Finds the bytes behind a pointer as a copy would: refuses what is on the wrong side, freed, or
// not wholly inside one allocation.
cudaError_t look_up(const char *function, const void *p, std::uint64_t bytes, wanted want,
                    bool write, side &out)
{
    if (!p) return cudaErrorInvalidValue;
    memory &m = memory::instance();
    const address at = as_address(p);
    if (!m.contains(at)) {
        if (want == wanted::device) return cudaErrorInvalidValue;
        out.bytes = static_cast<std::byte *>(const_cast<void *>(p));
        return cudaSuccess;
    }
    const allocation *a = m.find(at);
    const auto misuse = [&](finding_kind kind, const char *how) {
        find_misuse(kind, function, p, bytes, write,
                    std::string(function) + (write ? " writes " : " reads ") +
                        std::to_string(bytes) + " bytes " + how);
        return cudaErrorInvalidValue;
    };
    if (a && !a->live) return misuse(finding_kind::use_after_free, "of memory that was freed");
    if (!a || at < a->start || at >= a->start + a->bytes)
        return misuse(finding_kind::out_of_bounds, "outside every allocation");
    if (bytes > a->start + a->bytes - at)
        return misuse(finding_kind::out_of_bounds, "and runs past the end of the allocation");
    if (a->kind == memory_kind::heap) return cudaErrorInvalidValue; // only kernels may use it
    const bool both = a->kind == memory_kind::pinned || a->kind == memory_kind::managed;
    if (want == wanted::host && !both) return cudaErrorInvalidValue;
    out = {m.at(at), at, m.shadow_at(at), a->kind == memory_kind::pinned};
    return cudaSuccess;
}

// Copying bytes that were never written does not make them written.
void copy_row(const side &to, const side &from, std::uint64_t bytes)
{
    std::memmove(to.bytes, from.bytes, bytes);
    if (!to.shadow) return;
    if (!from.shadow || to.host)
        memory::instance().mark(to.start, bytes, initialised, 0);
    else
        for (std::uint64_t i = 0; i < bytes; ++i)
            to.shadow[i] = static_cast<std::uint8_t>((to.shadow[i] & ~initialised) |
                                                     (from.shadow[i] & initialised));
}

void count(const side &to, const side &from, std::uint64_t bytes)
{
    transfer_counts &t = counters::instance().transfers;
    if (to.host && from.host) return;
    (to.host ? t.device_to_host : from.host ? t.host_to_device : t.device_to_device) += bytes;
}

struct plane {
    std::size_t pitch_to, pitch_from, width, height;
    // From the first byte to the last, and what is copied: false when numbers overflow.
    bool extent(std::size_t pitch, std::uint64_t &bytes) const
    {
        return !__builtin_mul_overflow(pitch, height - 1, &bytes) &&
               !__builtin_add_overflow(bytes, width, &bytes);
    }
};

cudaError_t copy(const char *function, void *to, const void *from, plane p, cudaMemcpyKind kind)
{
    if (p.width == 0 || p.height == 0) return cudaSuccess;
    if (p.height > 1 && (p.width > p.pitch_to || p.width > p.pitch_from))
        return cudaErrorInvalidPitchValue;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool any = kind == cudaMemcpyDefault;
    const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    std::uint64_t bytes_to = 0, bytes_from = 0;
    if (!p.extent(p.pitch_to, bytes_to) || !p.extent(p.pitch_from, bytes_from))
        return cudaErrorInvalidValue;
    side target, source;
    if (cudaError_t e = look_up(function, to, bytes_to,
                                any       ? wanted::any
                                : to_host ? wanted::host
                                          : wanted::device,
                                true, target);
        e != cudaSuccess)
        return e;
    if (cudaError_t e = look_up(function, from, bytes_from,
                                any         ? wanted::any
                                : from_host ? wanted::host
                                            : wanted::device,
                                false, source);
        e != cudaSuccess)
        return e;
    count(target, source, std::uint64_t{p.width} * p.height);
    for (std::size_t row = 0; row < p.height; ++row) {
        copy_row(target, source, p.width);
        target.bytes += p.pitch_to;
        target.start += p.pitch_to;
        source.bytes += p.pitch_from;
        if (target.shadow) target.shadow += p.pitch_to;
        if (source.shadow) source.shadow += p.pitch_from;
    }
    return cudaSuccess;
}

cudaError_t copy(const char *function, void *to, const void *from, std::size_t bytes,
                 cudaMemcpyKind kind)
{
    return copy(function, to, from, {bytes, bytes, bytes, 1}, kind);
}

cudaError_t fill(const char *function, void *to, std::size_t pitch, int value, std::size_t width,
                 std::size_t height)
{
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidValue;
    std::uint64_t bytes = 0;
    if (!plane{pitch, pitch, width, height}.extent(pitch, bytes)) return cudaErrorInvalidValue;
    side target;
    if (cudaError_t e = look_up(function, to, bytes, wanted::device, true, target);
        e != cudaSuccess)
        return e;
    counters::instance().transfers.memset += std::uint64_t{width} * height;
    for (std::size_t row = 0; row < height; ++row) {
        std::memset(target.bytes + row * pitch, value, width);
        memory::instance().mark(target.start + row * pitch, width, initialised, 0);
    }
    return cudaSuccess;
}

// The address of `bytes` bytes at `offset` of a variable.
cudaError_t part_of(const void *symbol, std::size_t bytes, std::size_t offset, void *&out)
{
    module::variable v;
    if (cudaError_t e = resolve_symbol(symbol, v); e != cudaSuccess) return e;
    if (offset > v.bytes || bytes > v.bytes - offset) return cudaErrorInvalidValue;
    out = reinterpret_cast<void *>(v.start + offset);
    return cudaSuccess;
}

cudaError_t to_symbol(const char *function, const void *symbol, const void *from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    void *to = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, to); e != cudaSuccess) return e;
    return copy(function, to, from, bytes, kind);
}

cudaError_t from_symbol(const char *function, void *to, const void *symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    void *from = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, from); e != cudaSuccess) return e;
    return copy(function, to, from, bytes, kind);
}

// In a stream: the same, once the stream is known.
template <typename function> cudaError_t in(cudaStream_t stream, function body)
{
    return call([&] { return valid(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

const allocation *live_allocation(const void *p)
{
    memory &m = memory::instance();
    const allocation *a = m.contains(as_address(p)) ? m.find(as_address(p)) : nullptr;
    const bool inside = a && a->live && as_address(p) - a->start < a->bytes;
    return inside ? a : nullptr;
}

const registration *registration_of(const void *p)
{
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    auto after = owned().registered.upper_bound(at);
    if (after == owned().registered.begin()) return nullptr;
    auto it = std::prev(after);
    return at - it->first < it->second.bytes ? &it->second : nullptr;
}

bool overlaps_registered(std::uintptr_t first, std::uintptr_t end)
{
    return std::any_of(owned().registered.begin(), owned().registered.end(), [&](const auto &r) {
        return first < r.second.first_page + r.second.mapped_bytes && r.second.first_page < end;
    });
}

// Whether other processes or mappings share these pages: only such a mapping can be seen twice.
bool is_shared(std::uintptr_t first, std::uint64_t bytes)
{
    void *again = mremap(reinterpret_cast<void *>(first), 0, bytes, MREMAP_MAYMOVE);
    if (again == MAP_FAILED) return false;
    munmap(again, bytes);
    return true;
}

// Moves the pages behind a host range into the device's range, where kernels can see them; both
// addresses then show the same bytes. Only whole pages can move.
cudaError_t register_host(void *p, std::size_t bytes)
{
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    const std::uintptr_t first = at / page * page;
    const std::uintptr_t end = (at + bytes + page - 1) / page * page;
    if (overlaps_registered(first, end)) return cudaErrorHostMemoryAlreadyRegistered;
    if (is_shared(first, end - first)) return refuse("cudaHostRegister of a shared mapping");
    memory &m = memory::instance();
    const auto start = m.allocate(end - first, memory_kind::pinned, current_device());
    if (!start) return cudaErrorMemoryAllocation;
    std::memcpy(m.at(*start), reinterpret_cast<void *>(first), end - first);
    if (!m.map_at(reinterpret_cast<void *>(first), *start, end - first)) {
        m.release(*start);
        return cudaErrorOperatingSystem;
    }
    const address device = *start + (at - first);
    m.mark(*start, end - first, 0, addressable); // the neighbours on those pages are not registered
    m.mark(device, bytes, addressable, 0);
    owned().registered[at] = {bytes, device, first, end - first, *start};
    return cudaSuccess;
}

cudaError_t unregister_host(void *p)
{
    auto it = owned().registered.find(reinterpret_cast<std::uintptr_t>(p));
    if (it == owned().registered.end()) return cudaErrorHostMemoryNotRegistered;
    const registration r = it->second;
    // A private copy takes the place of the shared pages in one step: no reader sees anything else.
    void *fresh =
        mmap(nullptr, r.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return cudaErrorOperatingSystem;
    std::memcpy(fresh, memory::instance().at(r.mapped), r.mapped_bytes);
    if (mremap(fresh, r.mapped_bytes, r.mapped_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               reinterpret_cast<void *>(r.first_page)) == MAP_FAILED) {
        munmap(fresh, r.mapped_bytes);
        return cudaErrorOperatingSystem;
    }
    owned().registered.erase(it);
    memory::instance().release(r.mapped);
    return cudaSuccess;
}

// Prefetches and advice concern managed memory only.
cudaError_t managed_range(const void *p, std::size_t bytes)
{
    const allocation *a = live_allocation(p);
    const bool fits = a && a->kind == memory_kind::managed && bytes &&
                      bytes <= a->start + a->bytes - as_address(p);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t known_location(cudaMemLocation where)
{
    switch (where.type) {
    case cudaMemLocationTypeDevice:
        return valid_device(where.id) ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

} // namespace

void free_all(int device)
{
    memory &m = memory::instance();
    auto &starts = owned().starts;
    for (auto it = starts.begin(); it != starts.end();)
        if (m.find(*it)->device == device) {
            m.release(*it);
            it = starts.erase(it);
        } else {
            ++it;
        }
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMalloc(void **out, std::size_t bytes)
{
    return call([&] { return allocate(out, bytes, memory_kind::device); });
}

cudaError_t cudaMallocAsync(void **out, std::size_t bytes, cudaStream_t stream)
{
    return in(stream, [&] { return allocate(out, bytes, memory_kind::device); });
}

cudaError_t cudaMallocPitch(void **out, std::size_t *pitch, std::size_t width, std::size_t height)
{
    return call([&] {
        std::size_t bytes = 0;
        if (!pitch || width > largest_pitch) return cudaErrorInvalidValue;
        *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
        if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
        return allocate(out, bytes, memory_kind::device);
    });
}

cudaError_t cudaMallocManaged(void **out, std::size_t bytes, unsigned flags)
{
    return call([&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
            return cudaErrorInvalidValue;
        if (bytes == 0) return cudaErrorInvalidValue;
        return allocate(out, bytes, memory_kind::managed);
    });
}

cudaError_t cudaHostAlloc(void **out, std::size_t bytes, unsigned flags)
{
    return call([&] {
        const unsigned known =
            cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if (flags & ~known) return cudaErrorInvalidValue;
        return allocate(out, bytes, memory_kind::pinned);
    });
}

cudaError_t cudaMallocHost(void **out, std::size_t bytes)
{
    return cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFree(void *p)
{
    return call([&] { return release(p, "cudaFree", false); });
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    return in(stream, [&] { return release(p, "cudaFreeAsync", false); });
}

cudaError_t cudaFreeHost(void *p)
{
    return call([&] { return release(p, "cudaFreeHost", true); });
}

cudaError_t cudaHostRegister(void *p, std::size_t bytes, unsigned flags)
{
    return call([&] {
        const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped;
        if (!p || !bytes || memory::instance().contains(as_address(p)))
            return cudaErrorInvalidValue;
        if (flags & ~known) return refuse("this flag of cudaHostRegister");
        return register_host(p, bytes);
    });
}

cudaError_t cudaHostUnregister(void *p)
{
    return call([&] { return unregister_host(p); });
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    return call([&] {
        if (!out || flags) return cudaErrorInvalidValue;
        if (const registration *r = registration_of(host)) {
            const auto start = r->first_page + (r->device - r->mapped);
            *out = reinterpret_cast<void *>(r->device + (as_address(host) - start));
            return cudaSuccess;
        }
        const allocation *a = live_allocation(host);
        if (!a || a->kind != memory_kind::pinned) return cudaErrorInvalidValue;
        *out = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    return call([&] {
        const allocation *a = live_allocation(host);
        if (!flags || !a || a->kind != memory_kind::pinned) return cudaErrorInvalidValue;
        *flags = cudaHostAllocMapped;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total)
{
    return call([&] {
        if (!free || !total) return cudaErrorInvalidValue;
        const memory &m = memory::instance();
        *total = m.capacity(current_device());
        *free = *total - m.used(current_device());
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        *out = {};
        out->type = cudaMemoryTypeUnregistered;
        out->device = cudaInvalidDeviceId;
        out->hostPointer = const_cast<void *>(p);
        if (const registration *r = registration_of(p)) {
            out->type = cudaMemoryTypeHost;
            out->device = memory::instance().find(r->device)->device;
            const auto start = r->first_page + (r->device - r->mapped);
            out->devicePointer = reinterpret_cast<void *>(r->device + (as_address(p) - start));
            return cudaSuccess;
        }
        const allocation *a = live_allocation(p);
        if (!a) return cudaSuccess;
        const bool device = a->kind == memory_kind::device || a->kind == memory_kind::variable ||
                            a->kind == memory_kind::constant || a->kind == memory_kind::heap;
        out->type = device                            ? cudaMemoryTypeDevice
                    : a->kind == memory_kind::managed ? cudaMemoryTypeManaged
                                                      : cudaMemoryTypeHost;
        out->device = a->device;
        out->devicePointer = const_cast<void *>(p);
        if (device) out->hostPointer = nullptr;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
    return call([&] { return copy("cudaMemcpy", to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return in(stream, [&] { return copy("cudaMemcpyAsync", to, from, bytes, kind); });
}

cudaError_t cudaMemcpy2D(void *to, std::size_t pitch_to, const void *from, std::size_t pitch_from,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind)
{
    return call([&] {
        return copy("cudaMemcpy2D", to, from, {pitch_to, pitch_from, width, height}, kind);
    });
}

cudaError_t cudaMemcpy2DAsync(void *to, std::size_t pitch_to, const void *from,
                              std::size_t pitch_from, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return copy("cudaMemcpy2DAsync", to, from, {pitch_to, pitch_from, width, height}, kind);
    });
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           std::size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t bytes, cudaStream_t stream)
{
    return in(stream, [&] {
        if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
        return copy("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice);
    });
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind)
{
    return call([&] { return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind);
    });
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind)
{
    return call(
        [&] { return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind);
    });
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    return call([&] { return out ? part_of(symbol, 0, 0, *out) : cudaErrorInvalidValue; });
}

cudaError_t cudaGetSymbolSize(std::size_t *out, const void *symbol)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        module::variable v;
        if (cudaError_t e = resolve_symbol(symbol, v); e != cudaSuccess) return e;
        *out = v.bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaMemset(void *to, int value, std::size_t bytes)
{
    return call([&] { return fill("cudaMemset", to, bytes, value, bytes, 1); });
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream)
{
    return in(stream, [&] { return fill("cudaMemsetAsync", to, bytes, value, bytes, 1); });
}

cudaError_t cudaMemset2D(void *to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height)
{
    return call([&] { return fill("cudaMemset2D", to, pitch, value, width, height); });
}

cudaError_t cudaMemset2DAsync(void *to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream)
{
    return in(stream, [&] { return fill("cudaMemset2DAsync", to, pitch, value, width, height); });
}

cudaError_t cudaMemPrefetchAsync(const void *p, std::size_t bytes, cudaMemLocation where,
                                 unsigned flags, cudaStream_t stream)
{
    return in(stream, [&] {
        if (flags) return cudaErrorInvalidValue;
        const cudaError_t e = managed_range(p, bytes);
        return e != cudaSuccess ? e : known_location(where);
    });
}

cudaError_t cudaMemAdvise(const void *p, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation where)
{
    return call([&] {
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
            return cudaErrorInvalidValue;
        if (cudaError_t e = managed_range(p, bytes); e != cudaSuccess) return e;
        // Whether memory is mostly read, or no longer preferred somewhere, holds for every place.
        const bool anywhere = advice == cudaMemAdviseSetReadMostly ||
                              advice == cudaMemAdviseUnsetReadMostly ||
                              advice == cudaMemAdviseUnsetPreferredLocation;
        return anywhere ? cudaSuccess : known_location(where);
    });
}

} // extern "C"
