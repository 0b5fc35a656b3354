// Loads, stores and atomics: checks each lane's address, counts the request and moves the bytes.
//
// Compiled once for each instruction set, like lanes/arithmetic.cpp. Device memory and shared
// memory are both a `window` of bytes with a shadow; local memory is interleaved by words, as on
// hardware.
#include "handler_table.hpp"
#include "values.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

using ptx::space;

struct window {
    std::byte *data;
    u8 *shadow;
    u64 base, bytes;
};

inline window device_window(context &c) { return {c.data, c.shadow, c.base, c.reserved}; }
inline window shared_at(context &c, u64 base)
{
    return {c.shared, c.shared_shadow, base, c.shared_bytes};
}

template <class T> inline T read_as(const void *p)
{
    T v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class T> inline void write_as(void *p, T v) { __builtin_memcpy(p, &v, sizeof v); }

template <int bytes> struct bytes_as;
template <> struct bytes_as<1> {
    using type = u8;
    using sign = s8;
};
template <> struct bytes_as<2> {
    using type = u16;
    using sign = s16;
};
template <> struct bytes_as<4> {
    using type = u32;
    using sign = s32;
};
template <> struct bytes_as<8> {
    using type = u64;
    using sign = s64;
};

inline void addresses_of(context &c, const instruction &i, u64 *address)
{
    if ((i.wide & 2) != 0) {
        auto a = lanes_of<u64>(c, i.a);
        u64 offset = static_cast<u64>(i.offset);
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) address[l] = a[l] + offset;
    } else {
        auto a = lanes_of<u32>(c, i.a);
        u32 offset = static_cast<u32>(i.offset);
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) address[l] = a[l] + offset;
    }
}

inline bool evenly_spaced(const u64 *address, u64 step)
{
    u64 differs = 0, first = address[0];
    INDEPENDENT_LANES
    for (u64 l = 0; l < 32; ++l) differs |= address[l] ^ (first + l * step);
    return differs == 0;
}

// True if all shadow bytes of a range have the bits `need` and none of `never`.
inline bool all_have(const u8 *shadow, u32 bytes, u8 need, u8 never)
{
    u8 lacks = 0;
    for (u32 k = 0; k < bytes; ++k)
        lacks |= static_cast<u8>((~shadow[k] & need) | (shadow[k] & never));
    return lacks == 0;
}

template <int bytes> inline bool fixed_have(const u8 *shadow, u8 need, u8 never)
{
    u8 lacks = 0;
    for (int k = 0; k < bytes; ++k)
        lacks |= static_cast<u8>((~shadow[k] & need) | (shadow[k] & never));
    return lacks == 0;
}

inline bool lane_has(const u8 *shadow, u32 bytes, u8 need, u8 never)
{
    constexpr u64 each = 0x0101010101010101u;
    switch (bytes) {
    case 1:
        return (~shadow[0] & need) == 0 && (shadow[0] & never) == 0;
    case 2: {
        u32 s = read_as<u16>(shadow), n = static_cast<u16>(each * need),
            v = static_cast<u16>(each * never);
        return (~s & n) == 0 && (s & v) == 0;
    }
    case 4: {
        u32 s = read_as<u32>(shadow), n = static_cast<u32>(each * need),
            v = static_cast<u32>(each * never);
        return (~s & n) == 0 && (s & v) == 0;
    }
    default:
        for (u32 k = 0; k < bytes; k += 8) {
            u64 s = read_as<u64>(shadow + k);
            if ((~s & each * need) != 0 || (s & each * never) != 0) return false;
        }
        return true;
    }
}

inline void fill_initialised(u8 *shadow, u32 bytes)
{
    for (u32 k = 0; k < bytes; ++k) shadow[k] |= initialised;
}

struct access {
    ptx::space space;
    bool write;
    u32 bytes; // per lane
};

// For each element of a load, the lanes that find no initialised byte in it. A partly initialised
// element is no mistake, because the padding of a structure is copied with it. The padding may
// fill whole elements, so all elements of a load that only moves data count as one.
struct undefined_elements {
    lane_mask lanes[4] = {}, any = 0;
    u32 bytes, element, each; // elements that are initialised together

    undefined_elements(const instruction &i, u32 total)
        : bytes(total),
          element((i.flags & only_moved) != 0 ? total : i.bytes),
          each((i.flags & only_moved) != 0 ? i.count : 1)
    {
    }
    template <class F> void look(int lane, F shadow)
    {
        u32 at = 0;
        for (u32 first = 0; first < bytes; first += element, at += each) {
            u8 all = 0;
            for (u32 k = 0; k < element && first + k < bytes; ++k) all |= shadow(first + k);
            if ((all & initialised) != 0) continue;
            any |= bit_of[lane];
            for (u32 k = at; k < at + each; ++k) lanes[k] |= bit_of[lane];
        }
    }
};

// Constant memory is required to be read-only for kernels, so that its loads cannot race.
inline u8 bits_needed(const context &c, ptx::space s)
{
    return static_cast<u8>((c.check_memory ? addressable : 0) |
                           (s == space::constant ? read_only : 0));
}

