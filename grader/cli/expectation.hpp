// What the first lines of a wrong submission say that it must get.
#pragma once

#include "result.hpp"

#include <string>

namespace cli {

struct expectation {
    bool passes = false;   // on this backend nothing is to be seen
    bool may_pass = false; // on this backend what it shows is up to chance: a race
    std::string case_name, verdict;
    std::string words; // that the case's message or hint contains; may be empty
};

// Reads "// Fails: CASE | VERDICT | WORDS" and, on gpu, "// On gpu: CASE | VERDICT | WORDS",
// "// On gpu: passes - why" or "// On gpu: may pass - why" from the first lines of `source`. Throws
// machine_error when there is none or it is malformed; `file` is named in the error.
expectation read_expectation(const std::string &source, const std::string &file,
                             const std::string &backend);
bool states_expectation(const std::string &source);

// Empty when `graded` got what was expected, else what it got instead.
std::string unmet(const expectation &e, const lab_view &graded);

} // namespace cli
