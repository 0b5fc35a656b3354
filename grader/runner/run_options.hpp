// Options of one run of the grader.
#pragma once

#include "process/cores.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace grading {

// A version that is timed with others in one run of the grader.
struct ladder_step {
    std::string worker;      // its program
    std::string submission;  // as in run_options
    std::string result_file; // for its own result.json
    bool sandbox = true;     // as in run_options
    bool judged = true;      // by the gates of time; else its times are only shown
};

struct run_options {
    bool simulated = true;              // the calls run on the simulator; else on a GPU
    std::string worker, naive, library; // programs; library may be empty
    std::string worker_lock;            // a file, locked until `worker` is built; empty: it is
    std::string mpirun;                 // Open MPI's launcher; empty: there is none
    std::string device_program;         // simulates the devices of a worker
    std::string submission;             // "stub", "solution", or a file's name
    std::string source;                 // the submission's file, for messages; may be empty
    std::uint64_t seed = 0;
    // The staff's: held-back cases draw their inputs from it, too. Nothing: they are not graded.
    std::optional<std::uint64_t> held_back_seed;
    std::string replay_folder;  // for replay files of failed cases; empty: none are written
    std::string picture_folder; // for the pictures that cases draw; empty: none are written
    bool keep_replays = false;  // also for passed cases
    bool keep_counts = false;   // keep the simulator's counters of each case's largest call
    // Simulator: the folder that keeps naive's counters for later grades with the same seed, which
    // have the same inputs. Empty: none are kept.
    std::string naive_counters_folder;
    // Simulator: in every call blocks and warps take turns in a random order, by the seed.
    bool random_schedule = false;
    bool late_streams = false; // simulator: streams' work runs as late as waits allow
    int record_pairs = 0;      // pairs that a timed case records instead of a verdict; 0: none
    std::string pairs_file;    // for them
    // On gpu: the versions that timed cases take in the place of `worker`. Empty: none but it.
    std::vector<ladder_step> steps;
    int side_by_side = 1; // processes that grade at the same time, this one included
    // Processes and threads that may work beside the clock (cores_beside_clock()); 0: it is alone.
    unsigned beside_clock = cores_beside_clock(usable_cores());
    int patience = 1;       // factor on every time limit, for work side by side
    int work_percent = 100; // simulator: of the limit of a call's kernels
    // On gpu: the folder of the GPUs' calibrations, and the hash of the lab's contract that they
    // must be about (speed/calibration.hpp). Empty: every gate is judged.
    std::string gates_folder, contract;
    std::string clock_lock;     // on gpu: the file to lock while times are taken; empty: none
    std::string simulator_lock; // a file, locked while a simulator judges beside; empty: none does
    bool sandbox = true;        // use the strongest sandbox available
    bool require_sandbox = false; // grade nothing without a sandbox
};

inline run_options &options()
{
    static run_options o;
    return o;
}

// Chooses the order of blocks of later calls, until its end.
class scoped_block_order {
public:
    explicit scoped_block_order(bool random)
        : previous_(std::exchange(options().random_schedule, random))
    {
    }
    ~scoped_block_order() { options().random_schedule = previous_; }
    scoped_block_order(const scoped_block_order &) = delete;
    scoped_block_order &operator=(const scoped_block_order &) = delete;

private:
    bool previous_;
};

} // namespace grading
