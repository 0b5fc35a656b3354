// Finds loops that only wait for memory, and loads whose values are only moved.
#include "decoder.hpp"

#include <algorithm>
#include <set>

namespace simulator::core::decoding {
namespace {

std::vector<int> loop_blocks(const flow_graph &g, int from, int header)
{
    std::vector<std::vector<int>> in(g.successors.size());
    for (std::size_t b = 0; b < g.successors.size(); ++b)
        for (int s : g.successors[b]) in[s].push_back(static_cast<int>(b));
    std::set<int> inside{header};
    std::vector<int> work{from};
    while (!work.empty()) {
        int b = work.back();
        work.pop_back();
        if (!inside.insert(b).second) continue;
        for (int p : in[b]) work.push_back(p);
    }
    return {inside.begin(), inside.end()};
}

} // namespace

// Marks loops that change nothing but the registers they load from memory: no register carries a
// value from one iteration to the next, and nothing is stored. Their backward branch ends the
// warp's turn.
void decoder::mark_spinning(const flow_graph &g)
{
    for (auto [from, header] : back_edges(g)) {
        auto inside = loop_blocks(g, from, header);
        if (only_waits(inside, header)) out_.blocks[from].spins = true;
    }
}

bool decoder::only_waits(const std::vector<int> &inside, int header) const
{
    std::set<operand> written, read_first;
    bool reads_memory = false;
    std::set<operand> fresh; // written in the header's own straight part before being read
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
            auto read = [&](operand o) {
                if (is_register(o) && !fresh.count(o)) read_first.insert(o);
            };
            read(d.ins.a);
            read(d.ins.b);
            read(d.ins.c);
            read(d.ins.guard);
            if (d.extra_reads) read(d.ins.extra);
            if (d.list == draft::list_role::reads)
                for (operand o : out_.lists[d.ins.extra]) read(o);
            auto write = [&](operand o) {
                if (!is_register(o)) return;
                written.insert(o);
                if (b == header || inside.size() <= 2) fresh.insert(o);
            };
            if (d.writes_d) write(d.ins.d);
            if (d.list == draft::list_role::writes)
                for (operand o : out_.lists[d.ins.extra]) write(o);
        }
    }
    if (!reads_memory) return false;
    for (operand o : read_first)
        if (written.count(o)) return false;
    return true;
}

// Marks loads whose registers go only to stores: they copy data, including a structure's padding.
void decoder::mark_moves()
{
    if (out_.body.statements.empty()) return;
    std::vector<char> computed(classes_.size(), 0);
    auto use = [&](operand o) {
        if (is_register(o)) computed[o] = 1;
    };
    auto is_store = [&](const draft &d) {
        const auto &op = out_.body.statements[d.ins.statement].op;
        return op[0] == "st" && (d.ins.b != no_operand || d.list == draft::list_role::reads) &&
               std::none_of(op.begin(), op.end(), [](auto p) { return p.starts_with("param"); });
    };
    for (const draft &d : drafts_) {
        bool store = is_store(d);
        use(d.ins.a);
        use(d.ins.c);
        use(d.ins.guard);
        if (!store) use(d.ins.b);
        if (d.extra_reads) use(d.ins.extra);
        if (d.list == draft::list_role::reads && !store)
            for (operand o : out_.lists[d.ins.extra]) use(o);
    }
    auto moved = [&](operand o) { return o == no_operand || computed[o] == 0; };
    for (draft &d : drafts_) {
        if (out_.body.statements[d.ins.statement].op[0] != "ld" || d.ins.count == 0) continue;
        bool all = moved(d.ins.d);
        if (d.list == draft::list_role::writes)
            for (operand o : out_.lists[d.ins.extra]) all = all && moved(o);
        if (all) d.ins.flags |= only_moved;
    }
}

} // namespace simulator::core::decoding
