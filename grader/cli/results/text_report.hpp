// The report of one grade for a terminal: the first failure in full, then points by function.
#pragma once

#include "cli/terminal/text.hpp"
#include "result.hpp"

#include <string>

namespace cli {

// Facts that the report needs besides the result document.
struct report_context {
    std::string source;  // the submission's file as shown to the user; empty: unknown
    std::string command; // grades the same submission again: "./workbook grade 02"
    std::string worker;  // the program that repeats a failed call; empty: none
    todo_list todos;
    terminal out;
    std::string moved = {}; // moved_words() of the submission
};

// Renders a document of one lab that a grader wrote, at most 80 columns wide.
std::string text_report(const json &document, const report_context &context);

// Renders a document of one lab whose submission did not build, with the compiler's output.
std::string refused_build_report(const json &document, const report_context &context);

// Returns how `worker`, a program, repeats the call kept in the file `call` under other tools.
std::string replay_words(const std::string &worker, const std::string &call);

// Returns the verdict, message and hint of a case, indented by two.
std::string case_report(const case_view &c, const terminal &out);

} // namespace cli
