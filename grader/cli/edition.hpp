// The student edition: what git has, without the worked solutions and without what shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

struct edition {
    std::string version, commit;
    std::vector<std::string> labs;     // in it, in teaching order
    std::vector<std::string> left_out; // the workbook's other labs
};

// Whether a file of the project, by its path in it, is in the edition.
bool delivered(const edition &e, const std::string &path);

// A page of the project as students read it. What stands between lines `<!-- whole edition -->` and
// `<!-- end -->` is left out; what is hidden between `<!-- student edition` and `-->` is shown;
// rows of tables about labs left out go. Throws machine_error, naming `file`, where a passage has
// no end.
std::string page_for_students(const edition &e, const std::string &page, const std::string &file);

// Writes the edition of git's commit e.commit into `folder`, which exists and is empty, and returns
// how many files it has. `root`: the project. Throws machine_error.
std::size_t write_edition(const edition &e, const std::string &root, const std::string &folder);

// What is wrong with an edition that was written: a page that names a file which is not there, or
// three lines in a row of a solution. One sentence each; empty: nothing.
std::vector<std::string> edition_faults(const std::string &root, const std::string &folder);

// The first line of code in `stub` that `filled` does not have in its place; empty when `filled`
// is the stub with lines added. Comments, blank lines and indentation do not count.
std::string line_not_kept(const std::string &stub, const std::string &filled);

// The file that tells a student edition from the whole workbook.
constexpr const char *edition_file = "edition.txt";
// Whether the project is a student edition.
bool is_student_edition(const std::string &root);

} // namespace cli
