// Simulates weakly ordered memory: two strong stores of a block may become visible out of order.
#include "weak_memory.hpp"
#include "simulator/lanes/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace simulator::core {
namespace {

using namespace baseline;

u32 block_of(const context &c) { return static_cast<u32>(c.b->number); }

constexpr u32 word_bytes = 4;

// Calls f(word, first, end) for each word that overlaps the range: its bytes [first, end) do.
template <class F> void each_word(u64 at, u32 bytes, F f)
{
    for (u64 word = at - at % word_bytes; word < at + bytes; word += word_bytes)
        f(word, static_cast<u32>(std::max(at, word) - word),
          static_cast<u32>(std::min(at + bytes - word, u64{word_bytes})));
}

} // namespace

void weak_memory::begin()
{
    words_.clear();
    reads_.clear();
    stored_.clear();
}

void weak_memory::store(const context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    const u32 me = block_of(c);
    const store_event now{order_.now(), i.statement};
    stored_.insert(me);
    active(mask, [&](int lane) {
        each_word(address[lane], u32{i.bytes} * i.count, [&](u64 at, u32 first, u32 end) {
            word &w = words_[at];
            w.last_by[me] = now;
            w.served.clear();
            for (u32 b = first; b < end; ++b) {
                w.last[b] = {me, now, c.data[at + b - c.base]};
                w.has_older[b] = true;
            }
        });
    });
}

void weak_memory::atomic(const context &c, const instruction &i, lane_mask mask, const u64 *address)
{
    const u32 me = block_of(c);
    const store_event now{order_.now(), i.statement};
    // Atomics of a block without strong stores cannot publish one: most are skipped here.
    const bool has_stored = stored_.contains(me);
    if (!has_stored && words_.empty()) return;
    active(mask, [&](int lane) {
        each_word(address[lane], i.bytes, [&](u64 at, u32 first, u32 end) {
            if (!has_stored && words_.find(at) == words_.end()) return;
            word &w = words_[at];
            w.last_by[me] = now;
            for (u32 b = first; b < end; ++b) w.has_older[b] = false;
            if (i.d != no_operand) note_read(reads_[me], at, first, end);
        });
    });
}

void weak_memory::note_read(observed_reads &reads, u64 at, u32 first, u32 end) const
{
    for (u32 b = first; b < end; ++b) reads[at][b] = order_.now();
}

const weak_memory::store_event *weak_memory::later_store_observed(const observed_reads &reads,
                                                                  u32 by, epoch after) const
{
    for (const auto &[address, when] : reads) {
        const auto w = words_.find(address);
        if (w == words_.end()) continue;
        const auto store = w->second.last_by.find(by);
        if (store == w->second.last_by.end()) continue;
        const epoch last = *std::max_element(when.begin(), when.end());
        if (store->second.at > after && store->second.at < last) return &store->second;
    }
    return nullptr;
}

// Returns a later store by the block that wrote this byte which the reading block has observed
// although nothing orders the two stores; null if the load must return the latest value of the
// byte.
const weak_memory::store_event *weak_memory::unordered_later_store(const context &c,
                                                                   const observed_reads &reads,
                                                                   u64 at, const word &w,
                                                                   u32 b) const
{
    const u32 me = block_of(c);
    const byte_store &last = w.last[b];
    if (!w.has_older[b] || last.block == me) return nullptr;
    if (std::find(w.served.begin(), w.served.end(), me) != w.served.end()) return nullptr;
    // A block that has read the new value never reads the old one (coherence).
    const auto before = reads.find(at);
    if (before != reads.end() && before->second[b] > last.event.at) return nullptr;
    if (order_.released_to(*c.b, last.block, last.event.at)) return nullptr;
    return later_store_observed(reads, last.block, last.event.at);
}

lane_mask weak_memory::load(context &c, const instruction &i, lane_mask mask, const u64 *address,
                            u32 offset, std::byte (*older)[8])
{
    if (words_.empty()) return 0;
    const u32 me = block_of(c);
    observed_reads &reads = reads_[me];
    lane_mask changed = 0;
    active(mask, [&](int lane) {
        const u64 from = address[lane] + offset;
        std::memcpy(older[lane], c.data + (from - c.base), i.bytes);
        bool got_older = false;
        each_word(from, i.bytes, [&](u64 at, u32 first, u32 end) {
            const auto found = words_.find(at);
            if (found == words_.end()) return;
            word &w = found->second;
            bool of_word = false;
            for (u32 b = first; b < end; ++b) {
                const store_event *later = unordered_later_store(c, reads, at, w, b);
                if (later == nullptr) continue;
                if (!got_older) report_older_value(c, i, lane, from, w.last[b], *later);
                older[lane][at + b - from] = w.last[b].older;
                got_older = of_word = true;
            }
            if (of_word) w.served.push_back(me);
        });
        if (got_older) {
            changed |= lane_mask{1} << lane;
            return;
        }
        each_word(from, i.bytes, [&](u64 at, u32 first, u32 end) {
            if (words_.contains(at)) note_read(reads, at, first, end);
        });
    });
    return changed;
}

void weak_memory::report_older_value(context &c, const instruction &i, int lane, u64 address,
                                     const byte_store &last, const store_event &later) const
{
    const store_event &stored = last.event;
    const code &k = *c.running;
    finding f = at_lane(c, i, lane, finding_kind::older_value);
    f.other_block = true;
    f.bytes = i.bytes;
    f.address = address;
    memory::instance().locate(f, address, i.bytes);
    const bool released = order_.released_before_seen(*c.b, last.block, stored.at);
    const std::string between = released ? "its read of that and this read" : "the two stores";
    f.detail = "block " + std::to_string(last.block) + " stored there at " +
               location_text(k, stored.statement) + " and at " + location_text(k, later.statement) +
               " the flag that announces it, which this block has seen; but no __threadfence() "
               "comes between " +
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
