// Reads the tables of handouts, for tests that compare them with an oracle.
#pragma once

#include <doctest/doctest.h>
#include <regex.h> // the C library's, since <regex> takes longer to compile than a whole test

#include <fstream>
#include <string>
#include <vector>

// Returns the lines of a handout that match a pattern (POSIX, extended) from end to end: of each
// the whole line, then the pattern's groups.
inline std::vector<std::vector<std::string>> rows_of_handout(const std::string &path,
                                                             const std::string &pattern)
{
    std::ifstream handout(path);
    REQUIRE_MESSAGE(handout, "run this test from the root of the source tree");
    regex_t row;
    REQUIRE(regcomp(&row, ("^" + pattern + "$").c_str(), REG_EXTENDED) == 0);
    std::vector<std::vector<std::string>> rows;
    std::vector<regmatch_t> found(row.re_nsub + 1);
    for (std::string line; std::getline(handout, line);) {
        if (regexec(&row, line.c_str(), found.size(), found.data(), 0) != 0) continue;
        rows.emplace_back();
        for (const regmatch_t &m : found)
            rows.back().push_back(line.substr(static_cast<std::size_t>(m.rm_so),
                                              static_cast<std::size_t>(m.rm_eo - m.rm_so)));
    }
    regfree(&row);
    return rows;
}
