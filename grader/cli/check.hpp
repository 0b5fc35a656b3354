// The grader graded: every implementation and every wrong submission gets what it must.
#pragma once

#include "grade.hpp"

namespace cli {

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

// Every case that is not passed, but for answers that are right and only slow; empty: there is
// none. A lab without one correctness case that passes is wrong too.
std::string wrong_answers(const lab_view &l);

// A file of the project as git's index has it: committed, or staged by a maintainer who wants a new
// one tested. Where the one in the tree differs, as a stub does that a student has edited, a copy
// is put into the build folder. Without git `known` is false, and the file in the tree must do.
struct original_file {
    std::string path;
    bool edited, known;
};
original_file original_of(const toolchain &t, const std::string &path);

} // namespace cli
