// The grader of one lab: doctest runs the cases of its grade.cpp; our own records make the result.
#define DOCTEST_CONFIG_IMPLEMENT
#include "case_record.hpp"
#include "case_run.hpp"
#include "doctest_run.hpp"
#include "grading_request.hpp"
#include "inputs_in_advance.hpp"
#include "ladder_steps.hpp"
#include "parallel_cases.hpp"
#include "process/clock_lock.hpp"
#include "resources.hpp"
#include "text/unwritable.hpp"
#include "text/words.hpp"
#include "whole_file.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using namespace grading;

constexpr const char *usage =
    "usage: {0} <request.json    grades; grading_request.hpp lists the fields of a request\n"
    "       {0} --list           lists the cases and their points\n"
    "       {0} --probe-sandbox <request.json\n"
    "                            says how workers are confined; status 1 if they are not\n"
    "./workbook grade runs this program.\n";

constexpr const char *what_to_do =
    "  what to do: look at the limits of memory, files and processes (ulimit -a), close other "
    "programs, then ./workbook doctor\n";

int list_cases()
{
    double total = 0, of_clock = 0, held_back = 0;
    for (const case_record &r : records()) {
        fmt::print("{:<12} {:>4g} points  {}\n", r.held_back ? "held_back" : name(r.what),
                   r.max_points, r.name);
        (r.held_back ? held_back : r.what == kind::clock ? of_clock : total) += r.max_points;
    }
    fmt::print("{:g} points, and {:g} of the clock, in {} cases{}\n", total, of_clock,
               records().size(),
               held_back > 0 ? fmt::format("; {:g} points are held back", held_back) : "");
    return 0;
}

int report_sandbox()
{
    const found_sandbox &found = sandbox_found();
    if (found.how == confinement::none)
        fmt::print("none: {}\n", found.lacking);
    else
        fmt::print("{}\n", name(found.how));
    return found.how == confinement::none;
}

// Indices in records(); none: no case's name matches.
std::vector<std::size_t> chosen_cases(const grading_request &request)
{
    const std::string pattern = lower(request.pattern);
    const bool whole_name =
        std::any_of(records().begin(), records().end(),
                    [&](const case_record &r) { return lower(r.name) == pattern; });
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < records().size(); ++i) {
        const case_record &r = records()[i];
        const std::string name = lower(r.name);
        if ((whole_name ? name == pattern : name.find(pattern) != std::string::npos) &&
            (request.kind.empty() ||
             (r.what == kind::correctness) == (request.kind == "correctness")))
            chosen.push_back(i);
    }
    return chosen;
}

// Leaves cases open that only the other backend can judge. Returns those to run.
std::vector<std::size_t> leave_others_open(const std::vector<std::size_t> &chosen)
{
    std::vector<std::size_t> run;
    for (std::size_t i : chosen) {
        case_record &r = records()[i];
        if (judged_here(r.what)) {
            run.push_back(i);
            continue;
        }
        r.started = r.ended = r.lacking = true;
        r.result = verdict::SKIPPED;
        r.message = r.what == kind::clock ? "Only the clock of a GPU can judge this."
                                          : "Only the simulator counts.";
    }
    return run;
}

// Returns false, and says so, if the file cannot be written. An empty path is no file.
bool write_file(const std::string &path, std::string (*text)())
{
    if (path.empty()) return true;
    const int problem = write_whole(path, [&](std::ostream &file) { file << text(); });
    if (problem != 0) std::cerr << lab_name() << ": " << cannot_write(path, problem) << "\n";
    return problem == 0;
}

// Takes no times, or only where a case asks to be alone.
void run_beside_others(const case_group &group)
{
    use_clock(options().clock_lock, clock_use::beside);
    // These are this process's, which has forked the others.
    if (records()[group[0]].what == kind::clock) inputs_in_advance::begin();
    run_cases(group);
}

void release_clock() { use_clock(options().clock_lock, clock_use::none); }

void leave_clock()
{
    end_workers(); // they may still work, and have a context on the GPU that is timed
    release_clock();
}

// `own`: what this process runs while the others begin with `groups`; it counts as one of them.
void run_side_by_side(const std::vector<case_group> &groups, int processes,
                      const std::vector<case_group> &own = {})
{
    const int more = own.empty() ? 0 : 1;
    const int others = std::min(processes, static_cast<int>(groups.size()) + more) - 1;
    const run_options alone = options();
    options().side_by_side = std::max(1, others + 1);
    // Calls that are made beside each other on a GPU share its time.
    if (others > 0 && !options().simulated) options().patience *= 2;
    // This process keeps its workers, which it may need again: to end them takes a while.
    run_groups(groups, others, run_beside_others, leave_clock, release_clock, own);
    inputs_in_advance::stop(); // if no case came as far as to take times
    options() = alone;
}

std::vector<case_group> each_alone(const std::vector<std::size_t> &cases)
{
    std::vector<case_group> groups;
    for (std::size_t i : cases) groups.push_back({i});
    return groups;
}

