// Declares the paths of a warp: lanes diverge at branches and reconverge at the immediate
// post-dominator of the branch.
//
// Converged lanes are a path. When they diverge, the path becomes a join at the reconvergence block
// and waits for its children; normally one child runs until it arrives, then the next. When the
// running lanes can only wait for others of the same warp (a spin lock, a __syncwarp() in two
// branches), other paths get a turn, and lanes that wait at a join may continue alone. So every
// thread makes progress, as independent thread scheduling guarantees since Volta.
//
// Paths are named by their index in warp::paths.
#pragma once

#include "grid.hpp"
#include "simulator/lanes/lanes.hpp"

#include <cstddef>

namespace simulator::core {

inline std::uint32_t lane_count(lane_mask m)
{
    return static_cast<std::uint32_t>(__builtin_popcount(m));
}

inline lane_mask truth_of(context &c, operand predicate, bool negated)
{
    return baseline::predicate(c, predicate) ^ (negated ? all_lanes : 0);
}

// The lanes of `mask` whose guard is true.
inline lane_mask guarded(context &c, const instruction &i, lane_mask mask)
{
    return i.guard == no_operand
               ? mask
               : mask & (*baseline::lanes_of<lane_mask>(c, i.guard) ^ i.guard_flip);
}

// The terminator of the basic block where the path is.
inline const instruction &terminator_of(const warp &w, const path &p)
{
    const code &k = *w.frames[p.frame_index].of;
    return k.instructions[k.blocks[p.block].terminator];
}

// Lanes that diverge to one basic block.
struct lane_group {
    int block;
    lane_mask mask;
};
void diverge(warp &, int p, int reconvergence_block, const lane_group *, std::size_t n);
// The lanes of a path arrive at its parent, the join.
void reconverge(warp &, int p);
// Lanes that wait at a join continue without the other paths. Returns false if no lanes wait.
bool release_join(warp &);

int new_path(warp &, const path &);
void remove_path(warp &, int p);
// Exits the lanes `some` of a path.
void end_lanes(warp &, int p, lane_mask some);
// Lanes have returned from the frame's function; the last ones free it.
void drop_frame_users(warp &, int frame_index, std::uint32_t lanes);

// The terminators of basic blocks, for the lanes of a path.
void call(grid &, warp &, int p, const basic_block &, const instruction &);
void leave(grid &, warp &, int p, const basic_block &, const instruction &); // ret, exit
void arrive_at_barrier(grid &, warp &, int p, const basic_block &, const instruction &);
// A .sync instruction. Lanes with different member masks (tiles of a warp) synchronise set by set;
// if some set is incomplete, each set waits on its own.
void synchronise_warp(grid &, warp &, int p, const basic_block &, const instruction &);
// Lets waiting paths pass when all lanes that their member mask names, except exited ones, wait at
// the same instruction (for bar.warp.sync: at any bar.warp.sync).
bool pass_sync(grid &, warp &, int p);

} // namespace simulator::core
