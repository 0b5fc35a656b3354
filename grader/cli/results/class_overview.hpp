// The figures and lists that a class page shows, gathered from a class's results.
#pragma once

#include "result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

// A student's grade in one lab, as the class's document has it. All text may hold anything.
struct class_grade {
    std::string student, lab, status, problem, first_failure;
    point_sums sums = {}, clock = {}; // `sums` holds the clock's points if the course counts them
    std::string band = {};            // as band_of(); of the points without the clock's
    int late_days = 0;
    bool fault() const { return status == "error" || status == "unreadable"; } // no grade
    bool graded() const { return status != "missing" && !fault(); }
};

struct verdict_count {
    std::string verdict;
    std::size_t students = 0, cases = 0;
};

// Failures of one function whose messages say the same but for their numbers.
struct common_mistake {
    std::string function, verdict;
    std::string what; // as mistake_in(); empty: the grader recognised no cause
    std::size_t students = 0;
    std::string student, case_name, message, hint; // one example
};

struct slow_case {
    std::string name;
    double median_ms = 0, max_ms = 0;
    std::string slowest; // the student with the maximum
};

// Something that a person reads about one grade: a fault, an open point, a dispute.
struct class_remark {
    std::string student, lab, words;
};

struct lab_overview {
    std::string lab;
    double max_points = 0, median = 0;                      // of the graded
    std::vector<double> points;                             // of the graded, in ascending order
    std::size_t missing = 0, faults = 0;                    // students without a grade
    std::vector<verdict_count> verdicts;                    // the commonest first
    std::vector<verdict_count> not_written;                 // by function instead of by verdict
    std::vector<common_mistake> mistakes;                   // those of most students first
    std::vector<slow_case> slow;                            // the slowest first
    std::vector<std::pair<std::string, std::size_t>> bands; // all names, and how many students
};

struct class_overview {
    std::string seed, backend, tool;
    std::vector<class_grade> grades = {}; // by student, then by lab
    std::vector<lab_overview> labs = {};
    std::vector<class_remark> faults = {}, missing = {}, disputed = {}, open = {};
};

// The points that a course counts besides the usual ones. Held-back cases are left out, with what
// they say, unless they have been published.
struct points_too {
    bool clock = false, held_back = false;
};

// Takes what autograde --json wrote; whatever a broken document lacks is left out. Throws
// usage_error if held-back cases are wanted and were not graded.
class_overview overview_of(const json &of_class, points_too counted);

// Returns the part of a failure's message that two students with the same mistake have in common:
// its first sentence without the counts of wrong elements and without the call; numbers and names
// of kernels are replaced. Empty if the message says only that the result is wrong.
std::string mistake_in(const std::string &message);

} // namespace cli
