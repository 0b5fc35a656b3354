// Compares the states of warps by hash: the program counter of each lane, registers, local memory.
#include "livelock.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace simulator::core {
namespace {

// Spinning lanes sometimes release lanes of their warp that wait at a join, and a load may get an
// older value once (weak_memory.hpp). Both are over after this many rounds and visits of a state.
constexpr int settling_rounds = 256, enough_visits = 3;

void mix(std::size_t &hash, std::size_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
}

void mix(std::size_t &hash, const std::byte *bytes, std::size_t count)
{
    const std::string_view text(reinterpret_cast<const char *>(bytes), count);
    mix(hash, std::hash<std::string_view>()(text));
}

std::size_t state_of(const warp &w)
{
    std::size_t hash = w.live;
    mix(hash, static_cast<std::size_t>(w.current));
    for (const path &p : w.paths) {
        mix(hash, static_cast<std::size_t>(p.now));
        if (p.now == path::state::unused) continue;
        mix(hash, p.mask);
        for (int part : {p.block, p.join, p.parent, p.frame_index})
            mix(hash, static_cast<std::size_t>(part));
    }
    for (const frame &f : w.frames) {
        if (f.of == nullptr) continue;
        mix(hash, f.registers, f.of->register_bytes);
        mix(hash, f.arguments.data(), f.arguments.size());
    }
    mix(hash, w.local.data(), w.local.size());
    return hash;
}

} // namespace

void livelock_detector::reset()
{
    quiet_rounds_ = 0;
    visits_.clear();
}

bool livelock_detector::reached(const grid &g)
{
    if (++quiet_rounds_ <= settling_rounds) return false;
    bool all = true;
    for (const auto &b : g.resident)
        for (const warp &w : b->warps) {
            if (w.live == 0) continue;
            visits &states = visits_[&w];
            states.max_visits = std::max(states.max_visits, ++states.of[state_of(w)]);
            all = all && states.max_visits >= enough_visits;
        }
    return all;
}

} // namespace simulator::core
