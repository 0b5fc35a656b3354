// Starts a keeper, which starts the child, and reads from a pipe how the child ended.
#include "kept_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>

namespace grading {

namespace {

// Prepared before the fork, because only system calls are safe between fork and execve.
struct prepared_process {
    const process_setup &setup;
    const sandbox &within;
    int null, alive, status;                    // /dev/null, and the keeper's ends of the pipes
    std::vector<char *> arguments, environment; // null-terminated
};

std::atomic<int> held_by_keepers = -1;

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<char *> result;
    for (const std::string &text : texts) result.push_back(const_cast<char *>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

[[noreturn]] void give_up(const prepared_process &p)
{
    const process_end end{process_end::never_began, errno ? errno : EINVAL};
    _exit(write(p.status, &end, sizeof end) == sizeof end ? 127 : 126);
}

[[noreturn]] void become_child(const prepared_process &p, pid_t keeper)
{
    const process_setup &s = p.setup;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(127); // the keeper ended before the line above
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    // Mark descriptors close-on-exec: give_up and the sandbox still need theirs. A std::ifstream
    // that another thread has open cannot set the flag itself.
    close_from(3, CLOSE_RANGE_CLOEXEC);
    if (dup2(p.null, 0) < 0) give_up(p);
    for (const auto &[ours, number] : s.descriptors)
        if (dup2(ours, number) < 0) give_up(p);
    if (s.own_status_fd >= 0) {
        const int opened = p.within.open_own_status();
        if (dup2(opened, s.own_status_fd) < 0) give_up(p);
        if (opened != s.own_status_fd) close(opened);
    }
    if (!s.folder.empty() && chdir(s.folder.c_str()) != 0) give_up(p);
    limit(RLIMIT_CORE, 0);
    for (const auto &[resource, max] : s.limits) limit(resource, max);
    if (!p.within.confine()) give_up(p);
    execve(s.program.c_str(), p.arguments.data(), s.environment ? p.environment.data() : environ);
    give_up(p);
}

// Adopts the child's orphans and reaps them. Returns false once the owner has dropped the child.
bool wait_for_end(pid_t child, int alive, int &status)
{
    sigset_t child_ended, none;
    sigemptyset(&none);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, nullptr); // the signal arrives in ppoll only
    pollfd wait{alive, POLLIN, 0};
    do {
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == child) return true;
    } while (ppoll(&wait, 1, nullptr, &none) < 0);
    return false;
}

[[noreturn]] void keep(const prepared_process &p)
{
    // Ignore the signals that are meant for the child, before a group can get them: until then the
    // handlers are the program's. SIGCHLD interrupts ppoll.
    for (int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
    setsid();
    prctl(PR_SET_NAME, "workbook-keeper");
    signal(SIGCHLD, [](int) {});
    if (!p.within.enter()) give_up(p);
    const pid_t self = getpid();
    const pid_t child =
        static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) become_child(p, self);
    if (child < 0) give_up(p);
    // Close all other descriptors: a reader must see the end of a pipe while this process runs.
    for (int number : {dup2(p.alive, 0), dup2(p.status, 1)})
        if (number < 0) _exit(125);
    close_from(dup2(held_by_keepers, 2) < 0 ? 2 : 3, 0);
    int status = 0;
    const bool ended = wait_for_end(child, 0, status);
    kill_descendants();
    const process_end end = WIFSIGNALED(status)
                                ? process_end{process_end::signalled, WTERMSIG(status)}
                                : process_end{process_end::exited, WEXITSTATUS(status)};
    if (ended && write(1, &end, sizeof end) != sizeof end) _exit(125);
    _exit(0); // in a PID namespace this kills every process in it
}

void wait_two_seconds(int pidfd)
{
    pollfd gone{pidfd, POLLIN, 0};
    while (poll(&gone, 1, 2000) < 0 && errno == EINTR) {
    }
}

} // namespace

kept_process::kept_process(const process_setup &setup)
{
    static const sandbox open_to_all(confinement::none, {});
    const owned_fd null = owned_fd::high(open("/dev/null", O_RDWR | O_CLOEXEC));
    pipe_ends status = make_pipe(), alive = make_pipe();
    const prepared_process p{setup,
                             setup.within ? *setup.within : open_to_all,
                             null.get(),
                             alive.out.get(),
                             status.in.get(),
                             pointers(setup.arguments),
                             setup.environment ? pointers(*setup.environment)
                                               : std::vector<char *>{}};
    int pidfd = -1;
    state_.keeper = p.within.start(pidfd);
    if (state_.keeper == 0) keep(p);
    if (state_.keeper < 0) throw_errno("starting a process");
    state_.pidfd = owned_fd(pidfd);
    state_.status = std::move(status.out);
    state_.alive = std::move(alive.in);
    fcntl(state_.status.get(), F_SETFL, O_NONBLOCK);
}

std::optional<process_end> kept_process::ended()
{
    process_end end{process_end::signalled, SIGKILL}; // the default if the keeper was killed, too
    // The first writer reports the end: a child that cannot begin, else its keeper.
    if (!state_.end && state_.status.get() >= 0 && read(state_.status.get(), &end, sizeof end) >= 0)
        state_.end = end;
    return state_.end;
}

void kept_process::ask_to_end()
{
    if (running() && kill(-state_.keeper, SIGTERM) == 0) wait_two_seconds(state_.pidfd.get());
}

void kept_process::stop()
{
    if (state_.keeper < 0) return;
    state_.alive.close();
    wait_two_seconds(state_.pidfd.get());
    // The process ids cannot be reused before wait4.
    kill(-state_.keeper, SIGKILL);
    kill(state_.keeper, SIGKILL);
    rusage used{};
    while (wait4(state_.keeper, nullptr, 0, &used) < 0 && errno == EINTR) {
    }
    for (timeval t : {used.ru_utime, used.ru_stime})
        state_.cpu_seconds += double(t.tv_sec) + double(t.tv_usec) * 1e-6;
    state_.keeper = -1;
}

void let_keepers_hold(owned_fd fd) { held_by_keepers = fd.release(); }

} // namespace grading
