// Starts, speaks to and disposes of worker processes.
//
// A worker has a keeper: a process of ours between it and the parent. The keeper reports how the
// worker ended and takes everything the worker left behind with it. Where the machine allows, the
// worker is confined to a sandbox, whose namespaces the keeper shares.
#include "session.hpp"

#include "simulator/own_threads.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace grading {

namespace {

using steady = std::chrono::steady_clock;

[[noreturn]] void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

// Owns a file descriptor. Descriptors below 100 are moved up, so that placing the worker's own at 0
// to 5 cannot overwrite one that is still to be placed.
class owned_fd {
public:
    owned_fd() = default;
    explicit owned_fd(int fd) : fd_(fd) {}
    owned_fd(owned_fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    owned_fd &operator=(owned_fd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~owned_fd() { close(); }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    void close()
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    static owned_fd high(int fd)
    {
        if (fd < 0) fail("opening a descriptor");
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        ::close(fd);
        if (moved < 0) fail("moving a descriptor");
        return owned_fd(moved);
    }

private:
    int fd_ = -1;
};

namespace {

std::pair<owned_fd, owned_fd> make_pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    return {owned_fd::high(ends[0]), owned_fd::high(ends[1])};
}

// Everything the child needs, made before it exists: between clone and exec only system calls are
// safe.
struct plan {
    const char *program;
    std::vector<char *> arguments; // with the null at the end
    rlim_t cpu_seconds;            // of its whole life
    int socket, input, output, text, status, null;
    const sandbox *within;
    std::vector<std::string> environment;
    std::vector<char *> environment_pointers;
};

constexpr int never_began = -1; // in place of a status
constexpr int report_fd = simulator::own_status_fd + 1;

[[noreturn]] void give_up(int status_pipe)
{
    if (write(status_pipe, &never_began, sizeof never_began) < 0) _exit(125);
    _exit(126);
}

[[noreturn]] void become_worker(const plan &p)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(p.null, 0);
    dup2(p.text, 1);
    dup2(p.text, 2);
    dup2(p.socket, socket_fd);
    dup2(p.input, input_fd);
    dup2(p.output, output_fd);
    const int own_status = p.within->open_own_status();
    if (own_status < 0 || dup2(own_status, simulator::own_status_fd) < 0) give_up(p.status);
    // Before the rest is closed: it needs the descriptor of Landlock's rules.
    if (!p.within->confine()) give_up(p.status);
    if (dup3(p.status, report_fd, O_CLOEXEC) < 0) give_up(p.status);
    syscall(SYS_close_range, report_fd + 1, ~0U, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, rlim_t{1} << 30);
    limit(RLIMIT_NOFILE, 1024);
    limit(RLIMIT_CPU, p.cpu_seconds);
    execve(p.program, p.arguments.data(), p.environment_pointers.data());
    give_up(report_fd);
}

[[noreturn]] void become_keeper(const plan &p)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!p.within->enter()) give_up(p.status);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // entering may have cleared it
    pid_t child =
        static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) become_worker(p);
    if (child < 0) give_up(p.status);
    dup2(p.status, 3);
    syscall(SYS_close_range, 4, ~0U, 0);
    ::close(0), ::close(1), ::close(2);
    int status = 0;
    while (true) {
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == child) break;
        if (ended < 0 && errno != EINTR) _exit(125);
    }
    kill_descendants();
    if (write(3, &status, sizeof status) != sizeof status) _exit(125);
    _exit(0); // in a PID namespace this ends everything in it
}

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

std::size_t held_by(const struct stat &s) { return static_cast<std::size_t>(s.st_blocks) * 512; }

// What processes hold, and how many threads they are. Files of memory that are open hold theirs,
// mapped or not; each counts once.
struct held_memory {
    std::size_t anonymous = 0, shared = 0; // bytes that are mapped; shared ones once a process
    int threads = 0;
    std::map<std::pair<dev_t, ino_t>, std::size_t> files;

    std::size_t bytes() const
    {
        std::size_t open = 0;
        for (const auto &[file, size] : files) open += size;
        return anonymous + std::max(shared, open);
    }
};

