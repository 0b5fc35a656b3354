// Verdicts: the possible results of a case. The names are those of result.json.
#pragma once

#include <cstdint>
#include <string_view>

namespace grading {

enum class verdict : std::uint8_t {
    PASS,
    TOO_SLOW,
    INCONCLUSIVE,
    WRONG_ANSWER,
    NOT_WRITTEN,
    PARTIALLY_WRITTEN,
    OUT_OF_BOUNDS,
    INPUT_MODIFIED,
    NONDETERMINISTIC,
    LATE_WRITE,
    RACE,
    UNINITIALISED,
    BARRIER_MISUSE,
    LAUNCH_FAILED,
    CUDA_ERROR,
    CRASH,
    EARLY_EXIT,
    TIMEOUT,
    OUTPUT_LIMIT,
    RESOURCE_LIMIT,
    PROTOCOL_ERROR,
    IMPLAUSIBLE,
    CLOCK_MISMATCH,
    FORBIDDEN_API,
    BUILD_FAILED,
    BUILD_REJECTED,
    BUILD_TIMEOUT,
    SUBMISSION_INVALID,
    SKIPPED,
    INFRA_ERROR,
};

std::string_view name(verdict v);
bool parse(std::string_view name, verdict &v);

} // namespace grading
