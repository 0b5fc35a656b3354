// Graphs: captured from streams or made by hand, replayed, changed, and what may not be captured.
#include "check.hpp"

__global__ void add(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}

__global__ void sum(int *to, const int *a, const int *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = a[i] + b[i];
}

const int n = 500;

// Two streams that part and meet again: a += 1 and b += 2 side by side, then out = a + b.
static void captured(int order)
{
    simulator_begin(), simulator_streams(order), simulator_schedule(0, 3);
    std::vector<int> zero(n, 0);
    int *a = upload(zero), *b = upload(zero), *out = upload(zero), *host = nullptr;
    CHECK_CUDA(cudaMallocHost(&host, n * sizeof(int)));
    host[0] = -1;
    cudaStream_t one, two;
    cudaEvent_t forked, joined;
    CHECK_CUDA(cudaStreamCreate(&one));
    CHECK_CUDA(cudaStreamCreate(&two));
    CHECK_CUDA(cudaEventCreate(&forked));
    CHECK_CUDA(cudaEventCreate(&joined));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK_CUDA(cudaEventRecord(forked, one));
    CHECK_CUDA(cudaStreamWaitEvent(two, forked));
    CHECK_CUDA(cudaStreamIsCapturing(two, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<2, 256, 0, one>>>(a, n, 1);
    add<<<2, 256, 0, two>>>(b, n, 2);
    CHECK_CUDA(cudaEventRecord(joined, two));
    CHECK_CUDA(cudaStreamWaitEvent(one, joined));
    sum<<<2, 256, 0, one>>>(out, a, b, n);
    CHECK_CUDA(cudaMemcpyAsync(host, out, n * sizeof(int), cudaMemcpyDeviceToHost, one));
    CHECK_CUDA(cudaMemsetAsync(out, 0, n * sizeof(int), one));
    CHECK_CUDA(cudaStreamEndCapture(one, &graph));
    CHECK_CUDA(cudaStreamIsCapturing(one, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    size_t nodes = 0, roots = 0;
    CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK_CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(nodes == 5);
    CHECK(roots == 2);
    CHECK(host[0] == -1); // nothing has run
    CHECK_CUDA(cudaGraphInstantiate(&run, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    for (int i = 1; i <= 3; ++i) {
        CHECK_CUDA(cudaGraphLaunch(run, one));
        CHECK_CUDA(cudaStreamSynchronize(one));
        CHECK(host[0] == 3 * i && host[n - 1] == 3 * i);
    }
    CHECK(download(out, n)[0] == 0);
    CHECK_CUDA(cudaGraphExecDestroy(run));
    for (cudaStream_t s : {one, two}) CHECK_CUDA(cudaStreamDestroy(s));
    CHECK(done() == 0);
}

static void made_by_hand()
{
    simulator_begin(), simulator_streams(0);
    int *a = upload(std::vector<int>(n, 10)), count = n, value = 5, seen = 0;
    std::vector<int> out(n);
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaGraphNode_t fill, kernel, copy, host;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    cudaMemsetParams set = {};
    set.dst = a, set.elementSize = 4, set.width = n, set.height = 1, set.value = 100;
    CHECK_CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    void *arguments[] = {&a, &count, &value};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void *>(add);
    launch.gridDim = 2, launch.blockDim = 256, launch.kernelParams = arguments;
    CHECK_CUDA(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
    CHECK_CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, out.data(), a, n * sizeof(int),
                                        cudaMemcpyDeviceToHost));
    struct context {
        int *out, *seen;
    } c = {out.data(), &seen};
    cudaHostNodeParams call = {};
    call.fn = [](void *data) {
        *static_cast<context *>(data)->seen = *static_cast<context *>(data)->out;
    };
    call.userData = &c;
    CHECK_CUDA(cudaGraphAddHostNode(&host, graph, nullptr, 0, &call));
    CHECK_CUDA(cudaGraphAddDependencies(graph, &copy, &host, nullptr, 1));
    cudaGraphNodeType type;
    CHECK_CUDA(cudaGraphNodeGetType(copy, &type));
    CHECK(type == cudaGraphNodeTypeMemcpy);
    CHECK_CUDA(cudaGraphInstantiate(&run, graph, 0));
    value = 77; // arguments were taken when the node was made
    CHECK_CUDA(cudaGraphLaunch(run, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(seen == 105 && out[n - 1] == 105);
    CHECK_CUDA(cudaGraphExecKernelNodeSetParams(run, kernel, &launch));
    CHECK_CUDA(cudaGraphLaunch(run, nullptr));
    CHECK(seen == 177);
    cudaGraphExecUpdateResultInfo result;
    CHECK_CUDA(cudaGraphExecUpdate(run, graph, &result)); // back to what the graph says
    CHECK_CUDA(cudaGraphLaunch(run, nullptr));
    CHECK(seen == 105);
    size_t edges = 0, before = 1;
    cudaGraphNode_t first = nullptr;
    CHECK_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(edges == 3);
    CHECK_CUDA(cudaGraphNodeGetDependencies(copy, &first, nullptr, &before));
    CHECK(before == 1 && first == kernel);
    cudaGraph_t twice, clone;
    cudaGraphNode_t child, again;
    CHECK_CUDA(cudaGraphClone(&clone, graph));
    CHECK_CUDA(cudaGraphCreate(&twice, 0));
    CHECK_CUDA(cudaGraphAddChildGraphNode(&child, twice, nullptr, 0, clone));
    value = 1;
    CHECK_CUDA(cudaGraphAddKernelNode(&again, twice, &child, 1, &launch));
    cudaGraphExec_t nested;
    CHECK_CUDA(cudaGraphInstantiate(&nested, twice, 0));
    seen = 0;
    CHECK_CUDA(cudaGraphLaunch(nested, nullptr));
    CHECK(seen == 105 && download(a, 1)[0] == 106);
    CHECK_CUDA(cudaGraphExecDestroy(nested));
    CHECK_CUDA(cudaGraphDestroy(twice));
    CHECK_CUDA(cudaGraphDestroy(clone));
    CHECK_CUDA(cudaGraphAddDependencies(graph, &host, &fill, nullptr, 1)); // a circle
    cudaGraphExec_t none;
    CHECK_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&none, graph, 0));
    cudaGetLastError();
    CHECK_CUDA(cudaGraphExecDestroy(run));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK(done() == 0);
}

// Calls that wait break a capture; so does work in the legacy stream, or a stream left behind.
static void not_captured()
{
    simulator_begin();
    int *a = upload(std::vector<int>(n, 0)), x = 0;
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaGraph_t graph;
    CHECK_CUDA(cudaStreamCreate(&one));
    CHECK_CUDA(cudaStreamCreate(&two));
    CHECK_CUDA(cudaEventCreate(&event));

    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK_ERROR(cudaErrorIllegalState, cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(one));
    CHECK_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(one, &graph));

    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    add<<<1, 32>>>(a, 1, 1);
    CHECK_ERROR(cudaErrorStreamCaptureImplicit, cudaGetLastError());
    CHECK_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(one, &graph));

    // An event whose recording is refused is none that was recorded.
    float ms = 0;
    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK_ERROR(cudaErrorStreamCaptureImplicit, cudaEventRecord(event, 0));
    CHECK_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(one, &graph));
    CHECK_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, event, event));

    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK_ERROR(cudaErrorStreamCaptureUnsupported,
                cudaMemcpy(&x, a, sizeof x, cudaMemcpyDeviceToHost));
    CHECK_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(one, &graph));

    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
    CHECK_ERROR(cudaErrorStreamCaptureUnsupported,
                cudaMemcpyPeerAsync(a, 0, a + 1, 0, sizeof *a, one));
    CHECK_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(one, &graph));

    CHECK_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(cudaEventRecord(event, one));
    CHECK_CUDA(cudaStreamWaitEvent(two, event));
    add<<<1, 32, 0, two>>>(a, 1, 1);
    CHECK_ERROR(cudaErrorCapturedEvent, cudaEventSynchronize(event));
    CHECK_ERROR(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(two, &graph));
    CHECK_ERROR(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(one, &graph));
    CHECK(graph == nullptr);
    CHECK_ERROR(cudaErrorIllegalState, cudaStreamEndCapture(one, &graph));
    cudaGetLastError();
    CHECK_CUDA(cudaStreamSynchronize(two));
    CHECK(download(a, 1)[0] == 0);
    CHECK(done() == 0);
}

int main()
{
    for (int order = 0; order < 3; ++order) captured(order);
    made_by_hand();
    not_captured();
    return failures != 0;
}
