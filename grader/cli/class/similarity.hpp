// Compares a class's files by their tokens, and writes them for JPlag and Dolos.
#pragma once

#include "cli/results/class_results.hpp"
#include "cli/submission/toolchain.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cli {

// The code of a lab that every student was given: nobody copied it from anybody.
struct given_code {
    std::string stub, naive;
    std::string headers = {}; // that a file may include; an earlier stub may have had their code
};
struct compared_file {
    std::string student, lab, text;
};

// Two files, and the share of each one's own tokens, from 0 to 1, that the other has, too.
struct similar_pair {
    std::string lab, first, second;
    double of_first = 0, of_second = 0;
    double share() const { return of_first > of_second ? of_first : of_second; }
};

// A pair is named if it shares at least so much of one of its files. Among the solutions of this
// workbook independent ones share at most 0.40; handouts/instructor/similarity.md has the figures.
constexpr double similarity_threshold = 0.5;
// Files with fewer tokens of their own, some 25 lines, are alike by chance.
constexpr std::size_t min_own_tokens = 200;

struct file_comparison {
    std::vector<similar_pair> pairs;    // above the threshold, most alike first
    std::vector<std::string> too_short; // students whose file was not compared
};

// Returns the text without the lines that the stub has, too, whatever their blanks.
std::string without_lines_of(const std::string &text, const std::string &stub);

// Compares files of one lab, by runs of 23 tokens (k-grams; Dolos has the same length by default).
// Every run is kept, where Schleimer, Wilkerson and Aiken (2003) keep a sample by winnowing: a
// class is small enough. Comments, layout, order of functions, and names that can be changed do not
// count, nor does code that was given.
file_comparison compare_files(const std::vector<compared_file> &files, const given_code &given);

// Throws usage_error if the folder is there and not empty, or cannot be made.
void require_similarity_folder(const std::string &folder);

// Writes FOLDER/LAB/STUDENT.cpp, each without the stub's lines, with FOLDER/LAB/stub.cpp as base
// code, FOLDER/LAB/info.csv as Dolos reads it, and FOLDER/pairs.csv with all similar pairs. File
// names are safe and unique; files without text are left out. Returns what to print, `width`
// columns wide. Throws machine_error if something cannot be written.
std::string write_similarity(const std::string &folder, const std::vector<compared_file> &files,
                             const std::map<std::string, given_code> &given_of_lab, int width);

// The same for the files of a class's rows. What is larger than a mebibyte is named and left out.
std::string compare_class(const toolchain &t, const std::vector<std::string> &labs,
                          const std::vector<grade_row> &rows, const std::string &folder, int width);

} // namespace cli
