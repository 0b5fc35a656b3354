// What streams hold: queued work, what it follows, and when it runs.
//
// Work runs as it is queued, which is one legal order, unless settings().streams puts it off: then
// it runs when the program waits for it (`late`: nothing else does, so that a missing wait shows)
// or at a seeded choice among all that might (`random`).
#pragma once

#include "runtime.hpp"
#include "timeline.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace simulator::runtime {

struct inner_graph; // of graphs.cpp

// One thing to do, any number of times: `run` holds whatever it needs.
struct task {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    std::function<void()> run;
    bool despite_fault = false; // also when an earlier fault cancels what else is queued
    bool between_devices = false;
    std::shared_ptr<const inner_graph> inner = {}; // a graph within a graph: its steps, not `run`
};

void run_task(const task &); // which has something to run

struct work { // a task that was queued
    task what;
    std::vector<std::shared_ptr<work>> after;
    bool ended = false;
    step_id step = 0;
};
using work_ref = std::shared_ptr<work>;

struct capture; // of graphs.cpp

struct stream_state {
    unsigned flags = cudaStreamDefault;
    int priority = 0, device = 0;
    unsigned long long id = 1;
    work_ref last = nullptr;            // null: nothing was queued yet
    std::vector<work_ref> also = {};    // further work that the next has to follow
    std::shared_ptr<capture> into = {}; // null: not capturing
    std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes = {};
    std::vector<cudaGraphNode_t> tail = {}; // what the next captured node follows
};

bool valid(cudaStream_t); // created and not destroyed, or one of the default streams
bool is_legacy(cudaStream_t);
stream_state &state_of(cudaStream_t); // of a valid stream; default streams: of the current device
void add_stream(cudaStream_t);
bool remove_stream(cudaStream_t); // false: not a created one
std::size_t created_streams();    // and not destroyed
// Default streams that were used, and created ones.
std::vector<stream_state *> all_streams();

// Queues a task in a stream, or captures it. cudaErrorInvalidResourceHandle: no such stream.
cudaError_t queue(cudaStream_t, task);
work_ref queue(stream_state &, task);
// The same for a copy between two devices. In the legacy stream it follows all that either of them
// was given before, and goes before all that they are given later: no two such copies of a device
// overlap. That is documented, and what H200s do.
cudaError_t queue_between(cudaStream_t, task, int device, int other);
// What the next work in a stream has to follow; some of it may have ended.
std::vector<work_ref> front_of(stream_state &);
std::vector<step_id> steps_of(const std::vector<work_ref> &);
// Not as a stream's next work; the timeline shows it there.
work_ref start(const stream_state &, task, std::vector<work_ref> after);

// Of a device's memory; 0 bytes: null.
cudaError_t allocate(void **out, std::size_t bytes, memory_kind, int device);
// From the pool of the stream's device.
cudaError_t allocate_in(cudaStream_t, void **out, std::size_t bytes);
void leave_pool(address start, std::uint64_t bytes); // before memory goes that may be of a pool

// A kernel launch, checked but not queued.
cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **arguments,
                    std::size_t dynamic_shared, bool cooperative, task &out);

// Copies and fills for graphs, checked but not queued.
cudaError_t copy_task(const cudaMemcpy3DParms &, task &out);
cudaError_t copy_task(void *to, const void *from, std::size_t bytes, cudaMemcpyKind, task &out);
cudaError_t fill_task(const cudaMemsetParams &, task &out);

bool puts_off(); // whether work may run later than it is queued
// Runs what is left of these, for which the host waits in `function`; null: nothing to do.
void finish(const char *function, const std::vector<work_ref> &);
void finish_streams(const char *function, int device);
// Whether what the device has not done yet is, or follows, a copy between devices.
bool copies_between_are_left(int device);
// Whether they have ended; if not, some of what they wait for runs, so that polls come to an end.
bool poll(const char *function, const std::vector<work_ref> &);

// Capture.
cudaError_t take(stream_state &, task); // makes a node of it
// Work in the legacy stream would have to wait for streams that capture.
cudaError_t check_legacy(const stream_state &legacy);
// Calls that wait, or might: refused while this thread or, in global mode, any captures.
cudaError_t refuse_while_capturing();
cudaError_t refuse_if_capturing(stream_state &);        // invalidates the capture
cudaError_t break_capture(stream_state &, cudaError_t); // the same; returns the error
void keep_work(const stream_state &); // waits for the stream's device wait for it all the same
void forget(stream_state &);          // before a stream goes: its work stays, its capture ends

} // namespace simulator::runtime

// The types behind CUDA's opaque handles.
struct CUstream_st : simulator::runtime::stream_state {};
struct CUevent_st {
    unsigned flags = 0;
    int device = 0;
    simulator::runtime::work_ref at = nullptr; // null: never recorded, or in a capture alone
    std::shared_ptr<simulator::runtime::capture> into = {}; // recorded in a stream that captures
    std::vector<cudaGraphNode_t> nodes = {};
};

namespace simulator::runtime {

// Lets a stream follow what an event of a capture stands for; it captures from then on.
cudaError_t join(stream_state &, const CUevent_st &);

} // namespace simulator::runtime
