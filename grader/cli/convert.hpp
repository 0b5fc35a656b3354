// result.json in the forms that course systems read.
#pragma once

#include "result.hpp"

#include <cstddef>
#include <string>

namespace cli {

// Each takes a document in which invalid() finds nothing wrong, and cuts and escapes the text in
// it, since a submission may have written it. A failure of the submission, a fault of ours and what
// was skipped stay apart. Where a fault of ours left a lab without a grade there are no points,
// since none is not zero.
std::string as_junit(const json &document); // a suite a lab; at most 30 MB, as GitLab reads
std::string as_gradescope(const json &document);
std::string as_prairielearn(const json &document); // at most 1 MB
std::string as_text(const json &document);         // lines of 80 columns
// Workflow commands of GitHub Actions, at most 10, and Markdown of at most `most` bytes.
std::string as_annotations(const json &document);
std::string as_summary(const json &document, std::size_t most);
// Those with a limit throw usage_error where even the shortest form is longer.

// One student's results in what autograde --json wrote. Throws usage_error.
json result_of_student(const json &of_class, const std::string &student);

struct convert_options {
    std::string file, format; // "-": standard input
    std::string output;       // empty: standard output
    std::string student;      // of a class; empty: `file` is one result
};
// Returns 0. Throws usage_error where something cannot be read or written; then nothing is.
int convert_command(const convert_options &options);

} // namespace cli
