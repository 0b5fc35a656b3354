// Schedules the steps of streams in simulated time.
#include "timeline.hpp"

#include "host.hpp"
#include "machine.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace simulator {

namespace {

constexpr std::size_t max_steps = 4096;

std::uint64_t ticks(std::uint64_t amount, std::uint64_t per_tick)
{
    return (amount + per_tick - 1) / per_tick;
}

bool crosses_link(const timeline_step &s)
{
    return s.kind == step_kind::copy &&
           (s.way == copy_way::to_device || s.way == copy_way::to_host ||
            s.way == copy_way::between_devices);
}

bool does_work(const timeline_step &s)
{
    return s.kind == step_kind::copy || s.kind == step_kind::fill || s.kind == step_kind::kernel;
}

// A copy engine or a multiprocessor: it does one thing at a time.
struct engine {
    std::uint64_t free = 0;
    step_id last = 0;
};

struct device_engines {
    engine in, out; // the copy engines
    std::vector<engine> processors =
        std::vector<engine>(static_cast<std::size_t>(multiprocessors()));
};

class scheduler {
public:
    explicit scheduler(std::vector<timeline_step> &steps)
        : steps_(steps), open_(steps.size()), followers_(steps.size())
    {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            for (const step_id a : steps_[i].after) follow(i, a);
            if (steps_[i].host) follow(i, steps_[i].host);
            if (open_[i] == 0) ready_.push({0, i});
        }
    }

    // A copy engine takes the copy that was queued first among those that can start; kernels begin
    // in the order in which they become ready.
    void run()
    {
        while (!ready_.empty()) {
            const auto [at, i] = ready_.top();
            ready_.pop();
            if (const std::uint64_t busy = engine_busy(steps_[i]); busy > at) {
                ready_.push({busy, i}); // others may become ready by then
                continue;
            }
            place(i);
            for (const std::size_t f : followers_[i])
                if (--open_[f] == 0) ready_.push({ready_at(steps_[f]), f});
        }
    }

private:
    void follow(std::size_t i, step_id earlier)
    {
        ++open_[i];
        followers_[earlier - 1].push_back(i);
    }

    std::uint64_t end_of(step_id id) const { return id ? steps_[id - 1].end : 0; }

    std::uint64_t ready_at(const timeline_step &s) const
    {
        std::uint64_t at = end_of(s.host);
        for (const step_id a : s.after) at = std::max(at, end_of(a));
        return at;
    }

    std::vector<engine *> engines_for(const timeline_step &s)
    {
        device_engines &d = devices_[s.device];
        if (s.kind == step_kind::kernel) {
            // Blocks occupy one multiprocessor each, up to all of them, and wait until these are
            // free.
            std::vector<engine *> all;
            for (engine &u : d.processors) all.push_back(&u);
            std::stable_sort(all.begin(), all.end(),
                             [](const engine *x, const engine *y) { return x->free < y->free; });
            all.resize(std::min<std::size_t>(all.size(), std::max<std::uint64_t>(s.blocks, 1)));
            return all;
        }
        if (!crosses_link(s)) return {};
        if (s.way == copy_way::to_device) return {&d.in};
        if (s.way == copy_way::to_host) return {&d.out};
        return {&d.in, &devices_[s.from_device].out};
    }

    // The tick from which the copy engines are free; 0 for steps that use none.
    std::uint64_t engine_busy(const timeline_step &s)
    {
        std::uint64_t until = 0;
        if (crosses_link(s))
            for (const engine *u : engines_for(s)) until = std::max(until, u->free);
        return until;
    }

    void set_holder(timeline_step &s, std::uint64_t until)
    {
        if (until == 0) return;
        for (const step_id a : s.after)
            if (end_of(a) == until) s.held_by = a, s.why = wait_reason::order;
        if (s.held_by == 0) s.held_by = s.host, s.why = wait_reason::host;
    }

