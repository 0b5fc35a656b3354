// Runs loads and stores, also of parameters: each checks its lanes, checks for races, moves the
// bytes and counts the request.
#include "access.hpp"

#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// The unsigned integer of a size.
template <int bytes> using bytes_as = std::conditional_t<
    bytes == 1, u8, std::conditional_t<bytes == 2, u16, std::conditional_t<bytes == 4, u32, u64>>>;

// True if all shadow bytes of a range have the bits `required` and none of `forbidden`. Inlined so
// that a constant size unrolls the loop.
__attribute__((always_inline)) inline bool all_have(const u8 *shadow, u32 bytes, u8 required,
                                                    u8 forbidden)
{
    u8 lacks = 0;
    for (u32 k = 0; k < bytes; ++k)
        lacks |= static_cast<u8>((~shadow[k] & required) | (shadow[k] & forbidden));
    return lacks == 0;
}

// Loads a value and sign- or zero-extends it to the register.
template <int bytes, class R> inline R extended(const std::byte *p, bool sign)
{
    using T = bytes_as<bytes>;
    T v = read_as<T>(p);
    if constexpr (sizeof(T) < sizeof(R)) {
        if (sign) return static_cast<R>(static_cast<s64>(static_cast<std::make_signed_t<T>>(v)));
    }
    return static_cast<R>(v);
}

inline operand element(context &c, const instruction &i, operand single, int k)
{
    return i.count == 1 ? single : c.lists[i.extra][k];
}

// The common case of loads and stores: consecutive lanes, consecutive addresses, no problem.
template <int bytes> inline bool contiguous_and_clean(const instruction &i, const u64 *address,
                                                      const memory_region &region, u8 required,
                                                      u8 forbidden)
{
    u64 step = static_cast<u64>(bytes) * i.count, at = address[0] - region.base;
    if (!evenly_spaced(address, step)) return false;
    if ((address[0] & (step - 1)) != 0 || at >= region.bytes || region.bytes - at < 32 * step)
        return false;
    if (i.count == 1) return all_have(region.shadow + at, 32 * bytes, required, forbidden);
    return all_have(region.shadow + at, static_cast<u32>(32 * step), required, forbidden);
}

// For the fast path of scattered 4-byte accesses without problems: the distances of the lanes from
// the first active lane, all within 1 GiB. Inactive lanes use the first active lane's address.
struct near_lanes {
    alignas(64) s32 distance[32];
    u64 first;
};

// Sets value[lane] to the 4 bytes at from + distance[lane].
#if defined(__AVX2__)
inline void gather(u32 *value, const std::byte *from, const s32 *distance)
{
    const int *base = reinterpret_cast<const int *>(from);
    for (int l = 0; l < 32; l += 8) {
        __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i *>(distance + l));
        __m256i v = _mm256_i32gather_epi32(base, at, 1);
        _mm256_store_si256(reinterpret_cast<__m256i *>(value + l), v);
    }
}
#else
inline void gather(u32 *value, const std::byte *from, const s32 *distance)
{
    for (int l = 0; l < 32; ++l) value[l] = read_as<u32>(from + distance[l]);
}
#endif

inline bool near_and_clean(near_lanes &n, lane_mask mask, const u64 *address,
                           const memory_region &region, u8 required, u8 forbidden)
{
    n.first = address[__builtin_ctz(mask)];
    u64 limit = region.bytes - 4, wrong = 0, far = 0, low = 0;
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) {
        u64 a = (mask & bit_of[l]) != 0 ? address[l] : n.first, at = a - region.base;
        wrong |= at | (limit - at); // the top bit of either is set if outside
        far |= a - n.first + (u64{1} << 30);
        low |= a;
        n.distance[l] = static_cast<s32>(a - n.first);
    }
    if (region.bytes < 4 || wrong >> 63 != 0 || far >> 31 != 0 || (low & 3) != 0) return false;
    const u8 *shadow = region.shadow + (n.first - region.base);
    u32 each = 0x01010101u, lacks = 0, all_required = each * required,
        all_forbidden = each * forbidden;
    alignas(64) u32 found[32];
    gather(found, reinterpret_cast<const std::byte *>(shadow), n.distance);
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) lacks |= (~found[l] & all_required) | (found[l] & all_forbidden);
    return lacks == 0;
}