// Checks every active lane and reports problems. Returns false if the grid has been stopped.
__attribute__((noinline)) bool check_lanes(context &c, const instruction &i, lane_mask mask,
                                           const u64 *address, const window &w, const access &how,
                                           bool reads)
{
    lane_mask misaligned = 0, outside = 0, read_only_lanes = 0;
    u8 need = bits_needed(c, how.space),
       never = how.write && c.check_memory ? u8{read_only} : u8{0};
    u8 wanted = reads && c.check_initialised ? u8{initialised} : u8{0};
    undefined_elements undefined(i, how.bytes);
    active(mask, [&](int l) {
        u64 at = address[l] - w.base;
        if ((address[l] & (how.bytes - 1)) != 0) {
            misaligned |= bit_of[l];
        } else if (at >= w.bytes || w.bytes - at < how.bytes ||
                   !lane_has(w.shadow + at, how.bytes, need, c.closed)) {
            outside |= bit_of[l];
        } else if (!lane_has(w.shadow + at, how.bytes, 0, never)) {
            read_only_lanes |= bit_of[l];
        } else if (!lane_has(w.shadow + at, how.bytes, wanted, 0)) {
            undefined.look(l, [&](u32 k) { return w.shadow[at + k]; });
        }
    });
    auto report_lanes = [&](access_problem p, lane_mask lanes) {
        if (lanes == 0) return;
        int l = __builtin_ctz(lanes);
        report(c, i, p, l, address[l], how.bytes, how.space, how.write,
               static_cast<u64>(__builtin_popcount(lanes)));
    };
    report_lanes(access_problem::misaligned, misaligned);
    if (!c.stop) report_lanes(access_problem::outside, outside);
    if (!c.stop) report_lanes(access_problem::read_only, read_only_lanes);
    if (c.stop || undefined.any == 0) return !c.stop;
    if (how.write) // an atomic
        report_lanes(access_problem::uninitialised, undefined.any);
    else
        undefined_read(c, i, undefined.lanes, address, how.bytes, how.space);
    return true;
}

// The number of different values in the active lanes.
u32 distinct(const u64 *value, lane_mask mask)
{
    u64 last = 0, first = 1;
    bool ascending = true;
    u32 n = 0;
    active(mask, [&](int l) {
        ascending &= first != 0 || value[l] >= last;
        n += first != 0 || value[l] != last;
        last = value[l];
        first = 0;
    });
    if (ascending) return n;
    u64 slots[64], used = 0;
    n = 0;
    active(mask, [&](int l) {
        u32 h = static_cast<u32>(value[l] * 0x9e3779b97f4a7c15u >> 58);
        while ((used >> h & 1) != 0 && slots[h] != value[l]) h = (h + 1) & 63;
        if ((used >> h & 1) == 0) {
            used |= u64{1} << h;
            slots[h] = value[l];
            ++n;
        }
    });
    return n;
}

// Returns true if the site's last request had the same pattern; otherwise stores the new one.
// `phase_bits`: the bits of the first address on which the pattern's cost depends.
inline bool same_pattern(site_memo &m, const u64 *address, lane_mask mask, const access &how,
                         u64 phase_bits)
{
    u64 first = address[__builtin_ctz(mask)];
    u32 phase = static_cast<u32>(first & phase_bits);
    // A generic instruction may access several spaces, whose costs are unrelated.
    u32 lanes_bytes = how.bytes | static_cast<u32>(how.space) << 8;
    u32 delta[32];
    u64 far = 0;
    u32 differs = (m.mask ^ mask) | (m.phase ^ phase) | (m.lanes ^ lanes_bytes);
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) {
        u64 d = (mask & bit_of[l]) != 0 ? address[l] - first : 0;
        far |= (d + 0x80000000u) >> 32;
        delta[l] = static_cast<u32>(d);
        differs |= delta[l] ^ m.delta[l];
    }
    if (far == 0 && differs == 0) return true;
    __builtin_memcpy(m.delta, delta, sizeof delta);
    m.mask = far == 0 ? mask : 0;
    m.phase = phase;
    m.lanes = lanes_bytes;
    return false;
}

inline void add_access(access_counts &a, lane_mask mask, u32 bytes, u32 sectors, u32 ideal)
{
    u32 n = static_cast<u32>(__builtin_popcount(mask));
    a.requests += 1;
    a.lanes += n;
    a.bytes += u64{n} * bytes;
    a.sectors += sectors;
    a.ideal_sectors += ideal;
}

inline void mark_sectors(context &c, const u64 *address, lane_mask mask, sector_set &set)
{
    u64 last = ~u64{0};
    active(mask, [&](int l) {
        u64 s = (address[l] - c.base) >> 5;
        if (s != last) set.add(s);
        last = s;
    });
}

__attribute__((noinline)) void copy_request(site_worst &w, const instruction &i, lane_mask mask,
                                            const u64 *address, const access &how)
{
    __builtin_memcpy(w.address, address, sizeof w.address);
    w.mask = mask;
    w.bytes = how.bytes;
    w.statement = i.statement;
    w.kind = how.write ? access_kind::store : access_kind::load;
    w.shared = how.space == space::shared;
}

