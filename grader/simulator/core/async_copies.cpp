// Implements cp.async: its copies start, are committed as groups, and complete at a wait.
#include "async_copies.hpp"
#include "simulator/lanes/lanes.hpp"
#include "undefined_values.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::core {

warp::warp() = default;
warp::warp(warp &&) noexcept = default;
warp::~warp() = default;

namespace {

using copy = copies_in_flight::copy;

// True if all lanes are active and their bytes adjacent.
bool is_contiguous(lane_mask mask, const std::uint64_t *to, std::uint32_t bytes)
{
    return (mask & baseline::where([=](int l) {
                return to[l] == to[0] + static_cast<std::uint32_t>(l) * bytes;
            })) == all_lanes;
}

void mark(context &c, lane_mask lanes, const std::uint64_t *to, std::uint32_t bytes,
          bool contiguous, std::uint8_t set, std::uint8_t clear)
{
    auto range = [&](std::uint64_t at, std::uint32_t n) {
        std::uint8_t *const shadow = c.shared_shadow + at;
        for (std::uint32_t k = 0; k < n; ++k)
            shadow[k] = static_cast<std::uint8_t>((shadow[k] | set) & ~clear);
    };
    if (contiguous) return range(to[0], 32 * bytes);
    for (; lanes != 0; lanes &= lanes - 1) range(to[__builtin_ctz(lanes)], bytes);
}

void check_write(context &c, const instruction &i, lane_mask lanes, const std::uint64_t *to,
                 const std::byte (*bytes)[16], bool contiguous)
{
    if (c.races != nullptr)
        check_races(c, i, lanes, to, ptx::space::shared, i.bytes, access_use::copy, contiguous,
                    bytes);
}

template <std::size_t bytes> void write_lanes(std::byte *shared, const copy &k, lane_mask lanes)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        std::memcpy(shared + k.to[lane], k.bytes[lane], bytes);
    }
}

void complete(context &c, const copy &k, lane_mask lanes)
{
    code *here = c.running;
    c.running = const_cast<code *>(k.of);
    const std::uint32_t bytes = k.from->bytes;
    const bool contiguous = is_contiguous(lanes, k.to, bytes);
    check_write(c, *k.from, lanes, k.to, k.bytes, contiguous);
    c.running = here;
    (bytes == 4   ? write_lanes<4>
     : bytes == 8 ? write_lanes<8>
                  : write_lanes<16>)(c.shared, k, lanes);
    mark(c, lanes, k.to, bytes, contiguous, initialised, in_flight);
}

} // namespace

void start_copies(context &c, const instruction &i, lane_mask mask, const std::uint64_t *to,
                  const std::byte (*bytes)[16])
{
    if (!c.w->copies) c.w->copies = std::make_unique<copies_in_flight>();
    auto &state = *c.w->copies;
    for (lane_mask left = mask; left != 0;) {
        const std::uint32_t group = state.committed[__builtin_ctz(left)];
        const lane_mask lanes =
            left & baseline::where([&](int l) { return state.committed[l] == group; });
        left &= ~lanes;
        // From here on the bytes may be written at any time: reads of the old ones race with the
        // copy.
        const bool contiguous = is_contiguous(lanes, to, i.bytes);
        check_write(c, i, lanes, to, bytes, contiguous);
        mark(c, lanes, to, i.bytes, contiguous, in_flight, initialised);
        copy &k = state.pending.emplace_back();
        k.of = c.running, k.from = &i, k.lanes = lanes, k.group = group;
        std::memcpy(k.to, to, sizeof k.to);
        std::memcpy(k.bytes, bytes, sizeof k.bytes);
    }
}

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
    const std::uint64_t may_stay = how == copy_wait::all ? 0 : static_cast<std::uint64_t>(i.offset);
    const std::uint64_t latest =
        *std::max_element(std::begin(state.committed), std::end(state.committed));
    for (copy &k : state.pending) {
        // True if the copy may stay pending for every lane.
        if (how == copy_wait::group && k.group + may_stay >= latest) continue;
        const lane_mask done =
            mask & k.lanes & baseline::where([&](int l) {
                return how == copy_wait::all || k.group + may_stay < state.committed[l];
            });
        if (done == 0) continue;
        complete(c, k, done);
        k.lanes &= ~done;
    }
    while (!state.pending.empty() && state.pending.front().lanes == 0) state.pending.pop_front();
}

bool pending_copy_bytes(const warp &w, int lane, std::uint64_t at, std::uint32_t n, std::byte *to)
{
    if (!w.copies) return false;
    const auto &all = w.copies->pending;
    auto last = std::find_if(all.rbegin(), all.rend(), [=](const copy &k) {
        return (k.lanes >> lane & 1) != 0 && k.to[lane] <= at &&
               at + n <= k.to[lane] + k.from->bytes;
    });
    if (last == all.rend()) return false;
    std::memcpy(to, last->bytes[lane] + (at - last->to[lane]), n);
    return true;
}

std::string pending_copy_location(const thread_block &b, std::uint64_t at)
{
    for (const warp &w : b.warps) {
        if (!w.copies) continue;
        for (const copy &k : w.copies->pending)
            for (lane_mask m = k.lanes; m != 0; m &= m - 1)
                if (at - k.to[__builtin_ctz(m)] < k.from->bytes)
                    return location_text(*k.of, k.from->statement);
    }
    return {};
}

} // namespace simulator::core
