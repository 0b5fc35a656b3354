// Allocation: cudaMalloc, pinned and registered host memory, and their release.
#include "transfers.hpp"

#include "simulator/machine/host.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace simulator::runtime {

namespace {

constexpr std::size_t pitch_alignment = 512;
constexpr std::size_t largest_pitch = 0x7fffffff; // cudaDeviceProp::memPitch
constexpr address page = memory::page_bytes;

// Host memory that cudaHostRegister made visible to kernels.
struct registration {
    std::uint64_t bytes;        // as registered
    address first_page;         // in the host's address space
    std::uint64_t mapped_bytes; // whole pages
    address mapped;             // the allocation that holds these pages
};

struct owned_memory {
    std::set<address> starts;                   // allocated by this runtime and not freed
    std::map<address, registration> registered; // by host address
};

owned_memory &owned()
{
    // Never destroyed: objects that outlive main may still free their memory.
    static auto *const one = new owned_memory;
    return *one;
}

// Checks that `p` is the start of a live allocation made by this runtime and returns it in `a`.
cudaError_t owned_allocation(void *p, const char *function, bool pinned, const allocation *&a)
{
    memory &m = memory::instance();
    a = m.contains(as_address(p)) ? m.find(as_address(p)) : nullptr;
    if (a && a->start == as_address(p) && !a->live)
        report_misuse(finding_kind::use_after_free, function, p, a->bytes, false,
                      std::string(function) + " was given memory that was freed before");
    if (a && a->start != as_address(p) && a->live)
        report_misuse(finding_kind::out_of_bounds, function, p, 1, false,
                      std::string(function) +
                          " was given an address that is no allocation's start");
    const bool right = a && a->live && a->start == as_address(p) &&
                       (a->kind == memory_kind::pinned) == pinned && owned().starts.count(a->start);
    return right ? cudaSuccess : cudaErrorInvalidValue;
}

void free_allocation(address start)
{
    memory &m = memory::instance();
    remove_from_pool(start, m.find(start)->bytes);
    m.release(start);
}

// Queued work may still use the memory, so this waits for it, as the driver does. It does not wait
// if a copy between devices is pending among that work: on H200s a kernel behind such a copy was
// seen to fail because its memory was gone.
cudaError_t release(void *p, const char *function, bool pinned)
{
    if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
    if (!p) return cudaSuccess;
    const allocation *a = nullptr;
    if (cudaError_t e = owned_allocation(p, function, pinned, a); e != cudaSuccess) return e;
    if (!has_pending_peer_copies(a->device)) wait_for_device(function, a->device);
    owned().starts.erase(a->start);
    free_allocation(a->start);
    return cudaSuccess;
}

// The memory is freed when the stream reaches this task.
cudaError_t release_in(cudaStream_t stream, void *p)
{
    if (!p) return cudaErrorInvalidValue;
    if (state_of(stream).active_capture)
        return not_supported("cudaFreeAsync in a stream that captures");
    const allocation *a = nullptr;
    if (cudaError_t e = owned_allocation(p, "cudaFreeAsync", false, a); e != cudaSuccess) return e;
    owned().starts.erase(a->start);
    return queue(stream, {cudaGraphNodeTypeMemFree, [at = a->start] { free_allocation(at); }});
}

const registration *registration_of(const void *p)
{
    const address at = as_address(p);
    auto after = owned().registered.upper_bound(at);
    if (after == owned().registered.begin()) return nullptr;
    auto it = std::prev(after);
    return at - it->first < it->second.bytes ? &it->second : nullptr;
}

// The address at which kernels see registered memory.
void *device_pointer(const registration &r, const void *p)
{
    return reinterpret_cast<void *>(r.mapped + (as_address(p) - r.first_page));
}

// Returns null also for memory of malloc in kernels: the host must not see how much that is.
const allocation *live_allocation(const void *p)
{
    const memory &m = memory::instance();
    const allocation *a = m.in_one_allocation(as_address(p), 1) ? m.find(as_address(p)) : nullptr;
    return a && a->kind != memory_kind::heap ? a : nullptr;
}

bool overlaps_registered(address first, address end)
{
    return std::any_of(owned().registered.begin(), owned().registered.end(), [&](const auto &r) {
        return first < r.second.first_page + r.second.mapped_bytes && r.second.first_page < end;
    });
}

// Moves the pages behind a host range into the device's range, where kernels can see them; both
// addresses then show the same bytes. Only whole pages can move.
cudaError_t register_host(void *p, std::size_t bytes)
{
    const address at = as_address(p);
    address last = 0; // in whole pages, too
    if (__builtin_add_overflow(at, bytes, &last) || __builtin_add_overflow(last, page, &last))
        return cudaErrorInvalidValue;
    const address first = at / page * page;
    const address end = (at + bytes + page - 1) / page * page;
    if (overlaps_registered(first, end)) return cudaErrorHostMemoryAlreadyRegistered;
    memory &m = memory::instance();
    const auto start = m.allocate(end - first, memory_kind::pinned, current_device());
    if (!start) return cudaErrorMemoryAllocation;
    const auto done = host().share_pages(first, *start, end - first);
    if (done != host_process::share_result::shared) {
        m.release(*start);
        return done == host_process::share_result::refused
                   ? cudaErrorOperatingSystem
                   : not_supported("cudaHostRegister of a shared mapping");
    }
    m.mark(*start, end - first, 0, addressable); // the rest of those pages is not registered
    m.mark(*start + (at - first), bytes, addressable, 0);
    owned().registered[at] = {bytes, first, end - first, *start};
    return cudaSuccess;
}

cudaError_t unregister_host(void *p)
{
    auto it = owned().registered.find(as_address(p));
    if (it == owned().registered.end()) return cudaErrorHostMemoryNotRegistered;
    const registration r = it->second;
    if (!host().unshare_pages(r.first_page, r.mapped_bytes)) return cudaErrorOperatingSystem;
    owned().registered.erase(it);
    memory::instance().release(r.mapped);
    return cudaSuccess;
}

// Text for a failed allocation; explains a size that was negative before conversion.
std::string size_text(std::size_t bytes)
{
    std::string words = "it was asked for " + std::to_string(bytes) + " bytes";
    if (const auto as_signed = static_cast<std::ptrdiff_t>(bytes); as_signed < 0)
        words += ", which is what a negative size, " + std::to_string(as_signed) +
                 ", becomes as a size_t";
    return words;
}

} // namespace

