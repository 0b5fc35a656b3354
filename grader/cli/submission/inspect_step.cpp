// Checks that a compile read, and its object contains, only what a submission may have.
#include "build_step.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace cli {

namespace fs = std::filesystem;
using grading::verdict;

namespace {

std::string normal(const std::string &path) { return fs::path(path).lexically_normal().string(); }

bool inside(const std::string &path, const std::string &folder)
{
    return path.starts_with(normal(folder) + "/");
}

// The project may itself lie in /opt or /usr, so its own tree counts only for a toolkit in it.
bool belongs_to_compiler(const toolchain &t, const std::string &path)
{
    fs::path nvcc(t.nvcc);
    std::vector<std::string> folders = {nvcc.parent_path().parent_path(),
                                        fs::canonical(nvcc).parent_path().parent_path(),
                                        t.source_root + "/.venv"};
    if (!t.cuda_include.empty())
        folders.insert(folders.end(), {t.cuda_include, fs::canonical(t.cuda_include)});
    if (!inside(path, t.source_root))
        folders.insert(folders.end(), {"/usr", "/lib", "/opt", "/nix/store"});
    return std::ranges::any_of(folders,
                               [&](const std::string &folder) { return inside(path, folder); });
}

// Every file that was read must be the compiler's, the contract, or the submission.
void check_dependencies(const job &j, const compile_folder &w)
{
    std::string text = read_text(w.tree + "/.made/depends");
    replace_all(text, "\\\n", " ");
    std::size_t colon = text.find(": ");
    std::istringstream names(colon == text.npos ? "" : text.substr(colon + 1));
    for (std::string name; names >> name;) {
        if (name.back() == ':') break; // what follows are empty rules for deleted headers
        std::string path = normal(name[0] == '/' ? name : w.visible + "/" + name);
        if (path == normal(w.visible + "/" + j.tree_name)) continue;
        if (std::ranges::any_of(j.tools.headers(*j.request.of), [&](const std::string &header) {
                return path == normal(w.visible + "/" + j.tools.shown(header));
            }))
            continue;
        if (!belongs_to_compiler(j.tools, path))
            throw refusal{
                verdict::BUILD_REJECTED,
                fmt::format("{} includes {}; a submission may include lab.hpp, ../check.hpp, "
                            "../devices.hpp and the headers of the compiler and the CUDA Toolkit",
                            j.shown, sanitized(j.tools.shown(path), 400)),
                "copy what you need into your file"};
        for (const std::string &headers : j.request.of->forbidden)
            if (path.find("/include/" + headers + "/") != path.npos ||
                path.find("/cccl/" + headers + "/") != path.npos)
                throw refusal{verdict::FORBIDDEN_API,
                              fmt::format("{} includes headers of {}, a library that has what this "
                                          "lab asks you to write",
                                          j.shown, headers),
                              "leave it out and write it yourself"};
    }
}

refusal too_large(const job &j, const std::string &why)
{
    return {verdict::BUILD_REJECTED,
            j.shown + " compiles to too much code or data to be checked: " + why,
            "leave out assembly and macros that fill memory, and give large arrays their values "
            "while the program runs"};
}

// Refuses CUDA Dynamic Parallelism (device-side launches and copies, by the device runtime) in a
// lab that is not compiled with -rdc=true. So does nvcc, but inline assembly gets around that.
void check_dynamic_parallelism(const job &j, const std::string &object)
{
    const std::vector<std::string> &flags = j.request.of->nvcc;
    if (std::ranges::find(flags, "-rdc=true") != flags.end() ||
        read_text(object).find("__cudaCDP2") == std::string::npos)
        return;
    throw refusal{verdict::BUILD_REJECTED,
                  fmt::format("kernels of {} launch kernels, or copy, by the runtime of kernels "
                              "(dynamic parallelism), and this lab is compiled without it",
                              j.shown),
                  "launch and copy from the host"};
}

void check_size(const job &j, const std::string &object)
{
    if (const auto bytes = fs::file_size(object); bytes > j.limits.checked_bytes)
        throw too_large(j, fmt::format("{:.1f} MiB, and at most {} MiB are allowed",
                                       static_cast<double>(bytes) / (1 << 20),
                                       j.limits.checked_bytes >> 20));
}

// Runs a tool that inspects the object, in the compiler's folder and sandbox, with a time limit.
exit_result inspected(const job &j, const compile_folder &w, child &c)
{
    c.wall = j.limits.check;
    c.folder = w.visible;
    c.environment = minimal_environment(j, w.visible + "/.made");
    if (w.sandbox) c.within = &*w.sandbox;
    exit_result e = run(c);
    if (e.what == exit_result::timed_out)
        throw too_large(
            j, fmt::format("{} was not done after {} s", c.arguments[0], j.limits.check.count()));
    return e;
}

// Rejects an object that a working tool cannot read. The compiler never writes such an object, so
// inline assembly must have. Throws machine_error if the tool itself does not run.
[[noreturn]] void refuse_unreadable(const job &j, const compile_folder &w, const std::string &tool,
                                    const exit_result &e)
{
    child alone;
    alone.arguments = {tool, "--version"};
    alone.keep = 0;
    const bool ran = e.what == exit_result::exited && e.status <= 128;
    if (!ran || !inspected(j, w, alone).ok())
        throw machine_error(fmt::format("{} {}. It is part of binutils", tool, e.words()));
    throw refusal{verdict::BUILD_REJECTED,
                  fmt::format("its object file is none that {} can read", tool),
                  "leave out the assembly that makes sections of its own"};
}

std::string symbols(const job &j, const compile_folder &w)
{
    child c;
    c.arguments = nm({}, object_in(w));
    c.keep = 4 << 20;
    exit_result e = inspected(j, w, c);
    if (!e.ok()) refuse_unreadable(j, w, "nm", e);
    if (e.cut)
        throw refusal{verdict::BUILD_REJECTED, "the file defines or uses too many names to check",
                      "leave out the assembly or the macros that make them"};
    return e.text;
}

// Returns true if host code has a system call instruction, which needs no library function.
bool makes_system_calls(const job &j, const compile_folder &w)
{
    bool found = false;
    child c;
    c.arguments = {"objdump", "-d", "--no-show-raw-insn", object_in(w)};
    c.keep = 0;
    c.each_line = [&](std::string_view line) { found = found || is_system_call(line); };
    exit_result e = inspected(j, w, c);
    if (!e.ok()) refuse_unreadable(j, w, "objdump", e);
    return found;
}

} // namespace

void check_directives(const job &j)
{
    if (contains_any(j.text, {".incbin", ".include"}))
        throw refusal{
            verdict::BUILD_REJECTED,
            fmt::format("{} tells the assembler to read a file (.incbin or .include)", j.shown),
            "write the data into your file"};
}

void inspect(const job &j, const compile_folder &w)
{
    const std::string object = w.tree + "/.made/object.o";
    const bool system_calls = j.request.of->system_calls;
    check_dependencies(j, w);
    check_size(j, object);
    check_dynamic_parallelism(j, object);
    std::string wrong = lint_symbols(symbols(j, w), j.shown, system_calls);
    if (wrong.empty() && !system_calls && makes_system_calls(j, w))
        wrong = j.shown + " makes a system call in assembly; no lab needs that";
    if (!wrong.empty())
        throw refusal{verdict::BUILD_REJECTED, wrong,
                      "rename it, if the name is yours; leave it out, if it is a call"};
}

} // namespace cli
