// The doctor command: looks at each part that the workbook uses.
#include "doctor.hpp"

#include "cli/submission/toolchain.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "process/gpu_sharing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

namespace cli {

namespace fs = std::filesystem;

namespace {

struct version {
    int major = 0, minor = 0, patch = 0;
    auto operator<=>(const version &) const = default;
};

std::optional<version> first_version(const std::string &text, const std::string &before = "")
{
    std::smatch m;
    std::regex pattern(before + R"((\d+)\.(\d+)(?:\.(\d+))?)");
    if (!std::regex_search(text, m, pattern)) return {};
    return version{std::stoi(m[1]), std::stoi(m[2]), m[3].matched ? std::stoi(m[3]) : 0};
}

std::string words(const version &v)
{
    return v.patch ? fmt::format("{}.{}.{}", v.major, v.minor, v.patch)
                   : fmt::format("{}.{}", v.major, v.minor);
}

// Returns a program's output; empty if it cannot be run or fails.
std::string captured(std::vector<std::string> command)
{
    exit_result e = run_program(std::move(command), std::chrono::seconds(30));
    return e.ok() ? e.text : std::string();
}

std::optional<toolchain> built_toolchain(const machine_places &places)
{
    if (!fs::exists(places.toolchain)) return {};
    try {
        return read_toolchain(places.toolchain);
    } catch (const machine_error &) {
        return {}; // reported by the line about the build
    }
}

// A row of grader/build/prerequisites.txt, which ./workbook reads, too.
struct prerequisite {
    version minimum;
    std::string install; // a command of this machine's distribution: "apt-get install g++"
    std::string enables;
};

using prerequisites = std::map<std::string, prerequisite>; // by tool

// The workbook's folder: above the build folder, to which ./workbook adds .venv for what it
// fetches.
fs::path project_of(const machine_places &places)
{
    return fs::path(places.toolchain).parent_path().parent_path();
}

prerequisites read_prerequisites(const fs::path &table)
{
    const std::vector<std::string> managers = {"apt-get", "dnf", "pacman", "zypper"};
    auto ours = std::ranges::find_if(
        managers, [](const std::string &name) { return !find_program(name).empty(); });
    if (ours == managers.end()) ours = managers.begin();
    prerequisites result;
    for (const std::string &line : lines(read_text(table))) {
        std::vector<std::string> cells; // need, tool, minimum, packages of each manager, use
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell));
        if (cells.size() != 8) continue;
        const std::string &packages = cells[3 + (ours - managers.begin())];
        result[cells[1]] = {first_version(cells[2] + ".0").value_or(version{}),
                            *ours + (*ours == "pacman" ? " -S " : " install ") + packages,
                            cells[7]};
    }
    return result;
}

// Checks a tool that must have a minimum version.
diagnosis tool(const std::string &part, const std::string &program, const prerequisite &row,
               const std::string &before, const std::string &remedy)
{
    auto missing = [&](const std::string &found) {
        return diagnosis{diagnosis::missing, part, found, "needed: " + row.enables, remedy};
    };
    if (program.empty()) return missing("not found");
    auto v = first_version(captured({program, "--version"}), before);
    if (!v) return missing(program + " does not say its version");
    if (*v < row.minimum)
        return missing(
            fmt::format("{} at {}; {} or later is needed", words(*v), program, words(row.minimum)));
    return {diagnosis::there, part, fmt::format("{} at {}", words(*v), program), row.enables, ""};
}

diagnosis compiler(const prerequisites &table)
{
    const prerequisite &gnu = table.at("g++"), &clang = table.at("clang++");
    const std::string remedy = fmt::format("install g++ {} or clang {}, or later ({})",
                                           gnu.minimum.major, clang.minimum.major, gnu.install);
    for (const char *name : {"c++", "g++", "clang++"}) {
        std::string program = find_program(name);
        if (program.empty()) continue;
        bool is_clang = captured({program, "--version"}).find("clang") != std::string::npos;
        return tool("C++ compiler", program, is_clang ? clang : gnu, "", remedy);
    }
    return tool("C++ compiler", "", gnu, "", remedy);
}

