// The tasks of `check`: every submission of ours, its required verdict, and the findings.
#pragma once

#include "cli/grading/grader_run.hpp"
#include "expectation.hpp"
#include "verdict_table.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

enum class check_role { naive, library, rung, solution, stub, filled, right, wrong };

struct check_finding {
    std::string what;         // "naive is right"
    std::string fault;        // empty: it holds
    std::string skipped = {}; // why it could not be checked; empty: it was
};

// One run of a lab's grader on one submission.
struct check_task {
    const lab *of;
    check_role as;
    subject what;
    std::string only = {};      // correctness or speed; empty: both
    std::string case_name = {}; // the only case; empty: all
    std::string schedule = {};  // in no table; empty: the usual one
    bool edited = false;        // a stub: the file in the tree is a student's, git's is graded
    bool known = true;          // false without git, so that the stub in the tree is graded
    bool lacks_mpi = false;     // it cannot be compiled here, and the lab works without it
    bool alone = false;         // nothing may run beside it
    std::string chance = {};    // the possible verdicts, "PASS RACE"; empty: not up to chance
    std::string key = {};       // hash of the files that decide its verdict; empty: not needed
    std::vector<check_finding> findings = {}; // empty: not carried out
    graded_submission got = {};
    std::optional<lab_view> graded = {}; // of a task that was carried out, without its cases
    double seconds = 0, cpu_seconds = 0;

    bool whole() const { return only.empty() && case_name.empty(); }
    bool has_fault() const;
    std::string submission() const; // name in tables: "naive", "wrong/one_factor.cu"
};

// Returns one task per submission of the lab, to grade all its cases.
std::vector<check_task> tasks_of(const toolchain &t, const lab &l, const std::string &backend);

// Reads the expectation for this backend from the first lines of its file. Throws machine_error if
// they have none or it is malformed.
expectation expectation_of(const toolchain &t, const check_task &work, const std::string &backend);

// Restricts each wrong submission, of labs whose mistakes are slow or of all labs, to the case
// that it is about, unless it must pass. Those of test labs keep all cases, to show that the cases
// after a disaster are still graded, except where every case would hit a limit.
void narrow_mistakes(const toolchain &t, std::vector<check_task> &tasks, const std::string &backend,
                     bool all_labs);

// Returns true if the first lines of a submission's file require TIMEOUT or RESOURCE_LIMIT, a limit
// of what it may take; false if they cannot be read.
bool must_hit_limit(const toolchain &t, const check_task &work, const std::string &backend);

// Compiles the right and the wrong submissions of each lab in batches, and returns the
// core-seconds by lab. Those of some test labs abuse the compiler, the linker or the process, each
// in its own way, and are compiled one by one later.
std::map<std::string, double> compile_all(const toolchain &t, std::vector<check_task> &tasks,
                                          const std::string &backend);

// Does the same for some tasks of one lab, which are all right or all wrong.
double compile_batch(const toolchain &t, const lab &l, const std::vector<check_task *> &tasks,
                     const std::string &backend);
// Compiles and links a submission that is a file, so that carry_out need not.
void build_ahead(const toolchain &t, const check_task &work, const std::string &backend);

// Grades the task and judges the result. A fault of the machine becomes a finding; throws
// stop_requested.
void carry_out(const toolchain &t, check_task &work, grade_options options);

} // namespace cli
