// The command line of cuda-workbook: its commands and options, their help, and what was meant.
#pragma once

#include "cli/check/check.hpp"
#include "cli/commands/commands.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct command_line {
    std::string command; // "grade"; empty: none was given
    std::vector<std::string> labs;
    grade_options grade;
    release_options release;
    autograde_options autograde;
    convert_options convert;
    appeal_options appeal;
    check_options check;
    std::string one_lab;
    hint_options hint;
    bool agreed = false; // of start and reset
    bool open = false;   // of start
    std::string page;    // of explain
    struct {
        std::string folder, list;
        std::size_t index = 0;
    } task;            // of class-task
    std::string older; // of update: the older edition's folder
};

// Fills `to` in. Returns the exit status if nothing is left to do: help was printed, or the words
// were refused.
std::optional<int> parse_command_line(int count, char **words, command_line &to);

} // namespace cli
