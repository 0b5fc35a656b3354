// The timeline of stream work: copies, kernels and waits in simulated time.
//
// Time is counted in ticks of a simple model (README.md) that shows order and overlap, not speed.
// It depends only on the queued work, its dependencies and its counters, not on when the simulator
// happened to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simulator {

using step_id = std::size_t; // 0: no step, or one that was not kept

enum class step_kind : std::uint8_t {
    other,  // stream-ordered allocation and release, the end of a graph
    copy,   // see copy_way
    fill,   // cudaMemset and its like
    kernel, // includes all that it launches
    host_function,
    event_record,
    event_wait, // blocks the later work of its stream
    host_wait,  // a host thread waits; work that it queues later starts after this
};

enum class copy_way : std::uint8_t { on_host, to_device, to_host, inside_device, between_devices };

enum class wait_reason : std::uint8_t { nothing, order, engine, host };

struct timeline_step {
    step_kind kind{};
    copy_way way{};   // for copies
    std::string name; // of a kernel, or of the call in which a host thread waits
    int device_of_stream = 0;
    int device = 0;      // whose engines it needs; between devices: the destination
    int from_device = 0; // for copies between devices
    unsigned long long stream_or_thread = 0; // the stream's id; the thread's for a host wait
    std::uint64_t bytes = 0;                 // copied or set
    std::uint64_t blocks = 0;                // for kernels
    std::uint64_t duration = 0;              // in ticks
    std::vector<step_id> after;              // steps of streams that it depends on
    step_id host = 0;                        // the last wait of the thread that queued it
    unsigned queueing_thread = 0;            // number of that thread, from 0
    // Computed by scheduled():
    std::uint64_t start = 0, end = 0; // an event wait starts when its stream reaches it
    step_id held_by = 0;              // the step whose end allowed it to start
    wait_reason why = wait_reason::nothing;
    bool critical = false; // on the critical path
};

// Ids count from 1 in the order of queueing.
struct timeline_report {
    std::vector<timeline_step> steps;
    std::uint64_t host_waits = 0; // waits of host threads for work not yet known to have ended
    // Stream waits for events that were never recorded, or not in this run; they have no effect.
    std::uint64_t idle_waits = 0;
    std::uint64_t left_out = 0; // steps beyond the limit; if nonzero, no other value is valid
    std::uint64_t ticks = 0;    // total duration
    std::uint64_t serial = 0;   // the sum of the durations of copies, fills and kernels
    // Ticks with a copy to or from a device in progress, and the part of them with a kernel
    // running.
    std::uint64_t copying = 0, hidden = 0;
};

// Not thread-safe: callers hold the runtime's lock.
class timeline {
public:
    static timeline &instance();
    void clear();
    // Adds a step that depends on `after`, whose last entry is the event for an event wait, and on
    // the last wait of the calling thread.
    step_id add(timeline_step);
    // Records that the calling thread waits in `function` until these have ended. The threads that
    // queued them or their dependencies count as waiting too, since one thread may wait on behalf
    // of another.
    void host_waits(const char *function, std::vector<step_id> after);

    // Records that a stream waits for an event that was never recorded.
    void idle_wait() { ++idle_waits_; }

    // These functions add to the duration of the running step while it runs.
    step_id set_running(step_id); // returns the step that was running before
    void copied(copy_way, int from_device, int to_device, std::uint64_t bytes);
    void filled(std::uint64_t bytes);
    void ran_kernel(const std::string &name, std::uint64_t blocks, std::uint64_t warp_instructions,
                    std::uint64_t sectors, std::uint64_t peer_bytes);

    timeline_report scheduled() const;
    // Ticks between the ends of two steps; 0 if either was not kept.
    double between(step_id first, step_id second) const;

private:
    timeline_step *running();
    struct thread_state {
        unsigned number = 0;
        step_id waited_for = 0;
    };
    thread_state &this_thread();
    std::vector<unsigned> queueing_threads(std::vector<step_id> steps) const;

    std::vector<timeline_step> steps_;
    step_id cleared_ = 0; // ids up to here are no longer kept
    step_id running_step_ = 0, last_wait_ = 0;
    std::uint64_t left_out_ = 0, host_waits_ = 0, idle_waits_ = 0;
    std::map<std::uint64_t, thread_state> threads_; // by host thread
};

} // namespace simulator
