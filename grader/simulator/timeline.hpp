// What streams did side by side: every copy, kernel and wait, with its place in simulated time.
//
// Time is counted in ticks of a simple model (README.md): it is for order and overlap, not for
// speed. It follows from what was queued, what that had to follow, and what it counted; not from
// when the simulator happened to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simulator {

using step_id = std::size_t; // 0: none, or one that was not kept

enum class step_kind : std::uint8_t {
    other,  // memory given or freed in a stream's order, the end of a graph
    copy,   // see copy_way
    fill,   // cudaMemset and its like
    kernel, // with all that it launches
    host_function,
    event_record,
    event_wait, // what follows in its stream waits as long
    host_wait,  // a host thread waits: what it queues next comes later
};

enum class copy_way : std::uint8_t { on_host, to_device, to_host, inside_device, between_devices };

enum class held : std::uint8_t { by_nothing, by_order, by_engine, by_host };

struct timeline_step {
    step_kind kind{};
    copy_way way{};   // of a copy
    std::string name; // of a kernel, or of the call in which a host thread waits
    int device_of_stream = 0;
    int device = 0;             // whose engines it needs; between devices: that gets the copy
    int from_device = 0;        // between devices
    unsigned long long of = 0;  // the stream's id, or the host thread's number from 0
    std::uint64_t bytes = 0;    // copied or set
    std::uint64_t blocks = 0;   // of a kernel
    std::uint64_t work = 0;     // ticks that it takes
    std::vector<step_id> after; // steps of streams that it follows
    step_id host = 0;           // the last wait of the thread that queued it
    unsigned by = 0;            // that thread's number
    // Found by scheduled():
    std::uint64_t start = 0, end = 0; // an event wait starts when its stream has come to it
    step_id held_by = 0;              // what ended when it could start
    held why = held::by_nothing;
    bool critical = false; // of the chain that decides when all ends
};

// Ids here count from 1 on, in the order of queueing.
struct timeline_report {
    std::vector<timeline_step> steps;
    std::uint64_t host_waits = 0; // times that a host thread waited for what it did not know
    // Of streams for events of which nothing was recorded so far, or not in this run: they wait for
    // nothing.
    std::uint64_t idle_waits = 0;
    std::uint64_t left_out = 0; // steps beyond what is kept: then no other figure means anything
    std::uint64_t ticks = 0;    // until all has ended
    std::uint64_t serial = 0;   // what copies, fills and kernels would take one after another
    // In which something was copied to or from a device; and of these in which a kernel ran too.
    std::uint64_t copying = 0, hidden = 0;
};

// Not safe to call from several threads at a time: the runtime's lock does for that.
class timeline {
public:
    static timeline &instance();
    void clear();
    // Adds a step that follows those in `after`, of an event wait the event last, and what the
    // calling thread has waited for.
    step_id add(timeline_step);
    // The calling thread waits in `function` until these have ended. So do the threads that queued
    // them or what they follow: one thread's waits could be another's.
    void host_waits(const char *function, std::vector<step_id> after);

    // A stream is told to wait for an event of which nothing was recorded.
    void idle_wait() { ++idle_waits_; }

    // What the step that runs has to do, told while it runs.
    step_id now_runs(step_id); // returns which ran before
    void copied(copy_way, int from_device, int to_device, std::uint64_t bytes);
    void filled(std::uint64_t bytes);
    void ran_kernel(const std::string &name, std::uint64_t blocks, std::uint64_t warp_instructions,
                    std::uint64_t sectors, std::uint64_t peer_bytes);

    timeline_report scheduled() const;
    // Ticks from one step's end to another's; 0 where one was not kept.
    double between(step_id first, step_id second) const;

private:
    timeline_step *running();
    struct thread_knows {
        unsigned number = 0;
        step_id waited_for = 0;
    };
    thread_knows &this_thread();
    std::vector<unsigned> threads_behind(std::vector<step_id> steps) const;

    std::vector<timeline_step> steps_;
    step_id before_ = 0; // ids up to here are forgotten
    step_id runs_ = 0, last_wait_ = 0;
    std::uint64_t left_out_ = 0, host_waits_ = 0, idle_waits_ = 0;
    std::map<std::uint64_t, thread_knows> threads_; // of the host
};

} // namespace simulator
