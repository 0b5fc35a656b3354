// Describes a source line's memory accesses: the figures and, if requests are wasteful, one
// sentence with the cause, derived from the addresses of the worst request.
#pragma once

#include "access_counts.hpp"

#include <string>
#include <vector>

namespace cli {

struct access_note {
    std::string what;     // "load", "shared store", "atomics"
    std::string figures;  // "1 024 requests, 32 768 sectors, ideal 4 096"
    std::string sentence; // empty: nothing is wasted
    // Sectors, wavefronts, or serialised accesses (atomics, constants) beyond the ideal.
    double waste = 0;
};

// Returns true if the requests cost notably more than the ideal.
bool is_wasteful(const access_sum &a);

// Returns one note per kind of access.
std::vector<access_note> notes_of(const access_counts &line);

// "Its warps load 16.8 MB, of which 2.1 MB are different"; the sentence is empty if a byte is
// loaded less than `min_times` times on average.
access_note redundancy_of(const kernel_counters &k, double min_times);

// "1 024"; from a hundred million on "134 M".
std::string thousands(std::uint64_t n);
std::string quantity(std::uint64_t n, const char *one); // "1 block", "1 024 requests"
// "16.8 MB"
std::string bytes_words(std::uint64_t n);

// Returns the wavefronts of a request to shared memory: for each of the 32 banks, the lanes that
// it serves.
std::vector<std::vector<std::vector<int>>> wavefronts_of(const worst_request &w);

} // namespace cli
