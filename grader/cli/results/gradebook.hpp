// A gradebook that Moodle or Canvas exported, with one column to fill in.
#pragma once

#include "cli/support/csv.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cli {

// A row of a student.
struct gradebook_person {
    std::size_t row = 0; // in gradebook::rows
    std::string id;      // as course_identity has it; empty: the file has none
    std::vector<std::string>
        names;                     // lower case: of the account, the number, the e-mail, the person
    std::string shown;             // "Ada Lovelace (line 3)", safe to print
    std::optional<double> maximum; // of the column, if the file says
};

class gradebook {
public:
    // Parses `text` of the file `shown`. `lms`: "moodle" or "canvas". `column`: the whole name of
    // the column to fill in, or a part that only one has; empty: the file has one only. Throws
    // usage_error if it is no such file or the column is not clear, and machine_error if its text
    // is broken.
    gradebook(const std::string &text, const std::string &shown, const std::string &lms,
              const std::string &column);

    const std::vector<gradebook_person> &people() const { return people_; }
    bool has_ids() const; // every row has one
    const std::string &column() const { return rows_[0].words[grade_]; }
    std::string &cell(const gradebook_person &p) { return rows_[p.row].words[grade_]; }

    // Returns the file to upload: of Moodle everything, of Canvas no other column with grades,
    // which an upload would set back to what they were.
    std::string text() const;

private:
    void read_moodle(const std::string &shown, const std::string &column);
    void read_canvas(const std::string &shown, const std::string &column);

    std::vector<csv_row> rows_; // the first has the columns' names
    std::vector<std::size_t> kept_;
    std::vector<gradebook_person> people_;
    std::size_t grade_ = 0;
    std::string mark_; // the byte order mark, if there is one
    char separator_ = ',';
};

} // namespace cli
