// What the streams of a call did side by side, in ticks of the simulator's model, and how it is
// shown: a lane a stream, as text and as a drawing.
#pragma once

#include "text.hpp"

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
enum class copy_way { on_host, to_device, to_host, inside_device, between_devices };
enum class wait_reason { nothing, order, engine, host };

struct timeline_step {
    step_kind kind{};
    copy_way way{};
    std::string lane; // "stream 1", "NULL stream", "host"
    std::string name; // of a kernel, or of the call in which the host waits
    std::uint64_t start = 0, end = 0, bytes = 0, blocks = 0;
    std::size_t waited_for = 0; // the step, from 1 on, that ended when this could start; 0: none
    wait_reason why{};
    bool critical = false; // of the chain that decides when all ends
};

struct stream_timeline {
    std::uint64_t ticks = 0, serial = 0;   // until all ends; all work one after another
    std::uint64_t copying = 0, hidden = 0; // while something is copied; and a kernel runs too
    std::uint64_t left_out = 0;            // steps; then the rest means nothing
    std::vector<timeline_step> steps;
    bool worth_showing() const; // more than one stream, or more than one copy
    bool comes_first() const; // and more to say than sectors have: several streams, or copies that
                              // take half of the time
    std::size_t lanes_at_work() const;
};

// "copy to the device, 64 KB", "kernel add, 16 blocks", "waits in cudaFree"; as it was given.
std::string words_of(const timeline_step &);
// "order: #3", "the engine, busy with #3", "the host: #3"; empty: for nothing.
std::string waited_words(const timeline_step &);
// Those that a table lists: work, waits that lasted, and events that something waited for.
std::vector<std::size_t> listed_steps(const stream_timeline &); // from 0

// What can be said about the overlap, a sentence or two each.
std::vector<std::string> sentences_of(const stream_timeline &);

// Lanes of at most `out.width` columns, the sentences, and the first steps.
std::string timeline_text(const stream_timeline &, const terminal &out);

// As SVG, for a page that defines the classes it uses.
std::string timeline_picture(const stream_timeline &);

} // namespace cli
