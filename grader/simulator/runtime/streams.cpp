// Streams, events and callbacks.
#include "simulator/machine/counters.hpp"
#include "simulator/machine/host.hpp"
#include "transfers.hpp"
#include "work.hpp"

#include <algorithm>
#include <set>

namespace simulator::runtime {

namespace {

std::set<cudaEvent_t> &events()
{
    // Never destroyed: objects that outlive main may still destroy their events.
    static auto *const one = new std::set<cudaEvent_t>;
    return *one;
}

cudaError_t check(cudaEvent_t e)
{
    return events().count(e) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

// Reads a field of a stream's state after checking the handle and the output pointer.
template <typename T> cudaError_t read(cudaStream_t s, T *out, T stream_state::*field)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        if (!valid(s)) return cudaErrorInvalidResourceHandle;
        *out = state_of(s).*field;
        return cudaSuccess;
    });
}

cudaError_t record_event(cudaEvent_t e, cudaStream_t stream)
{
    if (check(e) != cudaSuccess || !valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (s.device != e->device)
        return fail_because(cudaErrorInvalidResourceHandle,
                            "the event was made on device " + std::to_string(e->device) +
                                " and the stream on device " + std::to_string(s.device));
    // If the capture forbids this, the event stays unchanged.
    if (!s.active_capture && is_legacy(stream))
        if (cudaError_t error = check_legacy(s); error != cudaSuccess) return error;
    e->recorded_in = s.active_capture;
    e->nodes = s.capture_dependencies;
    if (s.active_capture) return cudaSuccess;
    e->recorded = queue(s, {cudaGraphNodeTypeEventRecord});
    return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t e)
{
    if (check(e) != cudaSuccess || !valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (e->recorded_in) return join_capture(s, *e);
    if (s.active_capture) return invalidate_capture(s, cudaErrorStreamCaptureIsolation);
    if (!e->recorded) {
        timeline::instance().idle_wait();
        return cudaSuccess;
    }
    timeline_step wait;
    wait.kind = step_kind::event_wait;
    wait.device = wait.device_of_stream = s.device;
    wait.stream_or_thread = s.id;
    wait.after = steps_of(next_dependencies(s));
    wait.after.push_back(e->recorded->step);
    timeline::instance().add(std::move(wait));
    s.extra_dependencies.push_back(e->recorded);
    return cudaSuccess;
}

template <typename function> cudaError_t with_stream(cudaStream_t s, function body)
{
    return in_stream(s, [&] { return body(state_of(s)); });
}

// An event's state can be queried unless it was recorded in a capture.
template <typename function> cudaError_t with_event(cudaEvent_t e, function body)
{
    return call([&] {
        if (cudaError_t error = check(e); error != cudaSuccess) return error;
        return e->recorded_in ? cudaErrorCapturedEvent : body();
    });
}

// Attributes that are accepted because they do not change results.
bool known_attribute(cudaStreamAttrID which)
{
    return which == cudaStreamAttributeAccessPolicyWindow ||
           which == cudaStreamAttributeSynchronizationPolicy ||
           which == cudaStreamAttributeMemSyncDomain ||
           which == cudaStreamAttributeMemSyncDomainMap || which == cudaStreamAttributePriority;
}

} // namespace

// Includes what else the program has to destroy.
std::size_t streams_and_events()
{
    return created_streams() + events().size() + created_textures();
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithPriority(out, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    return call([&] {
        if (!out || (flags & ~unsigned{cudaStreamNonBlocking})) return cudaErrorInvalidValue;
        static unsigned long long next_id = 16; // lower numbers are the default streams
        *out = new CUstream_st{
            {flags, std::clamp(priority, greatest_priority, 0), current_device(), next_id++}};
        add_stream(*out);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    return call([&] {
        if (!remove_stream(s)) return cudaErrorInvalidResourceHandle; // also for a default stream
        detach_stream(*s);
        delete s;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return with_stream(s, [&](stream_state &state) {
        if (cudaError_t e = refuse_if_capturing(state); e != cudaSuccess) return e;
        wait_for("cudaStreamSynchronize", next_dependencies(state));
        return surface_sticky_error();
    });
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return with_stream(s, [&](stream_state &state) {
        if (cudaError_t e = refuse_if_capturing(state); e != cudaSuccess) return e;
        const bool ended = poll("cudaStreamQuery", next_dependencies(state));
        const cudaError_t e = surface_sticky_error();
        return e != cudaSuccess || ended ? e : cudaErrorNotReady;
    });
}

cudaError_t cudaStreamGetPriority(cudaStream_t s, int *out)
{
    return read(s, out, &stream_state::priority);
}

cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *out)
{
    return read(s, out, &stream_state::flags);
}

cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *out)
{
    return read(s, out, &stream_state::id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t s, int *out)
{
    return read(s, out, &stream_state::device);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaStreamAttrID which,
                                   const cudaStreamAttrValue *value)
{
    return with_stream(s, [&](stream_state &state) {
        if (!value) return cudaErrorInvalidValue;
        if (!known_attribute(which)) return not_supported("this attribute of a stream");
        if (which == cudaStreamAttributePriority)
            state.priority = std::clamp(value->priority, greatest_priority, 0);
        state.attributes[which] = *value;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t s, cudaStreamAttrID which,
                                   cudaStreamAttrValue *value)
{
    return with_stream(s, [&](stream_state &state) {
        if (!value) return cudaErrorInvalidValue;
        if (!known_attribute(which)) return not_supported("this attribute of a stream");
        const auto it = state.attributes.find(which);
        *value = it == state.attributes.end() ? cudaStreamAttrValue{} : it->second;
        if (which == cudaStreamAttributePriority) value->priority = state.priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return with_stream(to, [&](stream_state &state) {
        if (!valid(from)) return cudaErrorInvalidResourceHandle;
        state.attributes = state_of(from).attributes;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    return call([&] {
        if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
        return wait_for_event(s, e);
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *data,
                                  unsigned flags)
{
    return call([&] {
        if (!callback || flags) return cudaErrorInvalidValue;
        if (!valid(s)) return cudaErrorInvalidResourceHandle;
        if (cudaError_t e = refuse_if_capturing(state_of(s)); e != cudaSuccess) return e;
        // The callback receives the fault, so it runs even after one, unlike a host function.
        const auto run = [=] { host().call(callback, s, sticky_error(), data); };
        return queue(s, {cudaGraphNodeTypeHost, run, true});
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void *data)
{
    return call([&] {
        if (!function) return cudaErrorInvalidValue;
        return queue(s, {cudaGraphNodeTypeHost, [=] { host().call(function, data); }});
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *, std::size_t, unsigned)
{
    return in_stream(s, [] { return cudaSuccess; });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return call([&] {
        const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
        if (!out || (flags & ~known)) return cudaErrorInvalidValue;
        *out = new CUevent_st{flags, current_device()};
        events().insert(*out);
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
        if (!events().erase(e)) return cudaErrorInvalidResourceHandle;
        delete e;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags)
{
    return call([&] {
        if (flags & ~unsigned{cudaEventRecordExternal}) return cudaErrorInvalidValue;
        if (flags && valid(s) && state_of(s).active_capture)
            return not_supported("external events in a capture");
        return record_event(e, s);
    });
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    return cudaEventRecordWithFlags(e, s, cudaEventRecordDefault);
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return with_event(e, [&] {
        wait_for("cudaEventSynchronize", {e->recorded});
        return surface_sticky_error();
    });
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return with_event(e, [&] {
        const bool ended = poll("cudaEventQuery", {e->recorded});
        const cudaError_t error = surface_sticky_error();
        return error != cudaSuccess || ended ? error : cudaErrorNotReady;
    });
}

// Uses timeline time with one nanosecond per tick: positive if work was done, and not a
// measurement. The result tells the host how much work kernels did, so it counts like a copy.
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return call([&] {
        if (!ms) return cudaErrorInvalidValue;
        for (cudaEvent_t e : {start, end})
            if (check(e) != cudaSuccess || !(e->recorded || e->recorded_in) ||
                (e->flags & cudaEventDisableTiming))
                return cudaErrorInvalidResourceHandle;
        if (start->recorded_in || end->recorded_in) return cudaErrorCapturedEvent;
        if (!start->recorded->ended || !end->recorded->ended) return cudaErrorNotReady;
        ++counters::instance().transfers.commands;
        const double ticks =
            timeline::instance().between(start->recorded->step, end->recorded->step);
        *ms = static_cast<float>(ticks * 1e-6);
        return cudaSuccess;
    });
}

} // extern "C"
