// What is to be said of a source line's memory accesses: the figures, and where something is off,
// one sentence with the cause, read off the addresses of the worst request.
#pragma once

#include "access_counts.hpp"

#include <string>
#include <vector>

namespace cli {

struct access_note {
    std::string what;     // "load", "shared store", "atomics"
    std::string figures;  // "1 024 requests, 32 768 sectors, ideal 4 096"
    std::string sentence; // empty: nothing is off
    double waste = 0;     // sectors, wavefronts or turns beyond the ideal
};

// Whether the requests take notably more than hardware needs for them.
bool is_off(const access_sum &a);

// One note a kind of access.
std::vector<access_note> notes_of(const access_counts &line);

// "Its warps load 16.8 MB, of which 2.1 MB are different"; the sentence is empty where a byte comes
// less than `least` times on average.
access_note redundancy_of(const counted_kernel &k, double least);

// "1 024"; from a hundred million on "134 M".
std::string thousands(std::uint64_t n);
// "16.8 MB"
std::string bytes_words(std::uint64_t n);

// Of each wavefront of a request to shared memory the words that the 32 banks serve: rows of 32
// lists of lanes.
std::vector<std::vector<std::vector<int>>> bank_rows(const worst_request &w);

} // namespace cli
