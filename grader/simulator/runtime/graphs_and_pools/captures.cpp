// Stream capture: work queued in a capturing stream becomes nodes of a graph.
#include "graphs.hpp"

#include "simulator/machine/host.hpp"

#include <algorithm>

namespace simulator::runtime {

namespace {

void end_capture(const std::shared_ptr<capture> &c)
{
    for (stream_state *s : c->streams) {
        s->active_capture = nullptr;
        s->capture_dependencies.clear();
    }
    handles().captures.erase(c);
    c->graph->capturing = false;
}

// True if all work queued by the streams of a capture leads to the stream that began it.
bool is_joined(const capture &c)
{
    std::set<cudaGraphNode_t> reached(c.origin->capture_dependencies.begin(),
                                      c.origin->capture_dependencies.end());
    for (std::vector<cudaGraphNode_t> left(reached.begin(), reached.end()); !left.empty();) {
        cudaGraphNode_t at = left.back();
        left.pop_back();
        for (cudaGraphNode_t a : at->after)
            if (reached.insert(a).second) left.push_back(a);
    }
    return std::all_of(c.streams.begin(), c.streams.end(), [&](const stream_state *s) {
        return std::all_of(s->capture_dependencies.begin(), s->capture_dependencies.end(),
                           [&](cudaGraphNode_t n) { return reached.count(n) != 0; });
    });
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    if (is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
    stream_state &s = state_of(stream);
    if (s.active_capture) return cudaErrorIllegalState;
    static unsigned long long next_id = 1;
    auto *graph = new CUgraph_st;
    graph->capturing = true;
    handles().graphs.insert(graph);
    auto c = std::make_shared<capture>(
        capture{graph, &s, mode, calling_thread(), next_id++, false, {&s}});
    handles().captures.insert(c);
    s.active_capture = c;
    s.capture_dependencies.clear();
    return cudaSuccess;
}

cudaError_t finish_capture(cudaStream_t stream, cudaGraph_t *out)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (!s.active_capture) return cudaErrorIllegalState;
    const auto c = s.active_capture;
    if (c->origin != &s) return cudaErrorStreamCaptureUnmatched;
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != calling_thread())
        return cudaErrorStreamCaptureWrongThread;
    const cudaError_t e = c->invalidated  ? cudaErrorStreamCaptureInvalidated
                          : is_joined(*c) ? cudaSuccess
                                          : cudaErrorStreamCaptureUnjoined;
    end_capture(c);
    if (e != cudaSuccess)
        destroy(c->graph);
    else
        *out = c->graph;
    return e;
}

} // namespace

cudaError_t capture_task(stream_state &s, task t)
{
    if (s.active_capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    s.capture_dependencies = {add(s.active_capture->graph, std::move(t), s.capture_dependencies)};
    return cudaSuccess;
}

cudaError_t check_legacy(const stream_state &legacy)
{
    for (const auto &c : handles().captures)
        for (const stream_state *s : c->streams)
            if (s->device == legacy.device && !(s->flags & cudaStreamNonBlocking)) {
                c->invalidated = true;
                return cudaErrorStreamCaptureImplicit;
            }
    return cudaSuccess;
}

cudaError_t refuse_while_capturing()
{
    const cudaStreamCaptureMode mode_of_thread = this_thread().capture_mode;
    if (mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
    for (const auto &c : handles().captures) {
        const bool mine = c->thread == calling_thread();
        const bool global =
            c->mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
        if (c->mode == cudaStreamCaptureModeRelaxed || (!mine && !global)) continue;
        c->invalidated = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}

cudaError_t invalidate_capture(stream_state &s, cudaError_t e)
{
    s.active_capture->invalidated = true;
    return e;
}

cudaError_t refuse_if_capturing(stream_state &s)
{
    return s.active_capture ? invalidate_capture(s, cudaErrorStreamCaptureUnsupported)
                            : cudaSuccess;
}

cudaError_t join_capture(stream_state &s, const CUevent_st &e)
{
    if (!handles().captures.count(e.recorded_in))
        return cudaErrorCapturedEvent; // the capture has ended
    if (s.active_capture && s.active_capture != e.recorded_in) {
        e.recorded_in->invalidated = true;
        return invalidate_capture(s, cudaErrorStreamCaptureMerge);
    }
    if (!s.active_capture) {
        s.active_capture = e.recorded_in;
        s.capture_dependencies.clear();
        e.recorded_in->streams.insert(&s);
    }
    for (cudaGraphNode_t n : e.nodes)
        if (std::find(s.capture_dependencies.begin(), s.capture_dependencies.end(), n) ==
            s.capture_dependencies.end())
            s.capture_dependencies.push_back(n);
    return cudaSuccess;
}

void detach_stream(stream_state &s)
{
    if (s.active_capture) {
        const auto c = s.active_capture;
        c->invalidated = true;
        if (c->origin == &s) {
            end_capture(c);
            destroy(c->graph);
        } else {
            c->streams.erase(&s);
        }
    }
    keep_work(s);
}

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    return call([&] { return begin_capture(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    return call([&] { return finish_capture(stream, out); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *out)
{
    return cudaStreamGetCaptureInfo(stream, out, nullptr, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **after, const cudaGraphEdgeData **edges,
                                     std::size_t *count)
{
    return call([&] {
        if (!status) return cudaErrorInvalidValue;
        if (!valid(stream)) return cudaErrorInvalidResourceHandle;
        const stream_state &s = state_of(stream);
        *status = !s.active_capture               ? cudaStreamCaptureStatusNone
                  : s.active_capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                                  : cudaStreamCaptureStatusActive;
        if (!s.active_capture) return cudaSuccess;
        if (id) *id = s.active_capture->id;
        if (graph) *graph = s.active_capture->graph;
        if (after) *after = s.capture_dependencies.data();
        if (edges) *edges = nullptr;
        if (count) *count = s.capture_dependencies.size();
        return cudaSuccess;
    });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    return call([&] {
        if (!mode) return cudaErrorInvalidValue;
        std::swap(*mode, this_thread().capture_mode);
        return cudaSuccess;
    });
}

} // extern "C"
