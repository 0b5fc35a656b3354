// Tables of comma-separated words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

// Joins words to a line with its line end; quotes only those that CSV needs quoted.
std::string csv_line(const std::vector<std::string> &words, char separator = ',');

// Marks a word that a spreadsheet would take for a formula: students name the folders and files.
std::string without_formula(const std::string &word);

struct csv_row {
    std::size_t line; // of its first word in the file, from 1
    std::vector<std::string> words;
};
// Reads a table as RFC 4180 has it: a quoted word may hold separators, doubled quotes and line
// breaks. Throws machine_error that names the line, with `shown` as the file's name.
std::vector<csv_row> parse_csv(const std::string &text, const std::string &shown,
                               char separator = ',');
// Returns the rows below the first line, which must be `header`; none if there is no file. Throws
// machine_error naming the file and the line.
std::vector<csv_row> read_csv(const std::string &path, const std::vector<std::string> &header);

} // namespace cli
