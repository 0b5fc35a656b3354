// A status line on stderr.
#pragma once

#include "text.hpp"

#include <chrono>
#include <string>

namespace cli {

// A status line; on a terminal it is rewritten in place and finally erased.
class progress_line {
public:
    explicit progress_line(bool wanted = true);
    ~progress_line();
    void say(const std::string &text); // shown immediately
    // Shows that a step of some seconds goes on, and how far it is: "WHAT ... [3/40]", in a log
    // "WHAT ..." once.
    void go_on(const std::string &what, const std::string &done);
    // Leaves "WHAT ... 12 s" behind.
    void finish(const std::string &what, std::chrono::steady_clock::duration took);
    void clear();

private:
    terminal terminal_;
    bool wanted_;
    int shown_ = 0; // columns that it covers on the terminal
    std::string last_;
};

} // namespace cli
