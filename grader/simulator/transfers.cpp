// Allocation and copies: cudaMalloc, cudaMemcpy, cudaMemset and their like.
#include "transfers.hpp"

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

// Memory that the runtime gave out and has not taken back; `a` is its allocation.
cudaError_t owned_allocation(void *p, const char *function, bool pinned, const allocation *&a)
{
    memory &m = memory::instance();
    a = m.contains(as_address(p)) ? m.find(as_address(p)) : nullptr;
    if (a && a->start == as_address(p) && !a->live)
        find_misuse(finding_kind::use_after_free, function, p, a->bytes, false,
                    std::string(function) + " was given memory that was freed before");
    const bool right = a && a->live && a->start == as_address(p) &&
                       (a->kind == memory_kind::pinned) == pinned && owned().starts.count(a->start);
    return right ? cudaSuccess : cudaErrorInvalidValue;
}

void let_go(address start)
{
    memory &m = memory::instance();
    leave_pool(start, m.find(start)->bytes);
    m.release(start);
}

// Work that is queued may still use the memory: waits for it, as the driver does.
cudaError_t release(void *p, const char *function, bool pinned)
{
    if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
    if (!p) return cudaSuccess;
    const allocation *a = nullptr;
    if (cudaError_t e = owned_allocation(p, function, pinned, a); e != cudaSuccess) return e;
    finish_streams(a->device);
    owned().starts.erase(a->start);
    let_go(a->start);
    return cudaSuccess;
}

// From its turn in the stream on, the memory is gone.
cudaError_t release_in(cudaStream_t stream, void *p)
{
    if (!p) return cudaErrorInvalidValue;
    if (state_of(stream).into) return refuse("cudaFreeAsync in a stream that captures");
    const allocation *a = nullptr;
    if (cudaError_t e = owned_allocation(p, "cudaFreeAsync", false, a); e != cudaSuccess) return e;
    owned().starts.erase(a->start);
    task t;
    t.type = cudaGraphNodeTypeMemFree;
    t.run = [start = a->start] { let_go(start); };
    return queue(stream, std::move(t));
}

// One side of a copy: bytes this process can touch, and what is known about them.
struct side {
    std::byte *bytes = nullptr;
    address start = 0;              // as programs see it
    std::uint8_t *shadow = nullptr; // null: ordinary host memory
    bool host = true;               // on the host's side of the link
    int device = -1;                // that owns it; -1: none
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
    out = {m.at(at), at, m.shadow_at(at), a->kind == memory_kind::pinned, a->device};
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
    const bool peers = !to.host && !from.host && to.device != from.device;
    (peers       ? t.peer_to_peer
     : to.host   ? t.device_to_host
     : from.host ? t.host_to_device
                 : t.device_to_device) += bytes;
}

const registration *registration_of(const void *p)
{
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    auto after = owned().registered.upper_bound(at);
    if (after == owned().registered.begin()) return nullptr;
    auto it = std::prev(after);
    return at - it->first < it->second.bytes ? &it->second : nullptr;
}

// Bytes from the first to the last of a box; false when the numbers overflow.
bool extent_of(const box &b, const layout &l, std::uint64_t &bytes)
{
    std::uint64_t rows = 0, slices = 0;
    return !__builtin_mul_overflow(l.pitch, b.height - 1, &rows) &&
           !__builtin_mul_overflow(l.slice, b.depth - 1, &slices) &&
           !__builtin_add_overflow(rows, slices, &bytes) &&
           !__builtin_add_overflow(bytes, b.width, &bytes);
}

bool rows_overlap(const box &b, const layout &l)
{
    return (b.height > 1 && b.width > l.pitch) ||
           (b.depth > 1 && b.height > 1 && l.slice < l.pitch);
}

template <typename function> void each_row(const box &b, function body)
{
    for (std::uint64_t z = 0; z < b.depth; ++z)
        for (std::uint64_t y = 0; y < b.height; ++y) body(y, z);
}

