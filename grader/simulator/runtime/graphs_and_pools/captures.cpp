// Stream capture: work queued in a capturing stream becomes nodes of a graph.
#include "graphs.hpp"

#include "simulator/machine/host.hpp"

#include <algorithm>

namespace simulator::runtime {

namespace {

void end_capture(const std::shared_ptr<capture> &c)
{
    for (stream_state *s : c->members) {
        s->into = nullptr;
        s->tail.clear();
    }
    handles().captures.erase(c);
    c->graph->captures = false;
}

// True if all work queued by the streams of a capture leads to the stream that began it.
bool is_joined(const capture &c)
{
    std::set<cudaGraphNode_t> reached(c.origin->tail.begin(), c.origin->tail.end());
    for (std::vector<cudaGraphNode_t> left(reached.begin(), reached.end()); !left.empty();) {
        cudaGraphNode_t at = left.back();
        left.pop_back();
        for (cudaGraphNode_t a : at->after)
            if (reached.insert(a).second) left.push_back(a);
    }
    return std::all_of(c.members.begin(), c.members.end(), [&](const stream_state *s) {
        return std::all_of(s->tail.begin(), s->tail.end(),
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
    if (s.into) return cudaErrorIllegalState;
    static unsigned long long next_id = 1;
    auto *graph = new CUgraph_st;
    graph->captures = true;
    handles().graphs.insert(graph);
    auto c = std::make_shared<capture>(
        capture{graph, &s, mode, calling_thread(), next_id++, false, {&s}});
    handles().captures.insert(c);
    s.into = c;
    s.tail.clear();
    return cudaSuccess;
}

cudaError_t finish_capture(cudaStream_t stream, cudaGraph_t *out)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (!s.into) return cudaErrorIllegalState;
    const auto c = s.into;
    if (c->origin != &s) return cudaErrorStreamCaptureUnmatched;
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != calling_thread())
        return cudaErrorStreamCaptureWrongThread;
    const cudaError_t e = c->broken       ? cudaErrorStreamCaptureInvalidated
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

cudaError_t take(stream_state &s, task t)
{
    if (s.into->broken) return cudaErrorStreamCaptureInvalidated;
    s.tail = {add(s.into->graph, std::move(t), s.tail)};
    return cudaSuccess;
}

cudaError_t check_legacy(const stream_state &legacy)
{
    for (const auto &c : handles().captures)
        for (const stream_state *s : c->members)
            if (s->device == legacy.device && !(s->flags & cudaStreamNonBlocking)) {
                c->broken = true;
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
        c->broken = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}

cudaError_t invalidate_capture(stream_state &s, cudaError_t e)
{
    s.into->broken = true;
    return e;
}

cudaError_t refuse_if_capturing(stream_state &s)
{
    return s.into ? invalidate_capture(s, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t join(stream_state &s, const CUevent_st &e)
{
    if (!handles().captures.count(e.into)) return cudaErrorCapturedEvent; // the capture has ended
    if (s.into && s.into != e.into) {
        e.into->broken = true;
        return invalidate_capture(s, cudaErrorStreamCaptureMerge);
    }
    if (!s.into) {
        s.into = e.into;
        s.tail.clear();
        e.into->members.insert(&s);
    }
    for (cudaGraphNode_t n : e.nodes)
        if (std::find(s.tail.begin(), s.tail.end(), n) == s.tail.end()) s.tail.push_back(n);
    return cudaSuccess;
}

void forget(stream_state &s)
{
    if (s.into) {
        const auto c = s.into;
        c->broken = true;
        if (c->origin == &s) {
            end_capture(c);
            destroy(c->graph);
        } else {
            c->members.erase(&s);
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
        *status = !s.into          ? cudaStreamCaptureStatusNone
                  : s.into->broken ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
        if (!s.into) return cudaSuccess;
        if (id) *id = s.into->id;
        if (graph) *graph = s.into->graph;
        if (after) *after = s.tail.data();
        if (edges) *edges = nullptr;
        if (count) *count = s.tail.size();
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
