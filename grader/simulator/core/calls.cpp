// Calls device functions for the lanes of a path, and returns from them.
#include "paths.hpp"
#include "undefined_values.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::core {
namespace {

using state = path::state;

// The deepest recursion: all local memory of a thread, at 64 bytes per call.
constexpr std::uint32_t max_calls = 1 << 13;

int call_join(const warp &w, int p)
{
    for (int k = w.paths[p].parent; k >= 0; k = w.paths[k].parent)
        if (w.paths[k].is_call) return k;
    return -1;
}

// Copies the bytes of an argument or result between the argument areas of two frames.
void copy_argument(frame &to, std::uint32_t to_offset, const frame &from, std::uint32_t from_offset,
                   std::uint64_t bytes, lane_mask lanes)
{
    baseline::active(lanes, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        std::memcpy(to.arguments.data() + lane * to.of->argument_bytes + to_offset,
                    from.arguments.data() + lane * from.of->argument_bytes + from_offset, bytes);
    });
}

// Returns the lanes `some` of path `p` to the call of their function, with its results.
void return_lanes(warp &w, int p, lane_mask some)
{
    int join = call_join(w, p);
    if (join < 0) return end_lanes(w, p, some);
    const frame &from = w.frames[w.paths[p].frame_index];
    frame &to = w.frames[w.paths[join].frame_index];
    const code &k = *to.of;
    const basic_block &caller = k.blocks[w.paths[join].call_block];
    const call_site &site = k.calls[k.instructions[caller.terminator].extra];
    for (std::size_t r = 0; r < site.out.size(); ++r)
        copy_argument(to, site.out[r], from, from.of->result_offsets[r],
                      from.of->source->results[r].bytes, some);
    w.paths[join].mask |= some;
    drop_frame_users(w, w.paths[p].frame_index, lane_count(some));
    w.paths[p].mask &= ~some;
    if (w.paths[p].mask == 0) remove_path(w, p);
}

int new_frame(warp &w, code &callee, const frame &caller, std::uint32_t lanes)
{
    // Read first, because a new frame may move the caller's.
    std::uint32_t local_base = caller.local_base + caller.of->local_bytes + caller.alloca_bytes;
    std::uint32_t depth = caller.depth + 1;
    std::size_t k = 1;
    while (k < w.frames.size() && w.frames[k].of != nullptr) ++k;
    if (k == w.frames.size()) w.frames.emplace_back();
    frame &f = w.frames[k];
    f.of = &callee;
    f.storage.resize((callee.register_bytes + 63) / 64);
    f.registers = f.storage.data()->bytes;
    if (w.undefined) w.undefined->forget_frame(f.registers);
    f.arguments.resize(std::size_t{32} * callee.argument_bytes);
    f.local_base = local_base;
    f.alloca_bytes = 0;
    f.depth = depth;
    f.users = lanes;
    return static_cast<int>(k);
}

// True if the arguments and results of a call fit the callee, which an indirect call does not
// guarantee. An argument variable has the size of the largest one of its name.
bool signature_fits(const code &callee, const call_site &site)
{
    auto room = [](const std::vector<ptx::variable> &declared,
                   const std::vector<std::uint32_t> &given) {
        return std::equal(declared.begin(), declared.end(), given.begin(), given.end(),
                          [](const ptx::variable &v, std::uint32_t n) { return v.bytes <= n; });
    };
    return !callee.source->entry && room(callee.source->parameters, site.in_bytes) &&
           room(callee.source->results, site.out_bytes);
}

// Adds to the call's join a child path that starts `callee`. Returns false if the call stack is
// used up.
bool start_call(warp &w, int join, code &callee, const call_site &site, lane_mask mask)
{
    int at = new_frame(w, callee, w.frames[w.paths[join].frame_index], lane_count(mask));
    const frame &from = w.frames[w.paths[join].frame_index];
    frame &to = w.frames[at];
    for (std::size_t a = 0; a < site.in.size(); ++a)
        copy_argument(to, callee.parameter_offsets[a], from, site.in[a],
                      callee.source->parameters[a].bytes, mask);
    const std::uint64_t local_end = std::uint64_t{to.local_base} + callee.local_bytes;
    if (local_end > max_local_bytes || to.depth > max_calls) return false;
    take_local_memory(w, mask, to.local_base, local_end);
    w.current = new_path(w, {.now = state::ready, .mask = mask, .parent = join, .frame_index = at});
    ++w.paths[join].children;
    return true;
}

} // namespace

void take_local_memory(warp &w, lane_mask mask, std::uint64_t begin, std::uint64_t end)
{
    if (w.local.size() < end * 32) {
        w.local.resize(end * 32);
        w.local_shadow.resize(end * 32);
    }
    for (std::uint64_t word = begin / 4; word < end / 4; ++word)
        baseline::active(mask, [&](int l) {
            std::memset(w.local_shadow.data() + local_position(4 * word, l), 0, 4);
        });
}

void call(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    code &caller = *w.frames[w.paths[p].frame_index].of;
    const call_site &site = caller.calls[i.extra];
    lane_mask mask = w.paths[p].mask;
    if (site.callee < 0 && i.a == no_operand) {
        call_builtin(g, w, i, site, mask);
        w.paths[p].block = b.next;
        return;
    }
    std::uint64_t targets[32] = {};
    if (i.a != no_operand)
        std::memcpy(targets, baseline::lanes_of<std::uint64_t>(g.ctx, i.a), sizeof targets);
    path &j = w.paths[p];
    j.now = state::joining;
    j.is_call = true;
    j.mask = 0;
    j.call_block = j.block;
    j.block = b.next;
    j.children = 0;
    while (mask != 0) {
        int lane = __builtin_ctz(mask);
        lane_mask together = mask;
        int callee = site.callee;
        if (callee < 0) {
            together &= baseline::where([&](int l) { return targets[l] == targets[lane]; });
            std::uint64_t index = (targets[lane] - code_window) / 16;
            if (targets[lane] < code_window || index >= g.function_count || targets[lane] % 16 != 0)
                return stop_grid(g.ctx, i, finding_kind::trap, cudaErrorLaunchFailure, lane,
                                 "a call through a pointer that is no device function");
            callee = static_cast<int>(index);
        }
        mask &= ~together;
        code *k = g.function(callee);
        if (k == nullptr)
            return stop_grid(g.ctx, i, finding_kind::unsupported, cudaErrorNotSupported, lane,
                             "a call of a function that this module declares but does not hold");
        if (!signature_fits(*k, site))
            return stop_grid(g.ctx, i, finding_kind::trap, cudaErrorLaunchFailure, lane,
                             "a call of a function that has other parameters or another result");
        if (!start_call(w, p, *k, site, together))
            return stop_grid(g.ctx, i, finding_kind::trap, cudaErrorLaunchFailure, lane,
                             "the call stack of a thread is used up: does the recursion end?");
    }
}

void leave(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    lane_mask going = guarded(g.ctx, i, w.paths[p].mask);
    if (b.next >= 0) w.paths[p].block = b.next;
    if (i.guard != no_operand) w.paths[p].last_branch = i.statement + 1;
    if (going == 0) return;
    if ((i.flags & leaves_kernel) != 0)
        end_lanes(w, p, going);
    else
        return_lanes(w, p, going);
}

} // namespace simulator::core
