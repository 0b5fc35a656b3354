// Compiles a submission in a folder that holds the contract and the file and nothing else.
#include "build_advice.hpp"
#include "build_step.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string_view>

namespace cli {

namespace fs = std::filesystem;
using grading::verdict;

std::string object_in(const compile_folder &w) { return w.visible + "/.made/object.o"; }

void show_tools(const toolchain &t, grading::sandbox &s)
{
    s.show_system();
    for (const char *path : {"/usr", "/bin", "/sbin", "/lib32"}) s.show(path);
    // A toolkit installed by pip lies inside the project.
    s.show(t.source_root + "/.venv");
    s.show(fs::path(t.nvcc).parent_path().parent_path());
    s.show(fs::canonical(t.nvcc).parent_path().parent_path());
    if (!t.cuda_include.empty()) s.show(t.cuda_include);
    std::string compiler =
        t.cxx[0].find('/') == std::string::npos ? find_program(t.cxx[0]) : t.cxx[0];
    if (!compiler.empty()) s.show(fs::canonical(compiler).parent_path().parent_path());
}

std::vector<std::string> minimal_environment(const job &j, const std::string &scratch)
{
    std::string path = fs::path(j.tools.nvcc).parent_path().string();
    std::string compiler = fs::path(j.tools.cxx[0]).parent_path().string();
    if (!compiler.empty()) path += ":" + compiler;
    return {"PATH=" + path + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent",
            "TMPDIR=" + scratch};
}

namespace {

compile_folder lay_out(const job &j, const std::string &scratch)
{
    compile_folder w{.tree = scratch + "/tree", .visible = scratch + "/tree"};
    auto put = [&](const std::string &name, const std::string &text) {
        fs::path path = fs::path(w.tree) / name;
        fs::create_directories(path.parent_path());
        write_atomically(path.string(), text);
    };
    for (const std::string &header : j.tools.headers(*j.request.of))
        put(j.tools.shown(header), read_text(header));
    put(j.tree_name, j.text);
    put(".tools/compile.sh", read_text(j.tools.compile_script));
    put(".tools/keep", read_text(j.request.of->keep));
    fs::create_directories(w.tree + "/.made");
    return w;
}

// Lets the compiler see only its own files, wherever they are installed, and the tree. With
// namespaces the tree appears at the project's path, so that paths in messages and line tables are
// the student's; the project itself is hidden.
void confine_compile(const job &j, compile_folder &w)
{
    const grading::confinement how = grading::available_confinement(false);
    if (how == grading::confinement::none) return;
    grading::sandbox &s = w.sandbox.emplace(how, grading::sandbox_options{.processes = true});
    if (how == grading::confinement::namespaces) w.visible = j.tools.source_root;
    s.show(w.tree, w.visible, true);
    show_tools(j.tools, s);
}

exit_result compile(const job &j, const compile_folder &w)
{
    child c;
    std::string made = w.visible + "/.made/";
    c.arguments = {
        "/bin/sh",        w.visible + "/.tools/compile.sh", j.tools.nvcc, j.tree_name, object_in(w),
        made + "depends", w.visible + "/.tools/keep"};
    for (const std::string &flag : flags_for(j.tools, *j.request.of, j.request.backends))
        c.arguments.push_back(flag);
    const fs::path contract = j.tools.shown(j.tools.header(*j.request.of));
    c.arguments.push_back("-I" + contract.parent_path().string());
    c.folder = w.visible;
    c.environment = minimal_environment(j, w.visible + "/.made");
    c.keep = j.limits.diagnostics * 4; // cut again by diagnostics()
    c.wall = j.limits.wall;
    c.limits = {{RLIMIT_CPU, j.limits.cpu_seconds},
                {RLIMIT_AS, j.limits.memory},
                {RLIMIT_FSIZE, j.limits.object_bytes}};
    if (w.sandbox) c.within = &*w.sandbox;
    return run(c);
}

// Rewrites "ptxas FILE.ptx, line 27; error   : Unknown modifier", whose file is a temporary one.
std::string without_ptx_file(const std::string &line)
{
    const std::size_t at = line.find(".ptx, line "), error = line.find("; error");
    const std::size_t text = line.find(": ", error);
    if (!line.starts_with("ptxas ") || at == line.npos || error == line.npos || text == line.npos)
        return line;
    const std::size_t number = at + std::string_view(".ptx, line ").size();
    return fmt::format("ptxas: error: {} (line {} of the PTX made of your file)",
                       line.substr(text + 2), line.substr(number, error - number));
}

// Returns the compiler's output with the student's path and without lines about our tools.
std::string diagnostics(const job &j, const compile_folder &w, const exit_result &e)
{
    std::string text = e.text;
    for (const std::string &root : {w.tree, w.visible}) replace_all(text, root + "/", "");
    if (j.tree_name != j.shown) replace_all(text, j.tree_name, j.shown);
    std::string kept;
    for (const std::string &said : lines(text))
        if (const std::string line = without_ptx_file(said);
            line.find(".tools/") == line.npos && line.find(".made/") == line.npos)
            kept += line + "\n";
    std::string safe = sanitized(kept, j.limits.diagnostics);
    return e.cut ? safe + "\n[the compiler said more]" : safe;
}

// Exit statuses of compile.sh for a file that compiles but lacks a function of the contract, or
// has global names that objcopy cannot remove.
constexpr int lacks_function = 3, has_other_names = 4;

// Says where a function comes from that another lab had in an earlier edition; else empty.
std::string moved_from(const job &j, const std::string &message)
{
    for (const lab &other : j.tools.labs)
        for (const auto &[function, to] : other.moved)
            if (to == j.request.of->name && message.find(" " + function + "(") != message.npos)
                return fmt::format("; lab {} had {} in an earlier edition, so yours may be there",
                                   number_of(other.name), function);
    return {};
}

// True if the file is a rung of the lab's ladder.
bool is_rung(const job &j)
{
    return std::ranges::any_of(j.request.of->rungs, [&](const std::string &name) {
        return j.shown == j.tools.shown(j.tools.source(*j.request.of, name));
    });
}

refusal missing_function(const job &j, const std::string &said)
{
    const lab &l = *j.request.of;
    std::string message = first_error(said);
    for (const std::string &line : lines(said)) { // warnings may come first
        if (line.ends_with(" defines none of lab.hpp's functions"))
            return {verdict::BUILD_FAILED, line,
                    j.shown == j.tools.shown(j.tools.stub(l))
                        ? "to get the stub back: ./workbook reset " + number_of(l.name)
                        : "copy their declarations from lab.hpp and write their bodies",
                    said};
        std::size_t at = line.find("lab.hpp declares");
        if (at == line.npos) continue;
        message = line.substr(at);
        break;
    }
    if (is_rung(j))
        return {
            verdict::BUILD_FAILED, message,
            "the file is a rung of the ladder: what it lacks is in the rung below, over which the "
            "build links it; to grade the ladder: ./workbook demo " +
                number_of(l.name),
            said};
    return {verdict::BUILD_FAILED, message,
            "copy its declaration from lab.hpp and write its body" + moved_from(j, message), said};
}

// Compiles an empty file: if that fails, the machine is at fault. The submission's own compile
// cannot show this, since it can print messages that look like anything.
exit_result compile_empty(const job &j, bool sandboxed)
{
    job empty = j;
    empty.text = "\n";
    scratch_folder scratch;
    compile_folder w = lay_out(empty, scratch.path());
    if (sandboxed) confine_compile(empty, w);
    return compile(empty, w);
}

bool compiles_empty(const exit_result &e)
{
    return e.what == exit_result::exited && e.status == lacks_function;
}

bool lacked_memory(const std::string &said)
{
    return contains_any(
        said, {"virtual memory exhausted", "out of memory", "bad_alloc", "Cannot allocate memory"});
}

// Throws machine_error if this process's hard limit of address space (ulimit -v) is lower than what
// a compiler may use.
void require_memory(const build_limits &limits)
{
    rlimit given{};
    if (getrlimit(RLIMIT_AS, &given) != 0 || given.rlim_max >= limits.memory) return;
    throw machine_error(fmt::format("a program may have only {} MiB of memory here, and the "
                                    "compiler may need {} MiB.\n  what to do: raise the limit "
                                    "(ulimit -v)",
                                    given.rlim_max >> 20, limits.memory >> 20));
}

// Returns true if the submission itself printed that a part of the compiler was killed: there was
// no out-of-memory kill meanwhile, and an empty file compiles.
bool is_forged_kill(const job &j, const compile_folder &w, const exit_result &e)
{
    const int signal = ended_by(e, e.text);
    const bool by_words = e.what == exit_result::exited && e.status <= 128;
    return by_words && (signal == SIGKILL || signal == SIGTERM) &&
           oom_kills() == w.oom_kills_before &&
           compiles_empty(compile_empty(j, w.sandbox.has_value()));
}

[[noreturn]] void refuse_compile(const job &j, const compile_folder &w, const exit_result &e)
{
    std::string said = diagnostics(j, w, e);
    if (e.what == exit_result::not_started)
        throw machine_error(fmt::format("the compiler {}: see ./workbook doctor", e.words()));
    if (e.what == exit_result::exited && e.status == lacks_function && !said.empty())
        throw missing_function(j, said);
    if (e.what == exit_result::exited && e.status == has_other_names)
        throw refusal{verdict::BUILD_REJECTED, first_error(said),
                      "declare no symbols in assembly: a kernel and the contract need none", said};
    int signal = ended_by(e, said);
    bool time_over = e.what == exit_result::timed_out || signal == SIGXCPU ||
                     contains_any(said, {"CPU time limit", "signal 24"});
    if (time_over)
        throw refusal{
            verdict::BUILD_TIMEOUT,
            fmt::format("{} was still compiling after {} s", j.shown, j.limits.wall.count()),
            "look for templates, constexpr functions or macros that expand without end", said};
    if (!is_forged_kill(j, w, e)) require_not_killed(j, signal);
    if (lacked_memory(said))
        throw refusal{verdict::BUILD_FAILED,
                      fmt::format("{} needs more than {} GiB of memory to compile", j.shown,
                                  j.limits.memory >> 30),
                      "look for huge static arrays and for templates that expand without end",
                      said};
    if (signal)
        throw refusal{verdict::BUILD_FAILED,
                      fmt::format("the compiler itself crashed at {} (signal {})", j.shown, signal),
                      "leave out what you wrote last, to find the lines that it cannot take", said};
    throw refusal{verdict::BUILD_FAILED, first_error(said), build_advice(said), said};
}

// Returns true if the compiler finds all it needs in the sandbox; a success is remembered.
bool sandbox_suffices(const job &j)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    std::string marker = j.tools.build_root + "/submissions/sandbox";
    std::string tried =
        compiler_key(j.tools, flags_for(j.tools, *j.request.of, j.request.backends)) +
        name(grading::available_confinement(false)) + "\n";
    if (fs::exists(marker) && read_text(marker) == tried) return true;
    bool suffices = compiles_empty(compile_empty(j, true));
    if (suffices) write_atomically(marker, tried);
    return suffices;
}

// Called after a failed compile. Returns true if its messages are about the machine, which has
// recovered since; throws machine_error if it has not.
bool machine_has_recovered(const job &j, const compile_folder &w, const exit_result &e)
{
    require_room_to_build(j.tools.build_root);
    const bool memory = lacked_memory(e.text), others = speaks_of_machine(e.text);
    if (memory) require_memory(j.limits);
    if (!memory && !others) return false;
    if (exit_result empty = compile_empty(j, w.sandbox.has_value()); !compiles_empty(empty))
        throw machine_error(fmt::format("the compiler {} at {}, and so it does at an empty file; "
                                        "this is no fault of the submission. It said:\n{}",
                                        e.words(), j.shown, sanitized(e.text, 1000)));
    return others;
}

} // namespace

