// Grades one implementation with a lab's grader, and reports everything that can stop the grader.
#pragma once

#include "cli/results/result.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/submission/toolchain.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct grade_options {
    std::string backend = "auto"; // auto, gpu, sim; settled by choose_backend
    std::string pattern;          // only cases whose name contains it
    std::string seed;             // hexadecimal; settled by choose_seed
    std::string schedule;         // the simulator's: index, random, late; empty: index
    bool require_gpu = false;
    bool solutions = false;
    std::string submission; // a file instead of the stub
    std::string json_file;
    std::string picture_folder;   // for the pictures that some cases draw; empty: none
    std::string only;             // correctness or speed; empty: both
    std::string counters_file;    // for the simulator's counters; empty: none
    bool require_sandbox = false; // nothing runs without a sandbox
    int patience = 1;             // factor on the time limits of calls
    int side_by_side = 1;         // processes that grade cases of one submission on the simulator
    bool replays = false; // failed calls are kept in .workbook/replays, to be repeated alone
};

// The subject of a grade: a file that must be built first, or an implementation of ours.
struct subject {
    std::string name;        // in results: "stub", "solution", "1_coalesced", a file's name
    std::string source;      // its file
    bool ours = false;       // the build makes its worker
    std::string object = {}; // the folder from compile_together; empty: not compiled so
};
subject stub_of(const toolchain &t, const lab &l);
subject implementation_of(const toolchain &t, const lab &l, const std::string &name);
subject file_of(const std::string &path);

// A lab and its subject: the stub, the solution, or the file given. items() takes `words` as
// find_labs() does, and throws usage_error.
struct item {
    const lab *of;
    subject what;
};
std::vector<item> items(const toolchain &t, const std::vector<std::string> &words,
                        const grade_options &options);

struct graded {
    json document;         // one lab, always valid
    int status = 0;        // passed, failed, nothing_graded, infrastructure
    std::string report;    // the grader's output, if it was not shown
    bool reported = false; // the grader has printed everything itself
    double seconds = 0, cpu_seconds = 0;
};

// Builds what is missing, except for ninja's targets (see grade_targets), and grades. `show`: the
// grader's own report goes to the terminal. Throws stop_requested and machine_error.
graded grade_one(const toolchain &t, const lab &l, const subject &what,
                 const grade_options &options, bool show);
std::vector<std::string> grade_targets(const toolchain &t, const lab &l, const subject &what,
                                       const std::string &backend);

// Returns a lab's points in total, by its grader's own list. Throws machine_error.
double points_offered(const toolchain &t, const lab &l);

// Throws usage_error if the option names a folder, or a file whose folder does not exist, and
// machine_error if the folder may not be written. An empty path is no file.
void require_writable(const std::string &option, const std::string &path);

// The chosen backend, gpu or sim. "auto" becomes gpu if a worker of ours can run a kernel there.
// If no GPU can be used, choose_backend() throws machine_error if one is required, and
// no_device_error if --backend gpu asks for one.
struct backend_choice {
    std::string backend, why;
};
backend_choice choose_backend(const toolchain &t, const lab &any, const grade_options &options,
                              progress_line &progress);
// Returns true if the machine has a GPU at all, without building anything.
bool gpu_device_present();

std::string choose_seed(const std::string &wanted); // throws usage_error

// Prints, for a submission that did not build, the compiler's output and what to do.
void print_refused_build(const toolchain &t, const item &i, const graded &g);

const lab &lab_called(const toolchain &t, const std::string &name);

// Runs the command: grades stubs, solutions or one file. Returns the exit status.
int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

} // namespace cli