    void place(std::size_t i)
    {
        timeline_step &s = steps_[i];
        s.start = ready_at(s);
        set_holder(s, s.start);
        const auto engines = engines_for(s);
        for (const engine *u : engines)
            if (u->free > s.start) {
                s.start = u->free;
                s.held_by = u->last;
                s.why = wait_reason::engine;
            }
        s.end = s.start + s.duration;
        for (engine *u : engines) *u = {s.end, i + 1};
        if (s.kind == step_kind::event_wait || s.kind == step_kind::host_wait) begin_wait(s);
    }

    // A wait begins when the stream or thread reaches it.
    void begin_wait(timeline_step &s)
    {
        s.start = end_of(s.host);
        // The last dependency of an event wait is the event.
        if (s.kind == step_kind::event_wait)
            for (std::size_t a = 0; a + 1 < s.after.size(); ++a)
                s.start = std::max(s.start, end_of(s.after[a]));
        s.start = std::min(s.start, s.end);
    }

    using entry = std::pair<std::uint64_t, std::size_t>;
    std::vector<timeline_step> &steps_;
    std::vector<std::size_t> open_; // number of unfinished dependencies per step
    std::vector<std::vector<std::size_t>> followers_;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> ready_;
    std::map<int, device_engines> devices_;
};

// Adds up the ticks with a copy in progress, and those with a kernel running beside it.
void measure_overlap(timeline_report &r)
{
    struct change {
        int copies = 0, kernels = 0;
    };
    std::map<std::uint64_t, change> changes; // by tick
    for (const timeline_step &s : r.steps) {
        const change one{crosses_link(s), s.kind == step_kind::kernel};
        for (const auto &[at, sign] : {std::pair(s.start, 1), std::pair(s.end, -1)}) {
            changes[at].copies += sign * one.copies;
            changes[at].kernels += sign * one.kernels;
        }
    }
    change running;
    std::uint64_t last = 0;
    for (const auto &[at, by] : changes) {
        if (running.copies) r.copying += at - last;
        if (running.copies && running.kernels) r.hidden += at - last;
        running.copies += by.copies;
        running.kernels += by.kernels;
        last = at;
    }
}

void mark_critical(std::vector<timeline_step> &steps, std::uint64_t end)
{
    const auto last = std::find_if(steps.begin(), steps.end(), [end](const timeline_step &s) {
        return s.end == end && s.kind != step_kind::host_wait;
    });
    if (last == steps.end()) return;
    for (timeline_step *s = &*last;; s = &steps[s->held_by - 1]) {
        s->critical = true;
        if (s->held_by == 0) break;
    }
}

} // namespace

timeline &timeline::instance()
{
    // Never destroyed: work may still be queued during static destruction.
    static auto *const one = new timeline;
    return *one;
}

void timeline::clear()
{
    cleared_ += steps_.size();
    steps_.clear();
    left_out_ = host_waits_ = idle_waits_ = 0;
    last_wait_ = 0;
    threads_.clear();
}

// A new thread knows the last wait of all threads, because one of them created it.
timeline::thread_state &timeline::this_thread()
{
    const auto number = static_cast<unsigned>(threads_.size());
    return threads_.try_emplace(calling_thread(), thread_state{number, last_wait_}).first->second;
}

step_id timeline::add(timeline_step s)
{
    // The event was recorded before clear(), or its step was not kept and is 0.
    if (s.kind == step_kind::event_wait && s.after.back() <= cleared_) {
        idle_wait();
        return 0;
    }
    std::erase_if(s.after, [this](step_id a) { return a <= cleared_; });
    s.host = this_thread().waited_for;
    s.queueing_thread = this_thread().number;
    if (steps_.size() == max_steps) {
        ++left_out_;
        return 0;
    }
    steps_.push_back(std::move(s));
    return cleared_ + steps_.size();
}

void timeline::host_waits(const char *function, std::vector<step_id> after)
{
    std::erase_if(after, [this](step_id a) { return a <= cleared_; });
    if (after.empty()) return;
    // A program may query the same work repeatedly.
    if (const step_id last = this_thread().waited_for;
        last > cleared_ && steps_[last - cleared_ - 1].after == after)
        return;
    timeline_step s;
    s.kind = step_kind::host_wait;
    s.name = function;
    s.stream_or_thread = this_thread().number;
    s.after = std::move(after);
    ++host_waits_;
    const std::vector<unsigned> whose = queueing_threads(s.after);
    const step_id id = add(std::move(s));
    if (!id) return;
    this_thread().waited_for = last_wait_ = id;
    for (auto &[number, thread] : threads_)
        if (std::find(whose.begin(), whose.end(), thread.number) != whose.end())
            thread.waited_for = id;
}

