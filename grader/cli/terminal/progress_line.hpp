// A status line on stderr.
#pragma once

#include "text.hpp"

#include <string>

namespace cli {

// A status line; on a terminal it is rewritten in place and finally erased.
class progress_line {
public:
    explicit progress_line(bool wanted = true);
    ~progress_line();
    void say(const std::string &text); // shown immediately
    void clear();

private:
    terminal terminal_;
    bool wanted_;
    int shown_ = 0; // columns that it covers on the terminal
    std::string last_;
};

} // namespace cli