// Keeps the most wasteful request of each memory instruction for the explanation; among equals the
// first with most lanes. `fair`: a cost above the ideal that does not count as waste yet.
inline void keep_worst(context &c, const instruction &i, lane_mask mask, const u64 *address,
                       const access &how, u32 cost, u32 ideal, u32 fair = 0)
{
    u32 lanes = static_cast<u32>(__builtin_popcount(mask));
    if (fair < ideal) fair = ideal;
    u32 score = (cost > fair ? (cost - fair) * 33 : 0) + lanes;
    site_worst &w = c.worst[i.site];
    if (score <= w.score) return;
    w.score = score;
    w.cost = cost;
    w.ideal = ideal;
    w.block = c.b->number;
    copy_request(w, i, mask, address, how);
}

// Returns how many of the lanes' `sectors` lie in pinned host memory and cross the link.
u32 sectors_on_the_host(const context &c, const u64 *address, lane_mask mask, u32 sectors)
{
    lane_mask there = 0;
    active(mask, [&](int l) {
        if ((c.shadow[address[l] - c.base] & on_host) != 0) there |= bit_of[l];
    });
    if (there == 0 || there == mask) return there == 0 ? 0 : sectors;
    u64 sector[32];
    for (int l = 0; l < 32; ++l) sector[l] = address[l] >> 5;
    return distinct(sector, there);
}

// An aligned access of at most 32 bytes lies in one sector.
void count_device(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous)
{
    site_counts &s = c.counted[i.statement];
    access_counts &a = how.write ? s.global_store : s.global_load;
    sector_set &set = how.write ? *c.written : *c.read;
    if (contiguous) {
        u64 first = address[0] - c.base, last = first + 32 * how.bytes - 1;
        u32 sectors = static_cast<u32>((last >> 5) - (first >> 5) + 1);
        add_access(a, mask, how.bytes, sectors, how.bytes);
        keep_worst(c, i, mask, address, how, sectors, how.bytes);
        set.add_range(first >> 5, last >> 5);
        s.host_sectors += sectors_on_the_host(c, address, mask, sectors);
        return;
    }
    site_memo &m = c.memos[i.site];
    if (!same_pattern(m, address, mask, how, 31)) {
        u64 sector[32];
        for (int l = 0; l < 32; ++l) sector[l] = address[l] >> 5;
        m.sectors = distinct(sector, mask);
        m.ideal = (distinct(address, mask) * how.bytes + 31) / 32;
        // Lanes that share bytes may each have a sector of their own without waste.
        u32 asked = static_cast<u32>(__builtin_popcount(mask)) * how.bytes / 32;
        keep_worst(c, i, mask, address, how, m.sectors, m.ideal, asked);
    }
    add_access(a, mask, how.bytes, m.sectors, m.ideal);
    mark_sectors(c, address, mask, set);
    s.host_sectors += sectors_on_the_host(c, address, mask, m.sectors);
}

// The largest number of different words that one bank must serve for the lanes of `mask`.
u32 bank_passes(const u64 *address, lane_mask mask, u32 words)
{
    // By bank; more than 8 words are counted by the slow loop below.
    u32 word[32][8];
    u8 n[32] = {};
    u32 most = 0;
    u32 spill = 0;
    active(mask, [&](int l) {
        for (u32 k = 0; k < words; ++k) {
            u32 w = static_cast<u32>(address[l] >> 2) + k, bank = w & 31;
            bool seen = false;
            for (u32 j = 0; j < n[bank] && j < 8; ++j) seen |= word[bank][j] == w;
            if (seen) continue;
            if (n[bank] < 8)
                word[bank][n[bank]] = w;
            else
                spill = 1;
            ++n[bank];
            if (n[bank] > most) most = n[bank];
        }
    });
    if (spill == 0) return most;
    most = 0; // many words per bank: count each bank exactly
    for (u32 bank = 0; bank < 32; ++bank) {
        u64 mine[32];
        lane_mask lanes = 0;
        active(mask, [&](int l) {
            u32 w = static_cast<u32>(address[l] >> 2), k = (bank - w) & 31;
            if (k >= words) return;
            mine[l] = w + k;
            lanes |= bit_of[l];
        });
        u32 d = lanes == 0 ? 0 : distinct(mine, lanes);
        if (d > most) most = d;
    }
    return most;
}

// True if lanes pair up with a neighbour, so that two groups form one.
bool paired(const u64 *address, lane_mask mask, int distance)
{
    for (int l = 0; l < 32; ++l) {
        int o = l ^ distance;
        if ((mask & bit_of[l]) != 0 && (mask & bit_of[o]) != 0 && address[l] != address[o])
            return false;
    }
    return true;
}

