// Graphs: built node by node, and queried.
#include "graphs.hpp"

#include "simulator/machine/host.hpp"

#include <algorithm>
#include <map>

namespace simulator::runtime {

namespace {

bool holds(cudaGraph_t graph, cudaGraphNode_t node)
{
    return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                       [node](const auto &n) { return n.get() == node; });
}

bool is_node(cudaGraphNode_t node)
{
    const auto &graphs = handles().graphs;
    return std::any_of(graphs.begin(), graphs.end(),
                       [node](cudaGraph_t g) { return holds(g, node); });
}

// Checks the arguments common to all functions that add a node.
cudaError_t check_place(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
                        std::size_t count)
{
    if (!out || !handles().graphs.count(graph) || graph->capturing || (count && !after))
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

cudaError_t list_nodes(cudaGraph_t graph, bool roots_only, cudaGraphNode_t *out, std::size_t *count)
{
    if (!handles().graphs.count(graph)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> all;
    for (const auto &n : graph->nodes)
        if (!roots_only || n->after.empty()) all.push_back(n.get());
    return list(all, out, count);
}

} // namespace

graph_handles &handles()
{
    // Never destroyed: objects that outlive main may still destroy their graphs.
    static auto *const one = new graph_handles;
    return *one;
}

cudaGraphNode_t add(cudaGraph_t graph, task t, std::vector<cudaGraphNode_t> after)
{
    auto node = std::make_unique<CUgraphNode_st>();
    node->operation = std::move(t);
    node->after = std::move(after);
    graph->nodes.push_back(std::move(node));
    return graph->nodes.back().get();
}

void destroy(cudaGraph_t graph)
{
    handles().graphs.erase(graph);
    delete graph;
}

cudaError_t kernel_task(const cudaKernelNodeParams *p, task &t)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->extra) return not_supported("packed arguments (extra) of a kernel node");
    return prepare(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, false, t);
}

cudaError_t host_task(const cudaHostNodeParams *p, task &t)
{
    if (!p || !p->fn) return cudaErrorInvalidValue;
    t = {cudaGraphNodeTypeHost,
         [function = p->fn, data = p->userData] { host().call(function, data); }};
    return cudaSuccess;
}

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

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
        if (!handles().graphs.count(graph) || graph->capturing) return cudaErrorInvalidValue;
        destroy(graph);
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
        if (!is_node(node) || node->operation.type != cudaGraphNodeTypeKernel)
            return cudaErrorInvalidValue;
        return kernel_task(p, node->operation);
    });
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
    return call([&] {
        if (!out || !handles().graphs.count(graph) || graph->capturing)
            return cudaErrorInvalidValue;
        *out = new CUgraph_st;
        handles().graphs.insert(*out);
        std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
        for (const auto &n : graph->nodes) copies[n.get()] = add(*out, n->operation, {});
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
        if (!is_node(node) || !count) return cudaErrorInvalidValue;
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
    return call([&] { return list_nodes(graph, false, out, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *out, std::size_t *count)
{
    return call([&] { return list_nodes(graph, true, out, count); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *out)
{
    return call([&] {
        if (!out || !is_node(node)) return cudaErrorInvalidValue;
        *out = node->operation.type;
        return cudaSuccess;
    });
}

} // extern "C"
