// Verdicts: the possible results of a case. The names are those of result.json.
#pragma once

#include <cstdint>
#include <string_view>

// Calls X with each verdict, so that the enumeration and its names have one list.
#define GRADING_VERDICTS(X)                                                                        \
    X(PASS)                                                                                        \
    X(TOO_SLOW)                                                                                    \
    X(WRONG_ANSWER)                                                                                \
    X(NOT_WRITTEN)                                                                                 \
    X(PARTIALLY_WRITTEN)                                                                           \
    X(OUT_OF_BOUNDS)                                                                               \
    X(INPUT_MODIFIED)                                                                              \
    X(NONDETERMINISTIC)                                                                            \
    X(LATE_WRITE)                                                                                  \
    X(RACE)                                                                                        \
    X(UNINITIALISED)                                                                               \
    X(BARRIER_MISUSE)                                                                              \
    X(LAUNCH_FAILED)                                                                               \
    X(CUDA_ERROR)                                                                                  \
    X(CRASH)                                                                                       \
    X(EARLY_EXIT)                                                                                  \
    X(TIMEOUT)                                                                                     \
    X(OUTPUT_LIMIT)                                                                                \
    X(RESOURCE_LIMIT)                                                                              \
    X(PROTOCOL_ERROR)                                                                              \
    X(IMPLAUSIBLE)                                                                                 \
    X(CLOCK_MISMATCH)                                                                              \
    X(FORBIDDEN_API)                                                                               \
    X(BUILD_FAILED)                                                                                \
    X(BUILD_REJECTED)                                                                              \
    X(BUILD_TIMEOUT)                                                                               \
    X(SUBMISSION_INVALID)                                                                          \
    X(SKIPPED)                                                                                     \
    X(INFRA_ERROR)

namespace grading {

#define GRADING_ENUMERATOR(name) name,
enum class verdict : std::uint8_t { GRADING_VERDICTS(GRADING_ENUMERATOR) };
#undef GRADING_ENUMERATOR

std::string_view name(verdict v);
bool parse(std::string_view name, verdict &v);

} // namespace grading
