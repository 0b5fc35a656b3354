// Sends requests to the processes of a worker, and ends them.
#include "request_limit.hpp"
#include "usage.hpp"
#include "worker_state.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace grading {

using steady = std::chrono::steady_clock;

void worker::state::stop()
{
    if (!host.process.running()) return;
    host.process.stop();
    for (connected_process &d : devices) d.process.stop();
    read_text();
    host.socket.close();
    for (connected_process &d : devices) d.socket.close();
}

bool worker::state::read_text()
{
    constexpr std::size_t kept = 16 << 10; // bytes, until they are taken
    char chunk[1 << 16];
    ssize_t got;
    while ((got = read(text.get(), chunk, sizeof chunk)) > 0) {
        std::size_t n = static_cast<std::size_t>(got);
        printed_bytes += n;
        std::size_t room = kept - std::min(kept, printed_text.size());
        printed_text.append(chunk, std::min(n, room));
        cut = cut || n > room;
        if (printed_bytes > options.output_limit) return false;
    }
    return true;
}

answer worker::state::finish(answer a)
{
    // If the devices ended first, the host code ended because of them: the cause is how they ended.
    const bool lost = a.how == worker_exit::exited && a.status == simulator::status_without_device;
    for (connected_process &d : devices) {
        if (!lost && a.how != worker_exit::device_lost) break;
        answer of_device;
        pollfd wait{d.process.ended_descriptor(), POLLIN, 0};
        poll(&wait, 1, devices.size() == 1 ? 1000 : 100);
        if (!d.ended(of_device)) continue;
        a.how = of_device.how == worker_exit::exited && of_device.status == disturbed_by_host
                    ? worker_exit::protocol_error
                    : worker_exit::device_lost;
        break;
    }
    if (const auto report = std::exchange(crash_report_request, {});
        report && a.how == worker_exit::crashed) {
        const answer crash_report = ask(devices[0], *report, std::chrono::seconds(5));
        if (crash_report.how != worker_exit::answered)
            return a; // that ask() has stopped all processes
        const std::byte *from = output->data() + report->offset;
        if (crash_report.value.status == reply_status::done)
            a.report.assign(from, from + report->bytes);
    }
    stop();
    return a;
}

bool worker::state::over_limits(answer &a) const
{
    const shared_memory &in = host_input ? *host_input : *input;
    const shared_memory &out = host_output ? *host_output : *output;
    usage now = used_from(host.process.keeper(), {in.descriptor(), out.descriptor()});
    std::size_t of_devices = 0;
    for (const connected_process &d : devices)
        of_devices +=
            used_from(d.process.keeper(), {input->descriptor(), output->descriptor()}).bytes;
    if (now.bytes > options.memory_limit)
        a.how = worker_exit::out_of_host_memory;
    else if (of_devices > options.device_memory_limit)
        a.how = worker_exit::out_of_device_memory;
    else if (now.threads > options.thread_limit)
        a.how = worker_exit::too_many_threads;
    else
        return false;
    a.status = now.threads;
    return true;
}

namespace {

// Translates the report of the rank leader about a rank that did not answer into an answer as of a
// single worker. Returns true if the ranks can go on.
bool understand_ranks(answer &a)
{
    a.rank = a.value.rank;
    switch (a.value.status) {
    case reply_status::rank_ended:
        a.how = WIFSIGNALED(a.value.error) ? worker_exit::crashed : worker_exit::exited;
        a.status =
            WIFSIGNALED(a.value.error) ? WTERMSIG(a.value.error) : WEXITSTATUS(a.value.error);
        return false;
    case reply_status::ranks_waiting:
        a.how = worker_exit::timed_out;
        return false;
    case reply_status::protocol_broken:
        a.how = worker_exit::protocol_error;
        return false;
    default:
        return a.value.status != reply_status::no_ranks;
    }
}

} // namespace

worker::worker() = default;
worker::~worker() = default;
worker::worker(worker &&) noexcept = default;
worker &worker::operator=(worker &&) noexcept = default;

void worker::forget()
{
    if (!state_) return;
    state_->host.process.forget();
    for (connected_process &d : state_->devices) d.process.forget();
    state_->mpi_folder.clear();
    state_.reset();
}

worker::worker(const worker_options &options, const shared_memory &input)
    : state_(std::make_unique<state>())
{
    state_->options = options;
    state_->start(input);
}

// Waits for an answer, or text, for a few milliseconds without sleeping: a process that sleeps goes
// on late, by up to half a millisecond.
static void wait_awake(int socket, int text)
{
    const auto end = steady::now() + std::chrono::milliseconds(10);
    pollfd any[] = {{socket, POLLIN, 0}, {text, POLLIN, 0}};
    while (poll(any, 2, 0) == 0 && steady::now() < end) {
    }
}

