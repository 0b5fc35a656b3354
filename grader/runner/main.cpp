// The grader of one lab: doctest runs the cases of its grade.cpp; our own records make the grade.
#define DOCTEST_CONFIG_IMPLEMENT
#include "case_run.hpp"
#include "parallel_cases.hpp"
#include "report.hpp"
#include "text/unwritable.hpp"
#include "text/words.hpp"
#include "whole_file.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace grading;

// Escapes commas and backslashes, which are special in doctest's filters.
std::string as_filter(const std::string &name)
{
    std::string result;
    for (char c : name) {
        if (c == ',' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

void run_cases(const case_group &group)
{
    if (options().simulated) restart_workers();
    std::vector<std::string> names;
    for (std::size_t i : group) names.push_back(as_filter(records()[i].name));
    doctest::Context context;
    context.setOption("reporters", "records");
    context.setOption("order-by", "file");
    context.setOption("test-case", fmt::format("{}", fmt::join(names, ",")).c_str());
    std::ostringstream discarded;
    context.setCout(&discarded);
    context.run(); // its status is 0 if nothing matched, so the records decide
}

int list_cases()
{
    int total = 0;
    for (const case_record &r : records()) {
        fmt::print("{:<12} {:>2} points  {}\n", r.what == kind::speed ? "speed" : "correctness",
                   r.max_points, r.name);
        total += r.max_points;
    }
    fmt::print("{} points in {} cases\n", total, records().size());
    return 0;
}

constexpr const char *what_to_do =
    "  what to do: look at the limits of memory, files and processes (ulimit -a), close other "
    "programs, then ./workbook doctor\n";

std::string check_program(const std::string &path)
{
    if (access(path.c_str(), X_OK) == 0) return {};
    return "not an executable file: " + path;
}

int say_sandbox()
{
    const found_sandbox &found = sandbox_found();
    if (found.how == confinement::none)
        fmt::print("none: {}\n", found.lacking);
    else
        fmt::print("{}\n", name(found.how));
    return found.how == confinement::none;
}

int grade(int count, char **arguments)
{
    // Prevents processes of the same user, such as workers, from reading or tracing this one.
    prctl(PR_SET_DUMPABLE, 0);
    std::string program = std::filesystem::path(arguments[0]).filename().string();
    set_lab_name(program.starts_with("grade.") ? program.substr(6) : program);

    CLI::App app("Grades one implementation of the contract of " + lab_name() + ".");
    run_options &o = options();
    std::string backend, filter, seed, json, only, counters, schedule = "index";
    bool list = false, quiet = false, no_color = false, probe = false;
    int side_by_side = 1;
    app.add_option("--backend", backend, "sim or gpu")->check(CLI::IsMember({"sim", "gpu"}));
    app.add_option("--worker", o.worker, "the worker to grade")->check(check_program);
    app.add_option("--naive", o.naive, "the worker of the naive reference")->check(check_program);
    app.add_option("--library", o.library, "the worker of the vendor library")
        ->check(check_program);
    app.add_option("--counting-worker", o.counting_worker,
                   "on gpu: the worker to grade, linked with the simulator, for what is counted")
        ->check(check_program);
    app.add_option("--counting-naive", o.counting_naive, "the same of the naive reference")
        ->check(check_program);
    app.add_option("--mpirun", o.mpirun, "Open MPI's launcher, for cases on several ranks")
        ->check(check_program);
    app.add_option("--submission", o.submission,
                   "what the worker holds: stub, solution, a file's name");
    app.add_option("--source", o.source, "the submission's file, for messages");
    app.add_option("--warning", o.warnings, "what the compiler said of it, to stand by a failure")
        ->allow_extra_args(false);
    app.add_option("--original", o.original, "the stub as it was handed out, for its TODOs");
    app.add_option("--case", filter, "the case of this name, or all whose name holds this text");
    app.add_option("--seed", seed, "hexadecimal; the same seed gives the same inputs");
    app.add_option("--schedule", schedule,
                   "sim: how blocks and warps take turns in a first call; late: streams' "
                   "work runs when it is waited for")
        ->check(CLI::IsMember({"index", "random", "late"}));
    app.add_option("--json", json, "writes result.json here");
    app.add_option("--counters", counters,
                   "writes what the simulator counted of each case's largest call here");
    app.add_option("--replay-dir", o.replay_folder, "where replay files of failed cases go");
    app.add_option("--pictures", o.picture_folder, "where cases that draw pictures write them")
        ->check(CLI::ExistingDirectory);
    app.add_flag("--keep-replays", o.keep_replays, "keeps those of passed cases too");
    app.add_option("--patience", o.patience,
                   "a call may take so many times as long: for machines that do much else")
        ->check(CLI::Range(1, 100));
    app.add_option("--side-by-side", side_by_side,
                   "sim: so many processes grade cases at a time; results are the same")
        ->check(CLI::Range(1, 64));
    app.add_flag("--require-isolation", o.isolate, "gives every case fresh workers");
    app.add_flag("!--no-sandbox", o.sandbox, "starts workers under resource limits alone");
    app.add_flag("--require-sandbox", o.require_sandbox,
                 "grades nothing where workers cannot be shut off from the machine");
    app.add_flag("--probe-sandbox", probe, "says how workers are shut off; 1 where they are not");
    app.add_option("--only", only, "correctness or speed")
        ->check(CLI::IsMember({"correctness", "speed"}));
    app.add_option("--verdicts", o.verdicts,
                   "judges each timed case so many times, a line each: to calibrate")
        ->check(CLI::Range(1, 100000));
    app.add_flag("--list", list, "lists the cases and their points");
    app.add_flag("--quiet", quiet, "prints no report");
    app.add_flag("--no-color", no_color, "no colours, also not in a terminal");
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError &e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    // Erases the command line, which every process may read, here and in workers' keepers, which
    // are forked from this process.
    for (int i = 1; i < count; ++i) std::fill_n(arguments[i], std::strlen(arguments[i]), '\0');
    if (list) return list_cases();
    if (backend.empty() || o.worker.empty() || o.naive.empty()) {
        std::cerr << program
                  << ": needs --backend, --worker and --naive. This program is run by ./workbook "
                     "grade.\n";
        return 2;
    }
    o.simulated = backend == "sim";
    o.device = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cudasim-device";
    o.random_schedule = schedule == "random";
    o.late_streams = schedule == "late";
    o.keep_counts = !counters.empty();
    if (o.submission.empty()) o.submission = "submission";
    if (seed.empty())
        o.seed = unforeseen() >> 32;
    else {
        auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), o.seed, 16);
        if (error != std::errc() || end != seed.data() + seed.size()) {
            std::cerr << program << ": --seed " << seed
                      << " is no hexadecimal number of at most 16 digits.\n";
            return 2;
        }
    }
    filter = lower(filter);
    bool whole_name = std::any_of(records().begin(), records().end(),
                                  [&](const case_record &r) { return lower(r.name) == filter; });
    auto chosen = [&](const case_record &r) {
        std::string name = lower(r.name);
        return (whole_name ? name == filter : name.find(filter) != std::string::npos) &&
               (only.empty() || (r.what == kind::speed) == (only == "speed"));
    };
    if (std::none_of(records().begin(), records().end(), chosen)) {
        std::cerr << program << ": no case's name holds \"" << filter << "\". There are:\n";
        for (const case_record &r : records()) std::cerr << "    " << r.name << "\n";
        return 2;
    }

    if (std::string problem = find_device(); !problem.empty()) {
        std::cerr << program << ": nothing can be graded on the " << backend
                  << " backend: " << problem << ".\n";
        if (!o.simulated) return 77;
        // A GPU may be missing; the simulator needs only memory, files and processes.
        std::cerr << what_to_do;
        return 99;
    }

    if (probe) return say_sandbox();
    if (o.require_sandbox && sandbox_found().how == confinement::none) {
        std::cerr << program << ": a submission cannot be shut off from this machine: "
                  << sandbox_found().lacking << ". Nothing was graded.\n";
        return 99;
    }

    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < records().size(); ++i)
        if (chosen(records()[i])) places.push_back(i);
    const std::vector<case_group> groups = groups_of(places);
    const int others = o.simulated ? std::min(side_by_side, int(groups.size())) - 1 : 0;
    if (others > 0) end_workers();
    run_groups(groups, others, run_cases, end_workers);

    if (!quiet)
        std::cout << human_report(!no_color && isatty(1) && !getenv("NO_COLOR")) << std::flush;
    auto written = [&](const std::string &path, std::string (*text)()) {
        int problem =
            path.empty() ? 0 : write_whole(path, [&](std::ostream &file) { file << text(); });
        if (problem != 0) std::cerr << program << ": " << cannot_write(path, problem) << "\n";
        return problem == 0;
    };
    if (!written(json, result_json) || !written(counters, counters_json)) return 99;
    return exit_status();
}

} // namespace

int main(int count, char **arguments)
{
    try {
        return grade(count, arguments);
    } catch (const std::system_error &e) { // outside of all cases
        std::cerr << lab_name()
                  << ": the machine does not give the grader what it needs: " << e.what() << "\n"
                  << what_to_do;
        return 99;
    }
}
