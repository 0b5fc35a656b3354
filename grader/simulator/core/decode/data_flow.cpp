// Finds spin loops, and loads whose values are only copied to memory.
#include "decoder.hpp"

#include <algorithm>
#include <set>

namespace simulator::core::decoding {
namespace {

// The blocks of the loop that the back edge from `latch` to `header` closes.
std::set<int> natural_loop(const flow_graph &g, int latch, int header)
{
    std::vector<std::vector<int>> in(g.successors.size());
    for (std::size_t b = 0; b < g.successors.size(); ++b)
        for (int s : g.successors[b]) in[s].push_back(static_cast<int>(b));
    std::set<int> inside{header};
    std::vector<int> work{latch};
    while (!work.empty()) {
        int b = work.back();
        work.pop_back();
        if (!inside.insert(b).second) continue;
        for (int p : in[b]) work.push_back(p);
    }
    return inside;
}

} // namespace

// Marks spin loops, which only wait for memory to change: no register carries a value from one
// iteration to the next, and nothing is stored. Their back edge ends the warp's turn, so that the
// warp it waits for can run.
void decoder::mark_spin_loops(const flow_graph &g)
{
    for (auto [latch, header] : back_edges(g))
        if (is_spin_loop(natural_loop(g, latch, header), header)) out_.blocks[latch].spins = true;
}

bool decoder::is_spin_loop(const std::set<int> &inside, int header) const
{
    std::set<operand> written, read_first;
    bool reads_memory = false;
    std::set<operand> defined; // written in this iteration on every path to here
    for (int b : inside) {
        const auto &k = out_.blocks[b];
        if (k.end == block_terminator::call || k.end == block_terminator::barrier) return false;
        std::uint32_t end = k.last + (k.end == block_terminator::fall ? 0 : 1);
        for (std::uint32_t i = k.first; i < end; ++i) {
            const draft &d = drafts_[i];
            const auto &s = out_.body.statements[d.ins.statement];
            if (s.op[0] == "st" || s.op[0] == "red") return false;
            if (s.op[0] == "mbarrier" && !has_part(s, "test_wait")) return false;
            for (const auto &o : s.operands)
                if (o.name.starts_with("clock") || o.name.starts_with("globaltimer")) return false;
            if (s.op[0] == "ld" || s.op[0] == "atom" || s.op[0] == "mbarrier") reads_memory = true;
            each_read(d, out_.lists, [&](operand o) {
                if (!defined.contains(o)) read_first.insert(o);
            });
            each_write(d, out_.lists, [&](operand o) {
                written.insert(o);
                if (b == header || inside.size() <= 2) defined.insert(o);
            });
        }
    }
    return reads_memory &&
           std::ranges::none_of(read_first, [&](operand o) { return written.contains(o); });
}

// Marks loads whose registers go only to stores: they copy data, including a structure's padding.
void decoder::mark_moves()
{
    if (out_.body.statements.empty()) return;
    std::vector<char> computed(classes_.size(), 0);
    auto is_store = [&](const draft &d) {
        const auto &op = out_.body.statements[d.ins.statement].op;
        return op[0] == "st" && (d.ins.b != no_operand || d.list == draft::list_role::reads) &&
               std::none_of(op.begin(), op.end(), [](auto p) { return p.starts_with("param"); });
    };
    for (const draft &d : drafts_) {
        draft uses = d;
        if (is_store(d)) { // it only moves its data, but uses its address and its guard
            uses.ins.b = no_operand;
            uses.list = draft::list_role::none;
        }
        each_read(uses, out_.lists, [&](operand o) { computed[o] = 1; });
    }
    for (draft &d : drafts_) {
        if (out_.body.statements[d.ins.statement].op[0] != "ld" || d.ins.count == 0) continue;
        bool only = true;
        each_write(d, out_.lists, [&](operand o) { only &= computed[o] == 0; });
        if (only) d.ins.flags |= only_moved;
    }
}

} // namespace simulator::core::decoding
