// Hints of a lab, one more each time.
#pragma once

#include "progress.hpp"
#include "text.hpp"
#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

struct hint {
    int todo = 0;
    std::string title, text;
};

// The sections "## TODO n: title" of hints.md, in order; other sections are no hints.
std::vector<hint> parse_hints(const std::string &markdown);
// None where the lab has no such file.
std::vector<hint> hints_of(const toolchain &t, const lab &l, int todo);

// The TODO to help with: that whose code the first failure of the last grade names, or that of its
// case, and of several TODOs the first with a hint that was not shown. Where nothing failed, that
// of the speed that can be better. 0 when nothing can or no TODO has a hint.
int todo_at_hand(const toolchain &t, const lab &l, const progress_record &record);

// Where to read on when hints are used up: the handout, and those of its sections that name the
// TODO's function where some do and others do not.
std::string read_on(const toolchain &t, const lab &l, int todo);

struct hint_options {
    int todo = 0; // 0: the one at hand
    bool again = false;
};
int hint_command(const toolchain &t, const std::string &word, const hint_options &options);

} // namespace cli