// 4 bytes per lane are served as one group of 32 lanes, 8 bytes as two of 16, 16 bytes as four of
// 8, or two of 16 if lanes pair up. Each group takes as many passes as its busiest bank has words.
u32 wavefronts_of(const u64 *address, lane_mask mask, u32 bytes)
{
    u32 words = bytes <= 4 ? 1 : bytes / 4, group = 32 / words;
    if (words == 4 && (paired(address, mask, 1) || paired(address, mask, 2))) group = 16;
    u32 sum = 0;
    for (u32 first = 0; first < 32; first += group) {
        lane_mask lanes = mask & (low_lanes(group) << first);
        if (lanes != 0) sum += bank_passes(address, lanes, words);
    }
    return sum;
}

void count_shared(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous)
{
    site_counts &s = c.counted[i.statement];
    shared_counts &a = how.write ? s.shared_store : s.shared_load;
    u32 wavefronts, ideal;
    if (contiguous && how.bytes == 4 && (address[0] & 3) == 0) {
        wavefronts = ideal = 1;
        keep_worst(c, i, mask, address, how, 1, 1);
    } else {
        site_memo &m = c.memos[i.site];
        if (!same_pattern(m, address, mask, how, 127)) {
            m.wavefronts = wavefronts_of(address, mask, how.bytes);
            m.ideal = (distinct(address, mask) * how.bytes + 127) / 128;
            keep_worst(c, i, mask, address, how, m.wavefronts, m.ideal);
        }
        wavefronts = m.wavefronts;
        ideal = m.ideal;
    }
    a.requests += 1;
    a.lanes += static_cast<u32>(__builtin_popcount(mask));
    a.wavefronts += wavefronts;
    a.ideal_wavefronts += ideal;
    if (wavefronts > ideal * a.worst_way) a.worst_way = (wavefronts + ideal - 1) / ideal;
}

void count_constant(context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    site_counts &s = c.counted[i.statement];
    s.constant_requests += 1;
    s.constant_addresses += distinct(address, mask);
}

inline void count_window(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         const access &how, bool contiguous)
{
    if (!c.count) return;
    if (how.space == space::shared)
        count_shared(c, i, mask, address, how, contiguous);
    else if (how.space == space::constant)
        count_constant(c, i, mask, address);
    else
        count_device(c, i, mask, address, how, contiguous);
}

template <int bytes, class R> inline R extended(const std::byte *p, bool sign)
{
    using T = typename bytes_as<bytes>::type;
    using S = typename bytes_as<bytes>::sign;
    T v = read_as<T>(p);
    if constexpr (bytes < static_cast<int>(sizeof(R))) {
        if (sign) return static_cast<R>(static_cast<s64>(static_cast<S>(v)));
    }
    return static_cast<R>(v);
}

inline operand element(context &c, const instruction &i, operand single, int k)
{
    return i.count == 1 ? single : c.lists[i.extra][k];
}

// The common case of loads and stores: consecutive lanes, consecutive addresses, no problem.
template <int bytes> inline bool contiguous_and_clean(const instruction &i, const u64 *address,
                                                      const window &w, u8 need, u8 never)
{
    u64 step = static_cast<u64>(bytes) * i.count, at = address[0] - w.base;
    if (!evenly_spaced(address, step)) return false;
    if ((address[0] & (step - 1)) != 0 || at >= w.bytes || w.bytes - at < 32 * step) return false;
    if (i.count == 1) return fixed_have<32 * bytes>(w.shadow + at, need, never);
    return all_have(w.shadow + at, static_cast<u32>(32 * step), need, never);
}

// Fast path for scattered lanes of 4 bytes each, without problems and within 1 GiB of the first
// active lane: their distances from it. Inactive lanes use the first active lane's address.
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

inline bool near_and_clean(near_lanes &n, lane_mask mask, const u64 *address, const window &w,
                           u8 need, u8 never)
{
    n.first = address[__builtin_ctz(mask)];
    u64 limit = w.bytes - 4, wrong = 0, far = 0, low = 0;
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) {
        u64 a = (mask & bit_of[l]) != 0 ? address[l] : n.first, at = a - w.base;
        wrong |= at | (limit - at); // the top bit of either is set if outside
        far |= a - n.first + (u64{1} << 30);
        low |= a;
        n.distance[l] = static_cast<s32>(a - n.first);
    }
    if (w.bytes < 4 || wrong >> 63 != 0 || far >> 31 != 0 || (low & 3) != 0) return false;
    const u8 *shadow = w.shadow + (n.first - w.base);
    u32 each = 0x01010101u, lacks = 0, wanted = each * need, unwanted = each * never;
    alignas(64) u32 found[32];
    gather(found, reinterpret_cast<const std::byte *>(shadow), n.distance);
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) lacks |= (~found[l] & wanted) | (found[l] & unwanted);
    return lacks == 0;
}

inline void note_access(context &c, const instruction &i, lane_mask mask, const u64 *address,
                        const access &how, bool contiguous)
{
    if (c.races != nullptr)
        check_races(c, i, mask, address, how.space, how.bytes,
                    how.write ? access_use::write : access_use::read, contiguous);
}

