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

struct array_shape {
    std::size_t element_bytes = 0;          // 0: not known
    std::vector<std::size_t> inner_extents; // of all dimensions but the first
    bool operator==(const array_shape &) const = default;
};

// Returns the shape of the __shared__ array of this name. It is not known if the source declares
// none, several of different shapes, one of another type than C++'s numbers and CUDA's vectors of
// them, or an inner extent that is no sum, product or quotient of numbers and named constants.
array_shape shared_array_shape(std::string_view source, std::string_view array);

// True if this line (from 1) is in a function and no branch or loop of that function stands before
// it: threads that do not come to the line then took another branch in a caller.
bool no_branch_before(std::string_view source, int line);

// Returns the functions that divide by something else than a written number, in file order: among
// `function` and those that it names, and those that these name. None if the source has over 200
// functions, or so many on the same lines that a search would take long.
std::vector<std::string> dividing_functions(std::string_view source, std::string_view function);

} // namespace grading
