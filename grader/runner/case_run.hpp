// The case being graded: its end, and the run that it is part of.
#pragma once

#include "run_options.hpp"
#include "text/verdict.hpp"
#include "workers.hpp"

#include <cstdint>
#include <exception>
#include <string>

namespace grading {

enum class stream_work : std::uint8_t; // defined in api/call_options.hpp

// Returns when the simulator runs streams' work: as the case or the run asks, and late in the
// second of two equal calls.
stream_work streams_of_case();

// Thrown by end_case if the case accepts any end of a call.
struct accepted_end {};

// Throws (through doctest), so the rest of the case does not run. The first verdict of a case
// counts. May be called from several threads, whose exceptions must then be rethrown in the case's
// own.
[[noreturn]] void end_case(verdict v, std::string message, std::string hint = {});

extern const char *const out_of_order_hint; // for stores and loads between two blocks

// The case's failed runtime call in words.
struct told_failure {
    std::string sentence, hint; // empty: none failed
    explicit operator bool() const { return !sentence.empty(); }
};
told_failure take_failed_call(); // and forgets it

// Thrown where code asks for a worker or a verdict that prepares a case ahead of its turn.
struct not_in_advance : std::exception {};

// While one lives, this thread prepares such a case.
class ahead_of_case {
public:
    ahead_of_case();
    ~ahead_of_case();
    ahead_of_case(const ahead_of_case &) = delete;
    ahead_of_case &operator=(const ahead_of_case &) = delete;
};
void require_turn(); // throws not_in_advance

// The seed of the current case; the same if the case runs alone or among others.
std::uint64_t case_seed();

} // namespace grading
