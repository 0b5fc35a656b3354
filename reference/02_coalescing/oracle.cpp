// What is right in lab 02, one element after the other.
#include "oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <stdexcept>

namespace oracle {

std::vector<float> scale_columns(const std::vector<float> &in, int rows, int cols,
                                 const std::vector<float> &factor)
{
    std::vector<float> out(in.size());
    for (int row = 0; row < rows; ++row)
        // One row, from its first column to its last.
        for (int col = 0; col < cols; ++col) {
            std::size_t i = std::size_t(row) * cols + col;
            out[i] = in[i] * factor[col];
        }
    return out;
}

std::vector<float> read_offset(const std::vector<float> &a, const std::vector<float> &b, int offset)
{
    std::vector<float> sums(a.size() - std::min<std::size_t>(offset, a.size()));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = a[i + offset] + b[i + offset];
    return sums;
}

std::vector<float> write_offset(const std::vector<float> &a, const std::vector<float> &b,
                                int offset)
{
    std::vector<float> sums(a.size() - std::min<std::size_t>(offset, a.size()));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = a[i] + b[i];
    return sums;
}

std::vector<float> add(const std::vector<float> &a, const std::vector<float> &b)
{
    return read_offset(a, b, 0);
}

namespace {

// The bytes that a lane reads; size 0: none.
struct lane_read {
    int first, size;
};

lane_read read_by(int lane, pattern_kind kind, int p)
{
    switch (kind) {
    case pattern_kind::contiguous:
        return {4 * (p + lane), 4};
    case pattern_kind::reversed:
        return {4 * (p + 31 - lane), 4};
    case pattern_kind::shuffled:
        return {4 * (p + (lane * 11) % 32), 4};
    case pattern_kind::one_address:
        return {4 * p, 4};
    case pattern_kind::strided:
        return {4 * p * lane, 4};
    case pattern_kind::scattered:
        return {4 * (1024 * ((lane * 7) % 32) + p), 4};
    case pattern_kind::two_rows:
        return {4 * ((lane / 16) * p + lane % 16), 4};
    case pattern_kind::first_lanes:
        return {4 * lane, lane < p ? 4 : 0};
    case pattern_kind::even_lanes:
        return {4 * (p + lane), lane % 2 == 0 ? 4 : 0};
    case pattern_kind::bytes:
        return {p + lane, 1};
    case pattern_kind::float2_each:
        return {8 * (p + lane), 8};
    case pattern_kind::float4_each:
        return {16 * (p + lane), 16};
    }
    throw std::invalid_argument("oracle::predict: no such pattern_kind; see lab.hpp");
}

} // namespace

prediction predict(const access_pattern &pattern)
{
    std::set<int> sectors, lines;
    for (int lane = 0; lane < 32; ++lane) {
        lane_read read = read_by(lane, pattern.kind, pattern.parameter);
        for (int byte = read.first; byte < read.first + read.size; ++byte) {
            sectors.insert(byte / 32);
            lines.insert(byte / 128);
        }
    }
    return {int(sectors.size()), int(lines.size())};
}

static int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

int resident_blocks(const block_needs &block, const sm_limits &limits, const residency_rules &rules)
{
    // How many times `need` goes into `room`.
    auto fit = [&rules](int room, int need) {
        if (need == 0) return std::numeric_limits<int>::max();
        return rules.rounded_down ? room / need : (room + need - 1) / need;
    };
    const int warps = rules.full_warps_only ? block.threads / 32 : (block.threads + 31) / 32;
    const int threads = rules.whole_warps ? 32 * warps : block.threads;

    int blocks = fit(limits.threads, threads);
    if (rules.block_limit) blocks = std::min(blocks, limits.blocks);
    if (rules.registers) {
        const int unit = rules.register_unit ? limits.register_unit : 1;
        if (!rules.unit_per_warp || !rules.whole_warps) {
            blocks = std::min(blocks,
                              fit(limits.registers, rounded_up(threads * block.registers, unit)));
        } else {
            const int parts = rules.partitions ? limits.partitions : 1;
            const int of_warp = rounded_up(32 * block.registers, unit);
            blocks = std::min(blocks, fit(parts * (limits.registers / parts / of_warp), warps));
        }
    }
    if (rules.shared) {
        const int bytes = block.shared_bytes + (rules.shared_reserved ? limits.shared_reserved : 0);
        blocks =
            std::min(blocks, fit(limits.shared_bytes,
                                 rounded_up(bytes, rules.shared_unit ? limits.shared_unit : 1)));
    }
    return blocks;
}

int warps_hiding_latency(const memory_demand &demand, const latency_rules &rules)
{
    using wide = long long;
    // Latency is cycles / (10^6 clock_mhz) seconds, bandwidth 10^9 gb_per_s bytes per second.
    const wide mhz = rules.clock ? demand.clock_mhz : 1000;
    wide bytes_times_mhz = wide(demand.latency_cycles) * demand.gb_per_s * 1000;
    if (rules.whole_bytes) bytes_times_mhz -= bytes_times_mhz % mhz;
    const wide holders = (rules.warps ? 32 : 1) * (rules.each_sm ? demand.multiprocessors : 1);
    const wide bytes_of_one_times_mhz = mhz * holders * demand.bytes_per_thread;
    return int((bytes_times_mhz + (rules.rounded_up ? bytes_of_one_times_mhz - 1 : 0)) /
               bytes_of_one_times_mhz);
}

} // namespace oracle
