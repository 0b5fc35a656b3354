// The convert command: a result in the format of a course system.
#pragma once

#include "cli/results/result.hpp"

#include <string>

namespace cli {

// One student's results in what autograde --json wrote. Throws usage_error.
json result_of_student(const json &of_class, const std::string &student);

struct convert_options {
    std::string file, format; // "-": standard input
    std::string output;       // empty: standard output
    std::string student;      // one of a class; empty: `file` is one result
};
// Returns 0. Throws usage_error if something cannot be read or written; then nothing is written.
int convert_command(const convert_options &options);

} // namespace cli
