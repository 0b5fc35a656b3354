// Copies and fills: cudaMemcpy, cudaMemset and their like.
#include "transfers.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::runtime {

namespace {

// One side of a copy: its bytes and their properties.
struct side {
    std::byte *bytes = nullptr;     // usable only by host() if there is no shadow
    address start = 0;              // address as seen by programs
    std::uint8_t *shadow = nullptr; // null for ordinary host memory
    bool host = true;               // on the host side of the link
    int device = -1;                // owning device, or -1
    bool pageable = false;          // ordinary host memory, not registered
    bool managed = false;
};

enum class wanted { host, device, any };

// Describes a host pointer that was passed where device memory is needed.
std::string host_address_text(const void *p)
{
    if (!is_symbol(p)) return "host memory, where device memory is needed";
    return "the host's name of a variable in device memory, which cudaMemcpyToSymbol and "
           "cudaMemcpyFromSymbol copy";
}

// Finds the memory behind a pointer. Fails if it is on the wrong side, freed, or not inside one
// allocation.
cudaError_t look_up(const char *function, const void *p, std::uint64_t bytes, wanted want,
                    bool write, side &out)
{
    const std::string its = write ? "its destination is " : "its source is ";
    if (!p) return fail_because(cudaErrorInvalidValue, its + "a null pointer");
    memory &m = memory::instance();
    const address at = as_address(p);
    if (!m.contains(at)) {
        if (want == wanted::device)
            return fail_because(cudaErrorInvalidValue, its + host_address_text(p));
        out.bytes = static_cast<std::byte *>(const_cast<void *>(p));
        out.pageable = !is_registered(p);
        return cudaSuccess;
    }
    const allocation *a = m.find(at);
    const auto misuse = [&](finding_kind kind, const char *how) {
        report_misuse(kind, function, p, bytes, write,
                      std::string(function) + (write ? " writes " : " reads ") +
                          std::to_string(bytes) + " bytes " + how);
        return cudaErrorInvalidValue;
    };
    if (a && !a->live) return misuse(finding_kind::use_after_free, "of memory that was freed");
    if (!a || at < a->start || at >= a->start + a->bytes)
        return misuse(finding_kind::out_of_bounds, "outside every allocation");
    if (bytes > a->start + a->bytes - at)
        return misuse(finding_kind::out_of_bounds, "and runs past the end of the allocation");
    if (a->kind == memory_kind::heap) return cudaErrorInvalidValue; // accessible only to kernels
    const bool both = a->kind == memory_kind::pinned || a->kind == memory_kind::managed;
    if (want == wanted::host && !both)
        return fail_because(cudaErrorInvalidValue,
                            its + "device memory, and the direction it was given says host");
    out = {m.at(at), at, m.shadow_at(at), a->kind == memory_kind::pinned, a->device};
    out.managed = a->kind == memory_kind::managed;
    return cudaSuccess;
}

// Copies initialisation too: uninitialised source bytes stay uninitialised.
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

copy_way way_of(const side &to, const side &from)
{
    if (to.host) return from.host ? copy_way::on_host : copy_way::to_host;
    if (from.host) return copy_way::to_device;
    return to.device == from.device ? copy_way::inside_device : copy_way::between_devices;
}

// Copies of rows this short can permute elements, which is work in its own right.
constexpr std::uint64_t short_row_bytes = 128;

// `row`: length in bytes of the contiguous rows.
void count(const side &to, const side &from, std::uint64_t bytes, std::uint64_t row)
{
    transfer_counts &t = counters::instance().transfers;
    const copy_way way = way_of(to, from);
    timeline::instance().copied(way, from.device, to.device, bytes);
    ++t.commands;
    if (to.managed || from.managed) t.managed_copies += bytes;
    if (way == copy_way::on_host) return;
    (way == copy_way::between_devices ? t.peer_to_peer
     : way == copy_way::to_host       ? t.device_to_host
     : way == copy_way::to_device     ? t.host_to_device
                                      : t.device_to_device) += bytes;
    if (way == copy_way::inside_device && row < short_row_bytes) t.in_pieces += bytes;
    if (from.pageable && way == copy_way::to_device) t.from_pageable += bytes;
    if (to.pageable && way == copy_way::to_host) t.to_pageable += bytes;
    if (way == copy_way::to_device) t.uploaded[static_cast<std::size_t>(to.device)] += bytes;
    if (way != copy_way::between_devices) return;
    if (!copies_directly(from.device, to.device)) t.staged += bytes;
    t.sent[static_cast<std::size_t>(from.device)] += bytes;
}

// Distance in bytes from the first to the last byte of a box; false if it or the size overflows.
bool extent_of(const box &b, const layout &l, std::uint64_t &bytes)
{
    std::uint64_t rows = 0, slices = 0, plane = 0, all = 0;
    return !__builtin_mul_overflow(b.width, b.height, &plane) &&
           !__builtin_mul_overflow(plane, b.depth, &all) &&
           !__builtin_mul_overflow(l.pitch, b.height - 1, &rows) &&
           !__builtin_mul_overflow(l.slice, b.depth - 1, &slices) &&
           !__builtin_add_overflow(rows, slices, &bytes) &&
           !__builtin_add_overflow(bytes, b.width, &bytes);
}

// Slices may overlap in part, because the bounds check gives a better message for a box with a row
// too many. Larger overlaps are refused, since such a copy could take very long on little memory.
bool rows_overlap(const box &b, const layout &l)
{
    std::uint64_t slice = 0;
    return (b.height > 1 && b.width > l.pitch) ||
           (b.depth > 1 &&
            (!extent_of({b.width, b.height, 1}, l, slice) || l.slice < slice - slice / 2));
}

template <typename function> void each_row(const box &b, function body)
{
    for (std::uint64_t z = 0; z < b.depth; ++z)
        for (std::uint64_t y = 0; y < b.height; ++y) body(y, z);
}

// Finds both sides or reports the error.
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

host_rows rows_of(const box &size, const layout &rows)
{
    return {size.width, size.height, size.depth, rows.pitch, rows.slice};
}

layout packed(const box &size) { return {size.width, size.width * size.height}; }

// Reads pageable host memory; called no later than the copy itself.
void stage(copy_request &r, const side &source)
{
    const host_rows rows = rows_of(r.size, r.rows_from);
    r.staged = std::make_shared<std::vector<std::byte>>(rows.bytes());
    host().read(source.bytes, rows, r.staged->data());
}

void move(copy_request r, side target, side source)
{
    count(target, source, r.size.width * r.size.height * r.size.depth, r.size.width);
    if (!source.shadow) {
        if (!r.staged) stage(r, source);
        source.bytes = r.staged->data();
        r.rows_from = packed(r.size);
    }
    const host_rows rows = rows_of(r.size, r.rows_to);
    std::vector<std::byte> written; // written to pageable host memory in one call
    if (!target.shadow) {
        written.resize(rows.bytes());
        target.bytes = written.data();
        r.rows_to = packed(r.size);
    }
    each_row(r.size, [&](std::uint64_t y, std::uint64_t z) {
        copy_row(at(target, y * r.rows_to.pitch + z * r.rows_to.slice),
                 at(source, y * r.rows_from.pitch + z * r.rows_from.slice), r.size.width);
    });
    if (!target.shadow) host().write(r.to, rows, written.data());
}

// The pointers are checked again, since memory may have been freed after queueing.
void copy_now(const copy_request &r)
{
    side target, source;
    if (look_up(r, target, source) == cudaSuccess) return move(r, target, source);
    fault(cudaErrorIllegalAddress,
          std::string(r.function) + ": memory was freed before the copy had its turn");
}

bool is_pageable(const side &s, const void *p) { return !s.shadow && !is_registered(p); }

} // namespace

