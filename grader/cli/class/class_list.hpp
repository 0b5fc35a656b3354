// The work that a class's folder gives: a row per student and lab, and the files that may fill it.
#pragma once

#include "class_work.hpp"
#include "cli/results/submission_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

// Which of several files of a student's for one lab counts.
enum class which_file { only, newest, best };

// One row of the class's table.
struct class_entry {
    std::vector<class_work> files; // at least one; without a file, its row says why
    // The file that counts, once all are finished: with the most points, then with the most of the
    // clock, then the earliest. A file left without a grade comes first, since nobody knows.
    const class_work &counted() const;
    grade_row row() const; // of that file, with the remarks about all
    void choose_newest();  // leaves only that file, once all have the times that were kept
};

// Returns an entry per student and lab, ordered by student. Several files for one lab are an error
// of the student's with which_file::only. Throws machine_error.
std::vector<class_entry> entries_of(const toolchain &t, const std::vector<student_files> &students,
                                    const std::vector<std::string> &labs, which_file which);

// Returns a student's file, or nothing if it would not be graded.
std::optional<std::string> text_to_grade(const std::string &path);

// Adds remarks on files that equal naive or another student's, byte for byte; the stub and an
// empty file do not count.
void mark_copies(const toolchain &t, std::vector<class_entry> &all);

} // namespace cli