template <int bytes, class R> void load_region(context &c, const instruction &i, lane_mask mask,
                                               const u64 *address, const memory_region &region,
                                               ptx::space s)
{
    access request{s, false, static_cast<u32>(bytes) * i.count};
    bool sign = (i.flags & signed_value) != 0;
    u8 required = required_bits(c, s) | (c.check_initialised ? u8{initialised} : u8{0});
    bool contiguous =
        mask == all_lanes && contiguous_and_clean<bytes>(i, address, region, required, c.closed);
    if constexpr (bytes == 4 && sizeof(R) == 4) {
        near_lanes n;
        if (!contiguous && i.count == 1 && !weakly_ordered(c, i, s) &&
            near_and_clean(n, mask, address, region, required, c.closed)) {
            note_access(c, i, mask, address, request, false);
            alignas(64) u32 value[32];
            gather(value, region.data + (n.first - region.base), n.distance);
            every(lanes_of<u32>(c, i.d), mask, [&](int l) { return value[l]; });
            count_region(c, i, mask, address, request, false);
            return;
        }
    }
    if (!contiguous && !check_lanes(c, i, mask, address, region, request, true)) return;
    note_access(c, i, mask, address, request, contiguous);
    const std::byte *start = region.data - region.base + (contiguous ? address[0] : 0);
    for (int k = 0; k < i.count; ++k) {
        operand o = element(c, i, i.d, k);
        if (o == no_operand) continue;
        R *d = lanes_of<R>(c, o);
        const std::byte *from = start + k * bytes;
        u32 step = request.bytes;
        if (!contiguous) {
            active(mask, [&](int l) { d[l] = extended<bytes, R>(from + address[l], sign); });
        } else if (i.count == 1) {
            INDEPENDENT_LANES
            for (int l = 0; l < 32; ++l) d[l] = extended<bytes, R>(from + l * bytes, sign);
        } else {
            INDEPENDENT_LANES
            for (u32 l = 0; l < 32; ++l) d[l] = extended<bytes, R>(from + l * step, sign);
        }
        if (weakly_ordered(c, i, s)) {
            std::byte older[32][8];
            active(older_values(c, i, mask, address, static_cast<u32>(k * bytes), older),
                   [&](int l) { d[l] = extended<bytes, R>(older[l], sign); });
        }
    }
    count_region(c, i, mask, address, request, contiguous);
}

template <int bytes> inline bool may_store(context &c, const instruction &i, lane_mask mask,
                                           const u64 *address, const memory_region &region,
                                           const access &request, u8 forbidden)
{
    if (bytes == 4 && i.count == 1) {
        near_lanes n;
        if (near_and_clean(n, mask, address, region, required_bits(c, request.space), forbidden))
            return true;
    }
    return check_lanes(c, i, mask, address, region, request, false);
}

template <int bytes, class R> void store_region(context &c, const instruction &i, lane_mask mask,
                                                const u64 *address, const memory_region &region,
                                                ptx::space s)
{
    using T = bytes_as<bytes>;
    access request{s, true, static_cast<u32>(bytes) * i.count};
    u8 forbidden = c.check_memory ? static_cast<u8>(read_only | c.closed) : u8{0};
    bool contiguous = mask == all_lanes && contiguous_and_clean<bytes>(
                                               i, address, region, required_bits(c, s), forbidden);
    if (!contiguous && !may_store<bytes>(c, i, mask, address, region, request, forbidden)) return;
    note_access(c, i, mask, address, request, contiguous);
    if (weakly_ordered(c, i, s)) note_strong_store(c, i, mask, address);
    c.changed = true;
    std::byte *start = region.data - region.base + (contiguous ? address[0] : 0);
    for (int k = 0; k < i.count; ++k) {
        const R *v = lanes_of<R>(c, element(c, i, i.b, k));
        std::byte *to = start + k * bytes;
        u32 step = request.bytes;
        if (!contiguous) {
            active(mask, [&](int l) { write_as(to + address[l], static_cast<T>(v[l])); });
        } else if (i.count == 1) {
            INDEPENDENT_LANES
            for (int l = 0; l < 32; ++l) write_as(to + l * bytes, static_cast<T>(v[l]));
        } else {
            INDEPENDENT_LANES
            for (u32 l = 0; l < 32; ++l) write_as(to + l * step, static_cast<T>(v[l]));
        }
    }
    if (contiguous) {
        fill_initialised(region.shadow + (address[0] - region.base), 32 * request.bytes);
    } else {
        active(mask, [&](int l) {
            fill_initialised(region.shadow + (address[l] - region.base), request.bytes);
        });
    }
    count_region(c, i, mask, address, request, contiguous);
}

