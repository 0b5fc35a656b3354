// Files as git has them: stubs as they were handed out, for `reset`, for the TODOs of one that a
// student has edited, and for the tests.
#pragma once

#include "../todo.hpp"
#include "toolchain.hpp"

#include <string>

namespace cli {

// Git has the original of a checkout; a folder that was unpacked has none, so the stubs are copied
// to .workbook/stubs when the program first runs, which is before most people edit anything.
struct stub_original {
    std::string text;  // empty: there is none
    std::string where; // "git's commit 1a2b3c4 (2026-11-21)", ".workbook/stubs/02_coalescing.cu"
};
stub_original original_stub(const toolchain &t, const lab &l);

// A file of the project as git's index has it: committed, or staged by a maintainer who wants a new
// one tested. Where the one in the tree differs, as a stub does that a student has edited, a copy
// is put into the build folder. Without git `known` is false, and the file in the tree must do.
struct original_file {
    std::string path;
    bool edited, known;
};
original_file original_of(const toolchain &t, const std::string &path);

// By the original, or for want of it the stub as it stands, and how far the student is with them.
grading::todo_list todos_of(const toolchain &t, const lab &l);

// Copies the stubs that have no copy yet. A folder that cannot be written to is left alone.
void copy_stubs(const toolchain &t);
std::string stub_copy(const toolchain &t, const lab &l); // the copy's path

} // namespace cli
