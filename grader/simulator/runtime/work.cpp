// Stream queues: dependencies, and the choice of the work to run next.
#include "work.hpp"

#include "simulator/machine/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

namespace simulator::runtime {

namespace {

// Beyond it the oldest work runs, so that queues stay bounded.
constexpr std::size_t max_pending = 1024;

struct queues {
    std::vector<work_ref> pending; // in queueing order
    std::map<int, stream_state> legacy;
    std::map<std::pair<std::uint64_t, int>, stream_state> per_thread; // by host thread and device
    std::set<cudaStream_t> created;
    std::mt19937_64 random;
    std::uint64_t seeded = 0;
};

queues &all()
{
    // Never destroyed: objects that outlive main may still destroy their streams.
    static auto *const one = new queues;
    return *one;
}

// All created streams and the default streams that were used.
std::vector<stream_state *> all_streams()
{
    std::vector<stream_state *> list;
    for (auto &[device, s] : all().legacy) list.push_back(&s);
    for (auto &[key, s] : all().per_thread) list.push_back(&s);
    for (cudaStream_t s : all().created) list.push_back(s);
    return list;
}

bool is_per_thread(cudaStream_t s) { return s == cudaStreamPerThread; }

void run(work &w)
{
    w.ended = true; // set first: a graph's end must not wait for the work that ends it
    const step_id outer = timeline::instance().set_running(w.step);
    if (w.operation.run && (!has_sticky_error() || w.operation.despite_fault))
        run_task(w.operation);
    timeline::instance().set_running(outer);
    w.operation.run = nullptr; // releases the captured objects
    w.after.clear();
}

bool ready(const work &w)
{
    return std::all_of(w.after.begin(), w.after.end(), [](const auto &a) { return a->ended; });
}

// Returns the unfinished dependencies of `w`, including `w`.
std::set<const work *> needed_for(const work_ref &w)
{
    std::set<const work *> all{w.get()};
    for (std::vector<const work *> left{w.get()}; !left.empty();) {
        const work *at = left.back();
        left.pop_back();
        for (const auto &a : at->after)
            if (!a->ended && all.insert(a.get()).second) left.push_back(a.get());
    }
    return all;
}

// The order least like that of queueing shows dependencies that are missing: prefers the work
// queued last if it is ready, else its most recently queued dependency, and so on.
std::size_t latest_queued(const std::vector<std::size_t> &runnable,
                          const std::set<const work *> *among)
{
    const auto &pending = all().pending;
    const work *dependent = nullptr; // its dependencies precede it in `pending`
    for (std::size_t i = pending.size(); i-- > 0;) {
        const work *w = pending[i].get();
        const auto is_w = [w](const work_ref &a) { return a.get() == w; };
        if (dependent ? std::none_of(dependent->after.begin(), dependent->after.end(), is_w)
                      : among && !among->count(w))
            continue;
        if (ready(*w)) return i;
        dependent = w;
    }
    return runnable.back();
}

std::size_t choose(std::size_t n)
{
    if (settings().streams != stream_order::random) return 0;
    if (all().seeded != settings().seed) all().random.seed(all().seeded = settings().seed);
    return all().random() % n;
}

// Runs one ready work: any, or one of `among`. Returns false if there is none.
bool run_one(const std::set<const work *> *among)
{
    auto &pending = all().pending;
    std::vector<std::size_t> runnable;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const work *w = pending[i].get();
        if (ready(*w) && (!among || among->count(w))) runnable.push_back(i);
    }
    if (runnable.empty()) return false;
    const std::size_t which = settings().streams == stream_order::late
                                  ? latest_queued(runnable, among)
                                  : runnable[choose(runnable.size())];
    const work_ref w = pending[which];
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(which));
    run(*w);
    return true;
}

// In random order other work may run too; in late order only the dependencies of `w` run.
void run_until(const work_ref &w)
{
    const auto needed = needed_for(w);
    while (!w->ended)
        if (!run_one(settings().streams == stream_order::random ? nullptr : &needed)) break;
}

step_kind kind_of(const task &t)
{
    switch (t.type) {
    case cudaGraphNodeTypeMemcpy:
        return step_kind::copy;
    case cudaGraphNodeTypeMemset:
        return step_kind::fill;
    case cudaGraphNodeTypeKernel:
        return step_kind::kernel;
    case cudaGraphNodeTypeHost:
        return step_kind::host_function;
    case cudaGraphNodeTypeEventRecord:
        return step_kind::event_record;
    default:
        return step_kind::other;
    }
}

stream_state &legacy_of(int device)
{
    stream_state &one = all().legacy[device];
    one.device = device;
    one.id = 1;
    return one;
}

// Returns the last work of every stream of a device; all other work of the streams precedes it.
std::vector<work_ref> last_work_of(int device)
{
    std::vector<work_ref> all;
    for (stream_state *s : all_streams())
        if (s->device == device) {
            if (s->last) all.push_back(s->last);
            all.insert(all.end(), s->extra_dependencies.begin(), s->extra_dependencies.end());
        }
    return all;
}

} // namespace

