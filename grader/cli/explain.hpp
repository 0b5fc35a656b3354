// The explain command: a submission's source, line by line, with what the memory system did.
#pragma once

#include "../source_view.hpp"
#include "access_words.hpp"
#include "grade.hpp"
#include "text.hpp"

#include <string>
#include <vector>

namespace cli {

using grading::line_range;
using grading::shown_lines;

struct explained_line {
    std::string file; // empty: the submission's own; else another one's name
    int line = 0;
    access_counts counts;
    std::vector<access_note> notes;
    double waste() const; // of all notes
};

// A case and what was counted of its largest call.
struct explained_case {
    std::string name, verdict, message, hint;
    counted_case counts;
    std::vector<explained_line> lines; // those that touch memory, the submission's own first
    bool was_written() const;          // the call did what it should, fast or slow
    bool tells_more() const;           // its message says what no remark says
};

struct explanation {
    std::string lab;
    std::string path;    // of the submission, as a reader would type it
    std::string source;  // the file's text
    std::string command; // that explains all of it
    std::vector<explained_case> cases;
};

// Puts the grader's result and its counters together. Lines of a file of the submission's name are
// its own. Throws std::exception when the counters are broken.
explanation explain(const std::string &lab, const std::string &path, const std::string &source,
                    const lab_view &result, const std::string &counters);

// A remark of a case: a line's or a kernel's, the worst first.
struct remark {
    std::string place; // "line 41"; "scan_counts"; "block_scan.cuh:12"
    std::string what;  // "shared load"
    std::string sentence;
    double waste = 0;
};
std::vector<remark> remarks_of(const explained_case &c);

constexpr const char *nothing_off = "Each request touches about as few sectors, and takes about as "
                                    "few wavefronts, as its bytes allow.";

// The lines of the submission to show for a case.
std::vector<line_range> shown_lines(const explanation &e, const explained_case &c);

// Whether an earlier case called the same function and came to the same lines.
bool shown_before(const explanation &e, const explained_case &c);

// As a terminal shows it, at most `out.width` columns where names allow it.
std::string explanation_text(const explanation &e, const terminal &out);

// The command. `page`: a file for explanation_page(), or empty. Returns the exit status.
int explain_command(const toolchain &t, const std::string &word, grade_options options,
                    const std::string &page);

} // namespace cli
