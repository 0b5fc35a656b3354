// The work of `check`: every submission of ours, what it must get, and whether it does.
#pragma once

#include "expectation.hpp"
#include "grade.hpp"
#include "verdict_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

enum class check_role { naive, library, rung, solution, stub, filled, right, wrong };

struct check_finding {
    std::string what;         // "naive is right"
    std::string fault;        // empty: it holds
    std::string skipped = {}; // why nobody can tell whether it holds; empty: it was tried
};

// One run of a lab's grader on one submission.
struct check_task {
    const lab *of;
    check_role as;
    subject what;
    std::string only = {};      // correctness or speed; empty: both
    std::string case_name = {}; // the only case; empty: all
    std::string schedule = {};  // another than usual, whose verdicts no table has
    bool edited = false;     // a stub: the file in the tree is a student's, another one is graded
    bool known = true;       // whether git says so
    bool lacks_mpi = false;  // it cannot be compiled here, and the lab can do without
    bool alone = false;      // nothing may run beside it
    std::string chance = {}; // the verdicts that chance decides among, "PASS RACE"; empty: none
    std::string key = {};    // of the files that decide its verdict; empty: not asked for
    std::vector<check_finding> findings = {}; // empty: it was not carried out
    graded_submission got = {};
    double seconds = 0, cpu_seconds = 0;

    bool whole() const { return only.empty() && case_name.empty(); }
    bool has_fault() const;
    std::string submission() const; // as tables call it: "naive", "wrong/one_factor.cu"
};

// A task for each submission of the lab, all of whose cases are to be graded.
std::vector<check_task> tasks_of(const toolchain &t, const lab &l, const std::string &backend);

// What the first lines of its file say on this backend. Throws machine_error where they say nothing
// that can be read.
expectation expectation_of(const toolchain &t, const check_task &work, const std::string &backend);

// Of labs whose mistakes are slow, or of all, leaves each wrong submission only the case that it is
// about, unless it must pass. The test labs' stay whole, to see that the cases after a disaster
// still are graded, but for those that would run into a limit in each.
void narrow_mistakes(const toolchain &t, std::vector<check_task> &tasks, const std::string &backend,
                     bool all_labs);

// Whether a wrong submission is to run into a limit of time or memory. False where its first lines
// do not say.
bool runs_into_a_limit(const toolchain &t, const check_task &work, const std::string &backend);

// Compiles the right and the wrong submissions of each lab at once, and returns by lab the
// core-seconds that took. Those of the test labs do what no compiler, linker or process likes, each
// in its own way: they are left to be compiled alone.
std::map<std::string, double> compile_all(const toolchain &t, std::vector<check_task> &tasks,
                                          const std::string &backend);

// The same for some tasks of one lab, which are all right or all wrong.
double compile_at_once(const toolchain &t, const lab &l, const std::vector<check_task *> &tasks,
                       const std::string &backend);
// Compiles and links a submission that is a file, so that carry_out need not.
void build_ahead(const toolchain &t, const check_task &work, const std::string &backend);

// Grades, and judges what came of it. A fault of the machine becomes a finding; throws
// stop_requested.
void carry_out(const toolchain &t, check_task &work, grade_options options);

} // namespace cli
