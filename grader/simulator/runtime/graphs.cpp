// Graphs: built explicitly or by stream capture, and launched any number of times.
#include "simulator/machine/host.hpp"
#include "work.hpp"

#include <algorithm>
#include <cstring>
#include <map>

// The types behind CUDA's opaque handles.
struct CUgraphNode_st {
    simulator::runtime::task what;
    std::vector<cudaGraphNode_t> after;
    cudaGraph_t owner = nullptr;
};
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    bool captures = false; // it belongs to an active capture
};
struct CUgraphExec_st {
    struct step {
        simulator::runtime::task what;
        std::vector<std::size_t> after; // earlier steps
        cudaGraphNode_t from;           // identifies the step for later changes only
    };
    std::vector<step> steps;
    simulator::runtime::work_ref last = nullptr; // launches of one executable graph run in order
};

namespace simulator::runtime {

struct inner_graph {
    std::vector<CUgraphExec_st::step> steps;
    std::size_t levels; // nesting depth of child graphs, including this one
};

struct capture {
    cudaGraph_t graph;
    stream_state *origin;
    cudaStreamCaptureMode mode;
    std::uint64_t thread;
    unsigned long long id;
    bool broken = false;
    std::set<stream_state *> members;
};

namespace {

struct graph_handles {
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> executables;
    std::set<std::shared_ptr<capture>> captures;
};

graph_handles &handles()
{
    // Never destroyed: objects that outlive main may still destroy their graphs.
    static auto *const one = new graph_handles;
    return *one;
}

bool holds(cudaGraph_t graph, cudaGraphNode_t node)
{
    return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                       [node](const auto &n) { return n.get() == node; });
}

cudaGraph_t graph_of(cudaGraphNode_t node)
{
    for (cudaGraph_t g : handles().graphs)
        if (holds(g, node)) return g;
    return nullptr;
}

cudaGraphNode_t add(cudaGraph_t graph, task t, std::vector<cudaGraphNode_t> after)
{
    auto node = std::make_unique<CUgraphNode_st>();
    node->what = std::move(t);
    node->after = std::move(after);
    node->owner = graph;
    graph->nodes.push_back(std::move(node));
    return graph->nodes.back().get();
}

void destroy(cudaGraph_t graph)
{
    handles().graphs.erase(graph);
    delete graph;
}

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

// Returns the nodes in topological order; empty if there is a cycle.
std::vector<cudaGraphNode_t> topological_order(const CUgraph_st &graph)
{
    std::vector<cudaGraphNode_t> order;
    std::set<cudaGraphNode_t> placed;
    for (bool moved = true; moved && order.size() < graph.nodes.size();) {
        moved = false;
        for (const auto &n : graph.nodes) {
            const bool able = !placed.count(n.get()) &&
                              std::all_of(n->after.begin(), n->after.end(),
                                          [&](cudaGraphNode_t a) { return placed.count(a) != 0; });
            if (!able) continue;
            order.push_back(n.get());
            placed.insert(n.get());
            moved = true;
        }
    }
    if (order.size() < graph.nodes.size()) order.clear();
    return order;
}

// Collects the steps of a graph; false if it has a cycle.
bool collect_steps(const CUgraph_st &graph, std::vector<CUgraphExec_st::step> &steps)
{
    const auto order = topological_order(graph);
    if (order.empty() && !graph.nodes.empty()) return false;
    std::map<cudaGraphNode_t, std::size_t> index;
    for (cudaGraphNode_t n : order) {
        CUgraphExec_st::step s{n->what, {}, n};
        for (cudaGraphNode_t a : n->after) s.after.push_back(index[a]);
        index[n] = steps.size();
        steps.push_back(std::move(s));
    }
    return true;
}

cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!handles().graphs.count(graph) || graph->captures) return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) return refuse("graphs launched by kernels");
    auto e = std::make_unique<CUgraphExec_st>();
    if (!collect_steps(*graph, e->steps)) return cudaErrorInvalidValue;
    *out = e.release();
    handles().executables.insert(*out);
    return cudaSuccess;
}

// Makes a graph a single task of another graph.
cudaError_t child_task(std::vector<CUgraphExec_st::step> steps, task &t)
{
    constexpr std::size_t max_levels = 100; // every level uses stack space
    std::size_t levels = 1;
    for (const auto &s : steps)
        if (s.what.inner) levels = std::max(levels, s.what.inner->levels + 1);
    if (levels > max_levels)
        return fail_because(cudaErrorInvalidValue, "graphs lie within each other, more than " +
                                                       std::to_string(max_levels) + " levels deep");
    t.type = cudaGraphNodeTypeGraph;
    t.inner = std::make_shared<inner_graph>(inner_graph{std::move(steps), levels});
    return cudaSuccess;
}

