// Wrong answers of lab 07 that the grader recognises, and hints for what has no place.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <vector>

using floats = std::vector<float>;
using mark_list = std::vector<unsigned char>;

inline bool positive(float x) { return x > 0; }

// For a wrong count of compact or partition.
std::vector<grading::misconception<int>> wrong_counts(const floats &in, int counted);
// Of compact: what leaves more in `out` than the kept elements.
std::vector<grading::misconception<float>> too_many_kept(const floats &in);
std::vector<grading::misconception<float>> wrong_unpacks(const floats &packed,
                                                         const mark_list &keep);
std::vector<grading::misconception<float>> wrong_places(const floats &packed, const mark_list &keep,
                                                        const grading::output<float> &out);
std::vector<grading::misconception<float>> wrong_partitions(const floats &in);

// Sets the hints for votes that not all lanes come to, and for scan_counts in several blocks.
void hint_stub();
// The elements that compact leaves out if it keeps all n and each row of a warp begins where the
// first one did.
std::vector<grading::elements_left_out> rows_in_one_place(std::size_t n);
// Sets the hints for a place that two elements got, or that is too far on.
void hint_places();
// The same for NaN, for which both x > 0 and x <= 0 are false: its places stay empty while those
// behind it are filled, or as many stay empty at the end.
void hint_nan_left_out(const floats &partitioned);

// Ends the case unless these are the same bit by bit: NaN equals nothing.
void expect_bits(const grading::output<float> &got, const floats &want);
