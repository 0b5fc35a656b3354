// Result documents of schema cuda-workbook/1: read, checked, merged, or made where no grader ran.
#pragma once

#include "cli/submission/submission.hpp"
#include "text/todo.hpp"
#include "text/version.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cli {

using json = nlohmann::json;

constexpr const char *result_schema = "cuda-workbook/1";
constexpr const char *class_schema = "cuda-workbook-class/1"; // what autograde writes
using grading::tool_version;

// A case of a result, with defaults for everything that a broken document may lack.
struct case_view {
    std::string name, kind, verdict, message, hint;
    double points = 0, max_points = 0;
    const json *whole = nullptr; // points into the document
    std::string about = {};      // the function whose TODO the failure concerns; empty: the case's
    int line = 0;                // the submission's line that the message names; 0: none
    double open_points = 0;      // neither reached nor lost: this machine cannot judge the case
    bool held_back = false;      // shown only after publication
    bool passed() const { return verdict == "PASS"; }
    const std::string &named_in_todo() const { return about.empty() ? name : about; }
};
// Every lab has so many points without the clock's; naive may have those for right answers.
constexpr double points_without_clock = 40, points_for_right_answers = 18;
constexpr double points_of_clock = 10; // of a lab that has timed cases

struct point_sums {
    double points = 0, max_points = 0, open = 0;
};
// Points of the clock, and held-back ones, have sums of their own; `points` and its kin are
// without them. Held-back points are open where their cases are not known.
struct lab_view {
    std::string lab, submission, status;
    double points = 0, max_points = 0;
    std::vector<case_view> cases = {};
    std::vector<std::string> warnings = {}; // of the compiler, that may explain a failure
    double open_points = 0;
    point_sums clock = {}, held_back = {};
    // False after a fault of ours, or if every case was skipped; the points then mean nothing.
    bool judged() const;
    // True if all points that are not open were reached.
    bool all_but_open() const { return max_points > 0 && points + open_points >= max_points; }
};
std::vector<lab_view> labs_of(const json &document);

using grading::function_of;
using grading::todo_list;
grading::case_outcome outcome_of(const case_view &c);
// Returns the TODOs that the failed case is about; empty: none is known.
std::vector<int> todos_to_blame(const case_view &c, const lab_view &l, const todo_list &todos);
// Returns the failure to fix first, by order_to_mend; null if nothing failed.
const case_view *first_to_mend(const lab_view &l, const todo_list &todos);
// Returns the first speed case that passed with points still to gain; null if there is none.
const case_view *first_to_improve(const lab_view &l);

// The cases of one function, counted, and their points.
struct function_tally {
    std::string function;
    std::size_t cases = 0, passed = 0, not_written = 0, skipped = 0, faults = 0;
    double points = 0, max_points = 0, open = 0; // without the clock's
    point_sums clock = {};
    bool rest_open() const { return passed + skipped == cases; } // no case failed
};
// Returns a tally per function, in the order of their first cases. Open cases of the clock are none
// of `cases`.
std::vector<function_tally> tallies(const lab_view &l);
// True if a function that was handed out wrong is as it was: it waits for its turn like one that is
// not written.
bool is_as_given(const function_tally &t, const todo_list &todos);

// A document of one lab whose only case says why nothing was run.
struct offered_points {
    double points = 0, clock = 0, held_back = 0;
};
json refused_build(const std::string &lab, const std::string &submission,
                   const built_submission &built, const offered_points &offered);
json grader_fault(const std::string &lab, const std::string &submission,
                  const std::string &message);
// A document for a lab that needs a missing GPU and has no substitute: all points are open.
json skipped_lab(const std::string &lab, const std::string &submission, const std::string &message,
                 const offered_points &offered);

// Returns a field of an object; null if it is missing or `object` is none.
const json &member(const json &object, const std::string &key);
// The same; empty or 0 if it is missing or of another type.
std::string text_at(const json &object, const std::string &key);
double number_at(const json &object, const std::string &key);

// Returns what is wrong with a document that a grader wrote; empty if it is valid.
std::string invalid(const json &document);

// Returns what is wrong with a document of a schema that only a newer workbook knows: "is of schema
// cuda-workbook/2, ..."; empty if it is not.
std::string newer_schema(const json &document);

// Merges the documents into one of all labs, in order, with the first non-empty environment.
json merged(const std::vector<json> &documents, const std::string &seed,
            const std::string &backend);

// Combines the exit statuses of several graders: our faults (99) take precedence over failures of
// the submission (1), those over open points (77), and those over a pass.
int merged_status(const std::vector<int> &statuses);

std::string points_words(double points, double max_points, double open = 0); // "6.5 / 10, 2 open"
std::string points_words(const lab_view &l);
std::string open_words(double open); // ", 8 open", to follow the points reached; empty: none
// Returns one sentence per reason why points of the lab are open: "8 points are open: ranks: two;
// ranks: four. There is no Open MPI."
std::vector<std::string> open_notes(const lab_view &l);
// Returns a sentence per case on which the simulator and a GPU disagree, or which a GPU judged
// alone, for a person to decide.
std::vector<std::string> disputed_notes(const lab_view &l);
// Returns "Clock: 4 of 10 points, 2 open. Only the clock of a GPU can judge this."; empty if the
// lab has no points of the clock.
std::string clock_words(const lab_view &l);
// Returns the same for a column: "4 / 10", "open", or nothing.
std::string clock_shown(const point_sums &clock);
// Returns what so many of 40 points show: "right", "understood", "complete", or "complete and fast"
// with all points of the clock; empty below, or if the lab's points are not 40.
std::string band_of(const lab_view &l);
std::string band_words(const lab_view &l); // ": understood"; empty without a band

// True if the case has a verdict on the submission; if that is a failure.
bool was_judged(const json &graded_case);
bool failed_in(const json &graded_case);
// Returns the exit status that a grader has for a lab's cases.
int status_of(const json &lab);
const char *status_word(int status); // "pass", "fail", "skipped" or "error"

// Returns the document as a course counts it that includes the clock's points, or does not: then
// it has no cases of the clock.
json as_counted(json document, bool with_clock);

// An instructor's own cases are held back: until publication a student sees neither them nor their
// points, only how many there are.
//
// Returns the document without these cases, whose points are open, and without their seed.
json without_held_back(json document);
// Returns the document after publication, in which they are cases like others and count. Throws
// usage_error, naming the lab, if it was graded without them.
json with_held_back_published(json document);
// Returns "5 points are held back until publication."; empty if none are.
std::string held_back_words(const lab_view &l);

} // namespace cli
