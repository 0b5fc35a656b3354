// The verdict that a wrong submission must get according to its first lines.
#pragma once

#include "cli/results/result.hpp"

#include <string>
#include <vector>

namespace cli {

struct expectation {
    bool passes = false;         // the mistake does not show on this backend, in the case if named
    bool may_pass = false;       // the mistake shows only by chance on this backend, as a race does
    bool may_be_skipped = false; // a GPU alone, which leaves to the simulator what it cannot judge
    std::string case_name, verdict;    // "CRASH", or "CRASH or TIMEOUT"
    std::vector<std::string> verdicts; // the same, one by one
    std::string words;                 // a part of the case's message or hint; may be empty
};

// Reads "// Fails: CASE | VERDICT | WORDS" and, on gpu, "// On gpu: CASE | VERDICT | WORDS",
// "// On gpu: passes - why" or "// On gpu: may pass - why" from the first lines of `source`. Throws
// machine_error if there is none or it is malformed; `file` is named in the error.
expectation read_expectation(const std::string &source, const std::string &file,
                             const std::string &backend);
bool states_expectation(const std::string &source);

// Returns what `graded` got instead of what was expected; empty if it got that.
std::string unmet(const expectation &e, const lab_view &graded);

} // namespace cli
