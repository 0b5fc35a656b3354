// Writes the student edition and tests that students can work with it.
#pragma once

#include "cli/submission/toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

struct release_options {
    std::string folder;             // must not exist yet, or be empty
    std::vector<std::string> words; // the labs in it; none: all
    bool proof = true;
};

// Writes the edition of git's HEAD beside the folder and tests a copy of it; only then does it get
// its final name. Returns the exit status. Throws usage_error if the folder or the state of the
// project forbids it, machine_error if the proof fails; nothing is left behind then.
int release_command(const toolchain &t, const release_options &options);

// Returns the commands shown on a page, as words: `./workbook grade 02` is {"grade", "02"}.
std::vector<std::vector<std::string>> commands_of(const std::string &page);

} // namespace cli
