// The first CUDA runtime call that failed in a contract function: the likely cause of later
// errors.
#pragma once

#include "simulator/machine/finding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace grading {

struct failed_call {
    std::string name; // "cudaMemcpy"; empty: none failed
    std::string error;
    std::string why; // a phrase that follows the name; may be empty
    simulator::wrong_pointer pointer = simulator::wrong_pointer::none;

    explicit operator bool() const { return !name.empty(); }
};

// "cudaMemcpy on line 12 failed with cudaErrorInvalidValue: its source is a null pointer."
// `within`: the contract function that was called.
std::string sentence_of(const failed_call &, std::string_view source, std::string_view within = {});

std::string hint_of(const failed_call &);

} // namespace grading
