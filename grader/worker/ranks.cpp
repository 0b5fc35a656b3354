// The leader of an Open MPI job, and the keepers of its ranks.
//
// Between leader and keeper stands one SOCK_SEQPACKET connection, which the rank inherits: it
// carries requests and replies as in protocol.hpp, and once `rank_end`.
#include "grader/worker/ranks.hpp"

#include "grader/protocol.hpp"
#include "grader/simulator/harness.h"

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <mpi-ext.h> // after mpi.h, which it needs

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace grading {

namespace {

using steady = std::chrono::steady_clock;

struct rank_hello {
    std::uint32_t magic = protocol_magic;
    std::int32_t rank = 0;
};

// How a rank ended: as waitpid says, or by what MPI called an error.
struct rank_end {
    std::uint32_t magic = protocol_magic;
    std::int32_t status = 0;
    char text[256] = {};
};

constexpr std::size_t longest_line = 4096;

int connection_to(const char *address)
{
    sockaddr_un at{};
    at.sun_family = AF_UNIX; // an abstract name: it starts with a zero byte
    std::strncpy(at.sun_path + 1, address, sizeof at.sun_path - 2);
    auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + strlen(address));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return connect(fd, reinterpret_cast<sockaddr *>(&at), length) == 0 ? fd : -1;
}

// Sends one byte and `fds`.
bool send_descriptors(int to, const std::vector<int> &fds)
{
    char byte = 0;
    alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
    iovec data{&byte, 1};
    msghdr m{};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room;
    m.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
    return sendmsg(to, &m, MSG_NOSIGNAL) == 1;
}

std::vector<int> receive_descriptors(int from, std::size_t count)
{
    char byte;
    alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
    iovec data{&byte, 1};
    msghdr m{};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    std::vector<int> fds(count, -1);
    if (recvmsg(from, &m, 0) != 1) return {};
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_len != CMSG_LEN(count * sizeof(int))) return {};
    std::memcpy(fds.data(), CMSG_DATA(c), count * sizeof(int));
    return fds;
}

// One rank as the leader sees it.
struct member {
    int connection = -1, text = -1, text_end = -1;
    std::string said; // not yet passed on: the beginning of a line
    bool joined = false, answered = false;
    reply answer;
};

class leader {
public:
    leader(int ranks, const char *mpirun) : ranks_(static_cast<std::size_t>(ranks))
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX; // without a name: the system makes an abstract one
        socklen_t length = sizeof at;
        listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (bind(listener_, reinterpret_cast<sockaddr *>(&at), sizeof(sa_family_t)) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr *>(&at), &length) != 0 ||
            listen(listener_, ranks) != 0)
            return;
        std::string address(at.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
        for (member &r : ranks_) open_pipe(r.text, r.text_end);
        launch(mpirun, address);
    }

    reply handle(request what)
    {
        deadline_ = steady::now() + std::chrono::milliseconds(what.limit_ms);
        result_ = reply{};
        result_.what = what.what;
        std::copy(what.nonce, what.nonce + 2, result_.nonce);
        for (member &r : ranks_) r.answered = false;
        if (!gather([&] { return joined_ == ranks_.size(); })) return told();
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            request his = what;
            if (k > 0)
                for (std::uint32_t i = 0;
                     i < std::min<std::uint32_t>(his.argument_count, max_arguments); ++i)
                    if (his.arguments[i].where != argument_memory::value) {
                        his.arguments[i].where = argument_memory::absent;
                        his.arguments[i].scratch = 0;
                    }
            send(ranks_[k].connection, &his, sizeof his, MSG_NOSIGNAL);
        }
        auto all = [&] {
            return std::all_of(ranks_.begin(), ranks_.end(),
                               [](const member &r) { return r.answered; });
        };
        if (!gather(all)) return told();
        result_ = ranks_[0].answer;
        for (std::size_t k = ranks_.size(); k-- > 0;)
            if (ranks_[k].answer.status != reply_status::done) {
                result_ = ranks_[k].answer;
                result_.rank = static_cast<std::int32_t>(k);
            }
        for (std::size_t k = 0; k < ranks_.size(); ++k)
            result_.of_rank[k] = {ranks_[k].answer.result[0],
                                  ranks_[k].answer.of_rank[0].sent_bytes};
        return told();
    }

