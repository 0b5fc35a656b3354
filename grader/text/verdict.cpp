// The verdicts' names as in result.json.
#include "verdict.hpp"

#include <array>
#include <cstddef>

namespace grading {

namespace {
constexpr std::array<std::string_view, 30> names{
    "PASS",
    "TOO_SLOW",
    "INCONCLUSIVE",
    "WRONG_ANSWER",
    "NOT_WRITTEN",
    "PARTIALLY_WRITTEN",
    "OUT_OF_BOUNDS",
    "INPUT_MODIFIED",
    "NONDETERMINISTIC",
    "LATE_WRITE",
    "RACE",
    "UNINITIALISED",
    "BARRIER_MISUSE",
    "LAUNCH_FAILED",
    "CUDA_ERROR",
    "CRASH",
    "EARLY_EXIT",
    "TIMEOUT",
    "OUTPUT_LIMIT",
    "RESOURCE_LIMIT",
    "PROTOCOL_ERROR",
    "IMPLAUSIBLE",
    "CLOCK_MISMATCH",
    "FORBIDDEN_API",
    "BUILD_FAILED",
    "BUILD_REJECTED",
    "BUILD_TIMEOUT",
    "SUBMISSION_INVALID",
    "SKIPPED",
    "INFRA_ERROR",
};
static_assert(names.size() == static_cast<std::size_t>(verdict::INFRA_ERROR) + 1);
} // namespace

std::string_view name(verdict v) { return names[static_cast<std::size_t>(v)]; }

bool parse(std::string_view text, verdict &v)
{
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) {
            v = static_cast<verdict>(i);
            return true;
        }
    return false;
}

} // namespace grading