diagnosis nvcc(const machine_places &places, const std::optional<toolchain> &t,
               const prerequisite &row)
{
    std::string program = t && access(t->nvcc.c_str(), X_OK) == 0 ? t->nvcc : find_program("nvcc");
    for (const std::string &folder : places.toolkit_folders)
        if (program.empty() && access((folder + "/bin/nvcc").c_str(), X_OK) == 0)
            program = folder + "/bin/nvcc";
    return tool("nvcc", program, row, "release ",
                "install the CUDA Toolkit 13, or run ./workbook, which fetches nvcc into .venv");
}

std::string in_venv_or_path(const machine_places &places, const std::string &name)
{
    std::string found = find_program(name);
    if (!found.empty()) return found;
    fs::path local = project_of(places) / ".venv/bin" / name;
    return access(local.c_str(), X_OK) == 0 ? local.string() : std::string();
}

diagnosis binutils(const prerequisite &row)
{
    for (const char *name : {"nm", "objcopy", "ld"})
        if (find_program(name).empty())
            return {diagnosis::missing, "binutils", std::string(name) + " not found",
                    "needed: " + row.enables,
                    fmt::format("install binutils ({} brings them)", row.install)};
    return {diagnosis::there, "binutils", find_program("objcopy"), row.enables, ""};
}

diagnosis header(const machine_places &places, const std::string &part, const std::string &file,
                 const prerequisite &row)
{
    std::vector<std::string> folders = places.include_folders;
    folders.push_back(project_of(places) / ".venv/include");
    for (const std::string &folder : folders)
        if (fs::exists(folder + "/" + file))
            return {diagnosis::there, part, folder + "/" + file, row.enables, ""};
    return {diagnosis::optional_missing, part, file + " not found",
            "the build fetches it: " + row.enables, "to use the system's: " + row.install};
}

// nvidia-smi prints one line per GPU: "NVIDIA H200, 580.65.06, 143771 MiB".
std::vector<diagnosis> gpus(const machine_places &places)
{
    const std::string grades = "labs are graded by measured time";
    std::string smi = find_program("nvidia-smi");
    std::string text = smi.empty() ? ""
                                   : captured({smi, "--query-gpu=name,driver_version,memory.total",
                                               "--format=csv,noheader"});
    std::vector<diagnosis> result;
    for (const std::string &line : lines(text)) {
        auto driver = first_version(line, ", ");
        bool old = driver && driver->major < 580;
        result.push_back(
            {old ? diagnosis::optional_missing : diagnosis::there, "GPU", sanitized(line, 200),
             old ? "its driver is too old for CUDA 13; the simulator grades instead" : grades,
             old ? "install driver 580 or later" : ""});
    }
    if (!result.empty()) return result;
    bool device = fs::exists(places.device_folder + "/nvidiactl") ||
                  fs::exists(places.device_folder + "/dxg");
    if (device)
        return {{diagnosis::optional_missing, "GPU",
                 smi.empty() ? "a device is there, but no nvidia-smi"
                             : "a device is there, but nvidia-smi fails",
                 "may still work; the line about a trial kernel decides",
                 "install the NVIDIA driver's tools, or see its log (dmesg)"}};
    return {{diagnosis::optional_missing, "GPU", "none",
             "labs run in the simulator: right or wrong, and counted efficiency", ""}};
}

// Returns a lab whose naive reference is built; null: there is none.
const lab *built_lab(const std::optional<toolchain> &t, const std::string &backend)
{
    if (!t) return nullptr;
    auto at = std::find_if(t->labs.begin(), t->labs.end(), [&](const lab &l) {
        return fs::exists(t->program(l, "naive", backend));
    });
    return at == t->labs.end() ? nullptr : &*at;
}

