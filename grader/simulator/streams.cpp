// Streams, events and callbacks. Work is eager, so there is nothing to wait for; handles are
// checked all the same.
#include "runtime.hpp"

#include <algorithm>
#include <set>

// The types behind CUDA's opaque handles.
struct CUstream_st {
    unsigned flags;
    int priority, device;
    unsigned long long id;
};
struct CUevent_st {
    unsigned flags;
    bool recorded = false;
};

namespace simulator::runtime {

namespace {

struct handles {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    unsigned long long next_id = 16; // below stand the default streams
};

handles &live()
{
    // Never destroyed: objects that outlive main may still destroy their streams.
    static auto *const one = new handles;
    return *one;
}

constexpr int greatest_priority = -5;

bool is_default(cudaStream_t s) { return !s || s == cudaStreamLegacy || s == cudaStreamPerThread; }

cudaError_t create(cudaStream_t *out, unsigned flags, int priority)
{
    if (!out || (flags & ~unsigned{cudaStreamNonBlocking})) return cudaErrorInvalidValue;
    priority = std::clamp(priority, greatest_priority, 0);
    *out = new CUstream_st{flags, priority, current_device(), live().next_id++};
    live().streams.insert(*out);
    return cudaSuccess;
}

cudaError_t check(cudaStream_t s)
{
    return valid(s) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check(cudaEvent_t e)
{
    return live().events.count(e) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

// Calls a function that reads a property of a stream, after checking handle and place.
template <typename T, typename function> cudaError_t read(cudaStream_t s, T *out, function property)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        if (!valid(s)) return cudaErrorInvalidResourceHandle;
        static const CUstream_st default_stream{cudaStreamDefault, 0, 0, 1};
        *out = property(is_default(s) ? default_stream : *s);
        return cudaSuccess;
    });
}

} // namespace

bool valid(cudaStream_t s) { return is_default(s) || live().streams.count(s) != 0; }

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return call([&] { return create(out, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return call([&] { return create(out, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    return call([&] { return create(out, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    return call([&] {
        if (is_default(s) || !live().streams.erase(s)) return cudaErrorInvalidResourceHandle;
        delete s;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return call([&] { return check(s); });
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return call([&] { return check(s); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t s, int *out)
{
    return read(s, out, [](const CUstream_st &x) { return x.priority; });
}

cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *out)
{
    return read(s, out, [](const CUstream_st &x) { return x.flags; });
}

cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *out)
{
    return read(s, out, [](const CUstream_st &x) { return x.id; });
}

cudaError_t cudaStreamGetDevice(cudaStream_t s, int *out)
{
    return read(s, out,
                [s](const CUstream_st &x) { return is_default(s) ? current_device() : x.device; });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *out)
{
    return read(s, out, [](const CUstream_st &) { return cudaStreamCaptureStatusNone; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    return call([&] {
        if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
        return check(s) != cudaSuccess ? cudaErrorInvalidResourceHandle : check(e);
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *data,
                                  unsigned flags)
{
    return call([&] {
        if (!callback || flags) return cudaErrorInvalidValue;
        if (!valid(s)) return cudaErrorInvalidResourceHandle;
        callback(s, cudaSuccess, data);
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void *data)
{
    return call([&] {
        if (!function) return cudaErrorInvalidValue;
        if (!valid(s)) return cudaErrorInvalidResourceHandle;
        function(data);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *, std::size_t, unsigned)
{
    return call([&] { return check(s); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return call([&] {
        const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
        if (!out || (flags & ~known)) return cudaErrorInvalidValue;
        *out = new CUevent_st{flags};
        live().events.insert(*out);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    return call([&] {
        if (!live().events.erase(e)) return cudaErrorInvalidResourceHandle;
        delete e;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned)
{
    return call([&] {
        if (check(e) != cudaSuccess || !valid(s)) return cudaErrorInvalidResourceHandle;
        e->recorded = true;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    return cudaEventRecordWithFlags(e, s, cudaEventRecordDefault);
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return call([&] { return check(e); });
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return call([&] { return check(e); });
}

// Always 0 ms: a simulated kernel takes no time that would mean anything, and a zero cannot be
// mistaken for a measurement.
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return call([&] {
        if (!ms) return cudaErrorInvalidValue;
        for (cudaEvent_t e : {start, end})
            if (check(e) != cudaSuccess || !e->recorded || (e->flags & cudaEventDisableTiming))
                return cudaErrorInvalidResourceHandle;
        *ms = 0;
        return cudaSuccess;
    });
}

} // extern "C"
