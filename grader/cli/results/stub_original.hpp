// Files in their original state: stubs as handed out, for `reset`, TODO lists and tests.
#pragma once

#include "cli/submission/toolchain.hpp"
#include "text/todo.hpp"

#include <string>

namespace cli {

// In a checkout git has the original. An unpacked archive has no git, so the stubs are copied to
// .workbook/stubs when the program first runs, which is before most people edit anything.
struct stub_original {
    std::string text;  // empty: no original was found
    std::string where; // "git's commit 1a2b3c4 (2026-11-21)", ".workbook/stubs/02_coalescing.cu"
};
stub_original original_stub(const toolchain &t, const lab &l);

// Returns a file of the project as git's index has it: committed, or staged by a maintainer for a
// test. If the file in the tree differs, as a stub edited by a student does, the original is
// written to the build folder. Without git `known` is false and `path` is the file in the tree.
struct original_file {
    std::string path;
    bool edited, known;
};
original_file original_of(const toolchain &t, const std::string &path);

// Returns the TODOs of the original stub, or of the submission if there is none, with the progress
// of the submission on them. Without `path`: of the stub as it is now.
grading::todo_list todos_of(const toolchain &t, const lab &l, const std::string &path);
grading::todo_list todos_of(const toolchain &t, const lab &l);

// Copies the stubs that have no copy yet. Does nothing if the folder cannot be written.
void copy_stubs(const toolchain &t);
std::string stub_copy(const toolchain &t, const lab &l); // the copy's path

} // namespace cli
