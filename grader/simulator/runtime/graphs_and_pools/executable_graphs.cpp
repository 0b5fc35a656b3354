// Executable graphs: made of graphs, launched any number of times, and changed between launches.
#include "graphs.hpp"

#include <algorithm>
#include <map>

namespace simulator::runtime {

namespace {

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

cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    if (!out) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!handles().graphs.count(graph) || graph->capturing) return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return not_supported("graphs launched by kernels");
    auto e = std::make_unique<CUgraphExec_st>();
    if (!collect_steps(*graph, e->steps)) return cudaErrorInvalidValue;
    *out = e.release();
    handles().executables.insert(*out);
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
        queued.push_back(step.operation.child ? queue_steps(s, step.operation.child->steps, after)
                                              : queue_after(s, step.operation, std::move(after)));
    }
    queued.insert(queued.begin(), front.begin(), front.end());
    return queue_after(s, {}, std::move(queued));
}

cudaError_t launch_graph(CUgraphExec_st &e, cudaStream_t stream)
{
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (s.active_capture) {
        task t;
        const cudaError_t error = child_task(e.steps, t);
        return error == cudaSuccess ? capture_task(s, std::move(t)) : error;
    }
    if (is_legacy(stream))
        if (cudaError_t error = check_legacy(s); error != cudaSuccess) return error;
    auto front = next_dependencies(s);
    if (e.last) front.push_back(e.last);
    s.extra_dependencies.clear();
    s.last = e.last = queue_steps(s, e.steps, front);
    return cudaSuccess;
}

// Returns the step made from a node in an executable graph if it has the wanted type, else null.
CUgraphExec_st::step *step_of(cudaGraphExec_t e, cudaGraphNode_t node, cudaGraphNodeType type)
{
    if (!handles().executables.count(e)) return nullptr;
    for (auto &s : e->steps)
        if (s.from == node && s.operation.type == type) return &s;
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
        if (error == cudaSuccess) step->operation = std::move(t);
        return error;
    });
}

} // namespace

bool collect_steps(const CUgraph_st &graph, std::vector<CUgraphExec_st::step> &steps)
{
    const auto order = topological_order(graph);
    if (order.empty() && !graph.nodes.empty()) return false;
    std::map<cudaGraphNode_t, std::size_t> index;
    for (cudaGraphNode_t n : order) {
        CUgraphExec_st::step s{n->operation, {}, n};
        for (cudaGraphNode_t a : n->after) s.after.push_back(index[a]);
        index[n] = steps.size();
        steps.push_back(std::move(s));
    }
    return true;
}

cudaError_t child_task(std::vector<CUgraphExec_st::step> steps, task &t)
{
    constexpr std::size_t max_levels = 100; // every level uses stack space
    std::size_t levels = 1;
    for (const auto &s : steps)
        if (s.operation.child) levels = std::max(levels, s.operation.child->levels + 1);
    if (levels > max_levels)
        return fail_because(cudaErrorInvalidValue, "graphs lie within each other, more than " +
                                                       std::to_string(max_levels) + " levels deep");
    t.type = cudaGraphNodeTypeGraph;
    t.child = std::make_shared<child_graph>(child_graph{std::move(steps), levels});
    return cudaSuccess;
}

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

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
        const bool same =
            std::equal(fresh.begin(), fresh.end(), e->steps.begin(), e->steps.end(),
                       [](const auto &a, const auto &b) {
                           return a.operation.type == b.operation.type && a.after == b.after;
                       });
        if (!same) {
            info->result = cudaGraphExecUpdateErrorTopologyChanged;
            return cudaErrorGraphExecUpdateFailure;
        }
        // `from` stays: nodes of the original graph still identify the steps.
        for (std::size_t i = 0; i < fresh.size(); ++i) e->steps[i].operation = fresh[i].operation;
        info->result = cudaGraphExecUpdateSuccess;
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
