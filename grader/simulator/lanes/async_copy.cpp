// Asynchronous copies from device memory to shared memory: cp.async.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// Checks, byte by byte, lanes that read fewer bytes than they write.
bool check_parts(context &c, const instruction &i, lane_mask mask, const u64 *from,
                 const u32 *wanted)
{
    const lane_mask misaligned = where([&](int l) { return from[l] % i.bytes != 0; }) & mask;
    report_lanes(c, i, access_problem::misaligned, misaligned, from,
                 {space::global, false, i.bytes});
    if (misaligned != 0) return false;
    const access one{space::global, false, 1};
    for (u32 k = 0; k < i.bytes; ++k) {
        const lane_mask reads = where([&](int l) { return k < wanted[l]; }) & mask;
        if (reads == 0) break;
        u64 at[32];
        for (int l = 0; l < 32; ++l) at[l] = from[l] + k;
        if (!check_lanes(c, i, reads, at, device_window(c), one, true)) return false;
        note_access(c, i, reads, at, one, false);
    }
    return true;
}

// a: address in shared memory; b: address in device memory; c: bytes to read, the rest is filled
// with zeros, or, with `extra`, a predicate under which nothing is read.
void copy_async(context &c, const instruction &i, lane_mask mask)
{
    u64 to[32], from[32];
    addresses_of(c, i, to);
    auto source = lanes_of<u64>(c, i.b);
    for (int l = 0; l < 32; ++l) from[l] = source[l];
    window shared = shared_at(c, 0), device = device_window(c);
    access write{space::shared, true, i.bytes};
    if (!check_lanes(c, i, mask, to, shared, write, false)) return;
    u32 wanted[32] = {};
    lane_mask whole = 0, part = 0;
    active(mask, [&](int l) {
        u32 n = i.bytes;
        if (i.extra != 0)
            n = (predicate(c, i.c) & bit_of[l]) != 0 ? 0 : n;
        else if (i.c != no_operand && lanes_of<u32>(c, i.c)[l] < n)
            n = lanes_of<u32>(c, i.c)[l];
        wanted[l] = n;
        (n == i.bytes ? whole : part) |= n != 0 ? bit_of[l] : 0;
    });
    access read{space::global, false, i.bytes};
    if (whole != 0 && !check_lanes(c, i, whole, from, device, read, true)) return;
    if (part != 0 && !check_parts(c, i, part, from, wanted)) return;
    if (whole != 0) {
        note_access(c, i, whole, from, read, false);
        count_window(c, i, whole, from, read, false);
    }
    // Lanes that read different numbers of bytes are counted as separate requests.
    for (lane_mask left = part; left != 0;) {
        const u32 n = wanted[__builtin_ctz(left)];
        const lane_mask alike = where([&](int l) { return wanted[l] == n; }) & left;
        count_window(c, i, alike, from, {space::global, false, n}, false);
        left &= ~alike;
    }
    instruction second = i;
    second.site += 1;
    count_window(c, second, mask, to, write, false);
    std::byte bytes[32][16] = {};
    active(whole | part, [&](int l) {
        __builtin_memcpy(bytes[l], device.data + (from[l] - device.base), wanted[l]);
    });
    start_copies(c, i, mask, to, bytes);
}

} // namespace

void list_async_copies(handler_sink &out) { out.add("core", "copy_async", copy_async); }

} // namespace simulator::core::SIMULATOR_LEVEL
