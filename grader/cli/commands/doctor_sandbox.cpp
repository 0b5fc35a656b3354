// The doctor's lines about the sandbox: which one submissions get, and what a weaker one costs.
#include "doctor.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"
#include "process/sandbox.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr const char *allow_namespaces =
    "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or, on Ubuntu, "
    "kernel.apparmor_restrict_unprivileged_userns=0)";

// Returns the first line of a file in /proc; empty if it cannot be read.
std::string setting(const std::string &path)
{
    if (!fs::exists(path)) return {};
    try {
        const std::vector<std::string> all = lines(read_text(path));
        return all.empty() ? std::string() : trimmed(all[0]);
    } catch (const machine_error &) { // another user's, or hidden in a container
        return {};
    }
}

// Returns true if this process runs under a filter of system calls, as in a container.
bool filtered(const std::string &proc)
{
    const std::string path = proc + "/self/status";
    if (!fs::exists(path)) return false;
    for (const std::string &line : lines(read_text(path)))
        if (line.starts_with("Seccomp:")) return trimmed(line.substr(8)) == "2";
    return false;
}

// Says why the kernel refuses user namespaces, and what to do.
struct refusal_of_namespaces {
    std::string reason, remedy;
};

refusal_of_namespaces why_no_namespaces(const std::string &proc)
{
    for (const char *name : {"user/max_user_namespaces", "kernel/unprivileged_userns_clone"})
        if (setting(proc + "/sys/" + name) == "0")
            return {fmt::format("user namespaces are switched off ({} is 0)", name),
                    allow_namespaces};
    if (filtered(proc))
        return {"a filter of system calls (seccomp) refuses user namespaces, as in an unprivileged "
                "container",
                "grade outside of the container; do not loosen its filter or give it privileges "
                "for this, since that would open more than it closes"};
    if (setting(proc + "/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
        return {"AppArmor refuses user namespaces, as on Ubuntu since 23.10", allow_namespaces};
    return {"the kernel refuses user namespaces, as in a container or a chroot",
            std::string("grade outside of it, or ") + allow_namespaces};
}

// Says what Landlock leaves open that namespaces close.
diagnosis without_namespaces(const std::string &backend, const std::string &proc)
{
    refusal_of_namespaces why = why_no_namespaces(proc);
    if (backend == "gpu" &&
        grading::available_confinement(false) == grading::confinement::namespaces)
        why = {"parts of this machine's /proc are covered, as in a container, and the driver needs "
               "one",
               "grade outside of the container"};
    return {diagnosis::optional_missing, "namespaces", why.reason,
            "lost without them: a submission can see whether a file is there and how large it is, "
            "though not what is in it, and on a GPU the list of processes; a compiler can open "
            "sockets; cases on several processes (Open MPI) have no sandbox, so they stay open in "
            "autograde",
            why.remedy};
}

} // namespace

std::vector<diagnosis> diagnose_sandbox(const std::optional<toolchain> &t, const lab *built,
                                        const std::string &backend, const std::string &proc)
{
    const std::string part = "sandbox";
    if (!built || !fs::exists(t->grader(*built)))
        return {{diagnosis::optional_missing, part, "not built yet, so not tried",
                 "keeps submissions from your files, processes and network",
                 "./workbook grade builds it"}};
    const sandbox_found found = find_sandbox(*t, *built, backend);
    if (!found.problem.empty())
        return {{diagnosis::optional_missing, part, found.problem,
                 "submissions can do all that you can: grade no stranger's here",
                 std::string(allow_namespaces) +
                     ", or use a kernel, and in a container a runtime, that allows Landlock (Linux "
                     "5.13 or later)"}};
    if (found.how == "namespaces")
        return {{diagnosis::there, part, "user, PID, network, IPC and mount namespaces",
                 "a submission cannot reach your files, processes and network", ""}};
    return {{diagnosis::there, part, "Landlock and a filter of system calls",
             "a submission cannot open your files, write any, signal a process or reach the "
             "network",
             ""},
            without_namespaces(backend, proc)};
}

sandbox_found find_sandbox(const toolchain &t, const lab &any, const std::string &backend)
{
    if (grading::available_confinement(false) == grading::confinement::none)
        return {"none", grading::no_confinement};
    const std::string naive = t.program(any, "naive", backend);
    child c;
    c.arguments = {t.grader(any), "--probe-sandbox"};
    c.input = nlohmann::json{{"backend", backend}, {"worker", naive}, {"naive", naive}}.dump();
    c.wall = std::chrono::seconds(120);
    const exit_result e = run(c);
    const std::vector<std::string> said = lines(e.text);
    const std::string last = said.empty() ? "" : on_one_line(said.back(), 300);
    if (e.ok()) return {last, ""};
    return {"none", last.empty() ? "the grader " + e.words() : last};
}

} // namespace cli