void report_misuse(finding_kind kind, const char *function, const void *at, std::uint64_t bytes,
                   bool write, std::string detail)
{
    finding f;
    f.kind = kind;
    f.kernel = function;
    f.host_call = true;
    f.write = write;
    f.address = as_address(at);
    f.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffffff));
    f.where = memory::instance().describe(f.address, bytes);
    f.detail = std::move(detail);
    findings::instance().add(std::move(f));
    mark_failure_reported();
}

cudaError_t copy(copy_request r, cudaStream_t stream, until end)
{
    if (r.size.empty()) return cudaSuccess;
    if (end == until::copied)
        if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
    side target, source;
    if (cudaError_t e = look_up(r, target, source); e != cudaSuccess) return e;
    task t;
    t.type = cudaGraphNodeTypeMemcpy;
    stream_state &s = state_of(stream);
    // Pageable host memory is read during the call, even if the copy runs later.
    if (defers_work() && !s.into && is_pageable(source, r.from)) stage(r, source);
    t.run = [r] { copy_now(r); };
    const cudaError_t queued =
        way_of(target, source) == copy_way::between_devices
            ? queue_between(stream, std::move(t), target.device, source.device)
            : queue(stream, std::move(t));
    if (queued != cudaSuccess || s.into) return queued;
    // The host does not wait for copies inside a device, but always for copies to pageable memory.
    const bool waits = end == until::copied ? target.host || source.host || !target.shadow : false;
    if (waits || is_pageable(target, r.to))
        finish(r.function, {s.last});
    else if (is_pageable(source, r.from)) // already read; the host is busy until the copy ends
        timeline::instance().host_waits(r.function, steps_of({s.last}));
    return fault_stands() && defers_work() ? standing_fault() : cudaSuccess;
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
    box size;             // width in bytes
    unsigned element = 1; // bytes of `value` that repeat
};

