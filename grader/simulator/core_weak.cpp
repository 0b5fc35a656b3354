// What the memory of a device does not promise: that two stores of one block become visible to
// another in the order in which they were made.
#include "core_weak.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace simulator::core {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 block_of(const context &c) { return static_cast<u32>(c.b->number); }

// Counters and flags are one thread's business. What whole warps change by atomics is data, of
// which nobody concludes that something else is there.
bool is_signal(lane_mask mask) { return (mask & (mask - 1)) == 0; }

} // namespace

void weak_memory::begin()
{
    words_.clear();
    seen_.clear();
}

void weak_memory::store(const context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    const u32 me = block_of(c);
    for (; mask != 0; mask &= mask - 1)
        for (u32 k = 0; k < i.count; ++k) {
            const u64 at = address[__builtin_ctz(mask)] + u64{k} * i.bytes;
            word &w = words_[at];
            w.by[me] = {order_.now(), i.statement};
            w.last = me;
            w.bytes = i.bytes;
            w.served.clear();
            std::memcpy(w.older, c.data + (at - c.base), i.bytes);
        }
}

void weak_memory::atomic(const context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    if (!is_signal(mask)) return;
    const u64 at = address[__builtin_ctz(mask)];
    word &w = words_[at];
    w.by[block_of(c)] = {order_.now(), i.statement};
    w.last = block_of(c);
    w.bytes = 0;
    if (i.d != no_operand) seen_[block_of(c)][at] = order_.now();
}

const weak_memory::made *weak_memory::seen_later(const sightings &seen, u32 by, record than) const
{
    for (const auto &[address, when] : seen) {
        const auto w = words_.find(address);
        if (w == words_.end()) continue;
        const auto store = w->second.by.find(by);
        if (store == w->second.by.end()) continue;
        if (store->second.at > than && store->second.at < when) return &store->second;
    }
    return nullptr;
}

lane_mask weak_memory::load(context &c, const instruction &i, lane_mask mask, const u64 *address,
                            u32 offset, std::byte (*older)[8])
{
    const u32 me = block_of(c);
    sightings &seen = seen_[me];
    lane_mask changed = 0;
    for (; mask != 0; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        const u64 at = address[lane] + offset;
        const auto found = words_.find(at);
        if (found == words_.end()) continue;
        word &w = found->second;
        const bool may_be_older = w.last != me && w.bytes == i.bytes &&
                                  std::find(w.served.begin(), w.served.end(), me) == w.served.end();
        const record stored = w.by[w.last].at;
        if (may_be_older && !order_.released_to(*c.b, w.last, stored)) {
            if (const made *later = seen_later(seen, w.last, stored)) {
                w.served.push_back(me);
                std::memcpy(older[lane], w.older, sizeof w.older);
                changed |= lane_mask{1} << lane;
                tell(c, i, lane, at, w, *later);
                continue;
            }
        }
        seen[at] = order_.now();
    }
    return changed;
}

void weak_memory::tell(context &c, const instruction &i, int lane, u64 address, const word &w,
                       const made &later) const
{
    const made &stored = w.by.at(w.last);
    const code &k = *c.running;
    finding f = at_lane(c, i, lane);
    f.kind = finding_kind::older_value;
    f.other_block = true;
    f.bytes = i.bytes;
    f.address = address;
    f.where = memory::instance().describe(address, i.bytes);
    const bool released = order_.released_before_seen(*c.b, w.last, stored.at);
    const std::string between = released ? "its read of that and this read" : "the two stores";
    f.detail =
        "block " + std::to_string(w.last) + " stored there at " + place_text(k, stored.statement) +
        " and at " + place_text(k, later.statement) +
        " what tells of it, which this block has seen; but no __threadfence() comes between " +
        between + ": the read found an older value";
    findings::instance().add(std::move(f));
}

void note_strong_store(context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    c.weak->store(c, i, mask, address);
}

void note_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    c.weak->atomic(c, i, mask, address);
}

lane_mask older_values(context &c, const instruction &i, lane_mask mask, const u64 *address,
                       u32 offset, std::byte (*older)[8])
{
    return c.weak->load(c, i, mask, address, offset, older);
}

} // namespace simulator::core