answer worker::state::ask(connected_process &target, request what, std::chrono::milliseconds limit)
{
    answer a;
    if (getrandom(what.nonce, sizeof what.nonce, 0) != sizeof what.nonce) throw_errno("getrandom");
    const auto start = steady::now();
    what.limit_ms = static_cast<std::uint32_t>(limit.count());
    if (options.ranks) limit += std::chrono::seconds(3); // the leader reports which ranks wait
    request_limit allowed(limit, &target == &host && !devices.empty() && !options.ranks);
    auto used = [&] {
        const double by_host = used_from(host.process.keeper(), {}).cpu_seconds;
        double by_all = by_host;
        for (const connected_process &d : devices)
            by_all += used_from(d.process.keeper(), {}).cpu_seconds;
        return std::pair(by_host, by_all);
    };
    if (send(target.socket.get(), &what, sizeof what, MSG_NOSIGNAL) < 0) {
        // The process ended between two requests; its status says how.
        pollfd wait{target.process.ended_descriptor(), POLLIN, 0};
        poll(&wait, 1, 1000);
        if (!target.ended(a)) a.how = worker_exit::protocol_error;
        if (&target != &host) a.how = worker_exit::device_lost;
        return finish(a);
    }
    if (awake) wait_awake(target.socket.get(), text.get());
    awake = (what.flags & stay_awake) != 0;
    int socket = target.socket.get(), text_end = text.get(); // -1: it has closed its end
    while (true) {
        if (allowed.over(used)) {
            a.how = worker_exit::timed_out;
            a.stands_still = allowed.stands_still();
            a.parent_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
            return finish(a);
        }
        std::vector<pollfd> wait = {{socket, POLLIN, 0},
                                    {text_end, POLLIN, 0},
                                    {target.process.ended_descriptor(), POLLIN, 0}};
        for (connected_process &d : devices)
            wait.push_back({d.process.ended_descriptor(), POLLIN, 0});
        constexpr int poll_interval = 100; // ms
        poll(wait.data(), wait.size(), std::min<int>(poll_interval, int(limit.count()) + 1));
        if (wait[0].revents & POLLIN) {
            reply r;
            ssize_t got = recv(target.socket.get(), &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);
            auto now = steady::now();
            if (got > 0) {
                // A submission may have written the reply without terminating its texts.
                r.error_name[sizeof r.error_name - 1] = r.text[sizeof r.text - 1] = 0;
                r.refused[sizeof r.refused - 1] = 0;
                bool ours = got == sizeof r && r.magic == protocol_magic && r.what == what.what &&
                            std::equal(r.nonce, r.nonce + 2, what.nonce);
                a.how = ours ? worker_exit::answered : worker_exit::protocol_error;
                a.value = r;
                a.parent_ms = std::chrono::duration<double, std::milli>(now - start).count();
                bool quiet = read_text();
                bool go_on = !ours || !options.ranks || understand_ranks(a);
                if (ours && quiet && go_on) return a;
                if (!quiet) a.how = worker_exit::too_much_output;
                return finish(a);
            }
        }
        if ((wait[1].revents & POLLIN) && !read_text()) {
            a.how = worker_exit::too_much_output;
            return finish(a);
        }
        if (wait[2].revents && target.ended(a)) {
            if (&target != &host) a.how = worker_exit::device_lost;
            return finish(a);
        }
        const bool lost = std::any_of(wait.begin() + 3, wait.end(),
                                      [](const pollfd &d) { return d.revents != 0; });
        if (lost) {
            a.how = worker_exit::device_lost;
            return finish(a);
        }
        if (wait[0].revents && !(wait[0].revents & POLLIN)) socket = -1;
        if (wait[1].revents && !(wait[1].revents & POLLIN)) text_end = -1;
        if (over_limits(a)) return finish(a);
    }
}

// Sends an empty first request. Once it is answered, constructors have run and simulated devices
// know the host code, before any input arrives. A thread started by a constructor would run beside
// all calls: it could do a call's work unseen, or keep the device busy for others.
answer worker::state::await_start(std::chrono::milliseconds limit)
{
    request nothing;
    nothing.what = command::drop;
    answer a = ask(host, nothing, limit);
    if (!succeeded(a)) return a;
    const int threads = used_from(host.process.keeper(), {}).threads;
    if (threads <= 1 || options.starts_threads || options.ranks > 0) return a;
    a.how = worker_exit::started_threads;
    a.status = threads;
    return finish(a);
}

answer worker::state::ask_all(const request &what, std::chrono::milliseconds limit)
{
    printed_bytes = 0;
    if (!std::exchange(has_answered, true))
        if (const answer a = await_start(limit); !succeeded(a)) return a;
    return !devices.empty() ? ask_both(what, limit) : ask(host, what, limit);
}

answer worker::ask(request what, std::chrono::milliseconds limit)
{
    const auto start = steady::now();
    answer a = state_->ask_all(what, limit);
    a.waited_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
    return a;
}

bool worker::started() const { return state_ != nullptr; }
bool worker::alive() const { return state_ && state_->host.process.running(); }
shared_memory &worker::output() const { return *state_->output; }
worker::printed worker::take_text()
{
    return {std::exchange(state_->printed_text, {}), std::exchange(state_->cut, false)};
}

} // namespace grading
