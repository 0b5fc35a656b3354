// Has ninja build exactly what a command needs.
#include "ninja.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace cli {

namespace {

constexpr const char *step_prefix = "workbook-step ";

std::string first_failure(const std::string &text)
{
    std::size_t at = text.find("FAILED: ");
    std::string from = at == text.npos ? text : text.substr(at);
    std::string result;
    int shown = 0;
    bool command = false; // ninja repeats the failed command, however long, below the FAILED line
    for (const std::string &line : lines(from)) {
        bool noise = command || line.starts_with(step_prefix) || line.starts_with("ninja: ");
        command = line.starts_with("FAILED: ");
        if (noise) continue;
        if (++shown > 40) break;
        result += "    " + sanitized(line, 400) + "\n";
    }
    return result;
}

} // namespace

void build_targets(const toolchain &t, const std::vector<std::string> &targets,
                   progress_line &progress)
{
    file_lock lock(t.build_root + "/.cuda-workbook.lock",
                   [&] { progress.say("waiting for another build in this folder"); });
    child c;
    c.arguments = {t.ninja, "-C", t.build_root};
    std::string inside = t.build_root + "/";
    for (const std::string &target : targets) {
        std::string name = target.starts_with(inside) ? target.substr(inside.size()) : target;
        if (std::ranges::find(c.arguments, name) == c.arguments.end()) c.arguments.push_back(name);
    }
    c.environment.emplace();
    for (char **e = environ; *e; ++e)
        if (!std::string_view(*e).starts_with("NINJA_STATUS=")) c.environment->push_back(*e);
    c.environment->push_back(std::string("NINJA_STATUS=") + step_prefix + "%f/%t ");
    c.keep = 1 << 20;
    c.wall = std::chrono::seconds(1800);
    const std::string building = "building the grader and the worked versions";
    bool built = false;
    c.each_line = [&](const std::string_view line) {
        if (!line.starts_with(step_prefix)) return;
        const std::string step(line.substr(std::string_view(step_prefix).size()));
        progress.go_on(building, step.substr(0, step.find(' ')));
        built = true;
    };
    const auto start = std::chrono::steady_clock::now();
    exit_result e = run(c);
    if (e.ok() && built) progress.finish(building, std::chrono::steady_clock::now() - start);
    if (e.what == exit_result::not_started)
        throw machine_error(fmt::format("ninja {}: see ./workbook doctor", e.words()));
    if (!e.ok()) {
        require_room(t.build_root);
        require_room(temporary_folder());
        throw machine_error(
            fmt::format("the workbook itself did not build (ninja {}); this is not about your "
                        "file:\n{}  what to do: mend that, or undo changes outside "
                        "labs/*/stub.cu; then ./workbook doctor",
                        e.words(), first_failure(e.text)));
    }
}

std::vector<std::string> linked_with(const std::string &backend)
{
    return backend == "both" ? std::vector<std::string>{"gpu", "sim"} : std::vector{backend};
}

std::vector<std::string> submission_targets(const toolchain &t, const lab &l)
{
    return {l.worker_library, l.keep, t.simulator_library};
}

std::vector<std::string> grading_targets(const toolchain &t, const lab &l,
                                         const std::string &backend)
{
    std::vector<std::string> targets = {t.grader(l), t.simulated_device()};
    for (const std::string &with : linked_with(backend))
        targets.push_back(t.program(l, "naive", with));
    if (l.library && backend != "sim") targets.push_back(t.program(l, "library", "gpu"));
    return targets;
}

} // namespace cli
