// Allocates registers: liveness over the basic blocks, then a linear scan over live intervals.
#include "draft.hpp"

#include <algorithm>
#include <queue>

namespace simulator::core {
namespace {

using bits = std::vector<std::uint64_t>;

bool has(const bits &b, std::uint32_t r) { return b[r >> 6] >> (r & 63) & 1; }
void put(bits &b, std::uint32_t r) { b[r >> 6] |= std::uint64_t{1} << (r & 63); }
void drop(bits &b, std::uint32_t r) { b[r >> 6] &= ~(std::uint64_t{1} << (r & 63)); }

std::uint32_t end_of(const basic_block &b)
{
    return b.last + (b.end == block_terminator::fall ? 0 : 1);
}

template <class F> void each_successor(const basic_block &b, F f)
{
    if (b.next >= 0) f(b.next);
    if (b.target >= 0) f(b.target);
    for (int t : b.targets) f(t);
}

struct interval {
    std::uint32_t reg, first, last;
};

// Returns the live interval of each register, in draft indices.
std::vector<interval> live_intervals(const std::vector<draft> &drafts,
                                     const std::vector<std::vector<operand>> &lists,
                                     const std::vector<basic_block> &blocks, std::size_t registers)
{
    std::size_t words = (registers + 63) / 64;
    std::vector<bits> live_in(blocks.size(), bits(words)), live_out(blocks.size(), bits(words));
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = blocks.size(); b-- > 0;) {
            bits out(words);
            each_successor(blocks[b], [&](int s) {
                for (std::size_t w = 0; w < words; ++w) out[w] |= live_in[s][w];
            });
            bits in = out;
            for (std::uint32_t k = end_of(blocks[b]); k-- > blocks[b].first;) {
                // A guarded write keeps the values of other lanes, so it does not kill the
                // register.
                if (drafts[k].ins.guard == no_operand)
                    each_write(drafts[k], lists, [&](operand r) { drop(in, r); });
                each_read(drafts[k], lists, [&](operand r) { put(in, r); });
            }
            if (in != live_in[b]) changed = true;
            live_in[b] = std::move(in);
            live_out[b] = std::move(out);
        }
    }
    std::vector<interval> all(registers, {0, ~0u, 0});
    auto touch = [&](std::uint32_t r, std::uint32_t at) {
        all[r].reg = r;
        all[r].first = std::min(all[r].first, at);
        all[r].last = std::max(all[r].last, at);
    };
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        std::uint32_t first = blocks[b].first, end = end_of(blocks[b]);
        for (std::uint32_t r = 0; r < registers; ++r) {
            if (has(live_in[b], r)) touch(r, first);
            if (has(live_out[b], r)) touch(r, end);
        }
        for (std::uint32_t k = first; k < end; ++k) {
            each_read(drafts[k], lists, [&](operand r) { touch(r, k); });
            each_write(drafts[k], lists, [&](operand r) { touch(r, k); });
        }
    }
    std::erase_if(all, [](const interval &i) { return i.first == ~0u; });
    std::sort(all.begin(), all.end(), [](const interval &x, const interval &y) {
        return std::pair(x.first, x.reg) < std::pair(y.first, y.reg);
    });
    return all;
}

// Slots of one register class: an interval takes the slot freed last, or a new one.
class slots {
public:
    std::uint32_t take(const interval &i)
    {
        while (!busy_.empty() && busy_.top().first < i.first) {
            free_.push_back(busy_.top().second);
            busy_.pop();
        }
        std::uint32_t s = count_;
        if (free_.empty()) {
            ++count_;
        } else {
            s = free_.back();
            free_.pop_back();
        }
        busy_.push({i.last, s});
        return s;
    }
    std::uint32_t count() const { return count_; }

private:
    using busy_until = std::pair<std::uint32_t, std::uint32_t>;
    std::priority_queue<busy_until, std::vector<busy_until>, std::greater<>> busy_;
    std::vector<std::uint32_t> free_;
    std::uint32_t count_ = 0;
};

} // namespace

std::uint32_t allocate_registers(std::vector<draft> &drafts,
                                 std::vector<std::vector<operand>> &lists,
                                 const std::vector<basic_block> &blocks,
                                 const std::vector<register_class> &classes)
{
    // This limit keeps offsets in the frame below constant_bit.
    if (classes.size() > std::size_t{1} << 23)
        throw ptx::refused("a function of too many registers");
    auto intervals = live_intervals(drafts, lists, blocks, classes.size());
    slots by_class[3];
    std::vector<std::uint32_t> slot(classes.size(), 0);
    for (const auto &i : intervals)
        slot[i.reg] = by_class[static_cast<int>(classes[i.reg])].take(i);
    // The frame holds carry, predicates, narrow and wide registers; the last two start on cache
    // lines.
    std::uint32_t narrow_at = (4 + 4 * by_class[0].count() + 63) / 64 * 64;
    std::uint32_t wide_at = narrow_at + 128 * by_class[1].count();
    auto offset_of = [&](operand o) -> operand {
        if (!is_register(o)) return o;
        switch (classes[o]) {
        case register_class::predicate:
            return 4 + 4 * slot[o];
        case register_class::narrow:
            return narrow_at + 128 * slot[o];
        default:
            return wide_at + 256 * slot[o];
        }
    };
    for (auto &d : drafts) {
        d.ins.d = offset_of(d.ins.d);
        d.ins.a = offset_of(d.ins.a);
        d.ins.b = offset_of(d.ins.b);
        d.ins.c = offset_of(d.ins.c);
        d.ins.guard = offset_of(d.ins.guard);
        if (d.extra_reads) d.ins.extra = offset_of(d.ins.extra);
        if (d.offset_writes) d.ins.offset = offset_of(static_cast<operand>(d.ins.offset));
    }
    for (auto &list : lists)
        for (auto &o : list) o = offset_of(o);
    return wide_at + 256 * by_class[2].count();
}

} // namespace simulator::core