// Queues each step after its dependencies, and steps without any after `front`. The result ends
// when all steps have ended. Steps of child graphs are queued the same way, because they need
// engines like any others.
work_ref queue_steps(const stream_state &s, const std::vector<CUgraphExec_st::step> &steps,
                     const std::vector<work_ref> &front)
{
    std::vector<work_ref> queued;
    for (const auto &step : steps) {
        auto after = step.after.empty() ? front : std::vector<work_ref>{};
        for (std::size_t a : step.after) after.push_back(queued[a]);
        queued.push_back(step.what.inner ? queue_steps(s, step.what.inner->steps, after)
                                         : start(s, step.what, std::move(after)));
    }
    queued.insert(queued.begin(), front.begin(), front.end());
    return start(s, {}, std::move(queued));
}

cudaError_t launch_graph(CUgraphExec_st &e, cudaStream_t stream)
{
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (s.into) {
        task t;
        const cudaError_t error = child_task(e.steps, t);
        return error == cudaSuccess ? take(s, std::move(t)) : error;
    }
    if (is_legacy(stream))
        if (cudaError_t error = check_legacy(s); error != cudaSuccess) return error;
    auto front = front_of(s);
    if (e.last) front.push_back(e.last);
    s.also.clear();
    s.last = e.last = queue_steps(s, e.steps, front);
    return cudaSuccess;
}

// Checks the arguments common to all functions that add a node.
cudaError_t check_place(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                        std::size_t count)
{
    if (!out || !handles().graphs.count(graph) || graph->captures || (count && !after))
        return cudaErrorInvalidValue;
    return std::all_of(after, after + count, [&](cudaGraphNode_t n) { return holds(graph, n); })
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

template <typename function> cudaError_t add_node(cudaGraphNode_t *out, cudaGraph_t graph,
                                                  const cudaGraphNode_t *after, std::size_t count,
                                                  function make)
{
    return call([&] {
        if (cudaError_t e = check_place(out, graph, after, count); e != cudaSuccess) return e;
        task t;
        if (cudaError_t e = make(t); e != cudaSuccess) return e;
        *out = add(graph, std::move(t), {after, after + count});
        return cudaSuccess;
    });
}

cudaError_t kernel_task(const cudaKernelNodeParams *p, task &t)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->extra) return refuse("packed arguments (extra) of a kernel node");
    return prepare(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, false, t);
}

cudaError_t host_task(const cudaHostNodeParams *p, task &t)
{
    if (!p || !p->fn) return cudaErrorInvalidValue;
    t.type = cudaGraphNodeTypeHost;
    t.run = [function = p->fn, data = p->userData] { host().call(function, data); };
    return cudaSuccess;
}

// Returns the step made from a node in an executable graph if it has the wanted type, else null.
CUgraphExec_st::step *step_of(cudaGraphExec_t e, cudaGraphNode_t node, cudaGraphNodeType type)
{
    if (!handles().executables.count(e)) return nullptr;
    for (auto &s : e->steps)
        if (s.from == node && s.what.type == type) return &s;
    return nullptr;
}

template <typename function>
cudaError_t change(cudaGraphExec_t e, cudaGraphNode_t node, cudaGraphNodeType type, function make)
{
    return call([&] {
        auto *step = step_of(e, node, type);
        task t;
        if (!step) return cudaErrorInvalidValue;
        const cudaError_t error = make(t);
        if (error == cudaSuccess) step->what = std::move(t);
        return error;
    });
}

cudaError_t list(const std::vector<cudaGraphNode_t> &all, cudaGraphNode_t *out, std::size_t *count)
{
    if (!count) return cudaErrorInvalidValue;
    if (out) {
        std::fill(out, out + *count, nullptr);
        std::copy_n(all.begin(), std::min(*count, all.size()), out);
    }
    if (!out || *count > all.size()) *count = all.size();
    return cudaSuccess;
}