template <int bytes, class R>
void load_local(context &c, const instruction &i, lane_mask mask, const u64 *at)
{
    u32 total = static_cast<u32>(bytes) * i.count;
    if (!check_local(c, i, mask, at, total, false)) return;
    bool sign = (i.flags & signed_value) != 0;
    for (int k = 0; k < i.count; ++k) {
        operand o = element(c, i, i.d, k);
        if (o == no_operand) continue;
        R *d = lanes_of<R>(c, o);
        active(mask, [&](int l) {
            std::byte buffer[8];
            u64 from = at[l] + static_cast<u64>(k) * bytes;
            for (int part = 0; part < bytes; part += 4)
                __builtin_memcpy(buffer + part, c.local + local_position(from + part, l),
                                 bytes < 4 ? bytes : 4);
            d[l] = extended<bytes, R>(buffer, sign);
        });
    }
    count_local(c, i, mask, at, total, false);
}

template <int bytes, class R>
void store_local(context &c, const instruction &i, lane_mask mask, const u64 *at)
{
    u32 total = static_cast<u32>(bytes) * i.count;
    if (!check_local(c, i, mask, at, total, true)) return;
    for (int k = 0; k < i.count; ++k) {
        const R *v = lanes_of<R>(c, element(c, i, i.b, k));
        active(mask, [&](int l) {
            std::byte buffer[8];
            write_as(buffer, static_cast<bytes_as<bytes>>(v[l]));
            u64 to = at[l] + static_cast<u64>(k) * bytes;
            for (int part = 0; part < bytes; part += 4) {
                u64 p = local_position(to + part, l);
                __builtin_memcpy(c.local + p, buffer + part, bytes < 4 ? bytes : 4);
                fill_initialised(c.local_shadow + p, bytes < 4 ? bytes : 4);
            }
        });
    }
    count_local(c, i, mask, at, total, true);
}

template <class R> inline R part_of(const std::byte *p, u32 bytes, bool sign)
{
    switch (bytes) {
    case 1:
        return extended<1, R>(p, sign);
    case 2:
        return extended<2, R>(p, sign);
    case 4:
        return extended<4, R>(p, sign);
    default:
        return extended<8, R>(p, sign);
    }
}

template <class R>
void load_parameter_bytes(context &c, const instruction &i, lane_mask mask, const u64 *at)
{
    u32 total = u32{i.bytes} * i.count;
    active(mask, [&](int l) {
        if (c.stop) return;
        if (at[l] >= c.param_bytes || c.param_bytes - at[l] < total) {
            report(c, i, access_problem::outside, l, at[l], total, space::param, false, 1);
            return;
        }
        for (int k = 0; k < i.count; ++k) {
            operand o = element(c, i, i.d, k);
            if (o == no_operand) continue;
            lanes_of<R>(c, o)[l] =
                part_of<R>(c.params + at[l] + k * i.bytes, i.bytes, (i.flags & signed_value) != 0);
        }
    });
}

template <bool store, int bytes, class R>
inline void move_region(context &c, const instruction &i, lane_mask mask, const u64 *address,
                        const memory_region &region, ptx::space s)
{
    if constexpr (store)
        store_region<bytes, R>(c, i, mask, address, region, s);
    else
        load_region<bytes, R>(c, i, mask, address, region, s);
}

template <bool store, int bytes, class R>
inline void move_local(context &c, const instruction &i, lane_mask mask, const u64 *at)
{
    if constexpr (store)
        store_local<bytes, R>(c, i, mask, at);
    else
        load_local<bytes, R>(c, i, mask, at);
}

template <space s, bool store, int bytes, class R>
void move_in(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    if constexpr (s == space::local) {
        move_local<store, bytes, R>(c, i, mask, address);
    } else {
        const memory_region region = s == space::shared ? shared_region(c, 0) : device_region(c);
        move_region<store, bytes, R>(c, i, mask, address, region, s);
    }
}

template <bool store, int bytes, class R>
void move_generic(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    space_masks lanes = lanes_by_space(address, mask);
    if (lanes.device != 0) {
        move_region<store, bytes, R>(c, i, lanes.device, address, device_region(c), space::global);
    }
    if (lanes.shared != 0 && !c.stop)
        move_region<store, bytes, R>(c, i, lanes.shared, address, shared_region(c, shared_window),
                                     space::shared);
    if (lanes.local != 0 && !c.stop) {
        u64 at[32];
        for (int l = 0; l < 32; ++l) at[l] = address[l] - local_window;
        move_local<store, bytes, R>(c, i, lanes.local, at);
    }
    if (lanes.param != 0 && !c.stop) {
        int first = __builtin_ctz(lanes.param);
        if constexpr (store) {
            report(c, i, access_problem::read_only, first, address[first], bytes, space::param,
                   true, 1);
        } else {
            u64 at[32];
            for (int l = 0; l < 32; ++l) at[l] = address[l] - param_window;
            load_parameter_bytes<R>(c, i, lanes.param, at);
        }
    }
}

