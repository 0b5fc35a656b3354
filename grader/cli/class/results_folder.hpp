// The folder of a class's results: a file per graded submission, written as soon as it is graded,
// so that a run that was killed goes on where it ended.
//
//   run.json              what all grades of the run have in common
//   rows/LAB/NAME.json    one submission's row, or the simulator's part of it
#pragma once

#include "class_work.hpp"
#include "cli/support/files.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cli {

// The conditions that all grades of one table share.
struct class_run {
    std::string id; // chosen anew for each run from the beginning
    std::string seed, backend;
    std::string held_back_seed; // empty: no lab has held-back cases
    bool without_sandbox = false;
    std::map<std::string, std::string> graders; // a digest of all that grades each lab
    std::string tool = tool_version;
};

class results_folder {
public:
    // Makes the folder if need be and locks it for this process. Throws usage_error if it cannot be
    // made or holds something else, machine_error if another process holds it after `waiting` was
    // called and then ends badly.
    results_folder(const std::string &path, const std::function<void()> &waiting);

    // Opens the folder of a run that another process holds: for its tasks.
    static results_folder of_task(const std::string &path);

    // The run that the folder holds; nothing if it is new. Throws usage_error if it cannot be read.
    std::optional<class_run> run() const;
    // Removes what a process left of a file when it was killed. Only while no job of a cluster
    // writes rows.
    void sweep() const;
    // Begins a run, or goes on with one. Rows of other runs give no grade from now on, only the
    // time when a file was handed in.
    void begin(const class_run &run);

    // Takes what another process has kept for this file, by owner, lab and SHA-256: a finished row,
    // the simulator's part, and always the time when the file was handed in. A row that a fault
    // left without a grade is taken only with `faults`, so that it is graded again. Nothing is kept
    // of what has no digest, such as a link: it is refused at once, and cannot be told from others.
    void restore(class_work &w, bool faults = false) const;
    // Keeps a finished row, or the simulator's part; both if a fault on the GPU left no grade.
    // Throws machine_error.
    void keep(const class_work &w) const;

    const std::string &path() const { return path_; }

private:
    results_folder() = default;
    std::string row_path(const class_work &w) const;

    std::string path_, id_;
    std::unique_ptr<file_lock> lock_;
};

} // namespace cli
