// The commands, except for doctor and check, which have headers of their own. Each returns the exit
// status, and throws usage_error and machine_error. `word` and `words` name labs as find_lab() and
// find_labs() take them.
#pragma once

#include "cli/class/class_list.hpp"
#include "cli/class/slurm.hpp"
#include "cli/grading/grader_run.hpp"

#include <string>
#include <vector>

namespace cli {

// Grades each lab's worked versions and draws the ladders.
int demo_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

// Times each lab's ladder on this GPU and writes data/gates/MODEL.json, which says by which gates
// the grader may judge on this model. Throws no_device_error without a GPU, and usage_error in a
// student edition. Returns infrastructure if a fault of the machine spoiled a figure.
int calibrate_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options);

// Grades a lab's stub after every save until the student quits. Throws usage_error unless stdin and
// stdout are a terminal.
int watch_command(const toolchain &t, const std::string &word, grade_options options);
// Runs the loop alone. `grade` is the command that grades the stub and keeps its points, to which
// "--seed SEED --json FILE" is appended; `backend` is the one it grades on.
int watch(const toolchain &t, const lab &l, const std::vector<std::string> &grade,
          const std::string &backend, std::string seed);

// Grades stubs, solutions or one file.
int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);
// The report of a grade of one lab, also where nothing could be built or graded.
std::string report_of(const toolchain &t, const item &i, const graded &g);

// Grades on the simulator, and shows its counters beside the source. `page`: a file for
// explanation_page(), or empty.
int explain_command(const toolchain &t, const std::string &word, grade_options options,
                    const std::string &page);

struct hint_options {
    int todo = 0;       // 0: the one that todo_at_hand chooses
    bool again = false; // show those shown before, and no other
};
// Reveals a lab's hints one at a time.
int hint_command(const toolchain &t, const std::string &word, const hint_options &options);

// Restores a lab's stub to how it was handed out, and keeps the student's file. Asks on the
// terminal unless `agreed`; throws usage_error if there is no terminal to ask on.
int reset_command(const toolchain &t, const std::string &word, bool agreed);

// Puts a stub there to begin with, in the same way: as it was handed out or, with `open`, with an
// empty body for each function of the lab and nothing else. Builds that file first.
int start_command(const toolchain &t, const std::string &word, bool open, bool agreed);

// Carries a student's work over from the older student edition in `folder`: edited stubs, points,
// hints, and files that `reset` kept. A stub that changed in this edition or was edited here stays;
// the student's file is put beside it as stub.cu.mine. The older edition is only read, each file is
// written atomically, and a command that was stopped can be repeated. Throws usage_error if the
// folder is no older edition, and machine_error if something cannot be read or written.
int update_command(const toolchain &t, const std::string &folder);

struct release_options {
    std::string folder;             // must not exist yet, or be empty
    std::vector<std::string> words; // the labs in it; none: all
    bool proof = true;
};
// Writes the student edition of git's HEAD beside the folder and tests a copy of it; only then does
// it get its final name. Throws usage_error if the folder or the state of the project forbids it,
// machine_error if the proof fails; nothing is left behind then.
int release_command(const toolchain &t, const release_options &options);
// Returns the commands shown on a page, as words: `./workbook grade 02` is {"grade", "02"}.
std::vector<std::vector<std::string>> commands_of(const std::string &page);

struct autograde_options {
    std::string folder;              // as read_class takes it
    std::string csv_file, json_file; // empty: none
    std::string results;             // the folder that keeps each grade; empty: beside `folder`
    bool anew = false;               // grade also what that folder has
    which_file which = which_file::only;
    std::string due, extensions;  // as for due_dates; empty: none
    std::string against;          // what --json wrote earlier; empty: nothing to compare with
    std::string similarity;       // a new folder, as for write_similarity; empty: none
    std::string engine = "local"; // or slurm
    slurm_jobs slurm;
    bool without_sandbox = false;    // also grade where no sandbox is available
    std::string held_back_seed = {}; // hexadecimal, for held-back cases; empty: a random one
};
// Grades a folder of students' files, and keeps each grade in a folder of results, from which the
// next call goes on. Returns 0 if every existing file was graded, whatever its
// points, and infrastructure if one was not through a fault of ours. Throws machine_error if there
// is no sandbox, and at the end if a table could not be written or printed completely.
int autograde_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options, const autograde_options &wanted);

struct convert_options {
    std::string file, format;      // "-": standard input
    std::string output;            // empty: standard output
    std::string student;           // one of a class; empty: `file` is one result
    bool clock = false;            // the course counts the points of the clock
    bool published = false;        // show and count the held-back cases
    bool leaderboard = false;      // gradescope: also rank the measured speedups
    std::string committed_at = {}; // classroom50: the graded commit's time
    // A class's grades as a column of a gradebook, instead of `format`.
    std::string lms = {}, roster = {}; // whose export it is, and the file
    std::string lab = {}, column = {}; // as columns_wanted has them
};
// Writes a result in the format of a course system. Throws usage_error if something cannot be read
// or written; then nothing is written. What classroom50 wants to know of the submission it takes
// from the environment that Classroom 50's runner sets.
int convert_command(const convert_options &options);

struct appeal_options {
    std::string file;       // the result: of one grade, or of a class
    std::string submission; // the file that was graded; empty: the lab's stub, if it is that
    std::string student;    // one of a class; empty: `file` is one result
    std::string lab;        // of a result of several labs; empty: there is one
    std::string json_file;  // for the result made here; empty: none
};
// Makes a grade again, with the seed and on the backend of its result, and prints both side by side
// where they differ. Returns passed if every case has the same verdict and points, failed if not.
// Throws usage_error if the result or the file is none to appeal with, no_device_error if it needs
// a GPU, and machine_error if the machine or the workbook fails.
int appeal_command(const toolchain &t, const appeal_options &wanted);

} // namespace cli
