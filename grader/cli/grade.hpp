// One grade: a lab's grader run on one implementation, and everything that can stop it.
#pragma once

#include "build.hpp"
#include "result.hpp"
#include "toolchain.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct grade_options {
    std::string backend = "auto"; // auto, gpu, sim; settled by choose_backend
    std::string pattern;          // only cases whose name contains it
    std::string seed;             // hexadecimal; settled by choose_seed
    std::string schedule;         // of the simulator: index, random, late; empty: index
    bool require_gpu = false;
    bool solutions = false;
    std::string submission; // a file instead of the stub
    std::string json_file;
    std::string picture_folder; // where cases that draw pictures write them; empty: nowhere
    std::string only;           // correctness or speed; empty: both
    std::string counters_file; // where the grader writes what the simulator counted; empty: nowhere
    bool require_sandbox = false; // nothing runs where it cannot be shut off from the machine
    int patience = 1;             // calls may take so many times as long
    int side_by_side = 1;         // processes that grade cases of one submission on the simulator
    bool replays = false; // failed calls are kept in .workbook/replays, to be repeated alone
};

// What is graded: a file that must be built first, or an implementation of ours.
struct subject {
    std::string name;        // as results call it: "stub", "solution", "1_coalesced", a file's name
    std::string source;      // its file
    bool ours = false;       // the build makes its worker
    std::string object = {}; // the folder that compile_together gave, if it did
};
subject stub_of(const toolchain &t, const lab &l);
subject implementation_of(const toolchain &t, const lab &l, const std::string &name);
subject file_of(const std::string &path);

// A lab and what of it to grade: the stub, the solution, or the file given. `words` as of
// find_labs. Throws usage_error.
struct item {
    const lab *of;
    subject what;
};
std::vector<item> items(const toolchain &t, const std::vector<std::string> &words,
                        const grade_options &options);

struct graded {
    json document;         // one lab, always valid
    int status = 0;        // passed, failed, nothing_graded, infrastructure
    std::string report;    // what the grader said, when it was not shown
    bool reported = false; // the grader itself said everything to the person already
    double seconds = 0, cpu_seconds = 0;
};

// Builds what is missing (but for what ninja makes: see grade_targets) and grades. `show`: the
// grader's own report goes to the terminal. Throws stop_requested and machine_error.
graded grade_one(const toolchain &t, const lab &l, const subject &what,
                 const grade_options &options, bool show);
std::vector<std::string> grade_targets(const toolchain &t, const lab &l, const subject &what,
                                       const std::string &backend);

// The points that a lab's grader has to give, by its own list. Throws machine_error.
double points_offered(const toolchain &t, const lab &l);

// Throws usage_error where the option names a folder, or a file in none, and machine_error where
// the folder may not be written. An empty path is no file.
void require_writable(const std::string &option, const std::string &path);

// gpu or sim. "auto" is gpu where a worker of ours runs a real kernel. When no GPU can be
// used: throws machine_error if one is required, no_device_error if --backend gpu asks for one.
struct backend_choice {
    std::string backend, why;
};
backend_choice choose_backend(const toolchain &t, const lab &any, const grade_options &options,
                              progress_line &progress);
// Whether the machine has a GPU at all, without building anything.
bool gpu_device_present();

std::string choose_seed(const std::string &wanted); // throws usage_error

// Of a submission that did not become a program: the compiler's words, then what to do.
void print_refused_build(const toolchain &t, const item &i, const graded &g);

const lab &lab_called(const toolchain &t, const std::string &name);

// The command: grades stubs, solutions or one file. Returns the exit status.
int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

} // namespace cli
