// Fills: cudaMemset and its like.
#include "memory_side.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::runtime {

namespace {

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
    return look_up(r.function, r.to, bytes, expected_side::device, true, target);
}

// Limit in bytes for the information carried by one value.
constexpr std::uint64_t max_bytes_per_fill_value = 32;

void fill_now(const fill_request &r)
{
    side target;
    if (look_up(r, target) != cudaSuccess)
        return set_sticky_error(cudaErrorIllegalAddress,
                                std::string(r.function) + ": memory was freed before it ran");
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

// Checks and queues a fill. Only cudaMemset of pinned memory waits for the fill.
cudaError_t fill(const fill_request &r, cudaStream_t stream, until end)
{
    return in_stream(stream, [&] {
        if (r.size.empty()) return cudaSuccess;
        side target;
        if (cudaError_t e = look_up(r, target); e != cudaSuccess) return e;
        stream_state &s = state_of(stream);
        const cudaError_t e = queue(stream, {cudaGraphNodeTypeMemset, [r] { fill_now(r); }});
        if (e == cudaSuccess && !s.active_capture && end == until::copied && target.host)
            wait_for(r.function, {s.last});
        return e;
    });
}

cudaError_t fill_3d(const char *function, const cudaPitchedPtr &to, int value,
                    const cudaExtent &size, cudaStream_t stream, until end)
{
    return in_stream(stream, [&] {
        std::byte *at = nullptr;
        layout rows;
        if (cudaError_t e = place_of(to, {}, at, rows); e != cudaSuccess) return e;
        return fill({function, at, rows, byte_of(value), {size.width, size.height, size.depth}},
                    stream, end);
    });
}

} // namespace

cudaError_t fill_task(const cudaMemsetParams &p, task &out)
{
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
        return cudaErrorInvalidValue;
    fill_request r{"cudaMemset", p.dst, {p.pitch}, p.value, {0, p.height}, p.elementSize};
    side target;
    if (__builtin_mul_overflow(p.width, p.elementSize, &r.size.width) || r.size.empty())
        return cudaErrorInvalidValue;
    out = {cudaGraphNodeTypeMemset, [r] { fill_now(r); }};
    return look_up(r, target);
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMemset(void *to, int value, std::size_t bytes)
{
    return fill({"cudaMemset", to, {bytes}, byte_of(value), {bytes}}, nullptr, until::copied);
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream)
{
    return fill({"cudaMemsetAsync", to, {bytes}, byte_of(value), {bytes}}, stream, until::queued);
}

cudaError_t cudaMemset2D(void *to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height)
{
    return fill({"cudaMemset2D", to, {pitch}, byte_of(value), {width, height}}, nullptr,
                until::copied);
}

cudaError_t cudaMemset2DAsync(void *to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream)
{
    return fill({"cudaMemset2DAsync", to, {pitch}, byte_of(value), {width, height}}, stream,
                until::queued);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent size)
{
    return fill_3d("cudaMemset3D", to, value, size, nullptr, until::copied);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent size, cudaStream_t stream)
{
    return fill_3d("cudaMemset3DAsync", to, value, size, stream, until::queued);
}

} // extern "C"