// The correctness cases run side by side, and where there is room, this process begins with the
// timed ones meanwhile: inputs and workers take most of their time. It waits with the first time
// until all else is done. Each case is a group of its own: on a GPU it shares workers with whatever
// the same process graded before. Only where a lab has ranks, which take a second to start, are the
// cases of a function one group.
void grade_on_gpu(const std::vector<std::size_t> &chosen, int processes)
{
    // Enough for the largest arrays of a correctness case, in each worker and in each region.
    constexpr std::uint64_t device_bytes = std::uint64_t{5} << 30;
    constexpr std::uint64_t host_bytes = std::uint64_t{12} << 30;
    std::vector<case_group> correctness, timed, held_back;
    for (const case_group &group :
         options().mpirun.empty() ? each_alone(chosen) : groups_of(chosen)) {
        const case_record &r = records()[group[0]];
        (r.held_back ? held_back : r.what == kind::clock ? timed : correctness).push_back(group);
    }
    const std::vector<case_record> fresh(records());
    constexpr int max_correctness =
        3; // a driver makes the contexts of several processes one by one
    const int room = places_at_device(device_bytes, host_bytes);
    const int places = std::min({processes, room, max_correctness});
    constexpr int for_timed = 3; // room, beside the others: its inputs are larger
    const bool at_once = processes > 1 && room >= places + for_timed && !timed.empty() &&
                         !options().clock_lock.empty();
    if (at_once) {
        const inputs_in_advance ahead(timed);
        run_side_by_side(correctness, places + 1, timed);
    } else {
        run_side_by_side(correctness, places);
        end_workers(); // what is timed begins anew
        run_side_by_side(timed, 1);
    }
    // No worker that has seen held-back inputs may print in a case that a student sees.
    if (!held_back.empty()) end_workers(); // the device's memory is for those that follow
    run_side_by_side(held_back, places);
    if (!held_back.empty()) end_workers();
    for (std::size_t i : chosen) // a process may have lacked what another held
        if (case_record &r = records()[i]; r.result == verdict::INFRA_ERROR) {
            r = fresh[i];
            end_workers();
            run_side_by_side({{i}}, 1);
        }
}

int grade(const grading_request &request)
{
    const std::vector<std::size_t> chosen = chosen_cases(request);
    if (chosen.empty()) {
        std::cerr << lab_name() << ": no case's name holds \"" << request.pattern
                  << "\". There are:\n";
        for (const case_record &r : records()) std::cerr << "    " << r.name << "\n";
        return 2;
    }
    const std::vector<std::size_t> run = leave_others_open(chosen);
    if (request.options.record_pairs > 0 && run.size() != 1) { // they would share one file
        std::cerr << lab_name() << ": \"pairs\" takes one case, and \"" << request.pattern
                  << "\" chooses " << run.size() << ".\n";
        return 2;
    }
    const auto timed = static_cast<std::size_t>(std::count_if(
        run.begin(), run.end(), [](std::size_t i) { return records()[i].what == kind::clock; }));
    const std::size_t times = std::max(options().steps.size(), std::size_t{1}); // each is run
    fmt::print("{{\"cases\":{}}}\n", run.size() + timed * (times - 1));
    std::fflush(stdout); // before processes are forked
    if (options().simulated)
        run_side_by_side(groups_of(run), request.processes);
    else
        grade_on_gpu(run, request.processes);
    if (!write_file(request.result_file, result_json) ||
        !write_file(request.counters_file, counters_json) || !write_step_results())
        return 99;
    fmt::print("{{\"status\":{}}}\n", exit_status()); // the result is there
    std::fflush(stdout);
    end_workers();
    wait_for_forked();
    return exit_status();
}

int run(int count, char **arguments)
{
    // Prevents processes of the same user, such as workers, from reading or tracing this one.
    prctl(PR_SET_DUMPABLE, 0);
    const std::string program = std::filesystem::path(arguments[0]).filename().string();
    set_lab_name(program.starts_with("grade.") ? program.substr(6) : program);
    const std::string_view word = count == 2 ? arguments[1] : "";
    const std::vector<std::string> faults = case_faults();
    for (const std::string &fault : faults) fmt::print(stderr, "{}\n", fault);
    if (!faults.empty()) return 99;
    put_held_back_last();
    if (word == "--list") return list_cases();
    const bool probe = word == "--probe-sandbox";
    if (count > 1 && !probe) {
        fmt::print(stderr, usage, program);
        return 2;
    }
    grading_request request;
    try {
        request = parse_request({std::istreambuf_iterator<char>(std::cin), {}});
    } catch (const bad_request &e) {
        fmt::print(stderr, "{}: the request on standard input: {}.\n", program, e.what());
        fmt::print(stderr, usage, program);
        return 2;
    }
    options() = request.options;
    if (!options().held_back_seed) leave_out_held_back();
    options().device_program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cudasim-device";
    if (std::string problem = find_device(); !problem.empty()) {
        std::cerr << program << ": nothing can be graded on the "
                  << (options().simulated ? "sim" : "gpu") << " backend: " << problem << ".\n";
        if (!options().simulated) return 77;
        // A GPU may be missing; the simulator needs only memory, files and processes.
        std::cerr << what_to_do;
        return 99;
    }
    if (probe) return report_sandbox();
    if (options().require_sandbox && sandbox_found().how == confinement::none) {
        std::cerr << program << ": a submission cannot be shut off from this machine: "
                  << sandbox_found().lacking << ". Nothing was graded.\n";
        return 99;
    }
    return grade(request);
}

} // namespace

int main(int count, char **arguments)
{
    try {
        return run(count, arguments);
    } catch (const std::system_error &e) { // outside of all cases
        std::cerr << lab_name()
                  << ": the machine does not give the grader what it needs: " << e.what() << "\n"
                  << what_to_do;
        return 99;
    }
}
