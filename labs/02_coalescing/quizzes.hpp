// The quizzes of lab 02: their questions, and what is said of a wrong answer.
#pragma once

#include "lab.hpp"

#include <vector>

// Questions about a kind: parameters that everybody should know, and four of low to high that
// nobody can.
struct pattern_questions {
    pattern_kind kind;
    std::vector<int> known;
    int low, high;
};
// Calls predict. A wrong answer ends the case, as below.
void quiz_patterns(const std::vector<pattern_questions> &questions);

// How much questions about resident_blocks depend on; a later one includes the limits before it.
enum class limit { threads, registers, shared_memory };
// Calls resident_blocks for an H100, a T4 and multiprocessors that nobody has built.
void quiz_residency(limit last);

// Calls warps_hiding_latency.
void quiz_latency();
