// Grades a class on a Slurm cluster: a job array compiles the files and grades them on the
// simulator, another completes them on GPUs, one job per file.
#pragma once

#include "results_folder.hpp"

#include "cli/terminal/progress_line.hpp"

#include <string>
#include <vector>

namespace cli {

// Arguments for sbatch, separated by blanks, such as "--partition=gpu --gres=gpu:1".
struct slurm_jobs {
    std::string cpu; // of jobs without a GPU
    std::string gpu; // of jobs with one; empty: the clock's points stay open
};

// Grades what is unfinished, as far as options.backend wants it. The results folder and the
// workbook must have the same path on all nodes. Jobs of an earlier call for the same run that are
// still in the queue are waited for first; a file whose job ended without a result gets a second
// one, then a row of status "error". Throws usage_error if Slurm is not here or refuses a job,
// machine_error if it cannot be asked any more, and stop_requested, after which the jobs go on.
void grade_by_slurm(const results_folder &folder, const std::vector<class_work *> &work,
                    const grade_options &options, const slurm_jobs &jobs, progress_line &progress);

// Runs in such a job: the task of this index in a list that grade_by_slurm() wrote. Returns passed
// if the result is in the folder.
int class_task_command(const toolchain &t, const std::string &folder, const std::string &list,
                       std::size_t index);

} // namespace cli