private:
    static void open_pipe(int &from, int &to)
    {
        int ends[2] = {-1, -1};
        if (pipe2(ends, O_CLOEXEC) == 0) fcntl(ends[0], F_SETFL, O_NONBLOCK);
        from = ends[0], to = ends[1];
    }

    void launch(const char *mpirun, const std::string &address)
    {
        int end;
        open_pipe(own_text_, end);
        std::string count = std::to_string(ranks_.size());
        char program[4096] = {};
        if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) _exit(126);
        const char *arguments[] = {mpirun, "-n",    count.c_str(), "--oversubscribe", "--bind-to",
                                   "none", program, "--rank",      address.c_str(),   nullptr};
        const char *folder = getenv("TMPDIR"); // else the ranks' own file system
        // One machine, and no network but what never leaves it; more ranks than cores take turns.
        const char *settings[][2] = {
            {"OMPI_MCA_plm", "isolated"},
            {"OMPI_MCA_pml", "ob1"},
            {"OMPI_MCA_btl", "self,vader"},
            {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
            {"OMPI_MCA_btl_vader_backing_directory", folder ? folder : "/dev/shm"},
            {"OMPI_MCA_mpi_yield_when_idle", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"HOME", "/nonexistent"}}; // nobody's settings; without any home it crashes
        for (auto &[name, value] : settings) setenv(name, value, 1);
        mpirun_ = fork();
        if (mpirun_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(end, 1), dup2(end, 2);
            syscall(SYS_close_range, 3, ~0U, 0);
            execv(mpirun, const_cast<char **>(arguments));
            _exit(127);
        }
        close(end);
        ended_ = static_cast<int>(syscall(SYS_pidfd_open, mpirun_, 0));
    }

    // Takes what ranks send until `enough`. False: one ended, or time is over; the result says so.
    template <class F> bool gather(F enough)
    {
        while (!enough()) {
            auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady::now()).count();
            if (left <= 0) return conclude();
            std::vector<pollfd> wait{
                {listener_, POLLIN, 0}, {own_text_, POLLIN, 0}, {ended_, POLLIN, 0}};
            for (const member &r : ranks_) {
                wait.push_back({r.connection, POLLIN, 0});
                wait.push_back({r.text, POLLIN, 0});
            }
            poll(wait.data(), wait.size(), static_cast<int>(left));
            pass_on_text();
            for (std::size_t k = 0; k < ranks_.size(); ++k)
                if (wait[3 + 2 * k].revents && !take_message(k)) return conclude();
            if (wait[0].revents) join();
            if (wait[2].revents) { // with mpirun ended, what the ranks still say is soon said
                ended_ = -1;
                waitpid(mpirun_, &mpirun_status_, 0);
                hurry();
            }
        }
        return true;
    }

    // Where one never called only mpirun knows why, and it says so when it has ended the others.
    void hurry()
    {
        int seconds = joined_ < ranks_.size() && ended_ >= 0 ? 3 : 1;
        deadline_ = std::min(deadline_, steady::now() + std::chrono::seconds(seconds));
    }

    // A keeper calls for the first time.
    void join()
    {
        int c = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        ucred who{};
        socklen_t length = sizeof who;
        rank_hello h;
        bool right = getsockopt(c, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
                     who.uid == getuid() && recv(c, &h, sizeof h, 0) == sizeof h &&
                     h.magic == protocol_magic && h.rank >= 0 &&
                     static_cast<std::size_t>(h.rank) < ranks_.size();
        member *r = right ? &ranks_[static_cast<std::size_t>(h.rank)] : nullptr;
        std::vector<int> his = {input_fd, output_fd, r ? r->text_end : -1};
        if (simulator_is_elsewhere) his.push_back(device_fd + h.rank);
        if (!r || r->connection >= 0 || !send_descriptors(c, his)) {
            close(c);
            return;
        }
        close(r->text_end);
        r->connection = c;
        r->joined = true;
        ++joined_;
    }

    // False: nothing more is worth waiting for.
    bool take_message(std::size_t k)
    {
        member &r = ranks_[k];
        std::byte m[sizeof(reply)];
        ssize_t got = recv(r.connection, m, sizeof m, MSG_DONTWAIT | MSG_TRUNC);
        if (got < 0 && errno == EAGAIN) return true;
        if (got == sizeof(reply)) {
            disturbed_ = r.answered ? static_cast<int>(k) : -1;
            std::memcpy(&r.answer, m, sizeof(reply));
            bool ours = r.answer.magic == protocol_magic && r.answer.what == result_.what &&
                        std::equal(r.answer.nonce, r.answer.nonce + 2, result_.nonce);
            if (!ours) disturbed_ = static_cast<int>(k);
            r.answered = true;
            return disturbed_ < 0;
        }
        rank_end end;
        if (got == sizeof end) std::memcpy(&end, m, sizeof end);
        bool lost = WIFEXITED(end.status) && WEXITSTATUS(end.status) == without_leader;
        if (got > 0 && (got != sizeof end || end.magic != protocol_magic || lost)) {
            disturbed_ = static_cast<int>(k);
            return false;
        }
        if (got <= 0) end.status = SIGKILL; // its keeper is gone as well
        close(r.connection);
        r.connection = -1;
        // When one has ended mpirun ends the others: that is not what went wrong.
        bool killed = !end.text[0] && WIFSIGNALED(end.status) &&
                      (WTERMSIG(end.status) == SIGTERM || WTERMSIG(end.status) == SIGKILL);
        if (first_ended_ < 0 || !killed) {
            first_ended_ = static_cast<int>(k);
            end_ = end;
            of_itself_ = !killed;
        }
        if (killed) hurry();
        return killed;
    }

    // Why a request has no answer. Returns false.
    bool conclude()
    {
        result_.rank = std::max(disturbed_, first_ended_);
        if (disturbed_ >= 0) {
            result_.status = reply_status::disturbed;
        } else if (joined_ < ranks_.size() && heard_of_rank()) {
            result_.status = reply_status::rank_ended;
        } else if (first_ended_ >= 0) {
            result_.status = reply_status::rank_ended;
            result_.error = end_.status;
            std::memcpy(result_.text, end_.text, sizeof result_.text);
        } else if (joined_ == 0) {
            result_.status = reply_status::no_ranks;
            std::strncpy(result_.text, own_said_.c_str(), sizeof result_.text - 1);
        } else {
            result_.status = reply_status::ranks_waiting;
            for (std::size_t k = 0; k < ranks_.size(); ++k)
                if (!ranks_[k].answered) result_.waiting |= 1u << k;
        }
        return false;
    }

    // Whether one ended that has never called, which is what a submission may do before main: from
    // what mpirun says, or because all is well for it. It does not always name the rank; then its
    // own status is that of the first one that failed.
    bool heard_of_rank()
    {
        static const std::regex signalled(
            R"(process rank (\d{1,3}) with PID [^\n]* signal (\d{1,3}))");
        static const std::regex exited(R"(\],(\d{1,3})\]\s+Exit code:\s+(\d{1,3}))");
        std::smatch said;
        bool by_signal = std::regex_search(own_said_, said, signalled);
        if (by_signal || std::regex_search(own_said_, said, exited)) {
            result_.rank = std::stoi(said[1]);
            result_.error = std::stoi(said[2]) << (by_signal ? 0 : 8); // as waitpid has it
            return true;
        }
        const int status = mpirun_status_;
        bool failed = status > 0 && WIFEXITED(status) && !of_itself_ &&
                      own_said_.find("Primary job") != own_said_.npos;
        if (!failed && status != 0) return false;
        result_.rank = static_cast<std::int32_t>(
            std::find_if(ranks_.begin(), ranks_.end(), [](const member &r) { return !r.joined; }) -
            ranks_.begin());
        if (failed && WEXITSTATUS(status) > 128)
            result_.error = WEXITSTATUS(status) - 128; // of a signal
        else
            result_.error = status;
        return true;
    }

    // Passes whole lines on with the rank's number before them.
    void pass_on_text()
    {
        char chunk[1 << 16]; // as much as a pipe holds
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            ssize_t got = read(ranks_[k].text, chunk, sizeof chunk);
            if (got > 0) ranks_[k].said.append(chunk, static_cast<std::size_t>(got));
            if (got == 0) ranks_[k].text = -1; // all who had it have ended
            std::size_t end = ranks_[k].said.rfind('\n');
            if (end != std::string::npos) say(k, end + 1);
            if (ranks_[k].said.size() > longest_line) say(k, ranks_[k].said.size());
        }
        ssize_t got = read(own_text_, chunk, sizeof chunk);
        if (got > 0 && own_said_.size() < longest_line)
            own_said_.append(chunk, static_cast<std::size_t>(got));
        if (got == 0) own_text_ = -1;
    }

    void say(std::size_t k, std::size_t bytes)
    {
        std::string lines;
        for (std::size_t at = 0; at < bytes;) {
            std::size_t end = std::min(ranks_[k].said.find('\n', at), bytes);
            lines +=
                "rank " + std::to_string(k) + ": " + ranks_[k].said.substr(at, end - at) + "\n";
            at = end + 1;
        }
        ranks_[k].said.erase(0, bytes);
        for (std::size_t at = 0; at < lines.size();) {
            ssize_t put = write(1, lines.data() + at, lines.size() - at);
            if (put <= 0) return; // the parent is gone
            at += static_cast<std::size_t>(put);
        }
    }

    // The result, once all that was printed until now is on its way.
    reply told()
    {
        pass_on_text();
        for (std::size_t k = 0; k < ranks_.size(); ++k)
            if (!ranks_[k].said.empty()) say(k, ranks_[k].said.size());
        return result_;
    }

    steady::time_point deadline_;
    std::vector<member> ranks_;
    int listener_ = -1, own_text_ = -1, ended_ = -1;
    pid_t mpirun_ = -1;
    int mpirun_status_ = -1; // as waitpid has it, when it has ended
    bool of_itself_ = false; // first_ended_ was not ended by mpirun
    std::string own_said_;
    std::size_t joined_ = 0;
    int disturbed_ = -1, first_ended_ = -1; // ranks
    rank_end end_;                          // of that one
    reply result_;
};