diagnosis trial(const std::optional<toolchain> &t, const std::string &backend)
{
    bool gpu = backend == "gpu";
    std::string part = gpu ? "trial kernel" : "simulator";
    std::string enables =
        gpu ? "the GPU adds the clock to each grade" : "labs are judged and counted";
    const lab *tried = built_lab(t, backend);
    if (!tried)
        return {diagnosis::optional_missing, part, "not built yet", enables + " once it is built",
                gpu ? "" : "./workbook grade builds it"};
    const exit_result e =
        run_program({t->program(*tried, "naive", backend), "--probe"}, std::chrono::seconds(60));
    const std::string text = without_line_ends(sanitized(e.text, 300));
    if (e.ok()) return {diagnosis::there, part, text.empty() ? "ran a kernel" : text, enables, ""};
    return {gpu ? diagnosis::optional_missing : diagnosis::missing, part,
            text.empty() ? "the trial kernel " + e.words() : text,
            gpu ? "the simulator grades instead" : "needed: " + enables,
            gpu ? "compare the lines about the GPU and its driver" : "build again: ./workbook"};
}

// Reports what a worker measures on the link of each pair of GPUs.
diagnosis links(const std::optional<toolchain> &t)
{
    const std::string part = "links between GPUs";
    auto none = [&](const std::string &found) {
        return diagnosis{diagnosis::optional_missing, part, found,
                         "the members of labs 12 and 15 share a GPU, and what they send is counted",
                         ""};
    };
    const lab *tried = built_lab(t, "gpu");
    if (!tried) return none("not looked for: no trial kernel");
    const exit_result e =
        run_program({t->program(*tried, "naive", "gpu"), "--peers"}, std::chrono::seconds(120));
    const std::string text = without_line_ends(sanitized(e.text, 8000));
    if (!e.ok()) return none(text.empty() ? "looking " + e.words() : text);
    if (text.empty()) return none("no two GPUs");
    return {diagnosis::there, part, text, "labs 12 and 15 are graded on several GPUs", ""};
}

diagnosis extra(const std::string &program, const std::string &enables)
{
    std::string at = find_program(program);
    if (at.empty())
        return {diagnosis::optional_missing, program, "not found", "without it: no " + enables,
                "it is part of the CUDA Toolkit"};
    return {diagnosis::there, program, at, enables, ""};
}

// Only Open MPI is accepted: other MPIs' launchers take other options.
diagnosis open_mpi(const prerequisite &row)
{
    const std::string part = "Open MPI";
    auto absent = [&](const std::string &found) {
        return diagnosis{diagnosis::optional_missing, part, found, "without it: no " + row.enables,
                         row.install};
    };
    std::string program = find_program("mpirun.openmpi");
    if (program.empty()) program = find_program("mpirun");
    std::string text = program.empty() ? "" : captured({program, "--version"});
    // As mpirun.openmpi it prints the name of its runtime.
    if (text.find("Open MPI") == text.npos && text.find("OpenRTE") == text.npos)
        return absent(program.empty() ? "no mpirun" : program + " is not Open MPI's");
    if (find_program("mpicc.openmpi").empty() && find_program("mpicc").empty())
        return absent(program + ", but no mpicc");
    auto v = first_version(text);
    std::string found = fmt::format("{} at {}", v ? words(*v) : "", program);
    if (!v || v->major != row.minimum.major)
        return absent(fmt::format("{}; {} is needed", found, row.minimum.major));
    return {diagnosis::there, part, found, row.enables, ""};
}

diagnosis built(const machine_places &places, const std::optional<toolchain> &t)
{
    if (t) {
        const std::string archs = t->gpu_archs.empty()
                                      ? "no GPU (PTX only)"
                                      : fmt::format("sm_{}", fmt::join(t->gpu_archs, ", sm_"));
        return {diagnosis::there, "build",
                fmt::format("{}, machine code for {}", t->build_root, archs), "labs can be graded",
                ""};
    }
    return {diagnosis::missing, "build",
            fs::exists(places.toolchain) ? places.toolchain + " cannot be used" : "not configured",
            "needed: to grade anything", "run ./workbook, which configures it"};
}

machine_places ordinary_places()
{
    machine_places places;
    for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char *value = std::getenv(name)) places.toolkit_folders.push_back(value);
    places.toolkit_folders.insert(places.toolkit_folders.end(), {"/usr/local/cuda", "/opt/cuda"});
    places.toolchain = toolchain_path();
    return places;
}

} // namespace

