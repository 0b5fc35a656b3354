// The wrong answers of lab 12 that the grader recognises, and its messages for them.
#pragma once

#include "grader/grading.hpp"

#include <string>
#include <vector>

using floats = std::vector<float>;

// `want`: the right table of so many members on so many devices.
std::vector<grading::misconception<int>> wrong_tables(const std::vector<int> &want, int members,
                                                      int devices);

// In the following `before` holds the buffers of all members, n floats each, one after the other.

// The right buffers after a broadcast.
floats broadcast_of(const floats &before, int members, int n);
std::vector<grading::misconception<float>> wrong_broadcasts(const floats &before, int members,
                                                            int n);
std::vector<grading::misconception<float>> wrong_sums(const floats &before, int members, int n);

// The last elements of each buffer were left unchanged. `want`: the right buffers.
grading::misconception<float> not_divided(const grading::output<float> &got, const floats &before,
                                          const floats &want, int n);

// Ends the case if no buffer has changed that should have.
void expect_changed(const char *function, const floats &got, const floats &before,
                    const floats &want);

// Ends the case if the buffers are not the sums, or not the same for all members.
void expect_sums(const grading::output<float> &all, const floats &before, int members, int n);

// The message if all work is queued at once and each step still waits for the one before it; empty
// if these counters show something else.
std::string one_after_the_other(const grading::counted &c);
