// The leader of an Open MPI job, whose ranks the parent sees as one worker.
#include "ranks.hpp"

#include "rank_messages.hpp"

#include "process/descriptor.hpp"
#include "simulator/runtime/harness.h"

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
#include <cstdlib>
#include <cstring>
#include <regex>
#include <span>
#include <string>
#include <vector>

namespace grading {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t max_line = 4096;

// Sends one byte with `fds` attached.
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

// The leader's side of one rank.
struct rank_state {
    int connection = -1, output = -1, output_end = -1;
    std::string pending_output; // received and not forwarded
    bool joined = false, answered = false;
    reply answer;
};

class leader {
public:
    leader(int ranks, const char *mpirun) : ranks_(static_cast<std::size_t>(ranks))
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX; // no name is given, so the system chooses an abstract one
        socklen_t length = sizeof at;
        listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (bind(listener_, reinterpret_cast<sockaddr *>(&at), sizeof(sa_family_t)) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr *>(&at), &length) != 0 ||
            listen(listener_, ranks) != 0)
            return;
        std::string address(at.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
        for (rank_state &r : ranks_) open_pipe(r.output, r.output_end);
        launch(mpirun, address);
    }

    reply handle(request what)
    {
        deadline_ = steady::now() + std::chrono::milliseconds(what.limit_ms);
        result_ = reply{};
        result_.what = what.what;
        std::copy(what.nonce, what.nonce + 2, result_.nonce);
        for (rank_state &r : ranks_) r.answered = false;
        if (!gather([&] { return joined_ == ranks_.size(); })) return final_reply();
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            request one = what;
            if (k > 0)
                for (argument_descriptor &s : std::span(one.arguments, one.argument_count))
                    if (s.where != argument_memory::value)
                        s.where = argument_memory::absent, s.scratch = 0;
            send(ranks_[k].connection, &one, sizeof one, MSG_NOSIGNAL);
        }
        if (!gather([&] { return std::ranges::all_of(ranks_, &rank_state::answered); }))
            return final_reply();
        result_ = ranks_[0].answer;
        for (std::size_t k = ranks_.size(); k-- > 0;)
            if (ranks_[k].answer.status != reply_status::done) {
                result_ = ranks_[k].answer;
                result_.rank = static_cast<std::int32_t>(k);
            }
        for (std::size_t k = 0; k < ranks_.size(); ++k)
            result_.of_rank[k] = {ranks_[k].answer.result[0],
                                  ranks_[k].answer.of_rank[0].sent_bytes};
        return final_reply();
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
        open_pipe(mpirun_output_, end);
        std::string count = std::to_string(ranks_.size());
        char program[4096] = {};
        if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) _exit(126);
        const char *arguments[] = {mpirun, "-n",    count.c_str(), "--oversubscribe", "--bind-to",
                                   "none", program, "--rank",      address.c_str(),   nullptr};
        const char *folder = getenv("TMPDIR"); // the default is the ranks' own file system
        // The job uses one machine and only local transports; surplus ranks share the cores.
        const char *settings[][2] = {
            {"OMPI_MCA_plm", "isolated"},
            {"OMPI_MCA_pml", "ob1"},
            {"OMPI_MCA_btl", "self,vader"},
            {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
            {"OMPI_MCA_btl_vader_backing_directory", folder ? folder : "/dev/shm"},
            {"OMPI_MCA_mpi_yield_when_idle", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"HOME", "/nonexistent"}}; // reads no user's settings; mpirun crashes without HOME
        for (auto &[name, value] : settings) setenv(name, value, 1);
        mpirun_ = fork();
        if (mpirun_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(end, 1), dup2(end, 2);
            close_from(3, 0);
            execv(mpirun, const_cast<char **>(arguments));
            _exit(127);
        }
        close(end);
        mpirun_pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, mpirun_, 0));
    }

    // Receives messages of ranks until `enough`. Returns false, with the reason in result_, if a
    // rank ended or the time is over.
    template <class F> bool gather(F enough)
    {
        while (!enough()) {
            auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady::now()).count();
            if (left <= 0) return explain_missing_answer();
            std::vector<pollfd> wait{
                {listener_, POLLIN, 0}, {mpirun_output_, POLLIN, 0}, {mpirun_pidfd_, POLLIN, 0}};
            for (const rank_state &r : ranks_) {
                wait.push_back({r.connection, POLLIN, 0});
                wait.push_back({r.output, POLLIN, 0});
            }
            poll(wait.data(), wait.size(), static_cast<int>(left));
            forward_output();
            for (std::size_t k = 0; k < ranks_.size(); ++k)
                if (wait[3 + 2 * k].revents && !take_message(k)) return explain_missing_answer();
            if (wait[0].revents) join();
            if (wait[2].revents) { // mpirun has ended: the ranks' last output comes soon
                mpirun_pidfd_ = -1;
                waitpid(mpirun_, &mpirun_status_, 0);
                shorten_deadline();
            }
        }
        return true;
    }

    // If a rank never joined, only mpirun knows why, and reports it after ending the others.
    void shorten_deadline()
    {
        int seconds = joined_ < ranks_.size() && mpirun_pidfd_ >= 0 ? 3 : 1;
        deadline_ = std::min(deadline_, steady::now() + std::chrono::seconds(seconds));
    }

    // Accepts the first connection of a keeper.
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
        rank_state *r = right ? &ranks_[static_cast<std::size_t>(h.rank)] : nullptr;
        std::vector<int> fds = {input_fd, output_fd, r ? r->output_end : -1};
        if (simulator_is_elsewhere) fds.push_back(device_fd + h.rank);
        if (!r || r->connection >= 0 || !send_descriptors(c, fds)) {
            close(c);
            return;
        }
        close(r->output_end);
        r->connection = c;
        r->joined = true;
        ++joined_;
    }

    // Returns false if no further message is worth waiting for.
    bool take_message(std::size_t k)
    {
        rank_state &r = ranks_[k];
        std::byte m[sizeof(reply)];
        ssize_t got = recv(r.connection, m, sizeof m, MSG_DONTWAIT | MSG_TRUNC);
        if (got < 0 && errno == EAGAIN) return true;
        if (got == sizeof(reply)) {
            protocol_breaker_ = r.answered ? static_cast<int>(k) : -1;
            std::memcpy(&r.answer, m, sizeof(reply));
            bool ours = r.answer.magic == protocol_magic && r.answer.what == result_.what &&
                        std::equal(r.answer.nonce, r.answer.nonce + 2, result_.nonce);
            if (!ours) protocol_breaker_ = static_cast<int>(k);
            r.answered = true;
            return protocol_breaker_ < 0;
        }
        rank_end end;
        if (got == sizeof end) std::memcpy(&end, m, sizeof end);
        bool lost = WIFEXITED(end.status) && WEXITSTATUS(end.status) == without_leader;
        if (got > 0 && (got != sizeof end || end.magic != protocol_magic || lost)) {
            protocol_breaker_ = static_cast<int>(k);
            return false;
        }
        if (got <= 0) end.status = SIGKILL; // its keeper was killed, too
        close(r.connection);
        r.connection = -1;
        // mpirun kills the other ranks when one has ended; those kills are not the cause.
        bool killed = !end.text[0] && WIFSIGNALED(end.status) &&
                      (WTERMSIG(end.status) == SIGTERM || WTERMSIG(end.status) == SIGKILL);
        if (first_ended_ < 0 || !killed) {
            first_ended_ = static_cast<int>(k);
            end_ = end;
            ended_by_itself_ = !killed;
        }
        if (killed) shorten_deadline();
        return killed;
    }

    // Records in result_ why a request has no answer. Returns false.
    bool explain_missing_answer()
    {
        result_.rank = std::max(protocol_breaker_, first_ended_);
        if (protocol_breaker_ >= 0) {
            result_.status = reply_status::protocol_broken;
        } else if (joined_ < ranks_.size() && find_unjoined_rank()) {
            result_.status = reply_status::rank_ended;
        } else if (first_ended_ >= 0) {
            result_.status = reply_status::rank_ended;
            result_.error = end_.status;
            std::memcpy(result_.text, end_.text, sizeof result_.text);
        } else if (joined_ == 0) {
            result_.status = reply_status::no_ranks;
            std::strncpy(result_.text, mpirun_text_.c_str(), sizeof result_.text - 1);
        } else {
            result_.status = reply_status::ranks_waiting;
            for (std::size_t k = 0; k < ranks_.size(); ++k)
                if (!ranks_[k].answered) result_.waiting |= 1u << k;
        }
        return false;
    }

    // Returns true if a rank ended before it joined, as code that runs before main can cause.
    // mpirun prints this, or exits with 0. If it does not name the rank, its status is that of the
    // first rank that failed.
    bool find_unjoined_rank()
    {
        static const std::regex signalled(
            R"(process rank (\d{1,3}) with PID [^\n]* signal (\d{1,3}))");
        static const std::regex exited(R"(\],(\d{1,3})\]\s+Exit code:\s+(\d{1,3}))");
        std::smatch said;
        bool by_signal = std::regex_search(mpirun_text_, said, signalled);
        if (by_signal || std::regex_search(mpirun_text_, said, exited)) {
            result_.rank = std::stoi(said[1]);
            result_.error = std::stoi(said[2]) << (by_signal ? 0 : 8); // in waitpid's form
            return true;
        }
        const int status = mpirun_status_;
        bool failed = status > 0 && WIFEXITED(status) && !ended_by_itself_ &&
                      mpirun_text_.find("Primary job") != mpirun_text_.npos;
        if (!failed && status != 0) return false;
        result_.rank = static_cast<std::int32_t>(
            std::ranges::find(ranks_, false, &rank_state::joined) - ranks_.begin());
        if (failed && WEXITSTATUS(status) > 128)
            result_.error = WEXITSTATUS(status) - 128; // the number of the signal
        else
            result_.error = status;
        return true;
    }

    // Forwards complete lines, each prefixed with the rank's number.
    void forward_output()
    {
        char chunk[1 << 16]; // the capacity of a pipe
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            ssize_t got = read(ranks_[k].output, chunk, sizeof chunk);
            if (got > 0) ranks_[k].pending_output.append(chunk, static_cast<std::size_t>(got));
            if (got == 0) ranks_[k].output = -1; // every process with the other end has ended
            std::size_t end = ranks_[k].pending_output.rfind('\n');
            if (end != std::string::npos) print_lines(k, end + 1);
            if (ranks_[k].pending_output.size() > max_line)
                print_lines(k, ranks_[k].pending_output.size());
        }
        ssize_t got = read(mpirun_output_, chunk, sizeof chunk);
        if (got > 0 && mpirun_text_.size() < max_line)
            mpirun_text_.append(chunk, static_cast<std::size_t>(got));
        if (got == 0) mpirun_output_ = -1;
    }

    void print_lines(std::size_t k, std::size_t bytes)
    {
        std::string lines;
        for (std::size_t at = 0; at < bytes;) {
            std::size_t end = std::min(ranks_[k].pending_output.find('\n', at), bytes);
            lines += "rank " + std::to_string(k) + ": " +
                     ranks_[k].pending_output.substr(at, end - at) + "\n";
            at = end + 1;
        }
        ranks_[k].pending_output.erase(0, bytes);
        for (std::size_t at = 0; at < lines.size();) {
            ssize_t put = write(1, lines.data() + at, lines.size() - at);
            if (put <= 0) return; // the parent has ended
            at += static_cast<std::size_t>(put);
        }
    }

    // Forwards everything that was printed so far, then returns the result.
    reply final_reply()
    {
        forward_output();
        for (std::size_t k = 0; k < ranks_.size(); ++k)
            if (!ranks_[k].pending_output.empty()) print_lines(k, ranks_[k].pending_output.size());
        return result_;
    }

    steady::time_point deadline_;
    std::vector<rank_state> ranks_;
    int listener_ = -1, mpirun_output_ = -1;
    int mpirun_pidfd_ = -1; // -1 once mpirun has ended
    pid_t mpirun_ = -1;
    int mpirun_status_ = -1;       // from waitpid, once mpirun has ended
    bool ended_by_itself_ = false; // first_ended_ was not killed by mpirun
    std::string mpirun_text_;
    std::size_t joined_ = 0;
    // The rank that broke the protocol, and the one whose end explains the others'; -1: none.
    int protocol_breaker_ = -1, first_ended_ = -1;
    rank_end end_; // how first_ended_ ended
    reply result_;
};

} // namespace

int lead_ranks(int ranks, const char *mpirun)
{
    if (ranks < 1 || ranks > max_ranks) return 2;
    leader l(ranks, mpirun);
    request r;
    while (recv(socket_fd, &r, sizeof r, 0) == sizeof r && r.magic == protocol_magic) {
        reply a = l.handle(r);
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) break;
    }
    return 0;
}

} // namespace grading
