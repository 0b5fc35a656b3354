// A result in the formats that course systems read, one file each.
#pragma once

#include "cli/results/result.hpp"

#include <cstddef>
#include <string>

namespace cli {

// Each function takes a document in which invalid() finds nothing wrong, and cuts and escapes its
// text, since a submission may have written it. Failures of the submission, faults of ours and
// skipped cases stay apart. A lab that our fault left ungraded gets no points rather than zero.
std::string as_junit(const json &document); // for GitLab, too: names differ, less than 30 MB
// `with_leaderboard`: also the measured speedups, which Gradescope ranks before the whole class.
std::string as_gradescope(const json &document, bool with_leaderboard = false);
std::string as_prairielearn(const json &document); // at most 1 MB
std::string as_autolab(const json &document);      // text, and the scores in the last line
std::string as_coderunner(const json &document);   // one line

// The submission as the runner of Classroom 50 describes it to an autograder.
struct classroom50_submission {
    std::string classroom, assignment, tag;
    std::string commit, release, review; // URLs
    std::string committed_at;            // in UTC; it must not depend on when this is graded
};
// Throws usage_error if `committed_at` is no such time, and machine_error if a fault of ours left
// something ungraded.
std::string as_classroom50(const json &document, const classroom50_submission &of);

std::string as_text(const json &document); // lines of 80 columns
// Workflow commands of GitHub Actions, at most 10 errors and a notice per lab with open points, and
// Markdown of at most `max_bytes`.
std::string as_annotations(const json &document);
std::string as_summary(const json &document, std::size_t max_bytes);
// Functions with a limit throw usage_error if even the shortest form is longer.

} // namespace cli
