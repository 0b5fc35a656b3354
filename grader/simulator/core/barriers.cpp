// Reports which threads of a block wait in different places, and which place is to blame.
#include "grid.hpp"

#include <algorithm>

namespace simulator::core {
namespace {

using state = path::state;

// The threads that wait at one place.
struct waiting_place {
    warp *of = nullptr; // the first warp
    path *lanes = nullptr;
    std::uint32_t threads = 0;

    const code &function() const { return *of->frames[lanes->in].of; }
    const instruction &terminator() const
    {
        return function().instructions[function().blocks[lanes->block].terminator];
    }
    std::string at() const { return place_text(function(), terminator().statement); }
    std::string name(const char *article = "") const // for example "a vote", "barrier 3"
    {
        if (lanes->now == state::at_barrier && lanes->waits != 0)
            return "barrier " + std::to_string(lanes->waits);
        return article + sync_name(function(), terminator().statement);
    }
};

template <class F> std::vector<waiting_place> waiting_places(thread_block &b, F counts)
{
    std::vector<waiting_place> all;
    for (warp &w : b.warps)
        for (path &p : w.paths) {
            if (p.mask == 0 || !counts(p)) continue;
            waiting_place here{&w, &p, static_cast<std::uint32_t>(__builtin_popcount(p.mask))};
            auto known = std::find_if(all.begin(), all.end(), [&](const waiting_place &o) {
                return o.name() == here.name() && o.at() == here.at();
            });
            if (known == all.end())
                all.push_back(here);
            else
                known->threads += here.threads;
        }
    return all;
}

// True if a path of at least one step leads from block to block without passing through
// `avoiding`.
bool reaches(const code &k, int from, int to, int avoiding = -1)
{
    std::vector<char> seen(k.blocks.size());
    std::vector<int> open{from};
    while (!open.empty()) {
        const basic_block &b = k.blocks[open.back()];
        open.pop_back();
        std::vector<int> next = b.targets;
        next.insert(next.end(), {b.next, b.target});
        for (int n : next) {
            if (n == to) return true;
            if (n < 0 || n == avoiding || seen[n]) continue;
            seen[n] = 1;
            open.push_back(n);
        }
    }
    return false;
}

// True if the threads at `b` have bypassed `a`. If both places are in a loop: an iteration can
// skip `a`, and none can skip `b`.
bool bypassed(const waiting_place &a, const waiting_place &b)
{
    const code &k = a.function();
    int x = a.lanes->block, y = b.lanes->block;
    if (&k != &b.function() || x == y) return false;
    bool there = reaches(k, x, y), back = reaches(k, y, x);
    return there != back ? there : there && reaches(k, y, y, x) && !reaches(k, x, x, y);
}

// Puts the place to blame first; if undecided, a vote or shuffle.
void sort_by_blame(std::vector<waiting_place> &places)
{
    std::stable_partition(places.begin(), places.end(),
                          [](const waiting_place &p) { return p.lanes->now == state::at_sync; });
    auto blamed = places.begin();
    for (auto p = places.begin(); p != places.end(); ++p)
        if (bypassed(*p, *blamed)) blamed = p;
    std::rotate(places.begin(), blamed, blamed + 1);
}

// For example "3 had ended, after the test at a.cu:12,".
std::string ended_text(const thread_block &b)
{
    std::string s = std::to_string(b.threads - b.live) + " had ended";
    if (b.ended_in != nullptr && b.ended_after != 0)
        s += ", after the test at " + place_text(*b.ended_in, b.ended_after - 1) + ",";
    return s;
}

finding finding_at(grid &g, const waiting_place &p, std::string detail)
{
    enter(g, *p.of, *p.lanes);
    finding f = at_lane(g.ctx, p.terminator(), __builtin_ctz(p.lanes->mask));
    f.kind = finding_kind::barrier;
    f.threads = p.threads;
    f.where = p.name("a ");
    f.detail = std::move(detail);
    return f;
}

// All places but the first: "3 wait at the barrier at a.cu:12, 4 wait at the vote at a.cu:10".
std::string others_text(const std::vector<waiting_place> &places)
{
    std::string s;
    for (std::size_t k = 1; k < places.size(); ++k)
        s += (k > 1 ? ", " : "") + std::to_string(places[k].threads) + " wait at " +
             places[k].name("the ") + " at " + places[k].at();
    return s;
}

} // namespace

void check_arrivals(grid &g, thread_block &b, std::uint32_t id)
{
    std::vector<waiting_place> places = waiting_places(
        b, [&](const path &p) { return p.now == state::at_barrier && p.waits == id; });
    bool missed = b.live < b.threads && settings().ended_threads_miss_barriers;
    if (places.empty() || b.misused || (places.size() == 1 && !missed)) return;
    b.misused = true; // later misuse by the same threads follows from this one
    sort_by_blame(places);
    std::string detail = std::to_string(places[0].threads) + " threads of the block wait at it";
    detail += places.size() > 1 ? " while " + others_text(places)
                                : "; " + ended_text(b) + " without reaching it";
    detail += ": every thread of a block must come to the same barrier";
    findings::instance().add(finding_at(g, places[0], std::move(detail)));
}

void report_stuck(grid &g, thread_block &b)
{
    std::vector<waiting_place> places = waiting_places(
        b, [](const path &p) { return p.now == state::at_barrier || p.now == state::at_sync; });
    std::string detail = "nobody in the block can go on";
    g.ctx.halt();
    g.result = {702, detail};
    if (places.empty()) return;
    sort_by_blame(places);
    bool for_lanes = places[0].lanes->now == state::at_sync;
    detail = std::to_string(places[0].threads) + " threads wait at it" +
             (for_lanes ? " for lanes of their warp" : "") +
             (places.size() > 1 ? " while " + others_text(places) : "") + ": " + detail;
    finding f = finding_at(g, places[0], std::move(detail));
    g.result.message = f.kernel + ", " + places[0].at() + ": " + f.detail;
    findings::instance().add(std::move(f));
}

} // namespace simulator::core