std::vector<cudaGraphNode_t> nodes_where(const CUgraph_st &g, bool roots_only)
{
    std::vector<cudaGraphNode_t> all;
    for (const auto &n : g.nodes)
        if (!roots_only || n->after.empty()) all.push_back(n.get());
    return all;
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

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    return call([&] {
        if (!out || flags) return cudaErrorInvalidValue;
        *out = new CUgraph_st;
        handles().graphs.insert(*out);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return call([&] {
        if (!handles().graphs.count(graph) || graph->captures) return cudaErrorInvalidValue;
        destroy(graph);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    return call([&] { return instantiate(out, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(out, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t e, cudaStream_t stream)
{
    return call([&] {
        if (!handles().executables.count(e)) return cudaErrorInvalidValue;
        return valid(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t stream)
{
    return call([&] {
        return handles().executables.count(e) ? launch_graph(*e, stream) : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e)
{
    return call([&] {
        if (!handles().executables.erase(e)) return cudaErrorInvalidValue;
        delete e; // the queue keeps any remaining work alive
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    return call([&] {
        if (!info || !handles().executables.count(e) || !handles().graphs.count(graph))
            return cudaErrorInvalidValue;
        *info = {};
        std::vector<CUgraphExec_st::step> fresh;
        if (!collect_steps(*graph, fresh)) return cudaErrorInvalidValue;
        const bool same = std::equal(fresh.begin(), fresh.end(), e->steps.begin(), e->steps.end(),
                                     [](const auto &a, const auto &b) {
                                         return a.what.type == b.what.type && a.after == b.after;
                                     });
        if (!same) {
            info->result = cudaGraphExecUpdateErrorTopologyChanged;
            return cudaErrorGraphExecUpdateFailure;
        }
        // `from` stays: nodes of the original graph still identify the steps.
        for (std::size_t i = 0; i < fresh.size(); ++i) e->steps[i].what = fresh[i].what;
        info->result = cudaGraphExecUpdateSuccess;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, std::size_t count,
                                   const cudaKernelNodeParams *p)
{
    return add_node(out, graph, after, count, [&](task &t) { return kernel_task(p, t); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, std::size_t count,
                                 const cudaHostNodeParams *p)
{
    return add_node(out, graph, after, count, [&](task &t) { return host_task(p, t); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, std::size_t count,
                                   const cudaMemcpy3DParms *p)
{
    return add_node(out, graph, after, count,
                    [&](task &t) { return p ? copy_task(*p, t) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, std::size_t count, void *to,
                                     const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
    return add_node(out, graph, after, count,
                    [&](task &t) { return copy_task(to, from, bytes, kind, t); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, std::size_t count,
                                   const cudaMemsetParams *p)
{
    return add_node(out, graph, after, count,
                    [&](task &t) { return p ? fill_task(*p, t) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, std::size_t count,
                                       cudaGraph_t child)
{
    return add_node(out, graph, after, count, [&](task &t) {
        std::vector<CUgraphExec_st::step> steps;
        if (!handles().graphs.count(child) || child == graph || !collect_steps(*child, steps))
            return cudaErrorInvalidValue;
        return child_task(std::move(steps), t);
    });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p)
{
    return call([&] {
        if (!graph_of(node) || node->what.type != cudaGraphNodeTypeKernel)
            return cudaErrorInvalidValue;
        return kernel_task(p, node->what);
    });
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
    return call([&] {
        if (!out || !handles().graphs.count(graph) || graph->captures) return cudaErrorInvalidValue;
        *out = new CUgraph_st;
        handles().graphs.insert(*out);
        std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
        for (const auto &n : graph->nodes) copies[n.get()] = add(*out, n->what, {});
        for (const auto &n : graph->nodes)
            for (cudaGraphNode_t a : n->after) copies[n.get()]->after.push_back(copies[a]);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *data, std::size_t *count)
{
    return call([&] {
        if (!handles().graphs.count(graph) || !count || !from != !to) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> starts, ends;
        for (const auto &n : graph->nodes)
            for (cudaGraphNode_t a : n->after) {
                starts.push_back(a);
                ends.push_back(n.get());
            }
        if (data) std::fill(data, data + std::min(*count, starts.size()), cudaGraphEdgeData{});
        std::size_t again = *count;
        list(starts, from, count);
        return list(ends, to, &again);
    });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out,
                                         cudaGraphEdgeData *data, std::size_t *count)
{
    return call([&] {
        if (!graph_of(node) || !count) return cudaErrorInvalidValue;
        if (data) std::fill(data, data + std::min(*count, node->after.size()), cudaGraphEdgeData{});
        return list(node->after, out, count);
    });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, std::size_t count)
{
    return add_node(out, graph, after, count, [](task &) { return cudaSuccess; });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                     std::size_t count)
{
    return call([&] {
        if (!handles().graphs.count(graph) || (count && (!from || !to)))
            return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (!holds(graph, from[i]) || !holds(graph, to[i]) || from[i] == to[i])
                return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *out, std::size_t *count)
{
    return call([&] {
        return handles().graphs.count(graph) ? list(nodes_where(*graph, false), out, count)
                                             : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *out, std::size_t *count)
{
    return call([&] {
        return handles().graphs.count(graph) ? list(nodes_where(*graph, true), out, count)
                                             : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *out)
{
    return call([&] {
        if (!out || !graph_of(node)) return cudaErrorInvalidValue;
        *out = node->what.type;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p)
{
    return change(e, node, cudaGraphNodeTypeKernel, [&](task &t) { return kernel_task(p, t); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node,
                                           const cudaHostNodeParams *p)
{
    return change(e, node, cudaGraphNodeTypeHost, [&](task &t) { return host_task(p, t); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t e, cudaGraphNode_t node, void *to,
                                               const void *from, std::size_t bytes,
                                               cudaMemcpyKind kind)
{
    return change(e, node, cudaGraphNodeTypeMemcpy,
                  [&](task &t) { return copy_task(to, from, bytes, kind, t); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node,
                                             const cudaMemsetParams *p)
{
    return change(e, node, cudaGraphNodeTypeMemset,
                  [&](task &t) { return p ? fill_task(*p, t) : cudaErrorInvalidValue; });
}

} // extern "C"
