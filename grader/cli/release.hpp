// Writes the student edition, and proves that students can work with it.
#pragma once

#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

struct release_options {
    std::string folder;             // to be made, or empty
    std::vector<std::string> words; // the labs in it; none: all
    bool proof = true;
};

// Makes the edition of git's HEAD beside the folder and proves it there in a copy; only then it
// appears under its name. Returns the exit status. Throws usage_error where the folder or the state
// of the project forbids it, machine_error where the proof fails; then nothing is left behind.
int release_command(const toolchain &t, const release_options &options);

// The commands that a page shows, with their words: `./workbook grade 02` is {"grade", "02"}.
std::vector<std::vector<std::string>> commands_of(const std::string &page);

} // namespace cli
