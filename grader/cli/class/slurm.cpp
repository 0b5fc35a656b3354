// Submits a class's files as job arrays, waits for them, and runs one of their tasks.
#include "slurm.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_array = 1000; // tasks per array; Slurm's default for MaxArraySize is 1001
constexpr int max_rounds = 2;           // jobs per file, if the first ends without a result

// Fields end in a zero byte, which neither a name nor a path can contain.
std::string as_list(const std::vector<class_work *> &work)
{
    std::string text;
    for (const class_work *w : work)
        for (const std::string &field :
             {w->owner, w->row.lab, w->row.file, w->row.sha256, w->row.handed_in})
            text += field + '\0';
    return text;
}

class_work task_in(const toolchain &t, const std::string &list, std::size_t index)
{
    constexpr std::size_t fields = 5;
    std::vector<std::string> all;
    for (std::size_t at = 0, end; (end = list.find('\0', at)) != list.npos; at = end + 1)
        all.push_back(list.substr(at, end - at));
    if (index >= all.size() / fields)
        throw machine_error(fmt::format("the list of tasks has {}, and {} was asked for",
                                        all.size() / fields, index));
    const std::string *f = &all[index * fields];
    class_work w{.of = &lab_called(t, f[1]), .owner = f[0], .row = {}};
    w.row.student = on_one_line(w.owner, 200);
    w.row.lab = f[1], w.row.file = f[2], w.row.sha256 = f[3], w.row.handed_in = f[4];
    const offered_points offered = points_offered(t, *w.of);
    w.row.max_points = offered.points, w.row.clock.max_points = offered.clock;
    w.row.held_back.max_points = offered.held_back;
    return w;
}

// Jobs are found again by their name, also after this program was killed.
std::string job_name(const results_folder &folder)
{
    const std::optional<class_run> run = folder.run();
    return "cuda-workbook-" + (run ? run->id : std::string());
}

void submit(const results_folder &folder, const std::vector<class_work *> &work,
            const std::string &arguments)
{
    const fs::path own = fs::path(folder.path()) / "slurm";
    make_folder(own.string());
    std::string literal = own.string(); // sbatch replaces %A and the like
    replace_all(literal, "%", "%%");
    // Jobs that are still in the queue keep the list that they were given.
    std::string list;
    for (int k = 0; list.empty() || fs::exists(list); ++k)
        list = (own / fmt::format("tasks.{}", k)).string();
    write_atomically(list, as_list(work));
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    for (std::size_t first = 0; first < work.size(); first += max_array) {
        const std::size_t count = std::min(max_array, work.size() - first);
        child c;
        c.arguments = {"sbatch",
                       "--parsable",
                       "--job-name=" + job_name(folder),
                       fmt::format("--array=0-{}", count - 1),
                       "--output=" + literal + "/%A_%a.log",
                       "--requeue"};
        for (const std::string &word : words_between_blanks(arguments)) c.arguments.push_back(word);
        c.arguments.push_back(fmt::format("--wrap=CUDA_WORKBOOK_TOOLCHAIN={} exec {} class-task {} "
                                          "{} $((SLURM_ARRAY_TASK_ID+{}))",
                                          shell_word(toolchain_path()), shell_word(program),
                                          shell_word(folder.path()), shell_word(list), first));
        const exit_result e = run(c);
        if (!e.ok())
            throw usage_error(fmt::format("sbatch {}: {}\n  what to do: correct --slurm-cpu or "
                                          "--slurm-gpu, and run the same command again",
                                          e.words(), sanitized(e.text, 1000)));
    }
}

// Returns the number of jobs in the queue or running; empty if Slurm does not answer.
std::optional<std::size_t> jobs_left(const results_folder &folder)
{
    const exit_result e = run_program(
        {"squeue", "--noheader", "--array", "--format=%A", "--name=" + job_name(folder)},
        std::chrono::seconds(60));
    if (!e.ok()) return {};
    return lines(e.text).size();
}

// Waits, but not if the user asks to stop.
void pause(std::chrono::milliseconds time)
{
    pollfd stop{stop_descriptor(), POLLIN, 0};
    poll(&stop, 1, static_cast<int>(time.count()));
    if (stop_was_requested()) throw stop_requested();
}

// Takes over the results that have arrived, and returns what has none yet.
template <typename F> std::vector<class_work *>
without_result(const results_folder &folder, const std::vector<class_work *> &work, F is_open)
{
    // NFS remembers for a while that a name is missing, until the folder is listed.
    std::error_code none;
    for (fs::recursive_directory_iterator e(folder.path() + "/rows", none), end; e != end;)
        e.increment(none);
    std::vector<class_work *> open;
    for (class_work *w : work) {
        if (is_open(*w)) folder.restore(*w);
        if (is_open(*w)) open.push_back(w);
    }
    return open;
}

