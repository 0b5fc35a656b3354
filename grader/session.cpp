// Starts, speaks to and disposes of worker processes.
//
// Where the machine allows, a worker is confined to a sandbox, whose namespaces its keeper shares.
#include "session.hpp"

#include "process/kept_process.hpp"
#include "process/usage.hpp"
#include "simulator/own_threads.hpp"

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
#include <optional>
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
    // Where the driver is and which devices and cores the grader may use are the machine's
    // business, not the student's.
    for (const char *name :
         {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "SIMULATOR_CORES"})
        if (const char *value = getenv(name)) result.push_back(std::string(name) + "=" + value);
    return result;
}

// The system's libraries, the GPU's devices, its own program, and nothing else of the machine: no
// solution, no grader, no file of anybody's.
sandbox sandbox_of(const worker_options &o, confinement how, const std::string &seen_at)
{
    const bool ranks = o.ranks > 0;
    sandbox s(how,
              {.proc = o.proc, .processes = ranks, .local_sockets = o.proc, .loopback = ranks});
    s.show_system();
    s.show("/sys");
    s.show("/dev/dxg", true);
    std::error_code nothing_there;
    for (const std::filesystem::directory_entry &e :
         std::filesystem::directory_iterator("/dev", nothing_there))
        if (e.path().filename().string().starts_with("nvidia")) s.show(e.path().string(), true);
    std::error_code gone; // then the worker fails to start, and its answer says so
    s.show(std::filesystem::canonical(o.program, gone).string(), seen_at);
    if (ranks) { // with what Open MPI reads besides libraries
        s.show(std::filesystem::canonical(o.mpirun, gone).string(), o.mpirun);
        s.show("/etc/openmpi");
        s.show("/usr/share/openmpi");
    }
    return s;
}

} // namespace

region::region(std::size_t bytes, bool workers_may_write) : size_(bytes)
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

region::~region() { munmap(data_, size_); }

void region::forget(std::size_t from, std::size_t bytes)
{
    std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t first = (from + page - 1) / page * page, last = (from + bytes) / page * page;
    if (last > first) madvise(data_ + first, last - first, MADV_REMOVE);
}

struct worker::state {
    worker_options options;
    const region *input = nullptr;
    std::unique_ptr<region> output;
    owned_fd socket, text;
    kept_process process;
    std::string scratch; // a folder for Open MPI's files, where /tmp is not the worker's own
    std::string said;
    std::size_t said_in_all = 0;
    bool cut = false;

    void start(const region &input);
    void stop();
    bool read_text(); // false: over the limit
    bool ended(answer &a);
    answer finish(answer a);
    ~state()
    {
        stop();
        std::error_code stays; // then it lies in /tmp, where nobody minds
        if (!scratch.empty()) std::filesystem::remove_all(scratch, stays);
    }
};

void worker::state::start(const region &input)
{
    this->input = &input;
    output = std::make_unique<region>(options.output_region, true);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) throw_errno("socketpair");
    socket = owned_fd::high(pair[0]);
    const owned_fd theirs = owned_fd::high(pair[1]);
    pipe_ends printed = make_pipe();

    confinement how = options.sandbox ? available_confinement(options.proc) : confinement::none;
    process_setup setup;
    setup.environment = minimal_environment();
    if (options.ranks && how != confinement::namespaces) {
        how = confinement::none; // Open MPI needs what Landlock takes away
        char folder[] = "/tmp/cuda-workbook-ranks.XXXXXX";
        if (!mkdtemp(folder)) throw_errno("making a folder in /tmp");
        scratch = folder;
        setup.environment->push_back("TMPDIR=" + scratch);
    }
    setup.program = how == confinement::namespaces ? "/worker" : options.program;
    const sandbox within = sandbox_of(options, how, setup.program);
    setup.within = &within;
    setup.arguments = {setup.program};
    if (options.ranks)
        setup.arguments.insert(setup.arguments.end(),
                               {"--ranks", std::to_string(options.ranks), options.mpirun});
    setup.descriptors = {{printed.in.get(), 1},
                         {printed.in.get(), 2},
                         {theirs.get(), socket_fd},
                         {input.descriptor(), input_fd},
                         {output->descriptor(), output_fd}};
    setup.own_status = simulator::own_status_fd;
    // Each call has a limit on the clock on the wall, and the simulator takes every core.
    const std::uint64_t cpu_seconds =
        600 * std::uint64_t{std::max(1u, std::thread::hardware_concurrency())};
    setup.limits = {{RLIMIT_FSIZE, 1 << 30}, {RLIMIT_NOFILE, 1024}, {RLIMIT_CPU, cpu_seconds}};
    process = kept_process(setup);
    text = std::move(printed.out);
    fcntl(text.get(), F_SETFL, O_NONBLOCK);
}

void worker::state::stop()
{
    if (!process.running()) return;
    process.stop();
    read_text();
    socket.close();
}

