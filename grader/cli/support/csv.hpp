// Tables of comma-separated words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

// Joins words to a line with its line end; quotes only those that CSV needs quoted.
std::string csv_line(const std::vector<std::string> &words);

// Marks a word that a spreadsheet would take for a formula: students name the folders and files.
std::string without_formula(const std::string &word);

struct csv_row {
    std::size_t line; // in the file, from 1
    std::vector<std::string> words;
};
// Returns the rows below the first line, which must be `header`; none if there is no file. A quoted
// word may hold no line break. Throws machine_error naming the file and the line.
std::vector<csv_row> read_csv(const std::string &path, const std::vector<std::string> &header);

} // namespace cli
