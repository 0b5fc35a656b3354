// The convert command: a result in the format of a course system.
#pragma once

#include <string>

namespace cli {

struct convert_options {
    std::string file, format; // "-": standard input
    std::string output;       // empty: standard output
    std::string student;      // one of a class; empty: `file` is one result
};
// Returns 0. Throws usage_error if something cannot be read or written; then nothing is written.
int convert_command(const convert_options &options);

} // namespace cli