cudaError_t look_up(const fill_request &r, side &target)
{
    if (rows_overlap(r.size, r.rows)) return cudaErrorInvalidValue;
    std::uint64_t bytes = 0;
    if (!extent_of(r.size, r.rows, bytes)) return cudaErrorInvalidValue;
    return look_up(r.function, r.to, bytes, wanted::device, true, target);
}

// Limit in bytes for the information carried by one value.
constexpr std::uint64_t max_bytes_per_fill_value = 32;

void fill_now(const fill_request &r)
{
    side target;
    if (look_up(r, target) != cudaSuccess)
        return fault(cudaErrorIllegalAddress,
                     std::string(r.function) + ": memory was freed before this had its turn");
    const std::uint64_t bytes = r.size.width * r.size.height * r.size.depth;
    transfer_counts &counts = counters::instance().transfers;
    counts.memset += bytes;
    ++counts.commands;
    counts.fill_values += std::min<std::uint64_t>(bytes, max_bytes_per_fill_value);
    timeline::instance().filled(bytes);
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

// Checks and queues a fill; memory visible to the host is filled before the call returns.
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
    if (e == cudaSuccess && !s.into && end == until::copied && target.host)
        finish(r.function, {s.last});
    return e;
}

// The address of `bytes` bytes at `offset` within a variable.
cudaError_t part_of(const void *symbol, std::size_t bytes, std::size_t offset, void *&out)
{
    module::variable v;
    if (cudaError_t e = resolve_symbol(symbol, v); e != cudaSuccess) return e;
    if (offset > v.bytes || bytes > v.bytes - offset)
        return fail_because(cudaErrorInvalidValue,
                            "it copies " + std::to_string(bytes) + " bytes from byte " +
                                std::to_string(offset) + " of a variable that has " +
                                std::to_string(v.bytes));
    out = reinterpret_cast<void *>(v.start + offset);
    return cudaSuccess;
}

// The start of one side of a 3-D copy and the layout of its rows.
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

// The same for an array, where positions count elements, or for memory.
cudaError_t place_of(cudaArray_t array, const cudaPitchedPtr &p, const cudaPos &from,
                     const box &size, std::byte *&at, layout &rows)
{
    if (!array == !p.ptr) return cudaErrorInvalidValue; // exactly one is required
    if (!array) return place_of(p, from, at, rows);
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    cudaPos in_bytes = from;
    if (__builtin_mul_overflow(from.x, element_bytes(array), &in_bytes.x))
        return cudaErrorInvalidValue;
    return place_in(array, in_bytes, size, at, rows);
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
        return fail_because(cudaErrorInvalidMemcpyDirection, "a symbol is in device memory");
    void *to = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, to); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
}

cudaError_t from_symbol(const char *function, void *to, const void *symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return fail_because(cudaErrorInvalidMemcpyDirection, "a symbol is in device memory");
    void *from = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, from); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
}

task task_of(const copy_request &r)
{
    task t;
    t.type = cudaGraphNodeTypeMemcpy;
    t.run = [r] { copy_now(r); };
    return t;
}

} // namespace

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

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

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
    return call([&] {
        if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
        // It follows all earlier work of both devices and precedes all later work.
        for (const int d : {to_device, from_device, current_device()})
            finish_streams("cudaMemcpyPeer", d);
        const auto r = linear("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice);
        const cudaError_t e = copy(r, nullptr, until::copied);
        finish_streams("cudaMemcpyPeer", current_device());
        return e;
    });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t bytes, cudaStream_t stream)
{
    return in(stream, [&] {
        if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
        // An H200's driver (580.159.04) refuses this too; cudaMemcpyAsync between devices may be
        // captured.
        if (cudaError_t e = refuse_if_capturing(state_of(stream)); e != cudaSuccess) return e;
        return copy(linear("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice),
                    stream, until::queued);
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