std::string compile_object(const job &j, const std::string &output_folder, double &cpu_seconds)
{
    scratch_folder scratch;
    compile_folder w = lay_out(j, scratch.path());
    exit_result e;
    auto attempt = [&] {
        e = compile(j, w);
        cpu_seconds += e.cpu_seconds;
    };
    if (j.limits.use_sandbox) confine_compile(j, w);
    if (w.sandbox) {
        attempt();
        if (!e.ok() && e.what == exit_result::exited && !sandbox_suffices(j)) {
            w.sandbox.reset();
            w.visible = w.tree;
        }
    }
    if (!w.sandbox && j.request.require_sandbox)
        throw machine_error(
            "The compiler cannot be shut off from this machine here, or not find all "
            "it needs then; nothing was compiled.\n  what to do: see ./workbook "
            "doctor, beside \"sandbox\", and where the compiler is installed");
    if (!w.sandbox) { // no sandbox here, or the compiler lacks something in it
        check_directives(j);
        attempt();
    }
    if (!e.ok() && machine_has_recovered(j, w, e)) {
        fs::remove_all(w.tree + "/.made");
        fs::create_directories(w.tree + "/.made");
        attempt();
    }
    if (!e.ok()) refuse_compile(j, w, e);
    inspect(j, w);
    write_atomically(output_folder + "/object.o", read_text(w.tree + "/.made/object.o"));
    return diagnostics(j, w, e);
}

} // namespace cli