bool is_registered(const void *p) { return registration_of(p) != nullptr; }

cudaError_t allocate(void **out, std::size_t bytes, memory_kind kind, int device)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (device_count() == 0) return cudaErrorNoDevice;
    const auto start = memory::instance().allocate(bytes, kind, device);
    if (!start) return fail_because(cudaErrorMemoryAllocation, size_text(bytes));
    owned().starts.insert(*start);
    *out = reinterpret_cast<void *>(*start);
    return cudaSuccess;
}

void free_all(int device)
{
    std::erase_if(owned().starts, [device](address start) {
        const bool of_it = memory::instance().find(start)->device == device;
        if (of_it) free_allocation(start);
        return of_it;
    });
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMalloc(void **out, std::size_t bytes)
{
    return call([&] {
        const cudaError_t e = refuse_while_capturing();
        return e != cudaSuccess ? e : allocate(out, bytes, memory_kind::device, current_device());
    });
}

cudaError_t cudaMallocPitch(void **out, std::size_t *pitch, std::size_t width, std::size_t height)
{
    return call([&] {
        std::size_t bytes = 0;
        if (!pitch || width > largest_pitch) return cudaErrorInvalidValue;
        *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
        if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
        return allocate(out, bytes, memory_kind::device, current_device());
    });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *out, cudaExtent size)
{
    return call([&] {
        std::size_t rows = 0, pitch = 0;
        if (!out || __builtin_mul_overflow(size.height, size.depth, &rows))
            return cudaErrorInvalidValue;
        void *p = nullptr;
        const cudaError_t e = cudaMallocPitch(&p, &pitch, size.width, rows);
        *out = {p, pitch, size.width, size.height};
        return e;
    });
}

cudaError_t cudaMallocManaged(void **out, std::size_t bytes, unsigned flags)
{
    return call([&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
            return cudaErrorInvalidValue;
        if (bytes == 0) return cudaErrorInvalidValue;
        return allocate(out, bytes, memory_kind::managed, current_device());
    });
}

cudaError_t cudaHostAlloc(void **out, std::size_t bytes, unsigned flags)
{
    return call([&] {
        const unsigned known =
            cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if (flags & ~known) return cudaErrorInvalidValue;
        return allocate(out, bytes, memory_kind::pinned, current_device());
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
    return in_stream(stream, [&] { return release_in(stream, p); });
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
        if (flags & ~known) return not_supported("this flag of cudaHostRegister");
        return register_host(p, bytes);
    });
}

cudaError_t cudaHostUnregister(void *p)
{
    return call([&] {
        for (int d = 0; d < device_count(); ++d) wait_for_device("cudaHostUnregister", d);
        return unregister_host(p);
    });
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    return call([&] {
        if (!out || flags) return cudaErrorInvalidValue;
        if (const registration *r = registration_of(host)) {
            *out = device_pointer(*r, host);
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
        *total = profile().global_bytes;
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
            out->device = memory::instance().find(r->mapped)->device;
            out->devicePointer = device_pointer(*r, p);
            return cudaSuccess;
        }
        const allocation *a = live_allocation(p);
        if (!a) return cudaSuccess;
        const bool device = a->kind == memory_kind::device || a->kind == memory_kind::variable ||
                            a->kind == memory_kind::constant;
        out->type = device                            ? cudaMemoryTypeDevice
                    : a->kind == memory_kind::managed ? cudaMemoryTypeManaged
                                                      : cudaMemoryTypeHost;
        out->device = a->device;
        out->devicePointer = const_cast<void *>(p);
        if (device) out->hostPointer = nullptr;
        return cudaSuccess;
    });
}

} // extern "C"