// Calls may_touch; consecutive lanes are one range.
inline bool guarded(context &c, const instruction &i, lane_mask mask, const u64 *address, u32 bytes,
                    bool write)
{
    if (c.guard == nullptr) return true;
    if ((i.flags & strong) != 0 && !may_depend_on_order(c)) return false;
    if (mask == all_lanes && evenly_spaced(address, bytes))
        return may_touch(c, 1, address, 32 * bytes, write);
    return may_touch(c, mask, address, bytes, write);
}

// True if other blocks may see this access out of order.
inline bool weakly_ordered(const context &c, const instruction &i, ptx::space s)
{
    return c.weak != nullptr && (i.flags & strong) != 0 && s == space::global;
}

template <int bytes, class R> void load_window(context &c, const instruction &i, lane_mask mask,
                                               const u64 *address, const window &w, ptx::space s)
{
    access how{s, false, static_cast<u32>(bytes) * i.count};
    bool sign = (i.flags & signed_value) != 0;
    u8 need = bits_needed(c, s) | (c.check_initialised ? u8{initialised} : u8{0});
    bool contiguous =
        mask == all_lanes && contiguous_and_clean<bytes>(i, address, w, need, c.closed);
    if constexpr (bytes == 4 && sizeof(R) == 4) {
        near_lanes n;
        if (!contiguous && i.count == 1 && !weakly_ordered(c, i, s) &&
            near_and_clean(n, mask, address, w, need, c.closed)) {
            note_access(c, i, mask, address, how, false);
            alignas(64) u32 value[32];
            gather(value, w.data + (n.first - w.base), n.distance);
            every(lanes_of<u32>(c, i.d), mask, [&](int l) { return value[l]; });
            count_window(c, i, mask, address, how, false);
            return;
        }
    }
    if (!contiguous && !check_lanes(c, i, mask, address, w, how, true)) return;
    note_access(c, i, mask, address, how, contiguous);
    const std::byte *start = w.data - w.base + (contiguous ? address[0] : 0);
    for (int k = 0; k < i.count; ++k) {
        operand o = element(c, i, i.d, k);
        if (o == no_operand) continue;
        R *d = lanes_of<R>(c, o);
        const std::byte *from = start + k * bytes;
        u32 step = how.bytes;
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
    count_window(c, i, mask, address, how, contiguous);
}

template <int bytes> inline bool may_store(context &c, const instruction &i, lane_mask mask,
                                           const u64 *address, const window &w, const access &how,
                                           u8 never)
{
    if (bytes == 4 && i.count == 1) {
        near_lanes n;
        if (near_and_clean(n, mask, address, w, bits_needed(c, how.space), never)) return true;
    }
    return check_lanes(c, i, mask, address, w, how, false);
}

template <int bytes, class R> void store_window(context &c, const instruction &i, lane_mask mask,
                                                const u64 *address, const window &w, ptx::space s)
{
    using T = typename bytes_as<bytes>::type;
    access how{s, true, static_cast<u32>(bytes) * i.count};
    u8 never = c.check_memory ? static_cast<u8>(read_only | c.closed) : u8{0};
    bool contiguous =
        mask == all_lanes && contiguous_and_clean<bytes>(i, address, w, bits_needed(c, s), never);
    if (!contiguous && !may_store<bytes>(c, i, mask, address, w, how, never)) return;
    note_access(c, i, mask, address, how, contiguous);
    if (weakly_ordered(c, i, s)) note_strong_store(c, i, mask, address);
    c.changed = true;
    std::byte *start = w.data - w.base + (contiguous ? address[0] : 0);
    for (int k = 0; k < i.count; ++k) {
        const R *v = lanes_of<R>(c, element(c, i, i.b, k));
        std::byte *to = start + k * bytes;
        u32 step = how.bytes;
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
        fill_initialised(w.shadow + (address[0] - w.base), 32 * how.bytes);
    } else {
        active(mask, [&](int l) { fill_initialised(w.shadow + (address[l] - w.base), how.bytes); });
    }
    count_window(c, i, mask, address, how, contiguous);
}

void count_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write)
{
    if (!c.count) return;
    site_counts &s = c.counted[i.statement];
    u64 sector[32];
    u32 sectors = 0, words = bytes <= 4 ? 1 : bytes / 4;
    for (u32 k = 0; k < words; ++k) {
        active(mask, [&](int l) { sector[l] = ((at[l] >> 2) + k) * 4 + l / 8; });
        sectors += distinct(sector, mask);
    }
    u32 n = static_cast<u32>(__builtin_popcount(mask));
    add_access(write ? s.local_store : s.local_load, mask, bytes, sectors, (n * bytes + 31) / 32);
}

