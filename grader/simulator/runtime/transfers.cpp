// Copies: cudaMemcpy and its like.
#include "memory_side.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/memory.hpp"

#include <cstring>

namespace simulator::runtime {

namespace {

// Host code gets all ones, a NaN or -1, for device bytes that nothing wrote: on a GPU they may be
// anything, and zeros would often be taken for results.
void overwrite_uninitialised(std::byte *to, const std::uint8_t *shadow, std::uint64_t bytes)
{
    for (std::uint64_t i = 0; i < bytes; ++i)
        if (!(shadow[i] & initialised)) to[i] = std::byte{0xff};
}

// Copies initialisation too: uninitialised source bytes stay uninitialised.
void copy_row(const side &to, const side &from, std::uint64_t bytes)
{
    std::memmove(to.bytes, from.bytes, bytes);
    if (to.host && !from.host) overwrite_uninitialised(to.bytes, from.shadow, bytes);
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
    if (way == copy_way::between_devices) {
        if (!copies_directly(from.device, to.device)) t.staged += bytes;
        t.sent[static_cast<std::size_t>(from.device)] += bytes;
        return;
    }
    (way == copy_way::to_host     ? t.device_to_host
     : way == copy_way::to_device ? t.host_to_device
                                  : t.device_to_device) += bytes;
    if (way == copy_way::inside_device && row < short_row_bytes) t.in_pieces += bytes;
    if (from.pageable && way == copy_way::to_device) t.from_pageable += bytes;
    if (to.pageable && way == copy_way::to_host) t.to_pageable += bytes;
    if (way == copy_way::to_device) t.uploaded[static_cast<std::size_t>(to.device)] += bytes;
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
        return any ? expected_side::any : host ? expected_side::host : expected_side::device;
    };
    const cudaError_t e = look_up(r.function, r.to, bytes_to, side_of(to_host), true, target);
    return e != cudaSuccess
               ? e
               : look_up(r.function, r.from, bytes_from, side_of(from_host), false, source);
}

side advanced(const side &s, std::uint64_t offset)
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
        copy_row(advanced(target, y * r.rows_to.pitch + z * r.rows_to.slice),
                 advanced(source, y * r.rows_from.pitch + z * r.rows_from.slice), r.size.width);
    });
    if (!target.shadow) host().write(r.to, rows, written.data());
}

// The pointers are checked again, since memory may have been freed after queueing.
void copy_now(const copy_request &r)
{
    side target, source;
    if (look_up(r, target, source) == cudaSuccess) return move(r, target, source);
    set_sticky_error(cudaErrorIllegalAddress,
                     std::string(r.function) + ": memory was freed before the copy ran");
}

task task_of(const copy_request &r)
{
    return {cudaGraphNodeTypeMemcpy, [r] { copy_now(r); }};
}

} // namespace

copy_request contiguous(const char *function, void *to, const void *from, std::size_t bytes,
                        cudaMemcpyKind kind)
{
    return {function, to, {bytes, bytes}, from, {bytes, bytes}, {bytes}, kind};
}

cudaError_t copy(copy_request r, cudaStream_t stream, until end)
{
    if (r.size.empty()) return cudaSuccess;
    if (end == until::copied)
        if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
    side target, source;
    if (cudaError_t e = look_up(r, target, source); e != cudaSuccess) return e;
    stream_state &s = state_of(stream);
    // Pageable host memory is read during the call, even if the copy runs later.
    if (defers_work() && !s.active_capture && source.pageable) stage(r, source);
    const cudaError_t queued =
        way_of(target, source) == copy_way::between_devices
            ? queue_peer_copy(stream, task_of(r), target.device, source.device)
            : queue(stream, task_of(r));
    if (queued != cudaSuccess || s.active_capture) return queued;
    // The host does not wait for copies inside a device, but always for copies to pageable memory.
    const bool waits = end == until::copied && (target.host || source.host);
    if (waits || target.pageable)
        wait_for(r.function, {s.last});
    else if (source.pageable) // already read; only the timeline has the host wait for the copy
        timeline::instance().host_waits(r.function, steps_of({s.last}));
    return has_sticky_error() && defers_work() ? surface_sticky_error() : cudaSuccess;
}

namespace {

// The body of a call that copies.
cudaError_t copy_in(cudaStream_t stream, const copy_request &r, until end)
{
    return in_stream(stream, [&] { return copy(r, stream, end); });
}

copy_request pitched(const char *function, void *to, std::size_t pitch_to, const void *from,
                     std::size_t pitch_from, std::size_t width, std::size_t height,
                     cudaMemcpyKind kind)
{
    return {function, to, {pitch_to}, from, {pitch_from}, {width, height}, kind};
}

// Like place_of in memory_side.hpp, also for an array, whose positions count elements.
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
    return in_stream(stream, [&] {
        if (!p) return cudaErrorInvalidValue;
        copy_request r;
        const cudaError_t e = request_of(function, *p, r);
        return e != cudaSuccess ? e : copy(r, stream, end);
    });
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
    const auto r = contiguous("cudaMemcpy", to, from, bytes, kind);
    side target, source;
    if (r.size.empty()) return cudaErrorInvalidValue;
    out = task_of(r);
    return look_up(r, target, source);
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
    return copy_in(nullptr, contiguous("cudaMemcpy", to, from, bytes, kind), until::copied);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_in(stream, contiguous("cudaMemcpyAsync", to, from, bytes, kind), until::queued);
}

cudaError_t cudaMemcpy2D(void *to, std::size_t pitch_to, const void *from, std::size_t pitch_from,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind)
{
    return copy_in(nullptr,
                   pitched("cudaMemcpy2D", to, pitch_to, from, pitch_from, width, height, kind),
                   until::copied);
}

cudaError_t cudaMemcpy2DAsync(void *to, std::size_t pitch_to, const void *from,
                              std::size_t pitch_from, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in(
        stream, pitched("cudaMemcpy2DAsync", to, pitch_to, from, pitch_from, width, height, kind),
        until::queued);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           std::size_t bytes)
{
    return call([&] {
        if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
        // It follows all earlier work of both devices and precedes all later work.
        for (const int d : {to_device, from_device, current_device()})
            wait_for_device("cudaMemcpyPeer", d);
        const auto r = contiguous("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice);
        const cudaError_t e = copy(r, nullptr, until::copied);
        wait_for_device("cudaMemcpyPeer", current_device());
        return e;
    });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t bytes, cudaStream_t stream)
{
    return in_stream(stream, [&] {
        if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
        // An H200's driver (580.159.04) refuses this too; cudaMemcpyAsync between devices may be
        // captured.
        if (cudaError_t e = refuse_if_capturing(state_of(stream)); e != cudaSuccess) return e;
        return copy(contiguous("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice),
                    stream, until::queued);
    });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    return copy_3d("cudaMemcpy3D", p, nullptr, until::copied);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_3d("cudaMemcpy3DAsync", p, stream, until::queued);
}

} // extern "C"
