// Runs cp.async: asynchronous copies from global to shared memory.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// Checks, byte by byte, the lanes whose src-size is below cp-size.
bool check_partial_reads(context &c, const instruction &i, lane_mask mask, const u64 *from,
                         const u32 *src_size)
{
    const lane_mask misaligned = where([&](int l) { return from[l] % i.bytes != 0; }) & mask;
    report_lanes(c, i, access_problem::misaligned, misaligned, from,
                 {space::global, false, i.bytes});
    if (misaligned != 0) return false;
    const access one{space::global, false, 1};
    for (u32 k = 0; k < i.bytes; ++k) {
        const lane_mask reads = where([&](int l) { return k < src_size[l]; }) & mask;
        if (reads == 0) break;
        u64 at[32];
        for (int l = 0; l < 32; ++l) at[l] = from[l] + k;
        if (!check_lanes(c, i, reads, at, device_region(c), one, true)) return false;
        note_access(c, i, reads, at, one, false);
    }
    return true;
}

// a: address in shared memory; b: address in device memory; bytes: cp-size. c: src-size, with zeros
// for the rest, or, if `extra` is set, the predicate ignore-src, under which all bytes are zero.
void copy_async(context &c, const instruction &i, lane_mask mask)
{
    u64 to[32], from[32];
    addresses_of(c, i, to);
    auto source = lanes_of<u64>(c, i.b);
    for (int l = 0; l < 32; ++l) from[l] = source[l];
    memory_region shared = shared_region(c, 0), device = device_region(c);
    access write{space::shared, true, i.bytes};
    if (!check_lanes(c, i, mask, to, shared, write, false)) return;
    u32 src_size[32] = {};
    lane_mask full = 0, partial = 0;
    active(mask, [&](int l) {
        u32 n = i.bytes;
        if (i.extra != 0)
            n = (predicate(c, i.c) & bit_of[l]) != 0 ? 0 : n;
        else if (i.c != no_operand && lanes_of<u32>(c, i.c)[l] < n)
            n = lanes_of<u32>(c, i.c)[l];
        src_size[l] = n;
        (n == i.bytes ? full : partial) |= n != 0 ? bit_of[l] : 0;
    });
    access read{space::global, false, i.bytes};
    if (full != 0 && !check_lanes(c, i, full, from, device, read, true)) return;
    if (partial != 0 && !check_partial_reads(c, i, partial, from, src_size)) return;
    if (full != 0) {
        note_access(c, i, full, from, read, false);
        count_region(c, i, full, from, read, false);
    }
    // Lanes of different src-size are counted as separate requests.
    for (lane_mask left = partial; left != 0;) {
        const u32 n = src_size[__builtin_ctz(left)];
        const lane_mask same_size = where([&](int l) { return src_size[l] == n; }) & left;
        count_region(c, i, same_size, from, {space::global, false, n}, false);
        left &= ~same_size;
    }
    instruction store = i;
    store.site += 1; // decode/async_copies.cpp
    count_region(c, store, mask, to, write, false);
    std::byte bytes[32][16] = {};
    active(full | partial, [&](int l) {
        __builtin_memcpy(bytes[l], device.data + (from[l] - device.base), src_size[l]);
    });
    start_copies(c, i, mask, to, bytes);
}

} // namespace

void list_async_copies(handler_sink &out) { out.add("core", "copy_async", copy_async); }

} // namespace simulator::core::SIMULATOR_LEVEL