// Checks a lane's local bytes; `at` is an offset into the thread's local memory.
bool check_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write)
{
    lane_mask misaligned = 0, outside = 0;
    undefined_elements undefined(i, bytes);
    active(mask, [&](int l) {
        if ((at[l] & (bytes - 1)) != 0) {
            misaligned |= bit_of[l];
        } else if (at[l] >= c.local_bytes || c.local_bytes - at[l] < bytes) {
            outside |= bit_of[l];
        } else if (!write && c.check_initialised) {
            undefined.look(l, [&](u32 k) {
                return c.local_shadow[local_position(at[l] + k, l)] != 0 ? u8{initialised} : u8{0};
            });
        }
    });
    auto report_lanes = [&](access_problem p, lane_mask lanes) {
        if (lanes == 0 || c.stop) return;
        int l = __builtin_ctz(lanes);
        report(c, i, p, l, at[l], bytes, space::local, write,
               static_cast<u64>(__builtin_popcount(lanes)));
    };
    report_lanes(access_problem::misaligned, misaligned);
    report_lanes(access_problem::outside, outside);
    if (!c.stop && undefined.any != 0)
        undefined_read(c, i, undefined.lanes, at, bytes, space::local);
    return !c.stop;
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
            write_as(buffer, static_cast<typename bytes_as<bytes>::type>(v[l]));
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

template <bool store, int bytes, class R>
inline void move_window(context &c, const instruction &i, lane_mask mask, const u64 *address,
                        const window &w, ptx::space s)
{
    if constexpr (store)
        store_window<bytes, R>(c, i, mask, address, w, s);
    else
        load_window<bytes, R>(c, i, mask, address, w, s);
}

template <bool store, int bytes, class R>
inline void move_local(context &c, const instruction &i, lane_mask mask, const u64 *at)
{
    if constexpr (store)
        store_local<bytes, R>(c, i, mask, at);
    else
        load_local<bytes, R>(c, i, mask, at);
}

// The lanes of a generic access may use different spaces: one pass for each.
struct by_space {
    lane_mask device = 0, shared = 0, local = 0, param = 0;
};
by_space sort_lanes(const u64 *address, lane_mask mask)
{
    by_space r;
    u64 high = 0;
    for (int l = 0; l < 32; ++l) high |= (mask & bit_of[l]) != 0 ? address[l] >> 56 : 0;
    if (high == 0) {
        r.device = mask;
        return r;
    }
    active(mask, [&](int l) {
        u64 h = address[l] >> 56;
        lane_mask &m = h == 1 ? r.shared : h == 2 ? r.local : h == 3 ? r.param : r.device;
        m |= bit_of[l];
    });
    return r;
}

template <bool store, int bytes, class R>
void move_device(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    if (!guarded(c, i, mask, address, static_cast<u32>(bytes) * i.count, store)) return;
    move_window<store, bytes, R>(c, i, mask, address, device_window(c), space::global);
}

template <int bytes, class R> void load_constant(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    load_window<bytes, R>(c, i, mask, address, device_window(c), space::constant);
}

template <bool store, int bytes, class R>
void move_shared(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    move_window<store, bytes, R>(c, i, mask, address, shared_at(c, 0), space::shared);
}

template <bool store, int bytes, class R>
void move_in_local(context &c, const instruction &i, lane_mask mask)
{
    u64 at[32];
    addresses_of(c, i, at);
    move_local<store, bytes, R>(c, i, mask, at);
}

template <class R>
void load_parameter_bytes(context &, const instruction &, lane_mask, const u64 *);

template <bool store, int bytes, class R>
void move_generic(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    by_space lanes = sort_lanes(address, mask);
    if (lanes.device != 0 &&
        !guarded(c, i, lanes.device, address, static_cast<u32>(bytes) * i.count, store))
        return;
    if (lanes.device != 0)
        move_window<store, bytes, R>(c, i, lanes.device, address, device_window(c), space::global);
    if (lanes.shared != 0 && !c.stop)
        move_window<store, bytes, R>(c, i, lanes.shared, address, shared_at(c, shared_window),
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

template <class R> void load_parameter_at(context &c, const instruction &i, lane_mask mask)
{
    u64 at[32];
    addresses_of(c, i, at);
    load_parameter_bytes<R>(c, i, mask, at);
}

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

struct half_pair { // f16x2
    half low, high;
};

struct atomic_add {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T)
    {
        if constexpr (T(1) / T(2) == T(0))
            return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(b));
        else
            return old + b;
    }
    static half of(half old, half b, half) { return narrow(double{widen(old)} + widen(b)); }
    static half_pair of(half_pair old, half_pair b, half_pair)
    {
        return {of(old.low, b.low, {}), of(old.high, b.high, {})};
    }
};
struct atomic_min {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return b < old ? b : old; }
};
struct atomic_max {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old < b ? b : old; }
};
struct atomic_and {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old & b; }
};
struct atomic_or {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old | b; }
};
struct atomic_xor {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old ^ b; }
};
struct atomic_exchange { // does not need the old value
    static constexpr bool blind = true;
    template <class T> static T of(T, T b, T) { return b; }
};
struct atomic_compare {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T c) { return old == b ? c : old; }
};
struct atomic_inc {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old >= b ? T(0) : old + 1; }
};
struct atomic_dec {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old == 0 || old > b ? b : old - 1; }
};

