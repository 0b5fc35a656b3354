// Counts the sectors of device and local memory, the wavefronts of shared memory, and atomics.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// Returns the number of different values in the active lanes.
u32 count_distinct(const u64 *value, lane_mask mask)
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

u32 count_distinct_sectors(const u64 *address, lane_mask mask)
{
    u64 sector[32];
    for (int l = 0; l < 32; ++l) sector[l] = address[l] >> 5;
    return count_distinct(sector, mask);
}

// Returns true if the site's last request had the same pattern; otherwise stores the new one.
// `phase_bits`: the low bits of the first address, its offset in a sector or a row of banks, on
// which the pattern's cost depends.
inline bool same_pattern(site_memo &m, const u64 *address, lane_mask mask, const access &request,
                         u64 phase_bits)
{
    u64 first = address[__builtin_ctz(mask)];
    u32 phase = static_cast<u32>(first & phase_bits);
    // A generic instruction may access several spaces, whose costs are unrelated.
    u32 lanes_bytes = request.bytes | static_cast<u32>(request.space) << 8;
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
                                            const u64 *address, const access &request)
{
    __builtin_memcpy(w.address, address, sizeof w.address);
    w.mask = mask;
    w.bytes = request.bytes;
    w.statement = i.statement;
    w.kind = request.write ? access_kind::store : access_kind::load;
    w.shared = request.space == space::shared;
}

// Keeps the most wasteful request of each memory instruction for the explanation; among equals the
// first with most lanes. A cost of up to `allowed` is not waste, even if it is above the ideal.
inline void keep_worst(context &c, const instruction &i, lane_mask mask, const u64 *address,
                       const access &request, u32 cost, u32 ideal, u32 allowed = 0)
{
    u32 lanes = static_cast<u32>(__builtin_popcount(mask));
    if (allowed < ideal) allowed = ideal;
    u32 score = (cost > allowed ? (cost - allowed) * 33 : 0) + lanes;
    site_worst &w = c.worst[i.site];
    if (score <= w.score) return;
    w.score = score;
    w.cost = cost;
    w.ideal = ideal;
    copy_request(w, i, mask, address, request);
}

// Returns the number of the lanes' `sectors` that are in pinned host memory and cross the link
// (PCIe or NVLink).
u32 sectors_on_the_host(const context &c, const u64 *address, lane_mask mask, u32 sectors)
{
    lane_mask there = 0;
    active(mask, [&](int l) {
        if ((c.shadow[address[l] - c.base] & on_host) != 0) there |= bit_of[l];
    });
    if (there == 0 || there == mask) return there == 0 ? 0 : sectors;
    return count_distinct_sectors(address, there);
}

// Returns the degree of the bank conflict: the largest number of distinct words in one bank that
// the lanes of `mask` access.
u32 conflict_degree(const u64 *address, lane_mask mask, u32 words)
{
    // By bank; more than 8 words are counted by the slow loop below.
    u32 word[32][8];
    u8 n[32] = {};
    u32 degree = 0;
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
            if (n[bank] > degree) degree = n[bank];
        }
    });
    if (spill == 0) return degree;
    degree = 0; // many words per bank: count each bank exactly
    for (u32 bank = 0; bank < 32; ++bank) {
        u64 words_of_bank[32];
        lane_mask lanes = 0;
        active(mask, [&](int l) {
            u32 w = static_cast<u32>(address[l] >> 2), k = (bank - w) & 31;
            if (k >= words) return;
            words_of_bank[l] = w + k;
            lanes |= bit_of[l];
        });
        u32 d = lanes == 0 ? 0 : count_distinct(words_of_bank, lanes);
        if (d > degree) degree = d;
    }
    return degree;
}

// True if each active lane accesses the same address as lane ^ distance, or that lane is inactive.
// Two groups of lanes are then served as one.
bool neighbours_share_address(const u64 *address, lane_mask mask, int distance)
{
    for (int l = 0; l < 32; ++l) {
        int o = l ^ distance;
        if ((mask & bit_of[l]) != 0 && (mask & bit_of[o]) != 0 && address[l] != address[o])
            return false;
    }
    return true;
}

// 4 bytes per lane are served as one group of 32 lanes, 8 bytes as two groups of 16, 16 bytes as
// four groups of 8, or two of 16 if neighbours share their address. Each group takes as many
// wavefronts as the degree of its bank conflict.
u32 wavefronts_of(const u64 *address, lane_mask mask, u32 bytes)
{
    u32 words = bytes <= 4 ? 1 : bytes / 4, group = 32 / words;
    if (words == 4 &&
        (neighbours_share_address(address, mask, 1) || neighbours_share_address(address, mask, 2)))
        group = 16;
    u32 sum = 0;
    for (u32 first = 0; first < 32; first += group) {
        lane_mask lanes = mask & (low_lanes(group) << first);
        if (lanes != 0) sum += conflict_degree(address, lanes, words);
    }
    return sum;
}

// Returns the largest number of active lanes that access the same address.
u32 max_lanes_per_address(const u64 *address, lane_mask mask)
{
    u32 lanes = 0;
    while (mask != 0) {
        u64 first = address[__builtin_ctz(mask)];
        lane_mask same = where([=](int l) { return address[l] == first; }) & mask;
        u32 n = static_cast<u32>(__builtin_popcount(same));
        if (n > lanes) lanes = n;
        mask &= ~same;
    }
    return lanes;
}