// But for the regions' pages.
void add_mapped(pid_t pid, std::size_t given, held_memory &to)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    std::size_t shared = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("RssAnon:")) to.anonymous += std::stoull(line.substr(8)) << 10;
        if (line.starts_with("VmPTE:")) to.anonymous += std::stoull(line.substr(6)) << 10;
        if (line.starts_with("RssShmem:")) shared = std::stoull(line.substr(9)) << 10;
        if (line.starts_with("Threads:")) to.threads += std::stoi(line.substr(8));
    }
    to.shared += shared - std::min(shared, given);
}

void add_open_files(pid_t pid, held_memory &to)
{
    std::error_code gone; // the process, or the descriptor
    for (std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", gone), end;
         !gone && at != end; at.increment(gone)) {
        std::error_code closed;
        std::string name = std::filesystem::read_symlink(at->path(), closed).string();
        struct stat s {};
        if (name.starts_with("/memfd:") && stat(at->path().c_str(), &s) == 0)
            to.files[{s.st_dev, s.st_ino}] = held_by(s);
    }
}

// Of all its threads.
std::vector<pid_t> children_of(pid_t pid)
{
    std::vector<pid_t> result;
    std::error_code gone; // the process, or a thread
    for (std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/task", gone),
         end;
         !gone && at != end; at.increment(gone)) {
        std::ifstream file(at->path() / "children");
        result.insert(result.end(), std::istream_iterator<pid_t>(file), {});
    }
    return result;
}

void add_below(pid_t pid, std::size_t given, held_memory &to)
{
    for (pid_t child : children_of(pid)) {
        add_mapped(child, given, to);
        add_open_files(child, to);
        add_below(child, given, to);
    }
}

// Whether a process was only forked until now and has not become a program of its own.
bool only_forked(pid_t pid)
{
    constexpr unsigned long forked_without_exec = 0x40; // PF_FORKNOEXEC, of the kernel's sched.h
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0'); // all of it, or nothing where the process ends meanwhile
    std::istringstream after_name(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string state;
    long ignored;
    unsigned long flags = 0;
    after_name >> state;
    for (int field = 4; field < 9; ++field) after_name >> ignored;
    after_name >> flags;
    return (flags & forked_without_exec) != 0;
}

} // namespace

usage used_from(pid_t keeper, std::initializer_list<const region *> regions)
{
    // The worker is the oldest: what it leaves behind is handed to the keeper after it. Until its
    // execve it shares this process's pages, and nothing of a submission's runs.
    const std::vector<pid_t> children = children_of(keeper);
    if (children.empty() || only_forked(children[0])) return {};
    std::size_t given = 0;
    std::vector<struct stat> stats(regions.size());
    auto next = stats.begin();
    for (const region *r : regions)
        if (fstat(r->descriptor(), &*next) == 0) given += held_by(*next++);
    held_memory held;
    add_below(keeper, given, held);
    for (auto s = stats.begin(); s != next; ++s) held.files.erase({s->st_dev, s->st_ino});
    return {held.bytes(), held.threads};
}

region::region(std::size_t bytes, bool workers_may_write) : size_(bytes)
{
    owned_fd memory = owned_fd::high(memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) fail("sizing a region");
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    if (at == MAP_FAILED) fail("mapping a region");
    data_ = static_cast<std::byte *>(at);
    // FUTURE_WRITE leaves our mapping writable and refuses every later one.
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!workers_may_write) seals |= F_SEAL_FUTURE_WRITE;
    if (fcntl(memory.get(), F_ADD_SEALS, seals) != 0) fail("sealing a region");
    descriptor_ = memory.release();
}

