// Result documents of schema cuda-workbook/1: made where no grader ran, read, and merged into one.
#pragma once

#include "../open_points.hpp"
#include "../todo.hpp"
#include "submission.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cli {

using json = nlohmann::json;

constexpr const char *result_schema = "cuda-workbook/1";
constexpr const char *class_schema = "cuda-workbook-class/1"; // what autograde writes
constexpr const char *tool_version = WORKBOOK_VERSION;

// A case of a result, with everything a broken document may lack filled in.
struct case_view {
    std::string name, kind, verdict, message, hint;
    double points = 0, max_points = 0;
    const json *whole = nullptr; // lives as long as the document
    std::string about = {};      // the function whose TODO a failure is; empty: the case's own
    int line = 0;                // of the submission, that the message names; 0: none
    double open_points = 0;      // neither reached nor lost: nothing here can judge the case
    bool passed() const { return verdict == "PASS"; }
    const std::string &named_in_todo() const { return about.empty() ? name : about; }
};
struct lab_view {
    std::string lab, submission, status;
    double points = 0, max_points = 0;
    std::vector<case_view> cases;
    std::vector<std::string> warnings = {}; // of the compiler, that a failure may come from
    double open_points = 0;                 // of all cases
    // Whether the points say anything: not of a fault of ours, nor where no case could be judged.
    bool judged() const;
    // Whether nothing is left to reach but what is open.
    bool all_but_open() const { return max_points > 0 && points + open_points >= max_points; }
};
std::vector<lab_view> labs_of(const json &document);

using grading::function_of;
using grading::todo_list;
// By order_to_mend; null when nothing failed.
const case_view *first_to_mend(const lab_view &l, const todo_list &todos);
// A speed case that passed with points left; null: none.
const case_view *first_to_better(const lab_view &l);

// A document of one lab whose only case says why nothing could be run.
json refused_build(const std::string &lab, const std::string &submission,
                   const built_submission &built, double max_points);
json grader_fault(const std::string &lab, const std::string &submission,
                  const std::string &message);
// A missing GPU, and nothing to take its place: all points are open.
json skipped_lab(const std::string &lab, const std::string &submission, const std::string &message,
                 double max_points);

// A field of an object; empty or 0 where it is missing, or something else.
std::string text_at(const json &object, const char *key);
double number_at(const json &object, const char *key);

// What is wrong with a document that a grader wrote; empty: nothing.
std::string invalid(const json &document);

// One document of all the labs, in order; the environment is the first that says anything.
json merged(const std::vector<json> &documents, const std::string &seed,
            const std::string &backend);

// Of several graders' exit statuses, the one for all: ours (99) before the submission's (1), and
// what is open (77) before a pass.
int merged_status(const std::vector<int> &statuses);

std::string points_words(double points, double max_points, double open = 0); // "6.5 / 10, 2 open"
std::string points_words(const lab_view &l);
using grading::open_words;
// A sentence for each reason why points of the lab are open.
std::vector<std::string> open_notes(const lab_view &l);

} // namespace cli
