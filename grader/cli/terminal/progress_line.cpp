// Writes a status line: rewritten in place on a terminal, line by line in a log.
#include "progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace cli {

progress_line::progress_line(bool wanted) : terminal_(detect_terminal(2)), wanted_(wanted) {}

progress_line::~progress_line() { clear(); }

void progress_line::say(const std::string &text)
{
    if (!wanted_ || text == last_) return;
    last_ = text;
    if (!terminal_.interactive) {
        // A log keeps every line, so it gets no counters that change many times per second.
        if (text.find('/') == text.npos) fmt::print(stderr, "{}\n", text);
        return;
    }
    std::string cut = no_wider(text, terminal_.width - 1);
    int width = columns(cut);
    fmt::print(stderr, "\r{}{}", dim(terminal_, cut),
               std::string(std::max(0, shown_ - width), ' '));
    std::fflush(stderr);
    shown_ = width;
}

void progress_line::go_on(const std::string &what, const std::string &done)
{
    say(terminal_.interactive ? fmt::format("{} ... [{}]", what, done) : what + " ...");
}

void progress_line::finish(const std::string &what, std::chrono::steady_clock::duration took)
{
    clear();
    if (!wanted_) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(took).count();
    fmt::print(stderr, "{} ... {} s\n", what, seconds);
}

void progress_line::clear()
{
    // Overwrite with blanks: not every terminal understands an erase sequence.
    // And fmt::print throws where the terminal is gone, which a destructor must not.
    if (shown_) std::fputs(("\r" + std::string(shown_, ' ') + "\r").c_str(), stderr);
    std::fflush(stderr);
    shown_ = 0;
}

} // namespace cli
