// The hint command, which reveals a lab's hints one at a time.
#pragma once

#include "cli/submission/toolchain.hpp"

#include <string>

namespace cli {

struct hint_options {
    int todo = 0; // 0: the one that todo_at_hand chooses
    bool again = false;
};
int hint_command(const toolchain &t, const std::string &word, const hint_options &options);

} // namespace cli
