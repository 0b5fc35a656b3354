// Facts that messages take from the text of a submission.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

// Returns the submission's file; empty if it cannot be read or is over 256 KiB.
std::string submission_source();

// Returns `source` with comments replaced by blanks.
std::string without_comments(std::string_view source);

// Returns the size in bytes of an element of the __shared__ array of this name; 0 if the source
// declares none, several of different kinds, one of two dimensions, or one of another type than
// C++'s numbers and CUDA's vectors of them.
std::size_t shared_element_bytes(std::string_view source, std::string_view array);

// True if this line (from 1) is in a function and no branch or loop of that function stands before
// it: threads that do not come to the line then took another branch in a caller.
bool no_branch_before(std::string_view source, int line);

// Returns the functions that divide by something else than a written number, in file order: among
// `function` and those that it names, and those that these name. None if the source has over 200
// functions, or so many on the same lines that a search would take long.
std::vector<std::string> dividing_functions(std::string_view source, std::string_view function);

} // namespace grading