std::vector<diagnosis> diagnose(const machine_places &places)
{
    std::optional<toolchain> t = built_toolchain(places);
    const fs::path project = t ? fs::path(t->source_root) : project_of(places);
    const prerequisites table = read_prerequisites(project / "grader/build/prerequisites.txt");
    const prerequisite &meson = table.at("meson"), &ninja = table.at("ninja");
    std::vector<diagnosis> all = {
        compiler(table),
        nvcc(places, t, table.at("nvcc")),
        tool("Meson", in_venv_or_path(places, "meson"), meson, "",
             fmt::format("install meson {} or later ({}), or run ./workbook", words(meson.minimum),
                         meson.install)),
        tool("Ninja", in_venv_or_path(places, "ninja"), ninja, "",
             fmt::format("install ninja ({}), or run ./workbook", ninja.install)),
        binutils(table.at("binutils")),
        header(places, "doctest", "doctest/doctest.h", table.at("doctest")),
        header(places, "CLI11", "CLI/CLI.hpp", table.at("CLI11")),
        header(places, "nlohmann/json", "nlohmann/json.hpp", table.at("nlohmann/json")),
        header(places, "fmt", "fmt/format.h", table.at("fmt")),
        built(places, t),
        trial(t, "sim"),
    };
    for (diagnosis &d : gpus(places)) all.push_back(std::move(d));
    for (diagnosis &d : diagnose_sharing()) all.push_back(std::move(d));
    all.push_back(trial(t, "gpu"));
    const bool gpu = all.back().what == diagnosis::there;
    all.push_back(links(t));
    const std::string backend = gpu ? "gpu" : "sim";
    for (diagnosis &d : diagnose_sandbox(t, built_lab(t, backend), backend, places.proc_folder))
        all.push_back(std::move(d));
    all.push_back(open_mpi(table.at("Open MPI")));
    all.push_back(extra("compute-sanitizer",
                        "checks memory accesses, and races in shared memory, on the GPU"));
    all.push_back(extra("ncu", "profile of a kernel on the GPU"));
    return all;
}

std::vector<diagnosis> diagnose_sharing()
{
    std::vector<diagnosis> result;
    const grading::nvml library;
    for (grading::nvml::device d : library.devices()) {
        const std::string name = sanitized(library.name_of(d), 100);
        if (name.empty()) continue;
        const std::string shared = shared_now(library, d);
        if (shared.empty())
            result.push_back({diagnosis::there, "GPU's users", "nobody uses " + name,
                              "times on it can be judged", ""});
        else
            result.push_back({diagnosis::optional_missing, "GPU's users", name + ": " + shared,
                              "no time is judged meanwhile: timed cases end with INFRA_ERROR",
                              "end what uses it, or wait for its end"});
    }
    return result;
}

std::string doctor_report(const std::vector<diagnosis> &all, const terminal &out)
{
    std::string text;
    std::size_t wanting = 0;
    constexpr int indent = 28;
    for (const diagnosis &d : all) {
        std::string mark = d.what == diagnosis::there     ? good(out, "ok     ")
                           : d.what == diagnosis::missing ? bad(out, "MISSING")
                                                          : "absent ";
        std::string blanks(indent, ' ');
        text += fmt::format("{}  {} {}\n", mark, padded(d.part, indent - 10),
                            wrapped(d.found, out.width, indent));
        text += blanks + wrapped(d.effect, out.width, indent) + "\n";
        if (!d.remedy.empty())
            text += blanks + wrapped("get it: " + d.remedy, out.width, indent) + "\n";
        wanting += d.what == diagnosis::missing;
    }
    text += wanting == 0
                ? "\nEverything required is here. Next: ./workbook\n"
                : fmt::format("\n{} missing that the workbook needs: see \"get it\" above.\n",
                              plural(wanting, "part"));
    return text;
}

int doctor_command()
{
    std::vector<diagnosis> all = diagnose(ordinary_places());
    fmt::print("{}", doctor_report(all, detect_terminal(1)));
    bool complete =
        std::ranges::none_of(all, [](const diagnosis &d) { return d.what == diagnosis::missing; });
    return complete ? passed : infrastructure;
}

} // namespace cli