// Finds both sides, or says what is wrong with them.
cudaError_t look_up(const copy_request &r, side &target, side &source)
{
    if (rows_overlap(r.size, r.rows_to) || rows_overlap(r.size, r.rows_from))
        return cudaErrorInvalidPitchValue;
    if (r.kind < cudaMemcpyHostToHost || r.kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool any = r.kind == cudaMemcpyDefault;
    const bool to_host = r.kind == cudaMemcpyHostToHost || r.kind == cudaMemcpyDeviceToHost;
    const bool from_host = r.kind == cudaMemcpyHostToHost || r.kind == cudaMemcpyHostToDevice;
    std::uint64_t bytes_to = 0, bytes_from = 0;
    if (!extent_of(r.size, r.rows_to, bytes_to) || !extent_of(r.size, r.rows_from, bytes_from))
        return cudaErrorInvalidValue;
    const auto side_of = [any](bool host) {
        return any ? wanted::any : host ? wanted::host : wanted::device;
    };
    const cudaError_t e = look_up(r.function, r.to, bytes_to, side_of(to_host), true, target);
    return e != cudaSuccess
               ? e
               : look_up(r.function, r.from, bytes_from, side_of(from_host), false, source);
}

side at(const side &s, std::uint64_t offset)
{
    return {s.bytes + offset, s.start + offset, s.shadow ? s.shadow + offset : nullptr, s.host,
            s.device};
}

void move(const copy_request &r, const side &target, const side &source)
{
    count(target, source, r.size.width * r.size.height * r.size.depth);
    each_row(r.size, [&](std::uint64_t y, std::uint64_t z) {
        copy_row(at(target, y * r.rows_to.pitch + z * r.rows_to.slice),
                 at(source, y * r.rows_from.pitch + z * r.rows_from.slice), r.size.width);
    });
}

// What was right when it was queued may be wrong when its turn comes: memory was freed meanwhile.
void copy_now(const copy_request &r)
{
    side target, source;
    if (look_up(r, target, source) == cudaSuccess) return move(r, target, source);
    fault(cudaErrorIllegalAddress,
          std::string(r.function) + ": memory was freed before the copy had its turn");
}

// Ordinary host memory is read when the call is made, however late the copy itself is.
std::shared_ptr<std::vector<std::byte>> stage(copy_request &r, const side &source)
{
    auto staged =
        std::make_shared<std::vector<std::byte>>(r.size.width * r.size.height * r.size.depth);
    std::byte *to = staged->data();
    each_row(r.size, [&](std::uint64_t y, std::uint64_t z) {
        std::memcpy(to, source.bytes + y * r.rows_from.pitch + z * r.rows_from.slice, r.size.width);
        to += r.size.width;
    });
    r.from = staged->data();
    r.rows_from = {r.size.width, r.size.width * r.size.height};
    return staged;
}

bool is_pageable(const side &s, const void *p) { return !s.shadow && !registration_of(p); }

} // namespace

cudaError_t copy(copy_request r, cudaStream_t stream, until end)
{
    if (r.size.empty()) return cudaSuccess;
    if (end == until::copied)
        if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
    side target, source;
    if (cudaError_t e = look_up(r, target, source); e != cudaSuccess) return e;
    task t;
    t.type = cudaGraphNodeTypeMemcpy;
    std::shared_ptr<std::vector<std::byte>> staged;
    stream_state &s = state_of(stream);
    if (puts_off() && !s.into && is_pageable(source, r.from)) staged = stage(r, source);
    t.run = [r, staged] { copy_now(r); };
    if (cudaError_t e = queue(stream, std::move(t)); e != cudaSuccess || s.into) return e;
    // Nobody waits for a copy inside the device; a copy to ordinary memory is always waited for.
    const bool waits = end == until::copied ? target.host || source.host || !target.shadow : false;
    if (waits || is_pageable(target, r.to)) finish(s.last);
    return fault_stands() && puts_off() ? standing_fault() : cudaSuccess;
}

