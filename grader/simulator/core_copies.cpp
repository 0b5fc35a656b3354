// cp.async: bytes on their way from device to shared memory.
#include "core_copies.hpp"
#include "core_undefined.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::core {

warp::warp() = default;
warp::warp(warp &&) noexcept = default;
warp::~warp() = default;

void start_copies(context &c, const instruction &i, lane_mask mask, const std::uint64_t *to,
                  const std::byte (*bytes)[16])
{
    // From here on the bytes may arrive at any time: who still reads the old ones is in a race.
    if (c.races != nullptr)
        check_races(c, i, mask, to, ptx::space::shared, i.bytes, access_use::copy, false, bytes);
    if (!c.w->copies) c.w->copies = std::make_unique<copies_in_flight>();
    auto &state = *c.w->copies;
    for (; mask != 0; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        auto at = static_cast<std::uint32_t>(to[lane]);
        auto &n = state.waiting.emplace_back();
        n = {c.running, &i, at, state.committed[lane], lane, {}};
        std::memcpy(n.bytes, bytes[lane], i.bytes);
        for (std::uint32_t k = 0; k < i.bytes; ++k)
            c.shared_shadow[at + k] =
                static_cast<std::uint8_t>((c.shared_shadow[at + k] & ~initialised) | in_flight);
    }
}

namespace {

using copy = copies_in_flight::copy;

// Copies of one instruction by lanes in ascending order arrive together.
void arrive(context &c, const copy *first, const copy *last)
{
    std::uint64_t to[32];
    std::byte bytes[32][16];
    lane_mask mask = 0;
    for (const copy *k = first; k != last; ++k) {
        to[k->lane] = k->to;
        std::memcpy(bytes[k->lane], k->bytes, sizeof k->bytes);
        mask |= lane_mask{1} << k->lane;
    }
    const instruction &i = *first->from;
    if (c.races != nullptr) {
        code *here = c.running;
        c.running = const_cast<code *>(first->of);
        check_races(c, i, mask, to, ptx::space::shared, i.bytes, access_use::copy, false, bytes);
        c.running = here;
    }
    for (const copy *k = first; k != last; ++k) {
        std::memcpy(c.shared + k->to, k->bytes, i.bytes);
        for (std::uint32_t b = 0; b < i.bytes; ++b)
            c.shared_shadow[k->to + b] =
                static_cast<std::uint8_t>((c.shared_shadow[k->to + b] | initialised) & ~in_flight);
    }
}

} // namespace

void wait_for_copies(context &c, const instruction &i, lane_mask mask)
{
    auto how = static_cast<copy_wait>(i.extra);
    if (!c.w->copies) {
        if (how != copy_wait::commit) return;
        c.w->copies = std::make_unique<copies_in_flight>();
    }
    auto &state = *c.w->copies;
    if (how == copy_wait::commit) {
        for (lane_mask m = mask; m != 0; m &= m - 1) ++state.committed[__builtin_ctz(m)];
        return;
    }
    auto stays = [&](const copy &k) {
        if ((mask >> k.lane & 1) == 0) return true;
        if (how == copy_wait::all) return false;
        return std::uint64_t{k.group} + static_cast<std::uint64_t>(i.offset) >=
               state.committed[k.lane];
    };
    auto left = std::stable_partition(state.waiting.begin(), state.waiting.end(), stays);
    auto first = left;
    for (auto k = left; k != state.waiting.end(); ++k) {
        auto next = k + 1;
        bool more = next != state.waiting.end() && next->from == k->from && next->lane > k->lane;
        if (more) continue;
        arrive(c, &*first, &*k + 1);
        first = next;
    }
    state.waiting.erase(left, state.waiting.end());
}

bool copied_bytes(const warp &w, int lane, std::uint64_t at, std::uint32_t n, std::byte *to)
{
    if (!w.copies) return false;
    const auto &all = w.copies->waiting;
    auto last = std::find_if(all.rbegin(), all.rend(), [=](const copy &k) {
        return k.lane == lane && k.to <= at && at + n <= k.to + k.from->bytes;
    });
    if (last == all.rend()) return false;
    std::memcpy(to, last->bytes + (at - last->to), n);
    return true;
}

std::string copy_to(const thread_block &b, std::uint64_t at)
{
    for (const warp &w : b.warps) {
        if (!w.copies) continue;
        for (const copy &k : w.copies->waiting)
            if (at - k.to < k.from->bytes) return place_text(*k.of, k.from->statement);
    }
    return {};
}

} // namespace simulator::core
