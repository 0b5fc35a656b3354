// Records accesses in the cells of a line of shadow memory, and checks them against earlier ones.
#include "access.hpp"
#include "simulator/core/async_copies.hpp"

#include <cstring>

namespace simulator::core {
namespace {

// Units of work (machine/work_meter.hpp): of a word of shared memory that is read on the fast path,
// and of a cell that is read or written otherwise.
constexpr u64 work_of_word = 7, work_of_read = 20, work_of_write = 30;

// Takes the lowest lane out of `left`, and the next ones that use the same address.
__attribute__((always_inline)) inline lane_mask take_same_address(const u64 *address,
                                                                  lane_mask &left)
{
    const u64 here = address[__builtin_ctz(left)];
    lane_mask group = 0;
    do {
        group |= left & -left;
        left &= left - 1;
    } while (left != 0 && address[__builtin_ctz(left)] == here);
    return group;
}

} // namespace

void race_checker::record_lanes(const access &a)
{
    if (a.use == access_use::read && a.bytes == 4 && a.space == ptx::space::shared)
        return read_words(a);
    // Adjacent lanes that read the same address, or change it by atomics, are recorded together:
    // the first is checked against earlier accesses, and the others are compatible with it.
    const bool compatible =
        a.use == access_use::read ||
        (a.use == access_use::atomic && (a.owner & strong_bit) != 0 && !a.is_volatile);
    if (!compatible) return each_bit(a.mask, [&](int l) { record_cells(a, l, 1u << l); });
    for (lane_mask left = a.mask; left != 0;) {
        const int first = __builtin_ctz(left);
        record_cells(a, first, take_same_address(a.address, left));
    }
}

// The lanes of an earlier read of this warp that must stay recorded beside the lanes reading now.
// A lane that one of the latter has synchronised with since can be dropped: whatever is ordered
// after the new read is ordered after its read too.
lane_mask race_checker::still_unordered(const access &a, const access_record &earlier,
                                        lane_mask now) const
{
    if (!a.warp.lanes) return earlier.lanes;
    lane_mask open = earlier.lanes & ~now;
    each_bit(now, [&](int l) {
        each_bit(open, [&](int k) {
            if (earlier.at < (*a.warp.lanes)[l][k]) open &= ~(1u << k);
        });
    });
    return open;
}

// Records another read by the warp that read last. Lanes of its earlier read that are still
// unordered get the new epoch, unless another lane has synchronised with one of them since: the
// earlier read cannot race with that lane, and a later epoch would say it does.
void race_checker::read_again(const access &a, shadow_cell &x, lane_mask lanes) const
{
    const access_record earlier = x.read;
    const lane_mask open = still_unordered(a, earlier, lanes);
    x.read = {a.at, a.owner, lanes};
    if (open == 0) return;
    bool synchronised = false;
    if (a.warp.lanes)
        each_bit(open, [&](int k) {
            for (int l = 0; l < 32; ++l)
                synchronised |= l != k && earlier.at < (*a.warp.lanes)[l][k];
        });
    if (!synchronised) {
        x.read.lanes |= open;
    } else if (a.known_ordered(x.other)) {
        x.other = {earlier.at, earlier.owner, open};
    } else { // both epochs do not fit: prefer a missed race to a false one
        x.read.lanes |= open;
        x.read.at = earlier.at;
    }
}

// Fast path for tiles of width 16: the upper half-warp reads the same words as the lower one, and
// none was written since the last barrier. Returns false, recording nothing, if this is not
// the case.
bool race_checker::read_halves(const access &a)
{
    const u64 *const address = a.address;
    if (address[0] == address[1]) return false; // broadcasts: see read_words
    u64 differs = a.mask ^ all_lanes;
    for (int l = 0; l < 16; ++l) differs |= address[l] ^ address[l + 16];
    if (differs != 0) return false;
    a.c.work += 16 * work_of_word;
    shadow_cell *cells[16];
    for (int l = 0; l < 16; ++l) {
        const u64 offset = address[l] - a.base;
        shadow_line &line = a.block.shared[offset / line_bytes];
        if (line.latest < a.live_from || line.split_into != shadow_line::split::words) return false;
        cells[l] = &line.cells[offset % line_bytes / 4];
        if (cells[l]->write.at >= a.live_from) return false;
    }
    for (u32 l = 0; l < 16; ++l) {
        a.block.shared[(address[l] - a.base) / line_bytes].latest = a.at;
        read_word(a, *cells[l], 0x10001u << l);
    }
    return true;
}

void race_checker::read_word(const access &a, shadow_cell &x, lane_mask lanes) const
{
    if (x.read.owner == a.owner && x.read.at >= a.warp_at) return read_again(a, x, lanes);
    if (x.read.at >= a.live_from && !same_warp(x.read.owner, a.owner)) x.other = x.read;
    x.read = {a.at, a.owner, lanes};
}

// The most frequent case: reads of words of shared memory not written since the last barrier.
void race_checker::read_words(const access &a)
{
    if (read_halves(a)) return;
    const epoch live_from = a.live_from;
    shadow_line *const lines = a.block.shared.data();
    const u64 *const address = a.address;
    const u64 base = a.base;
    for (lane_mask left = a.mask; left != 0;) {
        const int l = __builtin_ctz(left);
        const lane_mask together = take_same_address(address, left);
        const u64 offset = address[l] - base;
        const u64 word = offset % line_bytes / 4;
        shadow_line &line = lines[offset / line_bytes];
        if (line.latest < live_from || line.split_into != shadow_line::split::words ||
            line.cells[word].write.at >= live_from) {
            record_cells(a, l, together);
            continue;
        }
        line.latest = a.at;
        a.c.work += work_of_word;
        read_word(a, line.cells[word], together);
    }
}

void race_checker::record_cells(const access &a, int lane, lane_mask lanes)
{
    using split = shadow_line::split;
    u64 offset = a.address[lane] - a.base;
    shadow_line &line = line_at(a, offset);
    if (line.latest < a.live_from) unsplit_line(a, line);
    line.latest = a.at;
    split_line(a, line, a.bytes < 4 ? split::bytes : split::words);
    u32 size = line.split_into == split::words ? 4 : 1;
    u32 first = static_cast<u32>(offset % line_bytes) / size, n = a.bytes / size;
    a.c.work += n * (a.use == access_use::read ? work_of_read : work_of_write);
    for (u32 k = 0; k < n; ++k) {
        if (a.use == access_use::read)
            read_cell(a, line.cells[first + k], lanes, k * size);
        else
            write_cell(a, line.cells[first + k], lane, k * size, size);
        // Atomics recorded together keep the last one's lane.
        if (a.use == access_use::atomic)
            line.cells[first + k].write.lanes = 1u << (31 - __builtin_clz(lanes));
    }
}

void race_checker::read_cell(const access &a, shadow_cell &x, lane_mask lanes, u32 offset)
{
    const access_record &w = x.write;
    if (!a.known_ordered(w) && !a.compatible(w)) {
        const bool mine = a.of_this_warp(w);
        lane_mask others = mine ? lanes & ~w.lanes : lanes;
        if (!mine || !a.warp.lanes) others &= -others; // all lanes would give the same result
        each_bit(others, [&](int l) { check_against(a, w, l, offset, true); });
    }
    access_record &r = x.read;
    if (r.owner == a.owner && a.of_this_grid(r) && !a.known_ordered(r))
        return read_again(a, x, lanes);
    if (!a.known_ordered(r)) x.other = r;
    r = {a.at, a.owner, lanes};
}

// Gives the bytes that a lane of a store or cp.async is about to write.
void race_checker::new_bytes(const access &a, int lane, u32 offset, u32 n, std::byte *to)
{
    if (a.copied != nullptr) {
        std::memcpy(to, a.copied[lane] + offset, n);
        return;
    }
    const instruction &i = a.i;
    u32 element = offset / i.bytes, within = offset % i.bytes,
        size = (i.wide & wide_data) != 0 ? 8 : 4;
    operand o = i.count == 1 ? i.b : a.c.lists[i.extra][element];
    const std::byte *lanes = a.c.bases[o >> 31] + (o & ~constant_bit);
    std::memcpy(to, lanes + static_cast<std::size_t>(lane) * size + within, n);
}

// Gives the bytes that an earlier write left there, or will leave when its cp.async completes.
void race_checker::written_bytes(const access &a, const access_record &w, int lane, u32 offset,
                                 u32 n, std::byte *to)
{
    int writer = __builtin_ctz(w.lanes);
    if (w.at == a.at) return new_bytes(a, writer, offset, n, to); // by this very instruction
    u64 at = a.address[lane] - a.base + offset;
    bool shared = a.space == ptx::space::shared;
    if (shared && pending_copy_bytes(a.c.b->warps[w.owner & 31], writer, at, n, to)) return;
    std::memcpy(to, (shared ? a.c.shared : a.c.data) + at, n);
}

// Writes of the same value are not reported. They are a data race, too, but one without effect: the
// result is the same in any order.
void race_checker::write_cell(const access &a, shadow_cell &x, int lane, u32 offset, u32 bytes)
{
    lane_mask me = 1u << lane;
    auto mine = [&](const access_record &m) { return a.of_this_warp(m) && m.lanes == me; };
    const access_record w = x.write;
    if (!a.known_ordered(w) && !mine(w) && !a.morally_strong(w)) {
        bool same = false;
        if (a.use != access_use::atomic) {
            std::byte now[8], next[8];
            new_bytes(a, lane, offset, bytes, next);
            written_bytes(a, w, lane, offset, bytes, now);
            same = std::memcmp(now, next, bytes) == 0;
        }
        if (!same) check_against(a, w, lane, offset, true);
    }
    for (const access_record &r : {x.read, x.other})
        if (!a.known_ordered(r) && !mine(r) && !a.compatible(r))
            check_against(a, r, lane, offset, false);
    x.write = {a.at, a.owner, me};
    x.read = x.other = {};
}

} // namespace simulator::core