// Ends the process, with the reason for the message to the student.
[[noreturn]] void end_rank(const std::string &why)
{
    rank_end e;
    e.status = 1 << 8; // as of one that exited with 1
    std::strncpy(e.text, why.c_str(), sizeof e.text - 1);
    std::fflush(nullptr);
    send(socket_fd, &e, sizeof e, MSG_NOSIGNAL);
    _exit(1);
}

void stop_at_error(MPI_Comm *, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(*code, text, &length);
    end_rank(text);
}

bool device_memory_travels = false; // between ranks, by MPI

bool on_all_ranks(bool here)
{
    int all = here;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

// Whether a message from the rank before arrives in `to` while `from` is on its way to the next
// one; both hold `n` elements.
bool arrives(int *from, int *to, int n)
{
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(int);
    std::vector<int> sent(static_cast<std::size_t>(n), 20240229 + rank), got(sent.size());
    cudaMemcpy(from, sent.data(), bytes, cudaMemcpyDefault);
    cudaMemcpy(to, got.data(), bytes, cudaMemcpyDefault);
    const int error = PMPI_Sendrecv(from, n, MPI_INT, next, 0, to, n, MPI_INT, before, 0,
                                    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaMemcpy(got.data(), to, bytes, cudaMemcpyDefault);
    return error == MPI_SUCCESS && got == std::vector<int>(got.size(), 20240229 + before);
}

// Called on all ranks. The library may be built for memory of devices: whether that of these
// devices travels is tried. A long message takes another way than a short one.
bool try_device_memory()
{
    constexpr int longest = 1 << 18;
    if (simulator_is_elsewhere || !MPIX_Query_cuda_support()) return false;
    int *memory = nullptr;
    bool here =
        cudaSetDevice(home_device()) == cudaSuccess &&
        cudaMalloc(reinterpret_cast<void **>(&memory), 2 * longest * sizeof(int)) == cudaSuccess;
    bool all = on_all_ranks(here);
    for (int n : {1, longest}) all = all && on_all_ranks(arrives(memory, memory + longest, n));
    cudaFree(memory);
    cudaGetLastError(); // what failed here is no fault of the calls to come
    return all;
}

// Both ends become the rank's own descriptors; it starts afresh, since what a submission did before
// main need not bear a fork.
[[noreturn]] void become_rank(int connection, std::vector<int> fds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fds.insert(fds.begin(), connection);
    for (int &fd : fds) fd = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    const int places[] = {socket_fd, input_fd, output_fd, 1, device_fd};
    for (std::size_t i = 0; i < fds.size(); ++i) dup2(fds[i], places[i]);
    dup2(1, 2);
    char program[] = "/proc/self/exe", argument[] = "--rank";
    char *arguments[] = {program, argument, nullptr};
    execv(program, arguments);
    _exit(127);
}

} // namespace

int lead_ranks(int ranks, const char *mpirun)
{
    if (ranks < 1 || ranks > max_ranks) return 2;
    auto l = std::make_unique<leader>(ranks, mpirun);
    request r;
    while (recv(socket_fd, &r, sizeof r, 0) == sizeof r && r.magic == protocol_magic) {
        reply a = l->handle(r);
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) break;
    }
    return 0;
}

