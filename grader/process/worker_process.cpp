// Starts worker processes, sends them requests, and ends them.
//
// If the machine allows it, a worker is confined to a sandbox, whose namespaces its keeper shares.
#include "worker_process.hpp"

#include "kept_process.hpp"
#include "thread_count.hpp"
#include "usage.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace grading {

namespace {

using steady = std::chrono::steady_clock;

std::vector<std::string> minimal_environment()
{
    std::vector<std::string> result{"PATH=/usr/bin:/bin", "LC_ALL=C", "CUDA_CACHE_DISABLE=1",
                                    "CUDA_MODULE_LOADING=EAGER"};
    // The machine, not the student, decides where the driver is and which devices and cores the
    // grader may use.
    for (const char *name :
         {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "SIMULATOR_CORES"})
        if (const char *value = getenv(name)) result.push_back(std::string(name) + "=" + value);
    return result;
}

// Shows the system's libraries, the GPU's devices and `program`, and nothing else of the machine:
// no solution, no grader, no user's file.
sandbox sandbox_of(const worker_options &o, confinement how, const std::string &program,
                   const std::string &seen_at)
{
    // It sends a descriptor to the process with the host code.
    const bool simulates = program == o.device;
    const bool ranks = o.ranks > 0;
    sandbox s(how, {.proc = o.proc,
                    .processes = ranks,
                    .local_sockets = o.proc || simulates,
                    .loopback = ranks});
    s.show_system();
    s.show("/sys");
    s.show("/dev/dxg", true);
    std::error_code ignored;
    for (const std::filesystem::directory_entry &e :
         std::filesystem::directory_iterator("/dev", ignored))
        if (e.path().filename().string().starts_with("nvidia")) s.show(e.path().string(), true);
    std::error_code missing; // the worker then fails to start, and its answer says so
    s.show(std::filesystem::canonical(program, missing).string(), seen_at);
    if (ranks) { // Open MPI reads these besides libraries
        s.show(std::filesystem::canonical(o.mpirun, missing).string(), o.mpirun);
        s.show("/etc/openmpi");
        s.show("/usr/share/openmpi");
    }
    return s;
}

} // namespace

shared_memory::shared_memory(std::size_t bytes, bool workers_may_write) : size_(bytes)
{
    memory_ = owned_fd::high(memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) throw_errno("sizing a region");
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
    if (at == MAP_FAILED) throw_errno("mapping a region");
    data_ = static_cast<std::byte *>(at);
    // FUTURE_WRITE leaves our mapping writable and refuses every later one.
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!workers_may_write) seals |= F_SEAL_FUTURE_WRITE;
    if (fcntl(descriptor(), F_ADD_SEALS, seals) != 0) throw_errno("sealing a region");
}

shared_memory::~shared_memory() { munmap(data_, size_); }

void shared_memory::discard(std::size_t from, std::size_t bytes)
{
    std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t first = (from + page - 1) / page * page, last = (from + bytes) / page * page;
    if (last > first) madvise(data_ + first, last - first, MADV_REMOVE);
}

namespace {

// One process of a worker.
struct worker_process {
    owned_fd socket;
    kept_process process;

    bool ended(answer &a)
    {
        const std::optional<process_end> end = process.ended();
        if (!end) return false;
        a.how = end->what == process_end::exited      ? worker_exit::exited
                : end->what == process_end::signalled ? worker_exit::crashed
                                                      : worker_exit::not_started;
        a.status = end->status;
        return true;
    }
};

std::pair<owned_fd, owned_fd> connected(int type)
{
    int pair[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0) throw_errno("socketpair");
    return {owned_fd::high(pair[0]), owned_fd::high(pair[1])};
}

// Copies the image of an argument from one shared memory to the same offset in another.
void copy_image(const argument_descriptor &s, std::uint64_t at, const shared_memory &from,
                const shared_memory &to)
{
    const std::uint64_t bytes = s.bytes + (s.where == argument_memory::value ? 0 : 2 * s.guard);
    std::copy_n(from.data() + at, bytes, to.data() + at);
}

} // namespace

