// The subjects of a grade: stubs, worked implementations, and files by name.
#pragma once

#include "cli/submission/toolchain.hpp"
#include "text/todo.hpp"

#include <string>
#include <vector>

namespace cli {

// The subject of a grade: a file that must be built first, or an implementation of ours.
struct subject {
    std::string name;        // in results: "stub", "solution", "1_coalesced", a file's name
    std::string source;      // its file
    bool ours = false;       // the build makes its worker
    std::string object = {}; // the folder from compile_together; empty: not compiled so
};
subject stub_of(const toolchain &t, const lab &l);
subject implementation_of(const toolchain &t, const lab &l, const std::string &name);
subject file_of(const std::string &path);

// True if each word is the whole name of a lab, which is how a lab that tests the grader is meant.
bool named_in_full(const toolchain &t, const std::vector<std::string> &words);

// A lab and its subject: the stub, the solution, or the file given. `words` are as for find_labs().
// Throws usage_error.
struct item {
    const lab *of;
    subject what;
};
std::vector<item> items(const toolchain &t, const std::vector<std::string> &words,
                        const std::string &submission, bool solutions);

// The TODOs of the lab's stub with the subject's progress on them; none for a solution.
grading::todo_list todos_of(const toolchain &t, const lab &l, const subject &what);

// The command that grades the subject again: "./workbook grade 02 --submission mine.cu".
std::string grade_command_of(const toolchain &t, const lab &l, const subject &what);

} // namespace cli