region::~region()
{
    munmap(data_, size_);
    ::close(descriptor_);
}

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
    owned_fd socket, text, status, pidfd;
    pid_t keeper = -1;
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
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair");
    socket = owned_fd::high(pair[0]);
    owned_fd theirs = owned_fd::high(pair[1]);
    auto [text_in, text_out] = make_pipe();
    auto [status_in, status_out] = make_pipe();
    owned_fd null = owned_fd::high(open("/dev/null", O_RDONLY | O_CLOEXEC));

    plan p{};
    confinement how = options.sandbox ? available_confinement(options.proc) : confinement::none;
    if (options.ranks && how != confinement::namespaces) {
        how = confinement::none; // Open MPI needs what Landlock takes away
        char folder[] = "/tmp/cuda-workbook-ranks.XXXXXX";
        if (!mkdtemp(folder)) fail("making a folder in /tmp");
        scratch = folder;
    }
    const std::string program = how == confinement::namespaces ? "/worker" : options.program;
    const sandbox within = sandbox_of(options, how, program);
    p.within = &within;
    p.program = program.c_str();
    std::vector<std::string> arguments{p.program};
    if (options.ranks)
        arguments.insert(arguments.end(),
                         {"--ranks", std::to_string(options.ranks), options.mpirun});
    for (std::string &a : arguments) p.arguments.push_back(a.data());
    p.arguments.push_back(nullptr);
    // Each call has a limit on the clock on the wall, and the simulator takes every core.
    p.cpu_seconds = 600 * rlim_t{std::max(1u, std::thread::hardware_concurrency())};
    p.socket = theirs.get();
    p.input = input.descriptor();
    p.output = output->descriptor();
    p.text = text_out.get();
    p.status = status_out.get();
    p.null = null.get();
    p.environment = minimal_environment();
    if (!scratch.empty()) p.environment.push_back("TMPDIR=" + scratch);
    for (std::string &e : p.environment) p.environment_pointers.push_back(e.data());
    p.environment_pointers.push_back(nullptr);

    int fd = -1;
    keeper = within.start(fd);
    if (keeper == 0) become_keeper(p);
    if (keeper < 0) fail("starting a worker");
    pidfd = owned_fd::high(fd);
    text = std::move(text_in);
    status = std::move(status_in);
    fcntl(text.get(), F_SETFL, O_NONBLOCK);
    fcntl(status.get(), F_SETFL, O_NONBLOCK);
}

void worker::state::stop()
{
    if (keeper < 0) return;
    // The keeper must live to collect what the worker left: end the worker first.
    for (pid_t child : children_of(keeper)) kill(child, SIGKILL);
    pollfd wait{pidfd.get(), POLLIN, 0};
    if (poll(&wait, 1, 2000) <= 0) kill(keeper, SIGKILL);
    while (waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
    }
    keeper = -1;
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

// Whether the worker has ended; then how, from the status that the keeper passed on.
bool worker::state::ended(answer &a)
{
    int how = 0;
    ssize_t got = read(status.get(), &how, sizeof how);
    if (got < 0 && errno == EAGAIN) return false;
    if (got != sizeof how) { // the keeper itself was killed
        a.how = ending::crashed;
        a.status = SIGKILL;
    } else if (how == never_began) {
        a.how = ending::not_started;
    } else if (WIFSIGNALED(how)) {
        a.how = ending::crashed;
        a.status = WTERMSIG(how);
    } else {
        a.how = ending::exited;
        a.status = WEXITSTATUS(how);
    }
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
    if (getrandom(what.nonce, sizeof what.nonce, 0) != sizeof what.nonce) fail("getrandom");
    s.said_in_all = 0;
    auto start = steady::now(), deadline = start + limit;
    what.limit_ms = static_cast<std::uint32_t>(limit.count());
    if (s.options.ranks) deadline += std::chrono::seconds(3); // the leader says which ranks wait
    if (send(s.socket.get(), &what, sizeof what, MSG_NOSIGNAL) < 0) {
        // The worker ended between two requests; its status says how.
        pollfd wait{s.status.get(), POLLIN, 0};
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
        pollfd wait[3] = {{socket, POLLIN, 0}, {text, POLLIN, 0}, {s.status.get(), POLLIN, 0}};
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
        const usage now = used_from(s.keeper, {s.input, s.output.get()});
        if (now.bytes > s.options.memory_limit || now.threads > s.options.thread_limit) {
            a.how = now.bytes > s.options.memory_limit ? ending::oversized : ending::crowded;
            a.status = now.threads;
            return s.finish(a);
        }
    }
}

bool worker::started() const { return state_ != nullptr; }
bool worker::alive() const { return state_ && state_->keeper > 0; }
region &worker::output() const { return *state_->output; }
worker::printed worker::take_text()
{
    return {std::exchange(state_->said, {}), std::exchange(state_->cut, false)};
}

} // namespace grading
