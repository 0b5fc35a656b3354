// The first call of the CUDA runtime that failed while a contract function ran: what a wrong answer
// or a later error most likely comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace grading {

struct failed_call {
    std::string name; // "cudaMemcpy"; empty: none failed
    std::string error;
    std::string why; // in words that follow the name; may be empty

    explicit operator bool() const { return !name.empty(); }
};

// The lines, from 1, of a C++ source that call `name`, outside of comments; for cudaLaunchKernel
// those with <<<. Where the function `within` has some, these alone.
std::vector<int> lines_that_call(std::string_view name, std::string_view source,
                                 std::string_view within = {});

// "cudaMemcpy on line 12 failed with cudaErrorInvalidValue: its source is a null pointer."
// `within`: the contract function that was called.
std::string sentence_of(const failed_call &, std::string_view source, std::string_view within = {});

} // namespace grading
