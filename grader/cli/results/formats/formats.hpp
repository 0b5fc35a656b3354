// A result in the formats that course systems read, one file each.
#pragma once

#include "cli/results/result.hpp"

#include <cstddef>
#include <string>

namespace cli {

// Each function takes a document in which invalid() finds nothing wrong, and cuts and escapes its
// text, since a submission may have written it. Failures of the submission, faults of ours and
// skipped cases stay apart. A lab that our fault left ungraded gets no points rather than zero.
std::string as_junit(const json &document); // one suite per lab; at most 30 MB, GitLab's limit
std::string as_gradescope(const json &document);
std::string as_prairielearn(const json &document); // at most 1 MB
std::string as_text(const json &document);         // lines of 80 columns
// Workflow commands of GitHub Actions, at most 10, and Markdown of at most `max_bytes`.
std::string as_annotations(const json &document);
std::string as_summary(const json &document, std::size_t max_bytes);
// Functions with a limit throw usage_error if even the shortest form is longer.

} // namespace cli
