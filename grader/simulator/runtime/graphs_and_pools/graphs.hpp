// Graphs, executable graphs and captures, shared by the files that build and launch them.
#pragma once

#include "simulator/runtime/work.hpp"

#include <memory>
#include <set>
#include <vector>

// The types behind CUDA's opaque handles.
struct CUgraphNode_st {
    simulator::runtime::task operation;
    std::vector<cudaGraphNode_t> after;
};
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    bool capturing = false; // a capture is still adding nodes
};
struct CUgraphExec_st {
    struct step {
        simulator::runtime::task operation;
        std::vector<std::size_t> after; // earlier steps
        cudaGraphNode_t from;           // identifies the step for later changes only
    };
    std::vector<step> steps;
    simulator::runtime::work_ref last = nullptr; // launches of one executable graph run in order
};

namespace simulator::runtime {

struct child_graph {
    std::vector<CUgraphExec_st::step> steps;
    std::size_t levels; // nesting depth of child graphs, including this one
};

struct capture {
    cudaGraph_t graph;
    stream_state *origin;
    cudaStreamCaptureMode mode;
    std::uint64_t thread;
    unsigned long long id;
    bool invalidated = false;
    std::set<stream_state *> streams;
};

struct graph_handles {
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> executables;
    std::set<std::shared_ptr<capture>> captures;
};
graph_handles &handles();

cudaGraphNode_t add(cudaGraph_t, task, std::vector<cudaGraphNode_t> after);
void destroy(cudaGraph_t);

// Check the parameters of nodes.
cudaError_t kernel_task(const cudaKernelNodeParams *, task &);
cudaError_t host_task(const cudaHostNodeParams *, task &);
// Makes a graph a single task of another graph.
cudaError_t child_task(std::vector<CUgraphExec_st::step>, task &);

// Collects the steps of a graph; false if it has a cycle.
bool collect_steps(const CUgraph_st &, std::vector<CUgraphExec_st::step> &);

} // namespace simulator::runtime
