// Stream queues: queued work, its dependencies, and when it runs.
//
// Work runs as it is queued, which is one legal order, unless settings().streams defers it: `late`
// runs it only when the program waits for it, so that a missing wait shows; `random` runs it at a
// seeded choice among all work that is able to run.
#pragma once

#include "runtime.hpp"
#include "simulator/machine/timeline.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace simulator::runtime {

struct child_graph; // defined in graphs.hpp

// A repeatable operation; `run` owns everything that it needs.
struct task {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    std::function<void()> run = {};
    bool despite_fault = false; // runs even after a fault that cancels other queued work
    bool between_devices = false;
    std::shared_ptr<const child_graph> child = {}; // a child graph: its steps run instead of `run`
};

void run_task(const task &); // requires a task with something to run

struct work { // a queued task
    task operation;
    std::vector<std::shared_ptr<work>> after;
    bool ended = false;
    step_id step = 0;
};
using work_ref = std::shared_ptr<work>;

struct capture; // defined in graphs.hpp

struct stream_state {
    unsigned flags = cudaStreamDefault;
    int priority = 0, device = 0;
    unsigned long long id = 1;
    work_ref last = nullptr; // null if nothing was queued yet
    // Dependencies of the next work besides `last`, such as events that the stream waits for.
    std::vector<work_ref> extra_dependencies = {};
    std::shared_ptr<capture> active_capture = {}; // null if the stream does not capture
    std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes = {};
    // Dependencies of the next captured node.
    std::vector<cudaGraphNode_t> capture_dependencies = {};
};

constexpr int greatest_priority = -5; // the least is 0

bool valid(cudaStream_t); // created and not destroyed, or a default stream
bool is_legacy(cudaStream_t);
// For a valid stream; default streams are those of the current device.
stream_state &state_of(cudaStream_t);
void add_stream(cudaStream_t);
bool remove_stream(cudaStream_t); // false if it was not created
std::size_t created_streams();    // number created and not destroyed

// Wraps the body of a call that works in a stream.
template <typename function> cudaError_t in_stream(cudaStream_t stream, function body)
{
    return call([&] { return valid(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

// Queues a task in a stream, or captures it. Fails with cudaErrorInvalidResourceHandle if there is
// no such stream.
cudaError_t queue(cudaStream_t, task);
work_ref queue(stream_state &, task);
// Queues a copy between two devices. In the legacy stream it follows everything queued earlier on
// either device and precedes everything queued later, so that no two such copies of a device
// overlap, as the CUDA Programming Guide says and H200s do.
cudaError_t queue_peer_copy(cudaStream_t, task, int device, int other);
// Returns the dependencies of the next work in a stream; some may have ended.
std::vector<work_ref> next_dependencies(stream_state &);
std::vector<step_id> steps_of(const std::vector<work_ref> &);
// Queues work behind `after` only: it does not become the stream's last work. The timeline shows
// it in that stream.
work_ref queue_after(const stream_state &, task, std::vector<work_ref> after);

// Allocates device memory; 0 bytes yield null.
cudaError_t allocate(void **out, std::size_t bytes, memory_kind, int device);
// Must be called before memory that may belong to a pool is released.
void remove_from_pool(address start, std::uint64_t bytes);

// Checks a kernel launch without queueing it.
cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **arguments,
                    std::size_t dynamic_shared, bool cooperative, task &out);

// Check copies and fills for graphs without queueing them.
cudaError_t copy_task(const cudaMemcpy3DParms &, task &out);
cudaError_t copy_task(void *to, const void *from, std::size_t bytes, cudaMemcpyKind, task &out);
cudaError_t fill_task(const cudaMemsetParams &, task &out);

bool defers_work(); // true if work may run later than it is queued
// Runs the remaining work of these, for which the host waits in `function`; null entries are
// skipped.
void wait_for(const char *function, const std::vector<work_ref> &);
void wait_for_device(const char *function, int device);
// True if pending work of the device is, or follows, a copy between devices.
bool has_pending_peer_copies(int device);
// Runs one pending dependency of each, so that polling loops end. Returns true if all have ended.
bool poll(const char *function, const std::vector<work_ref> &);

// Stream capture.
cudaError_t capture_task(stream_state &, task); // adds a node to the capture
// Fails if work in the legacy stream would have to wait for streams that capture.
cudaError_t check_legacy(const stream_state &legacy);
// Called by functions that may wait: fails while this thread or, in global mode, any thread
// captures.
cudaError_t refuse_while_capturing();
cudaError_t refuse_if_capturing(stream_state &);             // invalidates the capture
cudaError_t invalidate_capture(stream_state &, cudaError_t); // the same; returns the given error
// Makes a stream wait for an event of a capture; the stream joins the capture.
cudaError_t join_capture(stream_state &, const CUevent_st &);
// The stream ends, but waits for its device still include its work.
void keep_work(const stream_state &);
// Called before a stream is destroyed: its work stays, its capture ends.
void detach_stream(stream_state &);

} // namespace simulator::runtime

// The types behind CUDA's opaque handles.
struct CUstream_st : simulator::runtime::stream_state {};
struct CUevent_st {
    unsigned flags = 0;
    int device = 0;
    // Null if never recorded, or recorded only in a capture.
    simulator::runtime::work_ref recorded = nullptr;
    // The capture and its nodes that the event stands for, if recorded in a capturing stream.
    std::shared_ptr<simulator::runtime::capture> recorded_in = {};
    std::vector<cudaGraphNode_t> nodes = {};
};