namespace {

copy_request linear(const char *function, void *to, const void *from, std::size_t bytes,
                    cudaMemcpyKind kind)
{
    return {function, to, {bytes, bytes}, from, {bytes, bytes}, {bytes}, kind};
}

copy_request planar(const char *function, void *to, std::size_t pitch_to, const void *from,
                    std::size_t pitch_from, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind)
{
    return {function, to, {pitch_to}, from, {pitch_from}, {width, height}, kind};
}

unsigned byte_of(int value) { return static_cast<unsigned char>(value); }

struct fill_request {
    const char *function;
    void *to;
    layout rows;
    unsigned value;
    box size;             // bytes
    unsigned element = 1; // bytes of `value` that repeat
};

cudaError_t look_up(const fill_request &r, side &target)
{
    if (rows_overlap(r.size, r.rows)) return cudaErrorInvalidValue;
    std::uint64_t bytes = 0;
    if (!extent_of(r.size, r.rows, bytes)) return cudaErrorInvalidValue;
    return look_up(r.function, r.to, bytes, wanted::device, true, target);
}

void fill_now(const fill_request &r)
{
    side target;
    if (look_up(r, target) != cudaSuccess)
        return fault(cudaErrorIllegalAddress,
                     std::string(r.function) + ": memory was freed before this had its turn");
    counters::instance().transfers.memset += r.size.width * r.size.height * r.size.depth;
    each_row(r.size, [&](std::uint64_t y, std::uint64_t z) {
        const std::uint64_t offset = y * r.rows.pitch + z * r.rows.slice;
        if (r.element == 1)
            std::memset(target.bytes + offset, static_cast<int>(r.value), r.size.width);
        else
            for (std::uint64_t x = 0; x < r.size.width; x += r.element)
                std::memcpy(target.bytes + offset + x, &r.value, r.element);
        memory::instance().mark(target.start + offset, r.size.width, initialised, 0);
    });
}

// Checks and queues it; memory that the host sees is filled when the call returns.
cudaError_t fill(const fill_request &r, cudaStream_t stream, until end)
{
    if (r.size.empty()) return cudaSuccess;
    side target;
    if (cudaError_t e = look_up(r, target); e != cudaSuccess) return e;
    task t;
    t.type = cudaGraphNodeTypeMemset;
    t.run = [r] { fill_now(r); };
    stream_state &s = state_of(stream);
    const cudaError_t e = queue(stream, std::move(t));
    if (e == cudaSuccess && !s.into && end == until::copied && target.host) finish(s.last);
    return e;
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

// Where a side of a 3-D copy starts, and how its rows lie.
cudaError_t place_of(const cudaPitchedPtr &p, const cudaPos &from, std::byte *&at, layout &rows)
{
    rows.pitch = p.pitch;
    std::uint64_t y = 0, z = 0;
    if (__builtin_mul_overflow(p.pitch, p.ysize, &rows.slice) ||
        __builtin_mul_overflow(rows.pitch, from.y, &y) ||
        __builtin_mul_overflow(rows.slice, from.z, &z))
        return cudaErrorInvalidValue;
    at = static_cast<std::byte *>(p.ptr) + from.x + y + z;
    return cudaSuccess;
}

// Where a 3-D copy starts on one side: in an array, whose elements positions count, or in memory.
cudaError_t place_of(cudaArray_t array, const cudaPitchedPtr &p, const cudaPos &from,
                     const box &size, std::byte *&at, layout &rows)
{
    if (!array == !p.ptr) return cudaErrorInvalidValue; // one of them
    return array ? place_in(array, {from.x * element_bytes(array), from.y, from.z}, size, at, rows)
                 : place_of(p, from, at, rows);
}

cudaError_t request_of(const char *function, const cudaMemcpy3DParms &p, copy_request &out)
{
    box size{p.extent.width, p.extent.height, p.extent.depth};
    cudaArray_t counted = p.dstArray ? p.dstArray : p.srcArray;
    if (counted && !is_array(counted)) return cudaErrorInvalidResourceHandle;
    if (counted && __builtin_mul_overflow(size.width, element_bytes(counted), &size.width))
        return cudaErrorInvalidValue;
    std::byte *from = nullptr, *to = nullptr;
    out = {function, nullptr, {}, nullptr, {}, size, p.kind};
    if (size.empty()) return cudaSuccess;
    if (cudaError_t e = place_of(p.srcArray, p.srcPtr, p.srcPos, size, from, out.rows_from);
        e != cudaSuccess)
        return e;
    if (cudaError_t e = place_of(p.dstArray, p.dstPtr, p.dstPos, size, to, out.rows_to);
        e != cudaSuccess)
        return e;
    out.from = from;
    out.to = to;
    return cudaSuccess;
}

cudaError_t copy_3d(const char *function, const cudaMemcpy3DParms *p, cudaStream_t stream,
                    until end)
{
    if (!p) return cudaErrorInvalidValue;
    copy_request r;
    const cudaError_t e = request_of(function, *p, r);
    return e != cudaSuccess ? e : copy(r, stream, end);
}

cudaError_t fill_3d(const char *function, const cudaPitchedPtr &to, int value,
                    const cudaExtent &size, cudaStream_t stream, until end)
{
    std::byte *at = nullptr;
    layout rows;
    if (cudaError_t e = place_of(to, {}, at, rows); e != cudaSuccess) return e;
    return fill({function, at, rows, byte_of(value), {size.width, size.height, size.depth}}, stream,
                end);
}

cudaError_t to_symbol(const char *function, const void *symbol, const void *from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    void *to = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, to); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
}

cudaError_t from_symbol(const char *function, void *to, const void *symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    void *from = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, from); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
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

task task_of(const copy_request &r)
{
    task t;
    t.type = cudaGraphNodeTypeMemcpy;
    t.run = [r] { copy_now(r); };
    return t;
}

} // namespace

