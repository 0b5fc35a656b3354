// The quizzes of lab 02: their questions, and what is said of a wrong answer.
#pragma once

#include "lab.hpp"

#include <vector>

// Adds questions about a kind: `known`, parameters that everybody should know, and four of low to
// high that nobody can.
void ask(std::vector<access_pattern> &patterns, pattern_kind kind, std::vector<int> known, int low,
         int high);
// Calls predict with these patterns. A wrong answer ends the case, as below.
void quiz(const std::vector<access_pattern> &patterns);

// How much questions about resident_blocks depend on; a later one includes the limits before it.
enum class limited_by { threads, registers, shared_memory };
// Calls resident_blocks for an H100, a T4 and multiprocessors that nobody has built.
void quiz_residency(limited_by last);

// Calls warps_to_hide_latency.
void quiz_latency();
