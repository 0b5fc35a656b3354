// The calibrate command: times each lab's ladder on this GPU, and keeps the gates that hold here.
#include "commands.hpp"

#include "cli/grading/backend.hpp"
#include "cli/grading/gate_measurement.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/terminal/text.hpp"
#include "process/nvml.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace cli {

namespace {

namespace fs = std::filesystem;
using grading::calibrated_lab;
using grading::calibration;

std::vector<item> versions_of(const toolchain &t, const lab &l)
{
    std::vector<item> versions = {{&l, implementation_of(t, l, "naive")}};
    for (const std::string &rung : l.rungs) versions.push_back({&l, implementation_of(t, l, rung)});
    versions.push_back({&l, implementation_of(t, l, "solution")});
    return versions;
}

// The counters need no clock, so the versions are counted side by side; times are taken one by one.
ladder_results measured(const toolchain &t, const lab &l, const grade_options &options,
                        progress_line &progress)
{
    const std::vector<item> versions = versions_of(t, l);
    grade_options speed = options;
    speed.only = "speed";
    speed.every_gate = true;
    build_for_grading(t, versions, "both", progress);

    grade_options counting = speed;
    counting.backend = "sim";
    std::vector<json> counted(versions.size() - 1); // without the solution
    progress.say(fmt::format("{}: counting naive and the rungs on the simulator", l.name));
    parallel_for(counted.size(), cores(), [&](std::size_t i) {
        counted[i] = grade_one(t, l, versions[i].what, counting).document;
    });
    ladder_results results;
    std::vector<item> timed;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (i < counted.size()) results.counted[versions[i].what.name] = counted[i];
        // A rung that misses no lesson may be as fast as it likes.
        if (i == 0 || i == counted.size() || misses_a_lesson(counted[i]))
            timed.push_back(versions[i]);
    }
    const std::string timing = fmt::format("{}: timing {} versions", l.name, timed.size());
    progress.go_on(timing, "");
    const std::vector<json> documents = grade_ladder(t, timed, "", speed, [&](int done, int cases) {
        progress.go_on(timing, fmt::format("{}/{}", done, cases));
    });
    for (std::size_t i = 0; i < timed.size(); ++i) results.timed[timed[i].what.name] = documents[i];
    progress.clear();
    return results;
}

calibration read_calibration(const std::string &path, const std::string &model)
{
    calibration c;
    if (!fs::exists(path)) return c;
    try {
        c = grading::parse_calibration(read_text(path));
    } catch (const std::invalid_argument &e) {
        throw machine_error(fmt::format("{}: {}. What to do: remove the file, or restore it, and "
                                        "calibrate again",
                                        path, e.what()));
    }
    if (c.model != model)
        throw machine_error(fmt::format("{} is about another GPU, {}. What to do: remove or rename "
                                        "the file, and calibrate again",
                                        path, c.model));
    return c;
}

std::string row(const std::string &name, const grading::calibrated_case &c, const terminal &out)
{
    const grading::gate_decision d = decide_gate(c);
    auto times = [](double v) { return std::isnan(v) ? "-" : fmt::format("{:.2f}", v); };
    std::string text =
        fmt::format("{}  {}: naive {}, ", d.kept ? good(out, "kept") : bad(out, "open"), name,
                    times(c.naive.ratio));
    for (const auto &[rung, f] : c.rungs)
        text += fmt::format("{} {}{}, ", rung, times(f.ratio),
                            misses_lesson(f) ? " (misses the lesson)" : "");
    text += fmt::format("solution {}; {:.3g} required", times(c.solution.ratio), c.required);
    if (c.required_fraction > 0)
        text += fmt::format(", and {:.0f} % of the device's rate: {:.0f} %",
                            100 * c.required_fraction, 100 * c.solution.fraction);
    if (!d.kept) text += fmt::format(". Open, because {}", d.why);
    return "  " + wrapped(text, out.width, 8) + "\n";
}

// Adds the lab to the file of its GPU. Returns the file's path.
std::string write_lab(const toolchain &t, const lab &l, const ladder_results &results,
                      calibrated_lab &lab)
{
    const json &env = member(results.timed.at("naive"), "env");
    const std::string model = text_at(env, "gpu");
    if (model.empty())
        throw machine_error(fmt::format("the grader of {} names no GPU. What to do: ./workbook "
                                        "grade {} --backend gpu says why",
                                        l.name, number_of(l.name)));
    const std::string path = grading::calibration_file(t.source_root + "/" + gates_folder, model);
    calibration all = read_calibration(path, model);
    all.model = model;
    all.cc = text_at(env, "cc");
    const std::string driver = grading::nvml().driver_version();
    lab.driver = driver.empty() ? text_at(env, "driver") : driver;
    lab.cuda = text_at(env, "cuda");
    lab.date = utc_time("%Y-%m-%d");
    lab.version = tool_version;
    lab.contract = contract_of(t, l);
    if (const auto earlier = all.labs.find(l.name); earlier != all.labs.end())
        keep_earlier_where_spoiled(earlier->second, lab);
    all.labs[l.name] = lab;
    fs::create_directories(t.source_root + "/" + gates_folder);
    write_atomically(path, grading::calibration_text(all));
    return path;
}

} // namespace

int calibrate_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options)
{
    const std::vector<std::string> names = find_labs(words, t.lab_names(false));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    const lab &first = lab_called(t, names[0]);
    if (!first.solutions)
        throw usage_error("calibrating times the worked solutions, which this student edition does "
                          "not have: ask your instructor for the file of your GPU in data/gates");
    progress_line progress;
    options.backend = "gpu";
    choose_backend(t, first, options, progress);
    const terminal out = detect_terminal(1);
    std::size_t kept = 0, open = 0;
    bool spoiled = false;
    std::string path;
    for (const std::string &name : names) {
        const lab &l = lab_called(t, name);
        const ladder_results results = measured(t, l, options, progress);
        calibrated_lab lab;
        lab.cases = calibrated_cases(results);
        path = write_lab(t, l, results, lab);
        fmt::print("{}\n", bold(out, name));
        for (const auto &[case_name, c] : lab.cases) {
            fmt::print("{}", row(case_name, c, out));
            ++(decide_gate(c).kept ? kept : open);
        }
        if (lab.cases.empty()) fmt::print("  no case is judged by its time here\n");
        for (const std::string &fault : machine_faults(results)) {
            fmt::print(
                "{}",
                bad(out, "  " + wrapped("A fault of the machine: " + fault, out.width, 4) + "\n"));
            spoiled = true;
        }
    }
    fmt::print("\n{}\n",
               wrapped(fmt::format("{} kept, {} open: in {}. On machines with the same model of "
                                   "GPU a copy of this file, in the same folder, counts as it is: "
                                   "share it.",
                                   plural(kept, "gate"), open, t.shown(path)),
                       out.width, 0));
    if (spoiled)
        fmt::print("{}\n", wrapped("Gates that a fault of the machine left untimed are open, or as "
                                   "they were before: calibrate those labs again.",
                                   out.width, 0));
    return spoiled ? infrastructure : passed;
}

} // namespace cli
