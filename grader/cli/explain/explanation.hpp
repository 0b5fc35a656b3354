// An explanation: a submission's source, annotated line by line with its memory accesses.
#pragma once

#include "access_words.hpp"
#include "cli/results/result.hpp"
#include "cli/terminal/text.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cli {

struct explained_line {
    std::string file; // empty: the submission; else another file's name
    int line = 0;
    access_counts counts;
    std::vector<access_note> notes;
    double waste() const;         // the sum over its notes
    std::string location() const; // "line 41", "block_scan.cuh:12"
};

// A case and the counters of its largest call.
struct explained_case {
    std::string name, verdict, message, hint;
    case_counters counts;
    std::vector<explained_line> lines; // those that access memory, the submission's own first
    bool is_right() const;             // the answer is right, fast or slow
    bool message_adds() const;         // the message says more than the remarks
};

struct explanation {
    std::string lab;
    std::string path;    // the submission's, as a reader would type it
    std::string source;  // the file's text
    std::string command; // explains all cases
    std::vector<explained_case> cases;
};

// Combines the grader's result with its counters. Lines of a file with the submission's name are
// its own. Throws std::exception if the counters are malformed.
explanation explain(const std::string &lab, const std::string &path, const std::string &source,
                    const lab_view &result, const std::string &counters);

// A remark on a line or a kernel of a case. remarks_of() returns the worst first.
struct remark {
    std::string location; // "line 41"; "scan_counts"; "block_scan.cuh:12"
    std::string what;     // "shared load"
    std::string sentence;
    double waste = 0;
};
std::vector<remark> remarks_of(const explained_case &c);

constexpr const char *no_waste = "Each request touches about as few sectors, and takes about as "
                                 "few wavefronts, as its bytes allow.";

// A renderer's functions for the parts of an annotated source.
struct source_visitor {
    // A line of the submission.
    std::function<void(int number, const std::string &text, bool wasteful)> line;
    std::function<void(const access_note &)> note;    // on the line above
    std::function<void(const std::string &)> heading; // "...": lines are omitted; or another file
};
// Visits the lines of the submission to show for a case, then those of other files.
void visit_source(const explanation &e, const explained_case &c, const source_visitor &to);

// Returns true if an earlier case called the same function and accessed memory in the same lines.
bool shown_before(const explanation &e, const explained_case &c);

// Formats an explanation for a terminal, at most `out.width` columns wide where names allow it.
std::string explanation_text(const explanation &e, const terminal &out);

// Formats an explanation as one HTML page that needs nothing else: no script, no other file.
std::string explanation_page(const explanation &e);

} // namespace cli