struct worker::state {
    worker_options options;
    const shared_memory *input = nullptr;
    std::unique_ptr<shared_memory> output;
    owned_fd text;
    worker_process host; // runs everything if there are no simulated devices
    // One process with simulated devices per rank; the first rank's holds the arguments. These
    // processes map `input` and `output`; the host code has its own memories, for the arguments
    // that lie on the host.
    std::vector<worker_process> devices;
    std::unique_ptr<shared_memory> host_input, host_output;
    std::map<std::uint32_t, std::vector<argument_descriptor>> sets;
    bool has_answered = false;
    // Asks the devices for their report if the host code crashes.
    std::optional<request> crash_report_request;
    std::string scratch; // folder for Open MPI's files, if /tmp is not the worker's own
    std::string printed_text;
    std::size_t printed_bytes = 0;
    bool cut = false;

    void start(const shared_memory &input);
    void stop();
    bool read_text(); // false: over the limit
    answer ask(worker_process &whom, request what, std::chrono::milliseconds limit);
    answer ask_devices(const request &what, std::chrono::milliseconds limit);
    answer ask_both(const request &what, std::chrono::milliseconds limit);
    answer await_start(std::chrono::milliseconds limit);
    answer ask_all(const request &what, std::chrono::milliseconds limit);
    answer load(request what, std::chrono::milliseconds limit);
    answer run(const request &what, std::chrono::milliseconds limit);
    answer store(const request &what, std::chrono::milliseconds limit);
    bool exhausted(answer &a) const;
    answer finish(answer a);
    ~state()
    {
        stop();
        std::error_code ignored; // a folder left in /tmp does no harm
        if (!scratch.empty()) std::filesystem::remove_all(scratch, ignored);
    }
};

void worker::state::start(const shared_memory &input)
{
    this->input = &input;
    output = std::make_unique<shared_memory>(options.output_bytes, true);
    pipe_ends printed = make_pipe();

    confinement how = options.sandbox ? available_confinement(options.proc) : confinement::none;
    std::vector<std::string> environment = minimal_environment();
    if (options.ranks && how != confinement::namespaces) {
        how = confinement::none; // Open MPI needs what Landlock forbids
        char folder[] = "/tmp/cuda-workbook-ranks.XXXXXX";
        if (!mkdtemp(folder)) throw_errno("making a folder in /tmp");
        scratch = folder;
        environment.push_back("TMPDIR=" + scratch);
    }
    if (options.devices > 1)
        environment.push_back("SIMULATOR_DEVICES=" + std::to_string(options.devices));
    // CPU limit. Each call has a limit in wall-clock time, and the simulator uses every core.
    const std::uint64_t cpu_seconds =
        600 * std::uint64_t{std::max(1u, std::thread::hardware_concurrency())};

    auto begin = [&](worker_process &p, const std::string &program, const shared_memory &in,
                     const shared_memory &out, const std::vector<owned_fd> &others) {
        auto [ours, theirs] = connected(SOCK_SEQPACKET);
        process_setup setup;
        setup.environment = environment;
        setup.program = how == confinement::namespaces ? "/worker" : program;
        const sandbox within = sandbox_of(options, how, program, setup.program);
        setup.within = &within;
        setup.arguments = {setup.program};
        if (options.ranks && &p == &host)
            setup.arguments.insert(setup.arguments.end(),
                                   {"--ranks", std::to_string(options.ranks), options.mpirun});
        setup.descriptors = {{printed.in.get(), 1},
                             {printed.in.get(), 2},
                             {theirs.get(), socket_fd},
                             {in.descriptor(), input_fd},
                             {out.descriptor(), output_fd}};
        for (std::size_t k = 0; k < others.size(); ++k)
            setup.descriptors.push_back({others[k].get(), device_fd + static_cast<int>(k)});
        setup.own_status = simulator::own_status_fd;
        setup.limits = {{RLIMIT_NOFILE, 1024}, {RLIMIT_CPU, cpu_seconds}};
        if (&p == &host) setup.limits.push_back({RLIMIT_FSIZE, 1 << 30});
        p.process = kept_process(setup);
        p.socket = std::move(ours);
    };
    if (options.device.empty()) {
        begin(host, options.program, input, *output, {});
    } else {
        host_input = std::make_unique<shared_memory>(input.size(), false);
        host_output = std::make_unique<shared_memory>(options.output_bytes, true);
        std::vector<owned_fd> to_devices;
        for (int k = 0; k < std::max(1, options.ranks); ++k) {
            auto [to_device, to_host] = connected(SOCK_STREAM);
            std::vector<owned_fd> one;
            one.push_back(std::move(to_host));
            begin(devices.emplace_back(), options.device, input, *output, one);
            to_devices.push_back(std::move(to_device));
        }
        begin(host, options.program, *host_input, *host_output, to_devices);
    }
    text = std::move(printed.out);
    fcntl(text.get(), F_SETFL, O_NONBLOCK);
}

