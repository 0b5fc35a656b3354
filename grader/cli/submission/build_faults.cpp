// Decides if a tool failed because of the submission or because of the machine.
#include "build_step.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

namespace cli {

using grading::verdict;

std::string oom_kills()
{
    std::ifstream counts("/proc/vmstat");
    for (std::string name, count; counts >> name >> count;)
        if (name == "oom_kill") return count;
    return {};
}

bool contains_any(const std::string &text, std::initializer_list<const char *> words)
{
    return std::ranges::any_of(words,
                               [&](const char *word) { return text.find(word) != text.npos; });
}

int leading_number(std::string_view text)
{
    text = text.substr(0, text.find_first_not_of("0123456789"));
    return text.empty() || text.size() > 6 ? -1 : std::stoi(std::string(text));
}

namespace {

// Returns the signal that killed a part of the compiler according to this line of its output, or 0.
// A submission can make the line so long that std::regex would overflow the stack.
int signal_in(std::string_view line)
{
    auto number_after = [&](std::string_view words) {
        const std::size_t at = line.find(words);
        return at == line.npos ? 0 : std::max(0, leading_number(line.substr(at + words.size())));
    };
    if (line.starts_with("nvcc ")) return number_after("' died due to signal ");
    if (line.starts_with("collect2: fatal error: ld "))
        return number_after("terminated with signal ");
    constexpr std::string_view marker = ": fatal error: ", end = " signal terminated program ";
    const std::size_t at = line.find(marker);
    if (at == line.npos || line.find_first_of(" '") < at) return 0; // not after a program's name
    const std::string_view what = line.substr(at + marker.size());
    for (const auto &[name, number] : {std::pair<std::string_view, int>{"Killed", SIGKILL},
                                       std::pair<std::string_view, int>{"Terminated", SIGTERM}})
        if (what.starts_with(name) && what.substr(name.size()).starts_with(end)) return number;
    return 0;
}

} // namespace

int ended_by(const exit_result &e, const std::string &said)
{
    if (e.what == exit_result::signalled) return e.status;
    if (e.what == exit_result::exited && e.status > 128) return e.status - 128; // a shell's status
    for (const std::string &line : lines(said))
        if (const int signal = signal_in(line)) return signal;
    return 0;
}

void require_not_killed(const job &j, int signal)
{
    if (signal != SIGKILL && signal != SIGTERM) return;
    throw machine_error(fmt::format(
        "the compiler was killed by signal {} (SIG{}) while it worked on {}; that says nothing "
        "about the file. Mostly the machine has run out of memory.\n  what to do: close other "
        "programs, grade fewer files at a time, and run it again; if it is always this file, look "
        "for huge static arrays and for templates that expand without end",
        signal, sigabbrev_np(signal), j.shown));
}

bool speaks_of_machine(const std::string &said)
{
    return contains_any(said, {"No space left on device", "Disk quota exceeded",
                               "Read-only file system", "Permission denied", "Too many open files",
                               "File too large", "Input/output error", "Cannot allocate memory",
                               "Resource temporarily unavailable"});
}

void require_room_to_build(const std::string &cache)
{
    require_room(temporary_folder());
    require_room(cache);
}

} // namespace cli
