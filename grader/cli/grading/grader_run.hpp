// Grades one implementation with a lab's grader; everything that can stop the grader becomes a
// result.
#pragma once

#include "cli/results/result.hpp"
#include "cli/submission/submission.hpp"
#include "cli/submission/toolchain.hpp"
#include "cli/terminal/progress_line.hpp"
#include "subject.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cli {

struct grade_options {
    std::string backend = "auto"; // auto, both, gpu, sim; backend.hpp turns auto into both or sim
    std::string pattern;          // only cases whose name contains it
    std::string seed;             // hexadecimal; empty: choose_seed() draws one
    std::string held_back_seed = {}; // the staff's; empty: held-back cases are not graded
    std::string schedule;            // the simulator's: index, random, late; empty: index
    bool require_gpu = false;
    bool solutions = false;
    std::string submission; // a file instead of the stub
    std::string json_file;
    std::string simulator_json_file; // for the simulator's part alone, while the GPU's goes on
    std::string picture_folder;      // for the pictures that some cases draw; empty: none
    std::string only;                // correctness or speed; empty: both
    std::string counters_file;       // for the simulator's counters; empty: none
    std::string naive_counters = {}; // a folder, for all grades with this seed; empty: none
    std::string clock_lock;          // a GPU's grader locks this file while it times; empty: none
    std::string simulator_lock = {}; // locked while a simulator's grader runs beside a GPU's
    bool require_sandbox = false;    // nothing runs without a sandbox
    int work_percent = 100;          // of the simulator's limit of a call's kernels
    int processes = 1;               // that grade the cases of one submission
    int record_pairs = 0;      // pairs that the chosen speed case records instead of a verdict
    std::string pairs_file;    // for them; empty: it is graded
    bool every_gate = false;   // also judge by timed gates that are not calibrated for this GPU
    bool replays = false;      // failed calls are kept in .workbook/replays, to be repeated alone
    bool every_replay = false; // ... and those of cases that pass
};

struct graded {
    json document;            // one lab, always valid
    int status = 0;           // passed, failed, nothing_graded, infrastructure, wrong_usage
    bool from_grader = false; // the grader wrote the document, and did not fail at it
    std::string said;         // the grader's messages, which are about the machine or the request
    bool without_gpu = false; // on both backends no GPU could be used: the simulator's grade
    std::string worker;       // the program that was graded; empty: none was built
    double seconds = 0, cpu_seconds = 0;
    // The grader may still be ending its workers; the last copy waits for it.
    std::shared_ptr<const void> ending = {};
};

// Called with the numbers of finished and chosen cases, when these are known and after each case.
using grade_progress = std::function<void(int done, int all)>;

// Has ninja build all that grade_one needs, except for the workers of submissions. Throws
// machine_error.
void build_for_grading(const toolchain &t, const std::vector<item> &all, const std::string &backend,
                       progress_line &progress);

// A submission's programs, by the backend that they are linked for.
struct prepared_grade {
    std::map<std::string, std::string> workers;
    std::vector<std::string> warnings; // the compiler's, about the submission
    json refused;                      // the result of a submission that did not build; else null
    std::string sha256;                // of a submission's file
    double cpu_seconds = 0;
};
// Builds the programs of a submission. Throws stop_requested and machine_error.
prepared_grade prepare_grade(const toolchain &t, const lab &l, const subject &what,
                             const grade_options &options, const build_limits &limits = {});
// Runs the grader on one backend, sim or gpu, which options.backend names.
graded grade_prepared(const toolchain &t, const lab &l, const subject &what,
                      const prepared_grade &prepared, const grade_options &options,
                      const grade_progress &progress = {});

// A run of the grader on one backend, which options.backend names, beside the compiler of its
// submission: it does meanwhile what needs only naive's worker, on a GPU seconds of work.
class early_grade {
public:
    early_grade(const toolchain &t, const lab &l, const subject &what, const grade_options &options,
                const grade_progress &progress);
    ~early_grade(); // ends the grader, unless its result was taken
    // The submission was built.
    void begin(const prepared_grade &prepared);
    // Waits until the grader has tried its device. True if it ended because that cannot be used.
    bool lacks_device();
    // Waits for the result; once, and only after begin(). Its `cpu_seconds` are not known. Throws
    // as grade_prepared().
    graded result();

private:
    struct state;
    std::unique_ptr<state> state_;
};

// Called on both backends with the simulator's document while the GPU's grader still works.
using when_simulated = std::function<void(const json &)>;

// Builds the worker of a submission, and grades. Throws stop_requested and machine_error.
graded grade_one(const toolchain &t, const lab &l, const subject &what,
                 const grade_options &options, const grade_progress &progress = {},
                 const when_simulated &simulated = {});

// Takes the times of all versions of one lab in one run of the grader on the GPU: a timed case
// makes its inputs and naive's worker once. Its other cases are those of the solution, or of the
// first version where there is none. Returns a document per version. Gates of time judge the
// version `judged`, or all if it is empty; the times of the others are shown, and their timed cases
// are SKIPPED. Throws machine_error.
std::vector<json> grade_ladder(const toolchain &t, const std::vector<item> &versions,
                               const std::string &judged, const grade_options &options,
                               const grade_progress &progress = {});

// Holds the calls that graders keep of a submission; one per backend, so that graders side by side
// do not write the same files. It need not exist.
std::string replay_folder(const toolchain &t, const subject &what, const std::string &backend);

// Identifies what the lab's calibrations depend on. Throws machine_error if a file cannot be read.
std::string contract_of(const toolchain &t, const lab &l);

// The folder of calibrations, relative to the project, in which graders run.
constexpr const char *gates_folder = "data/gates";

// Processes for the cases of a submission beside which this machine grades no other.
int processes_for_one();

// Returns a lab's points in total, by its grader's own list. Throws machine_error.
offered_points points_offered(const toolchain &t, const lab &l);

} // namespace cli