// An mbarrier's word: threads pending in this phase, threads per phase, number of completed
// phases.
u64 barrier_of(u64 left, u64 all, u64 ended)
{
    return (left & 0xfffff) | (all & 0xfffff) << 20 | ended << mbarrier_phase_bit;
}
u64 barrier_after(u64 old, u64 came, u64 all)
{
    u64 left = (old & 0xfffff) - came, ended = old >> mbarrier_phase_bit;
    return left == 0 ? barrier_of(all, all, ended + 1) : barrier_of(left, all, ended);
}
struct mbarrier_init {
    static constexpr bool blind = true;
    static u64 of(u64, u64 threads, u64) { return barrier_of(threads, threads, 0); }
};
struct mbarrier_arrive {
    static constexpr bool blind = false;
    static u64 of(u64 old, u64 came, u64) { return barrier_after(old, came, old >> 20 & 0xfffff); }
};
struct mbarrier_drop {
    static constexpr bool blind = false;
    static u64 of(u64 old, u64 came, u64)
    {
        return barrier_after(old, came, (old >> 20 & 0xfffff) - came);
    }
};

// The largest number of lanes that use the same address.
u32 max_on_one(const u64 *address, lane_mask mask)
{
    u32 most = 0;
    while (mask != 0) {
        u64 first = address[__builtin_ctz(mask)];
        lane_mask same = where([=](int l) { return address[l] == first; }) & mask;
        u32 n = static_cast<u32>(__builtin_popcount(same));
        if (n > most) most = n;
        mask &= ~same;
    }
    return most;
}

void keep_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address, ptx::space s,
                 u32 bytes, u32 most)
{
    site_worst &w = c.worst[i.site];
    u64 first = address[__builtin_ctz(mask)];
    if (w.score != 0 && first != w.address[__builtin_ctz(w.mask)]) w.elsewhere = true;
    if (most != static_cast<u32>(__builtin_popcount(mask))) w.elsewhere = true;
    keep_worst(c, i, mask, address, {s, true, bytes}, most, 1);
    w.kind = access_kind::atomic;
}

void count_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  ptx::space s, u32 bytes)
{
    if (!c.count) return;
    site_counts &n = c.counted[i.statement];
    u32 lanes = static_cast<u32>(__builtin_popcount(mask));
    (s == space::shared ? n.shared_atomics : n.global_atomics) += lanes;
    n.atomic_requests += 1;
    u32 most = max_on_one(address, mask);
    n.atomic_same_address += most;
    keep_atomic(c, i, mask, address, s, bytes, most);
    if (s == space::shared) return;
    u64 sector[32];
    for (int l = 0; l < 32; ++l) sector[l] = address[l] >> 5;
    n.global_atomic_requests += 1;
    const u32 sectors = distinct(sector, mask);
    n.global_atomic_sectors += sectors;
    n.host_sectors += sectors_on_the_host(c, address, mask, sectors);
    mark_sectors(c, address, mask, *c.read);
    mark_sectors(c, address, mask, *c.written);
}

template <class T> struct lane_bits {
    using type = u32;
};
template <> struct lane_bits<u64> {
    using type = u64;
};
template <> struct lane_bits<s64> {
    using type = u64;
};
template <> struct lane_bits<double> {
    using type = u64;
};

template <class Op, class T> inline T outcome_of(T old, T b, T e, ptx::space)
{
    return Op::of(old, b, e);
}
// f32 additions flush subnormal numbers in device memory, but not in shared memory.
template <> inline float outcome_of<atomic_add, float>(float old, float b, float, ptx::space s)
{
    return s == space::shared ? old + b : flushed(flushed(old) + flushed(b));
}

template <class Op, class T> void atomic_window(context &c, const instruction &i, lane_mask mask,
                                                const u64 *address, const window &w, ptx::space s)
{
    using R = typename lane_bits<T>::type;
    access how{s, true, sizeof(T)};
    bool reads = !Op::blind;
    if (c.guard != nullptr && s == space::global && !may_depend_on_order(c)) return;
    if (!check_lanes(c, i, mask, address, w, how, reads)) return;
    if (c.races != nullptr)
        check_races(c, i, mask, address, s, sizeof(T), access_use::atomic, false);
    if (weakly_ordered(c, i, s)) note_atomic(c, i, mask, address);
    auto b = lanes_of<R>(c, i.b), e = i.c == no_operand ? b : lanes_of<R>(c, i.c);
    R *d = i.d == no_operand ? nullptr : lanes_of<R>(c, i.d);
    auto serve = [&](int l) {
        std::byte *at = w.data + (address[l] - w.base);
        T old = read_as<T>(at);
        T next = outcome_of<Op>(old, read_as<T>(&b[l]), read_as<T>(&e[l]), s);
        if (__builtin_memcmp(&old, &next, sizeof(T)) != 0) c.changed = true;
        write_as(at, next);
        if (d == nullptr) return;
        R bits = 0;
        __builtin_memcpy(&bits, &old, sizeof(T));
        d[l] = bits;
    };
    if (c.lanes_descend)
        descending(mask, serve);
    else
        active(mask, serve);
    active(mask, [&](int l) { fill_initialised(w.shadow + (address[l] - w.base), sizeof(T)); });
    count_atomic(c, i, mask, address, s, sizeof(T));
}