void worker::state::stop()
{
    if (!host.process.running()) return;
    host.process.stop();
    for (worker_process &d : devices) d.process.stop();
    read_text();
    host.socket.close();
    for (worker_process &d : devices) d.socket.close();
}

bool worker::state::read_text()
{
    char chunk[1 << 16];
    ssize_t got;
    while ((got = read(text.get(), chunk, sizeof chunk)) > 0) {
        std::size_t n = static_cast<std::size_t>(got);
        printed_bytes += n;
        std::size_t room = options.output_kept - std::min(options.output_kept, printed_text.size());
        printed_text.append(chunk, std::min(n, room));
        cut = cut || n > room;
        if (printed_bytes > options.output_limit) return false;
    }
    return true;
}

answer worker::state::finish(answer a)
{
    // If the devices ended first, the host code could not go on.
    const bool lost =
        a.how == worker_exit::exited && a.status == simulator::remote::status_without_device;
    for (worker_process &d : devices) {
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

bool worker::state::exhausted(answer &a) const
{
    const shared_memory &in = host_input ? *host_input : *input;
    const shared_memory &out = host_output ? *host_output : *output;
    usage now = used_from(host.process.keeper(), {in.descriptor(), out.descriptor()});
    std::size_t of_devices = 0;
    for (const worker_process &d : devices)
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
    case reply_status::disturbed:
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

worker::worker(const worker_options &options, const shared_memory &input)
    : state_(std::make_unique<state>())
{
    state_->options = options;
    state_->start(input);
}

// Time limit of a request. It is wall-clock time, except where devices are simulated. There it is
// core time of the host code, or standstill of all processes: kernels have a limit of their own,
// and a busy machine is not the submission's fault.
class request_limit {
public:
    request_limit(std::chrono::milliseconds limit, bool by_cores)
        : limit_(limit), by_cores_(by_cores)
    {
    }

    // `used` returns the core seconds of the host code, and of host code and devices; it is called
    // only now and then.
    template <class F> bool over(F used)
    {
        const auto now = steady::now();
        if (!by_cores_) return now - start_ >= limit_;
        if (now - start_ < at_first_) return false;
        const auto [host, all] = used();
        if (host_before_ < 0) host_before_ = host;
        if (all > all_before_ + min_progress) all_before_ = all, moved_ = now;
        const std::chrono::duration<double> of_core(host - host_before_);
        stands_still_ = now - start_ >= limit_ && now - moved_ >= standstill;
        return stands_still_ || of_core >= limit_ - at_first_ || now - start_ >= patience * limit_;
    }
    // True if none of its processes has been at work for some time.
    bool stands_still() const { return stands_still_; }

private:
    static constexpr double min_progress = 0.05; // core seconds that count as work
    static constexpr std::chrono::seconds standstill{2};
    static constexpr int patience = 6;

    std::chrono::milliseconds limit_;
    bool by_cores_, stands_still_ = false;
    std::chrono::milliseconds at_first_ = std::min(limit_, std::chrono::milliseconds(1000));
    steady::time_point start_ = steady::now(), moved_ = start_;
    double host_before_ = -1, all_before_ = 0;
};

answer worker::state::ask(worker_process &whom, request what, std::chrono::milliseconds limit)
{
    answer a;
    if (getrandom(what.nonce, sizeof what.nonce, 0) != sizeof what.nonce) throw_errno("getrandom");
    const auto start = steady::now();
    what.limit_ms = static_cast<std::uint32_t>(limit.count());
    if (options.ranks) limit += std::chrono::seconds(3); // the leader reports which ranks wait
    request_limit allowed(limit, &whom == &host && !devices.empty() && !options.ranks);
    auto used = [&] {
        const double by_host = used_from(host.process.keeper(), {}).cpu_seconds;
        double by_all = by_host;
        for (const worker_process &d : devices)
            by_all += used_from(d.process.keeper(), {}).cpu_seconds;
        return std::pair(by_host, by_all);
    };
    if (send(whom.socket.get(), &what, sizeof what, MSG_NOSIGNAL) < 0) {
        // The process ended between two requests; its status says how.
        pollfd wait{whom.process.ended_descriptor(), POLLIN, 0};
        poll(&wait, 1, 1000);
        if (!whom.ended(a)) a.how = worker_exit::protocol_error;
        if (&whom != &host) a.how = worker_exit::device_lost;
        return finish(a);
    }
    int socket = whom.socket.get(), text_end = text.get(); // -1: it has closed its end
    while (true) {
        if (allowed.over(used)) {
            a.how = worker_exit::timed_out;
            a.stands_still = allowed.stands_still();
            a.parent_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
            return finish(a);
        }
        std::vector<pollfd> wait = {{socket, POLLIN, 0},
                                    {text_end, POLLIN, 0},
                                    {whom.process.ended_descriptor(), POLLIN, 0}};
        for (worker_process &d : devices) wait.push_back({d.process.ended_descriptor(), POLLIN, 0});
        constexpr int poll_interval = 100; // ms
        poll(wait.data(), wait.size(), std::min<int>(poll_interval, int(limit.count()) + 1));
        if (wait[0].revents & POLLIN) {
            reply r;
            ssize_t got = recv(whom.socket.get(), &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);
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
        if (wait[2].revents && whom.ended(a)) {
            if (&whom != &host) a.how = worker_exit::device_lost;
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
        if (exhausted(a)) return finish(a);
    }
}

namespace {

bool succeeded(const answer &a)
{
    return a.how == worker_exit::answered && a.value.status == reply_status::done;
}

} // namespace

// Sends device arguments to the devices, through our own shared memory. The host code gets only
// the arguments that lie on the host, and the addresses of the others. It answers alone if only
// the size of scratch is asked for.
answer worker::state::load(request what, std::chrono::milliseconds limit)
{
    const std::span<const argument_descriptor> arguments(what.arguments, what.argument_count);
    for (const argument_descriptor &s : arguments)
        if (with_host_code(s.where) && s.where != argument_memory::absent)
            copy_image(s, s.input, *input, *host_input);
    if (what.what == command::scratch) return ask(host, what, limit);
    if (std::any_of(arguments.begin(), arguments.end(),
                    [](const argument_descriptor &s) { return s.scratch; })) {
        request scratch = what;
        scratch.what = command::scratch;
        const answer a = ask(host, scratch, limit);
        if (!succeeded(a)) return a;
        what.scratch_bytes = a.value.bytes;
    }
    answer of_device = ask_devices(what, limit);
    if (!succeeded(of_device)) return of_device;
    std::ranges::copy(of_device.value.buffers, what.buffers);
    sets[what.set].assign(arguments.begin(), arguments.end());
    answer a = ask(host, what, limit);
    a.value.bytes = what.scratch_bytes;
    return a;
}

// Asks all device processes. Returns the first rank's answer, or that of the first rank with a
// failure. Only the first rank has arguments.
answer worker::state::ask_devices(const request &what, std::chrono::milliseconds limit)
{
    answer result;
    for (std::size_t k = devices.size(); k-- > 0;) {
        request one = what;
        if (k > 0)
            for (argument_descriptor &s : std::span(one.arguments, one.argument_count))
                s.where = argument_memory::absent, s.scratch = 0;
        if (what.what == command::report) one.offset += k * what.bytes;
        answer a = ask(devices[k], one, limit);
        if (a.how != worker_exit::answered) return a;
        if (devices.size() > 1) a.rank = static_cast<int>(k);
        const bool last = k + 1 == devices.size();
        if (last || !succeeded(a) || succeeded(result)) result = a;
    }
    return result;
}

answer worker::state::run(const request &what, std::chrono::milliseconds limit)
{
    request part = what;
    part.what = command::begin;
    const answer begun = ask_devices(part, limit);
    if (!succeeded(begun)) return begun;
    if (what.bytes > 0 && devices.size() == 1) {
        crash_report_request = what;
        crash_report_request->what = command::report;
    }
    answer a = ask(host, what, limit);
    crash_report_request.reset();
    if (a.how != worker_exit::answered) return a;
    part.what = command::end;
    answer ended = ask_devices(part, limit);
    if (ended.how != worker_exit::answered) return ended;
    if (!succeeded(ended) && ended.value.status != reply_status::cuda_error) {
        stop();
        return ended;
    }
    std::ranges::copy(begun.value.refused, a.value.refused);
    // An error of the host's last call is explained by the kernel's fault.
    const bool fault = ended.value.status == reply_status::cuda_error;
    if (!fault || a.value.status == reply_status::exception) return a;
    a.value.status = ended.value.status;
    a.value.error = ended.value.error;
    a.value.step = ended.value.step;
    std::ranges::copy(ended.value.error_name, a.value.error_name);
    std::ranges::copy(ended.value.text, a.value.text);
    a.value.rank = a.rank = ended.rank;
    return a;
}

answer worker::state::store(const request &what, std::chrono::milliseconds limit)
{
    const answer of_device = ask(devices[0], what, limit);
    if (!succeeded(of_device)) return of_device;
    answer a = ask(host, what, limit);
    if (!succeeded(a)) return a;
    for (const argument_descriptor &s : sets[what.set])
        if (with_host_code(s.where) && s.where != argument_memory::value &&
            s.where != argument_memory::absent && !((what.flags & writable_only) && s.read_only))
            copy_image(s, s.output_at, *host_output, *output);
    a.value.changed_late = std::max(a.value.changed_late, of_device.value.changed_late);
    std::ranges::copy(of_device.value.refused, a.value.refused);
    return a;
}

answer worker::state::ask_both(const request &what, std::chrono::milliseconds limit)
{
    switch (what.what) {
    case command::load:
    case command::scratch:
        return load(what, limit);
    case command::run:
        return run(what, limit);
    case command::store:
        return store(what, limit);
    case command::patch: {
        const auto at = sets.find(what.set);
        const bool of_host = at != sets.end() && what.index < at->second.size() &&
                             with_host_code(at->second[what.index].where);
        if (!of_host) return ask(devices[0], what, limit);
        std::copy_n(input->data() + what.offset, what.bytes, host_input->data() + what.offset);
        return ask(host, what, limit);
    }
    case command::drop: {
        sets.erase(what.set);
        const answer a = ask(host, what, limit);
        return succeeded(a) ? ask_devices(what, limit) : a;
    }
    case command::try_sandbox:
        std::copy_n(input->data() + what.offset, what.bytes, host_input->data() + what.offset);
        return ask(host, what, limit);
    case command::report:
        return ask_devices(what, limit);
    default:
        return ask(devices[0], what, limit);
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