int keep_rank(const char *address)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rank_hello h;
    h.rank = rank_of_process();
    int connection = connection_to(address);
    if (connection < 0 || send(connection, &h, sizeof h, MSG_NOSIGNAL) != sizeof h) return 2;
    std::vector<int> fds = receive_descriptors(connection, simulator_is_elsewhere ? 4 : 3);
    if (fds.empty()) return 2;
    pid_t rank = fork();
    if (rank == 0) become_rank(connection, fds);
    rank_end e;
    while (waitpid(rank, &e.status, 0) < 0 && errno == EINTR) {
    }
    send(connection, &e, sizeof e, MSG_NOSIGNAL);
    _exit(WIFEXITED(e.status) ? WEXITSTATUS(e.status) : 128 + WTERMSIG(e.status));
}

int be_rank(int (*serve)())
{
    int level = 0;
    if (PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    device_memory_travels = try_device_memory();
    MPI_Errhandler stop;
    MPI_Comm_create_errhandler(stop_at_error, &stop);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, stop);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, stop);
    if (int status = serve()) _exit(status);
    PMPI_Finalize();
    return 0;
}

} // namespace grading

// What submissions are offered: lab.hpp declares it.
bool device_buffers_work() { return grading::device_memory_travels; }

// The worker's to call; MPI lets a program stand before its own functions.
[[noreturn]] static void refuse_to_begin(const std::string &function)
{
    grading::end_rank(function + " was called, and MPI runs already when a contract function is");
}
extern "C" int MPI_Init(int *, char ***) { refuse_to_begin("MPI_Init"); }
extern "C" int MPI_Init_thread(int *, char ***, int, int *) { refuse_to_begin("MPI_Init_thread"); }
extern "C" int MPI_Finalize()
{
    grading::end_rank("MPI_Finalize was called, and the next call needs MPI again");
}
extern "C" int MPI_Abort(MPI_Comm, int code)
{
    grading::end_rank("MPI_Abort was called with " + std::to_string(code));
}
