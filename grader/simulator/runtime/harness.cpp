// Implementation of harness.h: the simulator's C interface for test harnesses.
#include "harness.h"

#include "memory_side.hpp"
#include "runtime.hpp"
#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/memory.hpp"
#include "simulator/machine/timeline.hpp"
#include "simulator/machine/work_meter.hpp"

#include <algorithm>
#include <cstring>

using namespace simulator;

namespace {

// Writes a text, cut to fit and null-terminated; `room` is not 0.
void put(char *out, std::size_t room, const std::string &text)
{
    out[text.copy(out, room - 1)] = 0;
}
template <std::size_t room> void put(char (&out)[room], const std::string &text)
{
    put(out, room, text);
}

void put(std::uint32_t (&out)[3], dim d) { out[0] = d.x, out[1] = d.y, out[2] = d.z; }

simulator_finding in_c(const finding &f)
{
    simulator_finding out = {};
    out.kind = static_cast<std::uint8_t>(f.kind);
    out.write = f.write;
    out.host_call = f.host_call;
    out.other_grid = f.other_grid;
    out.other_block = f.other_block;
    out.place = static_cast<std::uint8_t>(f.place);
    out.inaccessible_peer = f.inaccessible_peer;
    out.earlier_wrote = f.earlier_wrote;
    out.overwrites = f.overwrites;
    out.missing = static_cast<std::uint8_t>(f.missing);
    out.pointer = static_cast<std::uint8_t>(f.pointer);
    out.over_limit = f.over_limit;
    out.blocks_not_begun = f.blocks_not_begun;
    put(out.array, f.array);
    out.array_bytes = f.array_bytes;
    out.distance = f.distance;
    out.earlier_line = f.earlier_line;
    put(out.kernel, f.kernel);
    put(out.file, f.file);
    put(out.where, f.where);
    put(out.detail, f.detail);
    out.line = f.line;
    put(out.block, f.block);
    put(out.thread, f.thread);
    put(out.grid_size, f.grid_size);
    put(out.block_size, f.block_size);
    out.bytes = f.bytes;
    out.threads = f.threads;
    return out;
}

} // namespace

namespace simulator::runtime {

// register_binary calls this, so that each program with kernels has the functions below: a linker
// takes no archive member for weak references alone.
void link_harness() {}

} // namespace simulator::runtime

extern "C" {

void simulator_forbid(const void *at, size_t bytes)
{
    memory::instance().mark(as_address(at), bytes, 0, addressable);
}

void simulator_allow(const void *at, size_t bytes)
{
    // Only inside a live allocation: red zones stay out of bounds in any case.
    memory &m = memory::instance();
    if (!m.contains(as_address(at))) return runtime::forget_host_arrays(at, bytes);
    const allocation *a = m.find(as_address(at));
    if (!a || !a->live) return;
    const address first = std::max(as_address(at), a->start);
    const address end = std::min(as_address(at) + bytes, a->start + a->bytes);
    if (first < end) m.mark(first, end - first, addressable, 0);
}

void simulator_forget(const void *at, size_t bytes)
{
    memory::instance().mark(as_address(at), bytes, 0, initialised);
}

void simulator_label(const void *at, size_t bytes, const char *name)
{
    memory &m = memory::instance();
    if (!m.contains(as_address(at))) return runtime::name_host_array(at, bytes, name);
    m.label(as_address(at), bytes, name);
}

void simulator_begin(void)
{
    runtime::silence_fault_messages();
    findings::instance().clear();
    counters::instance().clear(runtime::streams_and_events());
    timeline::instance().clear();
}

void simulator_schedule(int flags, uint64_t seed)
{
    settings().random_schedule = (flags & schedule_random) != 0;
    settings().any_blocks_first = (flags & schedule_any_blocks_first) != 0;
    settings().others_launch = (flags & schedule_others_launch) != 0;
    settings().seed = seed;
}

void simulator_close_peers(uint64_t pairs) { runtime::close_peers(pairs); }

void simulator_multiprocessors(int count) { settings().multiprocessors = count; }

void simulator_streams(int order)
{
    settings().streams = order == 1   ? stream_order::late
                         : order == 2 ? stream_order::random
                                      : stream_order::immediate;
}

void simulator_limit_work(uint64_t units) { work_meter::instance().limit(units); }

void simulator_check_races(int on) { settings().check_races = on != 0; }

size_t simulator_findings(struct simulator_finding *out, size_t room)
{
    // Faults come first: the other findings, such as refused launches, may outnumber the room.
    auto all = findings::instance().all();
    std::stable_partition(all.begin(), all.end(),
                          [](const finding &f) { return is_fault(f.kind); });
    const std::size_t n = std::min(room, all.size());
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), out, in_c);
    return all.size();
}

size_t simulator_counters(char *out, size_t room)
{
    const std::string text = counters::instance().json(runtime::streams_and_events());
    if (room) put(out, room, text);
    return text.size();
}

int simulator_put(void *to, const void *from, size_t bytes)
{
    memory &m = memory::instance();
    if (!m.in_one_allocation(as_address(to), bytes)) return 0;
    std::memcpy(m.at(as_address(to)), from, bytes);
    m.mark(as_address(to), bytes, initialised, 0);
    return 1;
}

int simulator_get(void *to, const void *from, size_t bytes)
{
    memory &m = memory::instance();
    if (!m.in_one_allocation(as_address(from), bytes)) return 0;
    std::memcpy(to, m.at(as_address(from)), bytes);
    return 1;
}

uint64_t simulator_digest(const void *at, size_t bytes)
{
    const memory &m = memory::instance();
    const address a = as_address(at);
    const std::byte *from = m.contains(a) ? m.at(a) : static_cast<const std::byte *>(at);
    std::uint64_t sum = bytes;
    for (size_t i = 0; i < bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + i, std::min<size_t>(8, bytes - i));
        sum = ((sum ^ word) * 0x9e3779b97f4a7c15u);
        sum ^= sum >> 29;
    }
    return sum;
}

} // extern "C"