// Returns the largest number of lanes that have a word in one bank. Atomics of lanes on one word
// are not served together, unlike loads.
u32 max_lanes_per_bank(const u64 *address, lane_mask mask, u32 bytes)
{
    const u32 words = bytes <= 4 ? 1 : bytes / 4;
    u32 lanes[32] = {};
    active(mask, [&](int l) {
        for (u32 k = 0; k < words; ++k) ++lanes[(static_cast<u32>(address[l] >> 2) + k) & 31];
    });
    u32 max = 0;
    for (u32 n : lanes) max = n > max ? n : max;
    return max;
}

void keep_worst_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                       ptx::space s, u32 bytes, u32 same_address)
{
    site_worst &w = c.worst[i.site];
    u64 first = address[__builtin_ctz(mask)];
    if (w.score != 0 && first != w.address[__builtin_ctz(w.mask)]) w.several_addresses = true;
    if (same_address != static_cast<u32>(__builtin_popcount(mask))) w.several_addresses = true;
    keep_worst(c, i, mask, address, {s, true, bytes}, same_address, 1);
    w.kind = access_kind::atomic;
}

} // namespace

// An aligned access of at most 32 bytes lies in one sector.
void count_device(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &request, bool contiguous)
{
    site_counts &s = c.counted[i.statement];
    access_counts &a = request.write ? s.global_store : s.global_load;
    sector_set &set = request.write ? *c.written : *c.read;
    if (contiguous) {
        u64 first = address[0] - c.base, last = first + 32 * request.bytes - 1;
        u32 sectors = static_cast<u32>((last >> 5) - (first >> 5) + 1);
        add_access(a, mask, request.bytes, sectors, request.bytes);
        keep_worst(c, i, mask, address, request, sectors, request.bytes);
        set.add_range(first >> 5, last >> 5);
        s.host_sectors += sectors_on_the_host(c, address, mask, sectors);
        return;
    }
    site_memo &m = c.memos[i.site];
    if (!same_pattern(m, address, mask, request, 31)) {
        m.sectors = count_distinct_sectors(address, mask);
        m.ideal = (count_distinct(address, mask) * request.bytes + 31) / 32;
        // Lanes that share bytes lower the ideal, but sectors up to the bytes requested are no
        // waste.
        u32 requested = static_cast<u32>(__builtin_popcount(mask)) * request.bytes / 32;
        keep_worst(c, i, mask, address, request, m.sectors, m.ideal, requested);
    }
    add_access(a, mask, request.bytes, m.sectors, m.ideal);
    mark_sectors(c, address, mask, set);
    s.host_sectors += sectors_on_the_host(c, address, mask, m.sectors);
}

static void add_shared(shared_counts &a, lane_mask mask, u32 wavefronts, u32 ideal)
{
    a.requests += 1;
    a.lanes += static_cast<u32>(__builtin_popcount(mask));
    a.wavefronts += wavefronts;
    a.ideal_wavefronts += ideal;
}

void count_shared(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &request, bool contiguous)
{
    site_counts &s = c.counted[i.statement];
    u32 wavefronts, ideal;
    if (contiguous && request.bytes == 4 && (address[0] & 3) == 0) {
        wavefronts = ideal = 1;
        keep_worst(c, i, mask, address, request, 1, 1);
    } else {
        site_memo &m = c.memos[i.site];
        if (!same_pattern(m, address, mask, request, 127)) {
            m.wavefronts = wavefronts_of(address, mask, request.bytes);
            m.ideal = (count_distinct(address, mask) * request.bytes + 127) / 128;
            keep_worst(c, i, mask, address, request, m.wavefronts, m.ideal);
        }
        wavefronts = m.wavefronts;
        ideal = m.ideal;
    }
    add_shared(request.write ? s.shared_store : s.shared_load, mask, wavefronts, ideal);
}

void count_constant(context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    site_counts &s = c.counted[i.statement];
    s.constant_requests += 1;
    s.constant_addresses += count_distinct(address, mask);
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
        sectors += count_distinct(sector, mask);
    }
    u32 n = static_cast<u32>(__builtin_popcount(mask));
    add_access(write ? s.local_store : s.local_load, mask, bytes, sectors, (n * bytes + 31) / 32);
}

void count_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  ptx::space s, u32 bytes)
{
    if (!c.count) return;
    site_counts &n = c.counted[i.statement];
    u32 lanes = static_cast<u32>(__builtin_popcount(mask));
    n.atomic_requests += 1;
    u32 same_address = max_lanes_per_address(address, mask);
    n.atomic_same_address += same_address;
    keep_worst_atomic(c, i, mask, address, s, bytes, same_address);
    if (s == space::shared)
        return add_shared(n.shared_atomic, mask, max_lanes_per_bank(address, mask, bytes),
                          (lanes * bytes + 127) / 128);
    n.global_atomics += lanes;
    n.global_atomic_requests += 1;
    const u32 sectors = count_distinct_sectors(address, mask);
    n.global_atomic_sectors += sectors;
    n.host_sectors += sectors_on_the_host(c, address, mask, sectors);
    mark_sectors(c, address, mask, *c.read);
    mark_sectors(c, address, mask, *c.written);
}

} // namespace simulator::core::SIMULATOR_LEVEL
