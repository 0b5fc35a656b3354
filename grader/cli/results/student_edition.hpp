// The student edition: the files in git without the worked solutions and anything that shows them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cli {

struct edition {
    std::string version, commit;
    std::vector<std::string> labs;     // the labs in it, in teaching order
    std::vector<std::string> left_out; // the workbook's other labs
    // By lab: the points of its held-back cases, which are not in the edition.
    std::map<std::string, double> held_back = {};
};

// Returns true if the project's file at this relative path is in the edition.
bool delivered(const edition &e, const std::string &path);

// Returns a page of the project as students read it. Text between lines `<!-- whole edition -->`
// and `<!-- end -->` is removed, text hidden between `<!-- student edition` and `-->` is shown, and
// rows of tables about labs left out are removed. Throws machine_error, naming `file`, if a passage
// has no end.
std::string page_for_students(const edition &e, const std::string &page, const std::string &file);

// Writes the edition of git's commit e.commit into `folder`, which exists and is empty, and returns
// how many files it has without the copies of the stubs in .workbook. `root`: the project. Throws
// machine_error.
std::size_t write_edition(const edition &e, const std::string &root, const std::string &folder);

// Returns the faults of an edition that was written, one sentence each: a page that names a missing
// file or a command that is not for students, or a file that has three consecutive lines of a
// solution; lines that are short, or comments or directives, do not count.
std::vector<std::string> edition_faults(const std::string &root, const std::string &folder);

// The first line of code in `stub` that `filled` does not have in its place; empty when `filled`
// is the stub with lines added. Comments, blank lines and indentation do not count.
std::string line_not_kept(const std::string &stub, const std::string &filled);

// An instructor's own cases of a lab, in its folder in labs/. No edition has them.
constexpr const char *held_back_file = "held_back.cpp";
// The file that only a student edition has.
constexpr const char *edition_file = "edition.txt";
// Returns true if the project is a student edition.
bool is_student_edition(const std::string &root);
// Returns the points of a lab's held-back cases that the project, a student edition, lacks; else 0.
double held_back_from_edition(const std::string &root, const std::string &lab);
// Reads the file in a student edition's folder. `left_out` stays empty. Throws machine_error if it
// cannot be read, or names no version or no labs.
edition read_edition(const std::string &root);

} // namespace cli