template <class Op, class T> void atomic_device(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    atomic_window<Op, T>(c, i, mask, address, device_window(c), space::global);
}
template <class Op, class T> void atomic_shared(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    atomic_window<Op, T>(c, i, mask, address, shared_at(c, 0), space::shared);
}
template <class Op, class T> void atomic_generic(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    by_space lanes = sort_lanes(address, mask);
    lane_mask other = lanes.local | lanes.param;
    if (other != 0) {
        int l = __builtin_ctz(other);
        report(c, i, access_problem::outside, l, address[l], sizeof(T), space::local, true, 1);
        return;
    }
    if (lanes.device != 0)
        atomic_window<Op, T>(c, i, lanes.device, address, device_window(c), space::global);
    if (lanes.shared != 0 && !c.stop)
        atomic_window<Op, T>(c, i, lanes.shared, address, shared_at(c, shared_window),
                             space::shared);
}

// Checks, byte by byte, lanes that read fewer bytes than they write.
bool check_parts(context &c, const instruction &i, lane_mask mask, const u64 *from,
                 const u32 *wanted)
{
    const lane_mask misaligned = where([&](int l) { return from[l] % i.bytes != 0; }) & mask;
    if (misaligned != 0) {
        const int l = __builtin_ctz(misaligned);
        report(c, i, access_problem::misaligned, l, from[l], i.bytes, space::global, false,
               static_cast<u64>(__builtin_popcount(misaligned)));
        return false;
    }
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
    if (!guarded(c, i, whole | part, from, i.bytes, false)) return;
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

template <bool store, int bytes, class R>
void move_rows(handler_sink &out, const char *op, const char *size)
{
    out.add_pair(op, "global", size, move_device<store, bytes, R>);
    if constexpr (!store) out.add_pair(op, "const", size, load_constant<bytes, R>);
    out.add_pair(op, "shared", size, move_shared<store, bytes, R>);
    out.add_pair(op, "local", size, move_in_local<store, bytes, R>);
    out.add_pair(op, "generic", size, move_generic<store, bytes, R>);
}

template <class Op, class T> void atomic_row(handler_sink &out, const char *op, const char *type)
{
    out.add_pair("atomic.global", op, type, atomic_device<Op, T>);
    out.add_pair("atomic.shared", op, type, atomic_shared<Op, T>);
    out.add_pair("atomic.generic", op, type, atomic_generic<Op, T>);
}

void atomic_rows(handler_sink &out)
{
    atomic_row<atomic_add, u32>(out, "add", "u32");
    atomic_row<atomic_add, s32>(out, "add", "s32");
    atomic_row<atomic_add, u64>(out, "add", "u64");
    atomic_row<atomic_add, s64>(out, "add", "s64");
    atomic_row<atomic_add, float>(out, "add", "f32");
    atomic_row<atomic_add, double>(out, "add", "f64");
    atomic_row<atomic_add, half>(out, "add", "f16");
    atomic_row<atomic_add, half_pair>(out, "add", "f16x2");
    atomic_row<atomic_min, u32>(out, "min", "u32");
    atomic_row<atomic_min, s32>(out, "min", "s32");
    atomic_row<atomic_min, u64>(out, "min", "u64");
    atomic_row<atomic_min, s64>(out, "min", "s64");
    atomic_row<atomic_max, u32>(out, "max", "u32");
    atomic_row<atomic_max, s32>(out, "max", "s32");
    atomic_row<atomic_max, u64>(out, "max", "u64");
    atomic_row<atomic_max, s64>(out, "max", "s64");
    atomic_row<atomic_and, u32>(out, "and", "b32");
    atomic_row<atomic_and, u64>(out, "and", "b64");
    atomic_row<atomic_or, u32>(out, "or", "b32");
    atomic_row<atomic_or, u64>(out, "or", "b64");
    atomic_row<atomic_xor, u32>(out, "xor", "b32");
    atomic_row<atomic_xor, u64>(out, "xor", "b64");
    atomic_row<atomic_exchange, u32>(out, "exch", "b32");
    atomic_row<atomic_exchange, u64>(out, "exch", "b64");
    atomic_row<atomic_compare, u16>(out, "cas", "b16");
    atomic_row<atomic_compare, u32>(out, "cas", "b32");
    atomic_row<atomic_compare, u64>(out, "cas", "b64");
    atomic_row<mbarrier_init, u64>(out, "mbarrier_init", "b64");
    atomic_row<mbarrier_arrive, u64>(out, "mbarrier_arrive", "b64");
    atomic_row<mbarrier_drop, u64>(out, "mbarrier_arrive_drop", "b64");
    atomic_row<atomic_inc, u32>(out, "inc", "u32");
    atomic_row<atomic_dec, u32>(out, "dec", "u32");
}

} // namespace

// Table rows are "load.SPACE.BYTESxREGISTER": load.global.4x4 moves 4 bytes per lane into 4-byte
// registers.
void list_accesses(handler_sink &out)
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
    out.add("core", "copy_async", copy_async);
    atomic_rows(out);
}

} // namespace simulator::core::SIMULATOR_LEVEL
