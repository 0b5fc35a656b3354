// Checks of the bytes that come back from a call, before any comparison with the oracle.
#pragma once

#include "api/argument.hpp"

#include <vector>

namespace grading {

// Ends the case if bytes around a buffer changed.
void check_guards(const std::vector<argument> &);

// Ends the case if the call wrote to an argument that the contract declares const.
void check_inputs_unchanged(const std::vector<argument> &);

// Elements outside the requested range must keep their old contents.
void check_untouched(const std::vector<argument> &);

// Copies what the call wrote into the caller's elements.
void copy_back(std::vector<argument> &);

// Keeps outputs of the second call that differ from the first's, so that comparisons judge both.
void keep_differing(std::vector<argument> &);

} // namespace grading