// Returns the host threads that queued these steps or any of their dependencies.
std::vector<unsigned> timeline::queueing_threads(std::vector<step_id> steps) const
{
    std::vector<bool> seen(steps_.size());
    std::set<unsigned> threads;
    while (!steps.empty()) {
        const step_id id = steps.back();
        steps.pop_back();
        if (id <= cleared_ || seen[id - cleared_ - 1]) continue;
        seen[id - cleared_ - 1] = true;
        const timeline_step &s = steps_[id - cleared_ - 1];
        threads.insert(s.queueing_thread);
        steps.insert(steps.end(), s.after.begin(), s.after.end());
    }
    return {threads.begin(), threads.end()};
}

step_id timeline::set_running(step_id id) { return std::exchange(running_step_, id); }

timeline_step *timeline::running()
{
    return running_step_ > cleared_ && running_step_ <= cleared_ + steps_.size()
               ? &steps_[running_step_ - cleared_ - 1]
               : nullptr;
}

void timeline::copied(copy_way way, int from_device, int to_device, std::uint64_t bytes)
{
    timeline_step *s = running();
    if (!s) return;
    const device_profile &p = profile();
    const bool inside = way == copy_way::on_host || way == copy_way::inside_device;
    // A kernel's transfers add to the kernel's work.
    s->duration += ticks(bytes, inside                             ? p.memory_bytes_per_tick
                                : way == copy_way::between_devices ? p.peer_bytes_per_tick
                                                                   : p.link_bytes_per_tick);
    if (s->kind != step_kind::copy) return;
    s->way = way;
    s->bytes += bytes;
    s->from_device = from_device;
    s->device = way == copy_way::to_host ? from_device : to_device;
}

void timeline::filled(std::uint64_t bytes)
{
    timeline_step *s = running();
    if (!s) return;
    s->duration += ticks(bytes, profile().memory_bytes_per_tick);
    if (s->kind == step_kind::fill) s->bytes += bytes;
}

void timeline::ran_kernel(const std::string &name, std::uint64_t blocks,
                          std::uint64_t warp_instructions, std::uint64_t sectors,
                          std::uint64_t peer_bytes)
{
    timeline_step *s = running();
    if (!s) return;
    const device_profile &p = profile();
    const auto used =
        std::clamp<std::uint64_t>(blocks, 1, static_cast<std::uint64_t>(multiprocessors()));
    s->name = name;
    s->blocks = blocks;
    s->duration += std::max(
        {std::uint64_t{1}, ticks(warp_instructions, used * p.instructions_per_tick),
         ticks(32 * sectors, p.memory_bytes_per_tick), ticks(peer_bytes, p.peer_bytes_per_tick)});
}

double timeline::between(step_id first, step_id second) const
{
    auto kept = [&](step_id id) { return id > cleared_ && id - cleared_ <= steps_.size(); };
    if (!kept(first) || !kept(second)) return 0;
    const std::vector<timeline_step> steps = scheduled().steps;
    return static_cast<double>(steps[second - cleared_ - 1].end) -
           static_cast<double>(steps[first - cleared_ - 1].end);
}

timeline_report timeline::scheduled() const
{
    timeline_report r;
    r.steps = steps_;
    r.left_out = left_out_;
    r.host_waits = host_waits_;
    r.idle_waits = idle_waits_;
    for (timeline_step &s : r.steps) {
        for (step_id &a : s.after) a -= cleared_;
        if (s.host) s.host -= cleared_;
    }
    scheduler(r.steps).run();
    for (const timeline_step &s : r.steps) {
        r.ticks = std::max(r.ticks, s.end);
        if (does_work(s)) r.serial += s.duration;
    }
    measure_overlap(r);
    mark_critical(r.steps, r.ticks);
    return r;
}

} // namespace simulator