// Waits until all jobs have ended, and a moment longer for their files: a shared file system may
// show them late.
template <typename F> void wait_for_jobs(const results_folder &folder,
                                         const std::vector<class_work *> &work, F is_open,
                                         const std::string &doing, progress_line &progress)
{
    using std::chrono::milliseconds;
    constexpr milliseconds longest(10'000);
    constexpr int max_silent = 60, extra_looks = 6;
    int silent = 0, empty = 0;
    for (milliseconds time(500); empty < extra_looks; time = std::min(time * 2, longest)) {
        const std::vector<class_work *> open = without_result(folder, work, is_open);
        const std::optional<std::size_t> left = jobs_left(folder);
        if (left && *left == 0 && open.empty()) return;
        silent = left ? 0 : silent + 1;
        if (silent >= max_silent)
            throw machine_error("squeue does not answer any more. The same command goes on with "
                                "the run once it does");
        empty = left && *left == 0 ? empty + 1 : 0;
        if (empty > 0) time = milliseconds(500);
        progress.say(fmt::format("{} by Slurm: {}/{}{}", doing, work.size() - open.size(),
                                 work.size(),
                                 left ? fmt::format(", {} in the queue", *left)
                                      : std::string(", Slurm does not answer")));
        pause(time);
    }
}

// One phase: submits arrays for what is open until all have a result, or were tried often enough.
template <typename F>
void run_phase(const results_folder &folder, const std::vector<class_work *> &work, F is_open,
               const std::string &arguments, const std::string &doing, progress_line &progress)
{
    wait_for_jobs(folder, work, is_open, doing, progress); // of an earlier call
    std::vector<class_work *> open = without_result(folder, work, is_open);
    for (int round = 0; round < max_rounds && !open.empty(); ++round) {
        submit(folder, open, arguments);
        wait_for_jobs(folder, open, is_open, doing, progress);
        open = without_result(folder, open, is_open);
    }
    for (class_work *w : open) {
        folder.restore(*w, true);
        if (w->finished) continue;
        w->row.status = "error";
        w->row.add_problem(fmt::format("its {} jobs ended without a result; their output is in {}",
                                       max_rounds, folder.path() + "/slurm"));
        w->finished = true;
    }
}

} // namespace

void grade_by_slurm(const results_folder &folder, const std::vector<class_work *> &work,
                    const grade_options &options, const slurm_jobs &jobs, progress_line &progress)
{
    for (const char *program : {"sbatch", "squeue"})
        if (find_program(program).empty())
            throw usage_error(
                fmt::format("--engine slurm: there is no {} here. Run this where jobs "
                            "are submitted, or leave --engine out",
                            program));
    try {
        auto not_counted = [](const class_work &w) { return !w.finished && !w.by_simulator; };
        auto not_finished = [](const class_work &w) { return !w.finished; };
        if (options.backend == "gpu") {
            run_phase(folder, work, not_finished, jobs.gpu, "timed", progress);
            return;
        }
        run_phase(folder, work, not_counted, jobs.cpu, "counted", progress);
        if (options.backend == "both")
            run_phase(folder, work, not_finished, jobs.gpu, "timed", progress);
    } catch (const stop_requested &) {
        progress.clear();
        fmt::print(stderr,
                   "The jobs go on. The same command waits for them and goes on; scancel "
                   "--name={} ends them.\n",
                   job_name(folder));
        throw;
    }
}

int class_task_command(const toolchain &t, const std::string &folder, const std::string &list,
                       std::size_t index)
{
    const results_folder results = results_folder::of_task(folder);
    const std::optional<class_run> run = results.run();
    if (!run) throw machine_error(fmt::format("{} holds no run", folder));
    class_work w = task_in(t, read_text(list), index);
    grade_options options;
    options.seed = run->seed, options.backend = run->backend;
    options.held_back_seed = run->held_back_seed;
    options.require_sandbox = !run->without_sandbox;
    results.restore(w);
    if (w.finished) return passed;
    const todo_list todos = todos_of(t, *w.of);
    if (w.by_simulator || options.backend == "gpu")
        complete_on_gpu(t, w, options, todos);
    else
        grade_without_gpu(t, w, options, todos);
    results.keep(w);
    return passed;
}

} // namespace cli
