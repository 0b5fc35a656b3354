// Splits a function into basic blocks, and finds where divergent lanes reconverge.
#include "decoder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace simulator::core::decoding {
namespace {

constexpr int block_below = -2; // basic_block::next until link_blocks: the next block in order

block_terminator terminator_of(const statement &s)
{
    auto op = s.op[0];
    if (op == "bra") return block_terminator::branch;
    if (op == "brx") return block_terminator::table;
    if (op == "call") return block_terminator::call;
    if (op == "ret" || op == "exit") return block_terminator::leave;
    if (op == "nanosleep") return block_terminator::pause;
    if (op == "bar" || op == "barrier")
        return s.op.size() > 1 && s.op[1] == "warp" ? block_terminator::warp_sync
                                                    : block_terminator::barrier;
    if (op == "shfl" || op == "vote" || op == "match" || op == "redux")
        return block_terminator::warp_sync;
    return block_terminator::fall;
}

} // namespace

void decoder::find_leaders()
{
    leaders_.assign(out_.body.statements.size() + 1, 0);
    leaders_[0] = 1;
    for (std::size_t s = 0; s < out_.body.statements.size(); ++s) {
        for (int t : out_.body.statements[s].targets) leaders_[t] = 1;
        if (terminator_of(out_.body.statements[s]) != block_terminator::fall) leaders_[s + 1] = 1;
    }
    leaders_.back() = 1;
    block_of_.assign(leaders_.size(), -1);
}

void decoder::open_block(std::size_t s)
{
    if (!out_.blocks.empty() && !closed_) close(block_terminator::fall, s);
    basic_block b;
    b.first = static_cast<std::uint32_t>(drafts_.size());
    b.first_statement = b.last_statement = static_cast<std::uint32_t>(s);
    out_.blocks.push_back(b);
    closed_ = false;
}

// Closes the open block. `next` and `target` are statement indices until link_blocks.
void decoder::close(block_terminator end, std::size_t next, int target)
{
    block().end = end;
    block().last =
        static_cast<std::uint32_t>(drafts_.size()) - (end == block_terminator::fall ? 0 : 1);
    block().next = end == block_terminator::leave || end == block_terminator::table
                       ? -1
                       : static_cast<int>(next);
    block().target = target;
    closed_ = true;
}

void decoder::decode_at(std::size_t s)
{
    if (leaders_[s]) {
        open_block(s);
        block_of_[s] = static_cast<int>(out_.blocks.size()) - 1;
    }
    current_ = static_cast<std::uint32_t>(s);
    if (s == out_.body.statements.size()) { // the end of a function without `ret`
        emit(nullptr).ins.statement = s == 0 ? 0 : current_ - 1;
        close(block_terminator::leave, s);
        return;
    }
    const statement &st = out_.body.statements[s];
    block_terminator end = terminator_of(st);
    if (st.guard >= 0 && end != block_terminator::branch && end != block_terminator::leave &&
        end != block_terminator::fall)
        skip_by_branch(st, s);
    if (end == block_terminator::fall) {
        decode_straight_line(st);
    } else {
        decode_terminator(st, end);
        close_with(st, end, s);
    }
    block().last_statement = static_cast<std::uint32_t>(s + 1);
}

// @p bar.sync 0; becomes a branch around an unguarded bar.sync.
void decoder::skip_by_branch(const statement &st, std::size_t s)
{
    emit_guarded(st).ins.guard_flip ^= all_lanes;
    close(block_terminator::branch, s, static_cast<int>(s + 1));
    block().next = block_below;
    open_block(s);
}

void decoder::close_with(const statement &st, block_terminator end, std::size_t s)
{
    int target = -1;
    if (end == block_terminator::branch) {
        if (st.targets.empty())
            throw std::runtime_error("PTX line " + std::to_string(st.text_line) +
                                     ": a branch without a target");
        target = st.targets[0];
        if (st.guard < 0) { // an unconditional branch only sets the successor
            drafts_.pop_back();
            close(block_terminator::fall, static_cast<std::size_t>(target));
            return;
        }
    }
    close(end, s + 1, target);
    if (end == block_terminator::table) block().targets = st.targets;
    if (end == block_terminator::leave && st.guard >= 0) block().next = static_cast<int>(s + 1);
}

void decoder::link_blocks()
{
    flow_graph g;
    for (std::size_t b = 0; b < out_.blocks.size(); ++b) {
        auto &k = out_.blocks[b];
        if (k.next == block_below)
            k.next = static_cast<int>(b) + 1;
        else if (k.next >= 0)
            k.next = block_of_[k.next];
        if (k.target >= 0) k.target = block_of_[k.target];
        for (int &t : k.targets) t = block_of_[t];
        auto &to = g.successors.emplace_back();
        if (k.next >= 0) to.push_back(k.next);
        if (k.target >= 0 && k.target != k.next) to.push_back(k.target);
        for (int t : k.targets)
            if (std::find(to.begin(), to.end(), t) == to.end()) to.push_back(t);
        g.exits.push_back(k.end == block_terminator::leave && k.next < 0 && k.first == k.last);
    }
    auto reconvergence = immediate_post_dominators(g);
    for (std::size_t b = 0; b < out_.blocks.size(); ++b)
        out_.blocks[b].reconvergence_block = reconvergence[b];
    mark_spin_loops(g);
}

} // namespace simulator::core::decoding