// Loads a kernel parameter at a fixed offset: the same value for all lanes.
template <class R> void load_parameter(context &c, const instruction &i, lane_mask mask)
{
    for (int k = 0; k < i.count; ++k) {
        operand o = element(c, i, i.d, k);
        if (o == no_operand) continue;
        R v = part_of<R>(c.params + i.offset + k * i.bytes, i.bytes, (i.flags & signed_value) != 0);
        every(lanes_of<R>(c, o), mask, [=](int) { return v; });
    }
}

// Loads a kernel parameter at a computed offset, which may differ between lanes.
template <class R> void load_parameter_at(context &c, const instruction &i, lane_mask mask)
{
    u64 at[32];
    addresses_of(c, i, at);
    load_parameter_bytes<R>(c, i, mask, at);
}

// Loads a parameter or result of a device function from the frame's argument area.
template <class R> void load_argument(context &c, const instruction &i, lane_mask mask)
{
    for (int k = 0; k < i.count; ++k) {
        operand o = element(c, i, i.d, k);
        if (o == no_operand) continue;
        R *d = lanes_of<R>(c, o);
        const std::byte *from = c.arguments + i.offset + k * i.bytes;
        active(mask, [&](int l) {
            d[l] = part_of<R>(from + l * c.argument_stride, i.bytes, (i.flags & signed_value) != 0);
        });
    }
}

template <class R> void store_argument(context &c, const instruction &i, lane_mask mask)
{
    for (int k = 0; k < i.count; ++k) {
        const R *v = lanes_of<R>(c, element(c, i, i.b, k));
        std::byte *to = c.arguments + i.offset + k * i.bytes;
        active(mask, [&](int l) { __builtin_memcpy(to + l * c.argument_stride, &v[l], i.bytes); });
    }
}

template <bool store, int bytes, class R>
void move_rows(handler_sink &out, const char *op, const char *size)
{
    out.add(op, "global", size, move_in<space::global, store, bytes, R>);
    if constexpr (!store) out.add(op, "const", size, move_in<space::constant, store, bytes, R>);
    out.add(op, "shared", size, move_in<space::shared, store, bytes, R>);
    out.add(op, "local", size, move_in<space::local, store, bytes, R>);
    out.add(op, "generic", size, move_generic<store, bytes, R>);
}

} // namespace

// Table rows are "load.SPACE.BYTESxREGISTER": load.global.4x4 moves 4 bytes per lane into 4-byte
// registers.
void list_loads_and_stores(handler_sink &out)
{
    move_rows<false, 1, u32>(out, "load", "1x4");
    move_rows<false, 2, u32>(out, "load", "2x4");
    move_rows<false, 4, u32>(out, "load", "4x4");
    move_rows<false, 1, u64>(out, "load", "1x8");
    move_rows<false, 2, u64>(out, "load", "2x8");
    move_rows<false, 4, u64>(out, "load", "4x8");
    move_rows<false, 8, u64>(out, "load", "8x8");
    move_rows<true, 1, u32>(out, "store", "1x4");
    move_rows<true, 2, u32>(out, "store", "2x4");
    move_rows<true, 4, u32>(out, "store", "4x4");
    move_rows<true, 1, u64>(out, "store", "1x8");
    move_rows<true, 2, u64>(out, "store", "2x8");
    move_rows<true, 4, u64>(out, "store", "4x8");
    move_rows<true, 8, u64>(out, "store", "8x8");
    out.add("parameter", "4", load_parameter<u32>);
    out.add("parameter", "8", load_parameter<u64>);
    out.add("parameter_at", "4", load_parameter_at<u32>);
    out.add("parameter_at", "8", load_parameter_at<u64>);
    out.add("argument.load", "4", load_argument<u32>);
    out.add("argument.load", "8", load_argument<u64>);
    out.add("argument.store", "4", store_argument<u32>);
    out.add("argument.store", "8", store_argument<u64>);
}

} // namespace simulator::core::SIMULATOR_LEVEL