bool worker::state::read_text()
{
    char chunk[1 << 16];
    ssize_t got;
    while ((got = read(text.get(), chunk, sizeof chunk)) > 0) {
        std::size_t n = static_cast<std::size_t>(got);
        said_in_all += n;
        std::size_t room = options.output_kept - std::min(options.output_kept, said.size());
        said.append(chunk, std::min(n, room));
        cut = cut || n > room;
        if (said_in_all > options.output_limit) return false;
    }
    return true;
}

bool worker::state::ended(answer &a)
{
    const std::optional<process_end> end = process.ended();
    if (!end) return false;
    a.how = end->what == process_end::exited      ? ending::exited
            : end->what == process_end::signalled ? ending::crashed
                                                  : ending::not_started;
    a.status = end->status;
    return true;
}

answer worker::state::finish(answer a)
{
    stop();
    return a;
}

namespace {

// What the leader of several ranks says of one that did not answer, as of a worker alone. Whether
// they all can go on.
bool understand_ranks(answer &a)
{
    a.rank = a.value.rank;
    switch (a.value.status) {
    case reply_status::rank_ended:
        a.how = WIFSIGNALED(a.value.error) ? ending::crashed : ending::exited;
        a.status =
            WIFSIGNALED(a.value.error) ? WTERMSIG(a.value.error) : WEXITSTATUS(a.value.error);
        return false;
    case reply_status::ranks_waiting:
        a.how = ending::timed_out;
        return false;
    case reply_status::disturbed:
        a.how = ending::confused;
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

worker::worker(const worker_options &options, const region &input)
    : state_(std::make_unique<state>())
{
    state_->options = options;
    state_->start(input);
}

answer worker::ask(request what, std::chrono::milliseconds limit)
{
    state &s = *state_;
    answer a;
    if (getrandom(what.nonce, sizeof what.nonce, 0) != sizeof what.nonce) throw_errno("getrandom");
    s.said_in_all = 0;
    auto start = steady::now(), deadline = start + limit;
    what.limit_ms = static_cast<std::uint32_t>(limit.count());
    if (s.options.ranks) deadline += std::chrono::seconds(3); // the leader says which ranks wait
    if (send(s.socket.get(), &what, sizeof what, MSG_NOSIGNAL) < 0) {
        // The worker ended between two requests; its status says how.
        pollfd wait{s.process.ended_descriptor(), POLLIN, 0};
        poll(&wait, 1, 1000);
        if (!s.ended(a)) a.how = ending::confused;
        return s.finish(a);
    }
    int socket = s.socket.get(), text = s.text.get(); // -1: it has closed its end
    while (true) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady::now()).count();
        if (left <= 0) {
            a.how = ending::timed_out;
            a.parent_ms = std::chrono::duration<double, std::milli>(limit).count();
            return s.finish(a);
        }
        pollfd wait[3] = {
            {socket, POLLIN, 0}, {text, POLLIN, 0}, {s.process.ended_descriptor(), POLLIN, 0}};
        int most = static_cast<int>(
            std::min<long long>(left, 100)); // to look at what it takes now and then
        poll(wait, 3, most);
        if (wait[0].revents & POLLIN) {
            reply r;
            ssize_t got = recv(s.socket.get(), &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);
            auto now = steady::now();
            if (got > 0) {
                // A submission may have written it, and left out where its texts end.
                r.error_name[sizeof r.error_name - 1] = r.text[sizeof r.text - 1] = 0;
                bool ours = got == sizeof r && r.magic == protocol_magic && r.what == what.what &&
                            std::equal(r.nonce, r.nonce + 2, what.nonce);
                a.how = ours ? ending::answered : ending::confused;
                a.value = r;
                a.parent_ms = std::chrono::duration<double, std::milli>(now - start).count();
                bool quiet = s.read_text();
                bool go_on = !ours || !s.options.ranks || understand_ranks(a);
                if (ours && quiet && go_on) return a;
                if (!quiet) a.how = ending::flooded;
                return s.finish(a);
            }
        }
        if ((wait[1].revents & POLLIN) && !s.read_text()) {
            a.how = ending::flooded;
            return s.finish(a);
        }
        if (wait[2].revents && s.ended(a)) return s.finish(a);
        if (wait[0].revents && !(wait[0].revents & POLLIN)) socket = -1;
        if (wait[1].revents && !(wait[1].revents & POLLIN)) text = -1;
        const usage now =
            used_from(s.process.keeper(), {s.input->descriptor(), s.output->descriptor()});
        if (now.bytes > s.options.memory_limit || now.threads > s.options.thread_limit) {
            a.how = now.bytes > s.options.memory_limit ? ending::oversized : ending::crowded;
            a.status = now.threads;
            return s.finish(a);
        }
    }
}

bool worker::started() const { return state_ != nullptr; }
bool worker::alive() const { return state_ && state_->process.running(); }
region &worker::output() const { return *state_->output; }
worker::printed worker::take_text()
{
    return {std::exchange(state_->said, {}), std::exchange(state_->cut, false)};
}

} // namespace grading
