// The timeline of a call's streams, in ticks of the simulator's model, and as text with the rows
// of its streams.
#pragma once

#include "cli/terminal/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

enum class step_kind {
    other,
    copy,
    fill,
    kernel,
    host_function,
    event_record,
    event_wait,
    host_wait
};
enum class copy_direction { on_host, to_device, to_host, inside_device, between_devices };
// The cause that a step started no earlier: an earlier step of its stream or graph, or an event;
// the step that occupied its copy engine or multiprocessors; or the host, which queued it later.
enum class wait_reason { nothing, order, engine, host };

struct timeline_step {
    step_kind kind{};
    copy_direction direction{};
    std::string stream; // "stream 1", "NULL stream"; for a host thread "host"
    std::string name;   // the kernel, or the call in which the host waits
    std::uint64_t start = 0, end = 0, bytes = 0, blocks = 0;
    std::size_t waited_for = 0; // 1-based index of the step whose end let this start; 0: none
    wait_reason why{};
    bool critical = false; // lies on the critical path
};

struct stream_timeline {
    std::uint64_t ticks = 0, serial = 0; // total duration; the sum of copies, fills and kernels
    // Ticks with a copy to or from a device in progress; part of them with a kernel running, too.
    std::uint64_t copying = 0, hidden = 0;
    std::uint64_t left_out = 0; // steps that were not recorded; if any, the rest is meaningless
    std::vector<timeline_step> steps;
    bool worth_showing() const; // more than one stream, or more than one copy
    bool comes_first() const;   // shown before sectors: several streams, or copies that take
                                // half of the time
};

// "copy to the device, 64 kB", "kernel add, 16 blocks", "waits in cudaFree"; names unescaped.
std::string words_of(const timeline_step &);
// Returns a table of work, host functions, waits that took time, and instants that another step
// waited for, by start. A last line counts those beyond `max_rows`; `others_are` ends it.
std::string steps_table(const stream_timeline &, int width, std::size_t max_rows,
                        const char *others_are);

// Findings about the overlap, in one or two sentences each.
std::vector<std::string> sentences_of(const stream_timeline &);

// Returns rows of at most `out.width` columns, the sentences, and the first steps.
std::string timeline_text(const stream_timeline &, const terminal &out);

} // namespace cli