cudaError_t allocate(void **out, std::size_t bytes, memory_kind kind, int device)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (device_count() == 0) return cudaErrorNoDevice;
    const auto start = memory::instance().allocate(bytes, kind, device);
    if (!start) return cudaErrorMemoryAllocation;
    owned().starts.insert(*start);
    *out = reinterpret_cast<void *>(*start);
    return cudaSuccess;
}

cudaError_t copy_task(const cudaMemcpy3DParms &p, task &out)
{
    copy_request r;
    side target, source;
    if (cudaError_t e = request_of("cudaMemcpy3D", p, r); e != cudaSuccess) return e;
    if (r.size.empty()) return cudaErrorInvalidValue;
    out = task_of(r);
    return look_up(r, target, source);
}

cudaError_t copy_task(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, task &out)
{
    const auto r = linear("cudaMemcpy", to, from, bytes, kind);
    side target, source;
    if (r.size.empty()) return cudaErrorInvalidValue;
    out = task_of(r);
    return look_up(r, target, source);
}

cudaError_t fill_task(const cudaMemsetParams &p, task &out)
{
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
        return cudaErrorInvalidValue;
    fill_request r{"cudaMemset", p.dst, {p.pitch}, p.value, {0, p.height}, p.elementSize};
    side target;
    if (__builtin_mul_overflow(p.width, p.elementSize, &r.size.width) || r.size.empty())
        return cudaErrorInvalidValue;
    out.type = cudaGraphNodeTypeMemset;
    out.run = [r] { fill_now(r); };
    return look_up(r, target);
}

void free_all(int device)
{
    memory &m = memory::instance();
    auto &starts = owned().starts;
    for (auto it = starts.begin(); it != starts.end();)
        if (m.find(*it)->device == device) {
            let_go(*it);
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
    return in(stream, [&] { return release_in(stream, p); });
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
    return call([&] {
        for (int d = 0; d < device_count(); ++d) finish_streams(d);
        return unregister_host(p);
    });
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
    return call(
        [&] { return copy(linear("cudaMemcpy", to, from, bytes, kind), nullptr, until::copied); });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return in(stream, [&] {
        return copy(linear("cudaMemcpyAsync", to, from, bytes, kind), stream, until::queued);
    });
}

cudaError_t cudaMemcpy2D(void *to, std::size_t pitch_to, const void *from, std::size_t pitch_from,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind)
{
    return call([&] {
        return copy(planar("cudaMemcpy2D", to, pitch_to, from, pitch_from, width, height, kind),
                    nullptr, until::copied);
    });
}

cudaError_t cudaMemcpy2DAsync(void *to, std::size_t pitch_to, const void *from,
                              std::size_t pitch_from, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return copy(
            planar("cudaMemcpy2DAsync", to, pitch_to, from, pitch_from, width, height, kind),
            stream, until::queued);
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
        return copy(linear("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice), stream,
                    until::queued);
    });
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind)
{
    return call([&] {
        return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr,
                         until::copied);
    });
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream,
                         until::queued);
    });
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind)
{
    return call([&] {
        return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, nullptr,
                           until::copied);
    });
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream,
                           until::queued);
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
    return call([&] {
        return fill({"cudaMemset", to, {bytes}, byte_of(value), {bytes}}, nullptr, until::copied);
    });
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream)
{
    return in(stream, [&] {
        return fill({"cudaMemsetAsync", to, {bytes}, byte_of(value), {bytes}}, stream,
                    until::queued);
    });
}

cudaError_t cudaMemset2D(void *to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height)
{
    return call([&] {
        return fill({"cudaMemset2D", to, {pitch}, byte_of(value), {width, height}}, nullptr,
                    until::copied);
    });
}

cudaError_t cudaMemset2DAsync(void *to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream)
{
    return in(stream, [&] {
        return fill({"cudaMemset2DAsync", to, {pitch}, byte_of(value), {width, height}}, stream,
                    until::queued);
    });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent size)
{
    return call([&] { return fill_3d("cudaMemset3D", to, value, size, nullptr, until::copied); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent size, cudaStream_t stream)
{
    return in(stream,
              [&] { return fill_3d("cudaMemset3DAsync", to, value, size, stream, until::queued); });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    return call([&] { return copy_3d("cudaMemcpy3D", p, nullptr, until::copied); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return in(stream, [&] { return copy_3d("cudaMemcpy3DAsync", p, stream, until::queued); });
}

} // extern "C"
