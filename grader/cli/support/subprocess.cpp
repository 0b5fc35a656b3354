// Starts child processes under limits and waits for their end, output, deadline or a stop request.
#include "subprocess.hpp"

#include "errors.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

namespace cli {

namespace {

using steady = std::chrono::steady_clock;

// A stop signal writes to this pipe and nothing reads it, so that every waiting thread sees it.
int stop_pipe[2] = {-1, -1};
std::atomic<bool> stop_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free); // so that a signal's handler may set it

void on_signal(int)
{
    stop_flag = true;
    int saved = errno;
    // If it is full, it is readable already.
    [[maybe_unused]] const ssize_t written = write(stop_pipe[1], "s", 1);
    errno = saved;
}

// Keeps the first bytes of a child's output and passes complete lines on.
struct output_reader {
    const child &what;
    exit_result &result;
    std::string line;

    void append(std::string_view text)
    {
        std::size_t room = what.keep - std::min(what.keep, result.text.size());
        result.text += text.substr(0, room);
        result.cut = result.cut || text.size() > room;
        if (!what.each_line) return;
        for (char c : text) {
            if (c == '\n') {
                what.each_line(line);
                line.clear();
            } else if (line.size() < 4096)
                line += c;
        }
    }
    // Reads a bounded amount of what is available, so that a child that writes without end cannot
    // keep us from checking the deadline. Returns false once the other end is closed.
    bool read_from(int fd)
    {
        char chunk[1 << 14];
        ssize_t got = 1;
        for (int i = 0; i < 64 && got > 0; ++i)
            if ((got = read(fd, chunk, sizeof chunk)) > 0) append({chunk, std::size_t(got)});
        return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    }
};

exit_result::how wait_for(const grading::kept_process &process, int output, output_reader &reader,
                          steady::time_point deadline)
{
    while (!stop_flag) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady::now()).count();
        if (left <= 0) return exit_result::timed_out;
        pollfd wait[4] = {{process.ended_descriptor(), POLLIN, 0},
                          {output, POLLIN, 0},
                          {stop_pipe[0], POLLIN, 0},
                          {reader.what.cancel_fd, POLLIN, 0}};
        if (poll(wait, 4, static_cast<int>(std::min<long long>(left, 1 << 30))) < 0) continue;
        if (wait[1].revents && !reader.read_from(output)) output = -1;
        if (wait[0].revents) return exit_result::exited;
        if (wait[3].revents) return exit_result::cancelled;
    }
    return exit_result::cancelled;
}

} // namespace

exit_result run(const child &c)
{
    using namespace grading;
    exit_result result;
    if (stop_flag) throw stop_requested();
    process_setup setup = c;
    const std::string &name = c.arguments.at(0);
    setup.program = name.find('/') == name.npos ? find_program(name) : name;
    if (setup.program.empty()) {
        result.status = ENOENT;
        return result;
    }
    const auto start = steady::now();
    kept_process process;
    owned_fd output;
    try {
        pipe_ends printed = make_pipe();
        setup.descriptors = {{printed.in.get(), 1}, {printed.in.get(), 2}};
        fcntl(printed.out.get(), F_SETFL, O_NONBLOCK);
        pipe_ends input;
        if (!c.input.empty()) {
            input = make_pipe();
            fcntl(input.in.get(), F_SETFL, O_NONBLOCK); // nothing reads yet
            errno = E2BIG;                              // for input that the pipe holds in part
            if (write(input.in.get(), c.input.data(), c.input.size()) != ssize_t(c.input.size()))
                throw_errno("writing a program's input");
            input.in = {};
            setup.descriptors.push_back({input.out.get(), 0});
        }
        process = kept_process(setup);
        output = std::move(printed.out);
    } catch (const std::system_error &e) {
        result.status = e.code().value();
        return result;
    }
    output_reader reader{c, result, {}};
    result.what = wait_for(process, output.get(), reader, start + c.wall);
    if (result.what != exit_result::exited) process.ask_to_end();
    process.stop();
    result.cpu_seconds = process.cpu_seconds();
    if (const auto end = process.ended(); end && result.what == exit_result::exited) {
        if (end->what == process_end::signalled) result.what = exit_result::signalled;
        if (end->what == process_end::never_began) result.what = exit_result::not_started;
        result.status = end->status;
    }
    reader.read_from(output.get());
    if (c.each_line && !reader.line.empty()) c.each_line(reader.line);
    result.seconds = std::chrono::duration<double>(steady::now() - start).count();
    if (stop_flag) throw stop_requested();
    return result;
}

std::string exit_result::words() const
{
    switch (what) {
    case exited:
        return fmt::format("exited with status {}", status);
    case signalled: {
        const char *name = sigabbrev_np(status);
        return name ? fmt::format("was killed by SIG{}", name)
                    : fmt::format("was killed by signal {}", status);
    }
    case timed_out:
        return fmt::format("had not ended after {:.0f} s", seconds);
    case cancelled:
        return "was called off";
    case not_started:
        return fmt::format("could not be started: {}", strerror(status));
    }
    return {};
}

void handle_signals()
{
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) grading::throw_errno("pipe");
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // at the file size limit write() then fails, which is reported
}

bool stop_was_requested() { return stop_flag; }
int stop_descriptor() { return stop_pipe[0]; }

std::string find_program(std::string_view name)
{
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string candidate = (folder.empty() ? "." : folder) + "/" + std::string(name);
        struct stat s {};
        if (stat(candidate.c_str(), &s) == 0 && S_ISREG(s.st_mode) &&
            access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

exit_result run_program(std::vector<std::string> arguments, std::chrono::seconds wall)
{
    child c;
    c.arguments = std::move(arguments);
    c.wall = wall;
    return run(c);
}

exit_result run_git(const std::string &root, const std::vector<std::string> &words)
{
    child c;
    c.arguments = {"git", "-C", root};
    c.arguments.insert(c.arguments.end(), words.begin(), words.end());
    c.keep = 16 << 20;
    c.wall = std::chrono::seconds(60);
    return run(c);
}

} // namespace cli
