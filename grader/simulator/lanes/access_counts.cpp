// Counts the sectors of device memory, the passes of shared memory's banks, and atomics.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

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

u32 distinct_sectors(const u64 *address, lane_mask mask)
{
    u64 sector[32];
    for (int l = 0; l < 32; ++l) sector[l] = address[l] >> 5;
    return distinct(sector, mask);
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
    return distinct_sectors(address, there);
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
    if (w.score != 0 && first != w.address[__builtin_ctz(w.mask)]) w.several_addresses = true;
    if (most != static_cast<u32>(__builtin_popcount(mask))) w.several_addresses = true;
    keep_worst(c, i, mask, address, {s, true, bytes}, most, 1);
    w.kind = access_kind::atomic;
}

} // namespace

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
        m.sectors = distinct_sectors(address, mask);
        m.ideal = (distinct(address, mask) * how.bytes + 31) / 32;
        // Lanes that share bytes may each have a sector of their own without waste.
        u32 asked = static_cast<u32>(__builtin_popcount(mask)) * how.bytes / 32;
        keep_worst(c, i, mask, address, how, m.sectors, m.ideal, asked);
    }
    add_access(a, mask, how.bytes, m.sectors, m.ideal);
    mark_sectors(c, address, mask, set);
    s.host_sectors += sectors_on_the_host(c, address, mask, m.sectors);
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
    n.global_atomic_requests += 1;
    const u32 sectors = distinct_sectors(address, mask);
    n.global_atomic_sectors += sectors;
    n.host_sectors += sectors_on_the_host(c, address, mask, sectors);
    mark_sectors(c, address, mask, *c.read);
    mark_sectors(c, address, mask, *c.written);
}

} // namespace simulator::core::SIMULATOR_LEVEL