std::vector<step_id> steps_of(const std::vector<work_ref> &all)
{
    std::vector<step_id> steps;
    for (const work_ref &w : all)
        if (w && w->step) steps.push_back(w->step);
    // Sorted for determinism, since all_streams() is ordered by address.
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

void run_task(const task &t)
{
    const bool host = t.type == cudaGraphNodeTypeHost;
    if (host) this_thread().in_host_function = true;
    t.run();
    if (host) this_thread().in_host_function = false;
}

bool is_legacy(cudaStream_t s) { return !s || s == cudaStreamLegacy; }

bool valid(cudaStream_t s)
{
    return is_legacy(s) || is_per_thread(s) || all().created.count(s) != 0;
}

stream_state &state_of(cudaStream_t s)
{
    if (!is_legacy(s) && !is_per_thread(s)) return *s;
    const int device = current_device();
    if (is_legacy(s)) return legacy_of(device);
    stream_state &one = all().per_thread[{calling_thread(), device}];
    one.device = device;
    one.id = 2;
    return one;
}

void add_stream(cudaStream_t s) { all().created.insert(s); }
bool remove_stream(cudaStream_t s) { return all().created.erase(s) != 0; }
std::size_t created_streams() { return all().created.size(); }

void keep_work(const stream_state &s)
{
    auto &kept = legacy_of(s.device);
    kept.extra_dependencies.insert(kept.extra_dependencies.end(), s.extra_dependencies.begin(),
                                   s.extra_dependencies.end());
    if (s.last) kept.extra_dependencies.push_back(s.last);
}

std::vector<work_ref> next_dependencies(stream_state &s)
{
    std::vector<work_ref> front = s.extra_dependencies;
    if (s.last) front.push_back(s.last);
    const auto legacy = all().legacy.find(s.device);
    if (legacy != all().legacy.end() && &legacy->second == &s) {
        // The legacy stream follows all blocking streams of its device.
        for (stream_state *o : all_streams())
            if (o != &s && o->device == s.device && !(o->flags & cudaStreamNonBlocking) && o->last)
                front.push_back(o->last);
    } else if (!(s.flags & cudaStreamNonBlocking) && legacy != all().legacy.end() &&
               legacy->second.last) {
        front.push_back(legacy->second.last);
    }
    return front;
}

work_ref queue_after(const stream_state &s, task t, std::vector<work_ref> after)
{
    auto w = std::make_shared<work>();
    timeline_step shown;
    shown.kind = kind_of(t);
    shown.device = shown.device_of_stream = s.device;
    shown.stream_or_thread = s.id;
    shown.after = steps_of(after);
    w->step = timeline::instance().add(std::move(shown));
    w->operation = std::move(t);
    std::erase_if(after, [](const work_ref &a) { return a->ended; });
    w->after = std::move(after);
    if (!defers_work() && all().pending.empty()) {
        run(*w);
        return w;
    }
    all().pending.push_back(w);
    if (!defers_work()) run_until(w);
    while (all().pending.size() > max_pending && run_one(nullptr)) {
    }
    return w;
}

work_ref queue(stream_state &s, task t)
{
    auto after = next_dependencies(s);
    s.extra_dependencies.clear();
    return s.last = queue_after(s, std::move(t), std::move(after));
}

cudaError_t queue(cudaStream_t stream, task t)
{
    if (!valid(stream)) return cudaErrorInvalidResourceHandle;
    stream_state &s = state_of(stream);
    if (s.active_capture) return capture_task(s, std::move(t));
    if (is_legacy(stream))
        if (cudaError_t e = check_legacy(s); e != cudaSuccess) return e;
    queue(s, std::move(t));
    return cudaSuccess;
}

cudaError_t queue_peer_copy(cudaStream_t stream, task t, int device, int other)
{
    t.between_devices = true;
    if (!valid(stream) || !is_legacy(stream) || state_of(stream).active_capture)
        return queue(stream, std::move(t));
    stream_state &s = state_of(stream);
    std::vector<stream_state *> both;
    for (const int d : {device, other}) {
        stream_state &of = legacy_of(d);
        const auto front = next_dependencies(of);
        if (&of != &s)
            s.extra_dependencies.insert(s.extra_dependencies.end(), front.begin(), front.end());
        both.push_back(&of);
    }
    if (cudaError_t e = queue(stream, std::move(t)); e != cudaSuccess) return e;
    for (stream_state *of : both) of->last = s.last;
    return cudaSuccess;
}

void read_environment()
{
    const char *text = std::getenv("SIMULATOR_STREAMS");
    const std::string order = text ? text : "";
    if (order == "late")
        settings().streams = stream_order::late;
    else if (order == "random")
        settings().streams = stream_order::random;
    else if (!order.empty())
        complain("SIMULATOR_STREAMS is \"" + order + "\", neither late nor random; ignored");
}

bool defers_work() { return settings().streams != stream_order::immediate; }

void wait_for(const char *function, const std::vector<work_ref> &all)
{
    timeline::instance().host_waits(function, steps_of(all));
    for (const work_ref &w : all)
        if (w && !w->ended) run_until(w);
}

void wait_for_device(const char *function, int device)
{
    // Wait for all streams together, so that their work can interleave.
    std::vector<work_ref> left = last_work_of(device);
    for (stream_state *s : all_streams())
        if (s->device == device)
            std::erase_if(s->extra_dependencies, [](const auto &w) { return w->ended; });
    timeline::instance().host_waits(function, steps_of(left));
    std::erase_if(left, [](const work_ref &w) { return w->ended; });
    if (left.empty()) return;
    auto end = std::make_shared<work>();
    end->after = std::move(left);
    all().pending.push_back(end);
    run_until(end);
}

bool has_pending_peer_copies(int device)
{
    const auto left = last_work_of(device);
    return std::any_of(left.begin(), left.end(), [](const work_ref &last) {
        if (last->ended) return false;
        const auto needed = needed_for(last);
        return std::any_of(needed.begin(), needed.end(),
                           [](const work *w) { return w->operation.between_devices; });
    });
}

bool poll(const char *function, const std::vector<work_ref> &all)
{
    bool ended = true;
    for (const work_ref &w : all) {
        if (!w || w->ended) continue;
        const auto needed = needed_for(w);
        run_one(&needed);
        ended = ended && w->ended;
    }
    // The host now knows that it has ended.
    if (ended) timeline::instance().host_waits(function, steps_of(all));
    return ended;
}

} // namespace simulator::runtime
