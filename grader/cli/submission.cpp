// Compiles a submission in a folder that holds the contract and that file and nothing else.
#include "submission.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "object_cache.hpp"
#include "process.hpp"
#include "progress.hpp"

#include "grader/process/sandbox.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace cli {

namespace fs = std::filesystem;
using grading::verdict;

namespace {

// Something the student did: becomes the verdict of the build.
struct refusal {
    verdict what;
    std::string message, hint, diagnostics;
};

// The bytes of a submission, read through one descriptor so that what was checked is what is
// compiled.
std::string read_submission(const std::string &path, const std::string &shown, std::size_t most)
{
    auto refuse = [&](const std::string &why) -> refusal {
        return {verdict::SUBMISSION_INVALID,
                fmt::format("{} {}", shown, why),
                "hand in one ordinary .cu file",
                {}};
    };
    // Who handed in no file, or a name that no system takes, did so; the rest is how the file lies
    // on this machine, or the machine itself.
    auto unreadable = [&](int error) {
        if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG)
            throw refuse(fmt::format("cannot be read: {}", std::strerror(error)));
        throw machine_error(fmt::format("{} cannot be read: {}.\n  what to do: {}", shown,
                                        std::strerror(error),
                                        error == EACCES ? "get the right to read it (ls -l says "
                                                          "whose it is), then run this again"
                                                        : "./workbook doctor, then run this "
                                                          "again"));
    };
    struct stat s {};
    if (lstat(path.c_str(), &s) != 0) unreadable(errno);
    if (S_ISLNK(s.st_mode)) throw refuse("is a symbolic link");
    if (S_ISDIR(s.st_mode)) throw refuse("is a folder");
    if (!S_ISREG(s.st_mode)) throw refuse("is not a regular file");
    const grading::owned_fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) unreadable(errno);
    std::string text(most + 1, '\0');
    std::size_t size = 0;
    bool regular = fstat(fd.get(), &s) == 0 && S_ISREG(s.st_mode);
    ssize_t got = 1;
    while (regular && size <= most && got != 0) {
        got = read(fd.get(), text.data() + size, text.size() - size);
        if (got < 0 && errno != EINTR) break;
        size += std::size_t(std::max<ssize_t>(got, 0));
    }
    if (got < 0) unreadable(errno);
    if (!regular) throw refuse("is not a regular file");
    if (size > most) throw refuse(fmt::format("is larger than {} KiB", most >> 10));
    text.resize(size);
    return text;
}

// One compile of one file.
struct job {
    const toolchain &tools;
    const submission_request &request;
    const build_limits &limits;
    std::string file, shown, text; // its plain name, its path as the student knows it, its bytes
    std::string tree_name;         // where in the tree it is compiled: "labs/02_coalescing/stub.cu"

    std::string contract_folder() const
    {
        return fs::path(tools.shown(tools.header(*request.of))).parent_path().string();
    }
    std::string key() const
    {
        std::ostringstream k;
        k << "2 " << request.of->system_calls << "\n"
          << tree_name << "\n"
          << stamp(fs::canonical(tools.nvcc)) << tools.cxx[0] << "\n";
        for (const std::string &flag : flags_for(tools, *request.of, request.backends))
            k << flag << "\n";
        for (const std::string &headers : request.of->forbidden) k << "not " << headers << "\n";
        std::vector<std::string> read = tools.headers(*request.of);
        read.insert(read.end(), {tools.compile_script, request.of->keep});
        for (const std::string &path : read) k << "--- " << path << "\n" << read_text(path);
        k << "--- submission\n" << text;
        return k.str();
    }
};

// The kernel's count of processes that it killed for want of memory; empty: it has none.
std::string killed_for_memory()
{
    std::ifstream counts("/proc/vmstat");
    for (std::string name, count; counts >> name >> count;)
        if (name == "oom_kill") return count;
    return {};
}

// Where the compile happens: a folder of ours holds the file, its headers and our tools.
struct workplace {
    std::string tree;    // as we see it
    std::string visible; // as the compiler sees it
    std::optional<grading::sandbox> closed = {};
    std::string killed_before = killed_for_memory();
};

// What the compile makes, as its tools see it.
std::string object_in(const workplace &w) { return w.visible + "/.made/object.o"; }

void lay_out(const job &j, const std::string &scratch, workplace &w)
{
    w.tree = w.visible = scratch + "/tree";
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
}

// The compilers' own files, and the linker's.
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

// Lets the compiler see its own files, wherever they were installed, and the tree. Where namespaces
// can be had the tree stands where the project does, so that names in messages and line tables are
// the student's own; the project itself is absent.
void close_off(const job &j, workplace &w)
{
    const grading::confinement how = grading::available_confinement(false);
    if (how == grading::confinement::none) return;
    grading::sandbox &s = w.closed.emplace(how, grading::sandbox_options{.processes = true});
    if (how == grading::confinement::namespaces) w.visible = j.tools.source_root;
    s.show(w.tree, w.visible, true);
    show_tools(j.tools, s);
}

// `scratch`: for temporary files.
std::vector<std::string> minimal_environment(const job &j, const std::string &scratch)
{
    std::string path = fs::path(j.tools.nvcc).parent_path().string();
    std::string compiler = fs::path(j.tools.cxx[0]).parent_path().string();
    if (!compiler.empty()) path += ":" + compiler;
    return {"PATH=" + path + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent",
            "TMPDIR=" + scratch};
}

ending compile(const job &j, const workplace &w)
{
    child c;
    std::string made = w.visible + "/.made/";
    c.arguments = {
        "/bin/sh",        w.visible + "/.tools/compile.sh", j.tools.nvcc, j.tree_name, object_in(w),
        made + "depends", w.visible + "/.tools/keep"};
    for (const std::string &flag : flags_for(j.tools, *j.request.of, j.request.backends))
        c.arguments.push_back(flag);
    c.arguments.push_back("-I" + j.contract_folder());
    c.folder = w.visible;
    c.environment = minimal_environment(j, w.visible + "/.made");
    c.keep = j.limits.diagnostics * 4; // cut again once it is made safe
    c.wall = j.limits.wall;
    c.limits = {{RLIMIT_CPU, j.limits.cpu_seconds},
                {RLIMIT_AS, j.limits.memory},
                {RLIMIT_FSIZE, j.limits.object_bytes}};
    if (w.closed) c.within = &*w.closed;
    return run(c);
}

void replace_all(std::string &text, const std::string &from, const std::string &to)
{
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
}

// The compiler's words with the student's own path, without what is about our tools.
std::string diagnostics(const job &j, const workplace &w, const ending &e)
{
    std::string text = e.text;
    for (const std::string &root : {w.tree, w.visible}) replace_all(text, root + "/", "");
    if (j.tree_name != j.shown) replace_all(text, j.tree_name, j.shown);
    std::string kept;
    for (const std::string &line : lines(text))
        if (line.find(".tools/") == line.npos && line.find(".made/") == line.npos)
            kept += line + "\n";
    std::string safe = printable(kept, j.limits.diagnostics);
    return e.cut ? safe + "\n[the compiler said more]" : safe;
}

bool contains_any(const std::string &text, std::initializer_list<const char *> words)
{
    return std::any_of(words.begin(), words.end(),
                       [&](const char *word) { return text.find(word) != text.npos; });
}

std::string first_error(const std::string &text)
{
    const std::vector<std::string> all = lines(text);
    for (const char *sign : {"error:", "error #", "error"}) // a warning may speak of errors
        for (const std::string &line : all)
            if (line.find(sign) != line.npos) return line;
    return all.empty() ? "the compiler gave no reason" : all[0];
}

// compile.sh ends so when the file compiles but lacks a function of the contract, or has global
// names that objcopy cannot take away.
constexpr int lacks_a_function = 3, has_other_names = 4;

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
    return {verdict::BUILD_FAILED, message, "copy its declaration from lab.hpp and write its body",
            said};
}

// The number of at most six digits at the start of a text; -1: there is none.
int leading_number(std::string_view text)
{
    std::size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
    return digits == 0 || digits > 6 ? -1 : std::stoi(std::string(text.substr(0, digits)));
}

// The signal that one line of a compiler's says ended a part of it; 0: none. A submission has lines
// of any length printed, on which std::regex would use the stack up.
int signal_in(std::string_view line)
{
    auto number_after = [&](std::string_view words) {
        const std::size_t at = line.find(words);
        return at == line.npos ? 0 : std::max(0, leading_number(line.substr(at + words.size())));
    };
    if (line.starts_with("nvcc ")) return number_after("' died due to signal ");
    if (line.starts_with("collect2: fatal error: ld "))
        return number_after("terminated with signal ");
    constexpr std::string_view marker = ": fatal error: ", end = " signal terminated program ";
    const std::size_t at = line.find(marker);
    if (at == line.npos || line.find_first_of(" '") < at) return 0; // not what a program says
    const std::string_view what = line.substr(at + marker.size());
    for (const auto &[name, number] : {std::pair<std::string_view, int>{"Killed", SIGKILL},
                                       std::pair<std::string_view, int>{"Terminated", SIGTERM}})
        if (what.starts_with(name) && what.substr(name.size()).starts_with(end)) return number;
    return 0;
}

// The signal that ended the compiler or the linker, or a part of it by what they say themselves; 0:
// none did.
int ended_by(const ending &e, const std::string &said)
{
    if (e.what == ending::signalled) return e.status;
    if (e.what == ending::exited && e.status > 128) return e.status - 128; // a shell's way
    for (const std::string &line : lines(said))
        if (const int signal = signal_in(line)) return signal;
    return 0;
}

// What somebody else killed is no fault of the submission's.
void require_not_killed(const job &j, int signal)
{
    if (signal != SIGKILL && signal != SIGTERM) return;
    throw machine_error(fmt::format(
        "the compiler was killed by signal {} (SIG{}) while it worked on {}; that says nothing "
        "about the file. Mostly the machine has run out of memory.\n  what to do: close other "
        "programs, grade fewer files at a time, and run it again; if it is always this file, look "
        "for huge static arrays and for templates that expand without end",
        signal, sigabbrev_np(signal), j.shown));
}

// Whether a compiler or a linker speaks of the machine. `said` is all of its words: those about
// files of ours, too, which no student is shown. A submission can have them said as well.
bool speaks_of_machine(const std::string &said)
{
    return contains_any(said, {"No space left on device", "Disk quota exceeded",
                               "Read-only file system", "Permission denied", "Too many open files",
                               "File too large", "Input/output error", "Cannot allocate memory",
                               "Resource temporarily unavailable"});
}

bool lacked_memory(const std::string &said)
{
    return contains_any(
        said, {"virtual memory exhausted", "out of memory", "bad_alloc", "Cannot allocate memory"});
}

// Throws machine_error where the machine gives a compiler less than a submission may have.
void require_memory(const build_limits &limits)
{
    rlimit given{};
    if (getrlimit(RLIMIT_AS, &given) != 0 || given.rlim_max >= limits.memory) return;
    throw machine_error(fmt::format("a program may have only {} MiB of memory here, and the "
                                    "compiler may need {} MiB.\n  what to do: raise the limit "
                                    "(ulimit -v)",
                                    given.rlim_max >> 20, limits.memory >> 20));
}

// Where a compile or a link failed: throws machine_error where the machine lacks room for what it
// writes.
void require_room_to_build(const std::string &cache)
{
    require_room(temporary_folder());
    require_room(cache);
}

// How a file without a line of its own compiles: what does not come of it comes of the machine. Not
// tried with the submission, whose words may be made to look like anything.
ending compile_empty(const job &j, bool closed)
{
    job empty = j;
    empty.text = "\n";
    scratch_folder scratch;
    workplace w;
    lay_out(empty, scratch.path(), w);
    if (closed) close_off(empty, w);
    return compile(empty, w);
}

bool compiles_empty(const ending &e)
{
    return e.what == ending::exited && e.status == lacks_a_function;
}

// Whether the words that a part of the compiler was killed are the submission's own: the kernel
// killed nothing for want of memory, and an empty file compiles.
bool says_so_itself(const job &j, const workplace &w, const ending &e)
{
    const int signal = ended_by(e, e.text);
    const bool by_words = e.what == ending::exited && e.status <= 128;
    return by_words && (signal == SIGKILL || signal == SIGTERM) &&
           killed_for_memory() == w.killed_before &&
           compiles_empty(compile_empty(j, w.closed.has_value()));
}

[[noreturn]] void refuse_compile(const job &j, const workplace &w, const ending &e)
{
    std::string said = diagnostics(j, w, e);
    if (e.what == ending::not_started)
        throw machine_error(fmt::format("the compiler {}: see ./workbook doctor", e.words()));
    if (e.what == ending::exited && e.status == lacks_a_function && !said.empty())
        throw missing_function(j, said);
    if (e.what == ending::exited && e.status == has_other_names)
        throw refusal{verdict::BUILD_REJECTED, first_error(said),
                      "declare no symbols in assembly: a kernel and the contract need none", said};
    int signal = ended_by(e, said);
    bool time_over = e.what == ending::timed_out || signal == SIGXCPU ||
                     contains_any(said, {"CPU time limit", "signal 24"});
    if (time_over)
        throw refusal{
            verdict::BUILD_TIMEOUT,
            fmt::format("{} was still compiling after {} s", j.shown, j.limits.wall.count()),
            "look for templates, constexpr functions or macros that expand without end", said};
    if (!says_so_itself(j, w, e)) require_not_killed(j, signal);
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
    throw refusal{verdict::BUILD_FAILED, first_error(said),
                  "mend the first error; the ones after it often follow from it", said};
}

// Whether the compiler finds all it needs in the sandbox: tried once.
bool sandbox_suffices(const job &j)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    std::string marker = j.tools.build_root + "/submissions/sandbox";
    std::string tried = stamp(fs::canonical(j.tools.nvcc)) + j.tools.cxx[0] + "\n" +
                        name(grading::available_confinement(false)) + "\n";
    for (const std::string &flag : flags_for(j.tools, *j.request.of, j.request.backends))
        tried += flag + "\n";
    if (fs::exists(marker) && read_text(marker) == tried) return true;
    bool suffices = compiles_empty(compile_empty(j, true));
    if (suffices) write_atomically(marker, tried);
    return suffices;
}

// The machine's part in a compile that failed. True: it speaks of the machine, which has what it
// needs again; throws machine_error where it has not.
bool machine_came_between(const job &j, const workplace &w, const ending &e)
{
    require_room_to_build(j.tools.build_root);
    const bool memory = lacked_memory(e.text), others = speaks_of_machine(e.text);
    if (memory) require_memory(j.limits);
    if (!memory && !others) return false;
    if (ending empty = compile_empty(j, w.closed.has_value()); !compiles_empty(empty))
        throw machine_error(fmt::format("the compiler {} at {}, and so it does at an empty file; "
                                        "this is no fault of the submission. It said:\n{}",
                                        e.words(), j.shown, printable(e.text, 1000)));
    return others;
}

std::string normal(const std::string &path) { return fs::path(path).lexically_normal().string(); }

bool inside(const std::string &path, const std::string &folder)
{
    return path.rfind(normal(folder) + "/", 0) == 0;
}

// The project may itself lie in /opt or /usr: of its own tree only an installed toolkit counts.
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
    return std::any_of(folders.begin(), folders.end(),
                       [&](const std::string &folder) { return inside(path, folder); });
}

// Every file that was read must be the compiler's, the contract, or the submission.
void check_dependencies(const job &j, const workplace &w)
{
    std::string text = read_text(w.tree + "/.made/depends");
    replace_all(text, "\\\n", " ");
    std::size_t colon = text.find(": ");
    std::istringstream names(colon == text.npos ? "" : text.substr(colon + 1));
    for (std::string name; names >> name;) {
        if (name.back() == ':') break; // the rules without a recipe for headers that vanish
        std::string path = normal(name[0] == '/' ? name : w.visible + "/" + name);
        if (path == normal(w.visible + "/" + j.tree_name)) continue;
        std::vector<std::string> given = j.tools.headers(*j.request.of);
        if (std::any_of(given.begin(), given.end(), [&](const std::string &header) {
                return path == normal(w.visible + "/" + j.tools.shown(header));
            }))
            continue;
        bool known = belongs_to_compiler(j.tools, path);
        if (!known)
            throw refusal{
                verdict::BUILD_REJECTED,
                fmt::format("{} includes {}; a submission may include lab.hpp, "
                            "../check.hpp and the headers of the compiler and the CUDA Toolkit",
                            j.shown, printable(j.tools.shown(path), 400)),
                "copy what you need into your file",
                {}};
        for (const std::string &headers : j.request.of->forbidden)
            if (path.find("/include/" + headers + "/") != path.npos ||
                path.find("/cccl/" + headers + "/") != path.npos)
                throw refusal{verdict::FORBIDDEN_API,
                              fmt::format("{} includes headers of {}, a library that has what this "
                                          "lab asks you to write",
                                          j.shown, headers),
                              "leave it out and write it yourself",
                              {}};
    }
}

// Without a sandbox the assembler could read any file; the names of these directives are then
// refused.
void check_directives(const job &j)
{
    if (contains_any(j.text, {".incbin", ".include"}))
        throw refusal{
            verdict::BUILD_REJECTED,
            fmt::format("{} tells the assembler to read a file (.incbin or .include)", j.shown),
            "write the data into your file",
            {}};
}

refusal too_large(const job &j, const std::string &why)
{
    return {verdict::BUILD_REJECTED,
            j.shown + " compiles to too much code or data to be checked: " + why,
            "leave out assembly and macros that fill memory, and give large arrays their values "
            "while the program runs",
            {}};
}

void check_size(const job &j, const std::string &object)
{
    if (const auto bytes = fs::file_size(object); bytes > j.limits.checked_bytes)
        throw too_large(j, fmt::format("{:.1f} MiB, and at most {} MiB are allowed",
                                       static_cast<double>(bytes) / (1 << 20),
                                       j.limits.checked_bytes >> 20));
}

// What a tool that looks at an object does, where the compiler did its work, in the time that it
// has.
ending inspected(const job &j, const workplace &w, child &c)
{
    c.wall = j.limits.check;
    c.folder = w.visible;
    c.environment = minimal_environment(j, w.visible + "/.made");
    if (w.closed) c.within = &*w.closed;
    ending e = run(c);
    if (e.what == ending::timed_out)
        throw too_large(
            j, fmt::format("{} was not done after {} s", c.arguments[0], j.limits.check.count()));
    return e;
}

// A tool that does not get through an object file although it runs: the compiler writes none such,
// so that inline assembly has.
[[noreturn]] void refuse_unreadable(const job &j, const workplace &w, const std::string &tool,
                                    const ending &e)
{
    child alone;
    alone.arguments = {tool, "--version"};
    alone.keep = 0;
    const bool ran = e.what == ending::exited && e.status <= 128;
    if (!ran || !inspected(j, w, alone).ok())
        throw machine_error(fmt::format("{} {}. It is part of binutils", tool, e.words()));
    throw refusal{verdict::BUILD_REJECTED,
                  fmt::format("its object file is none that {} can read", tool),
                  "leave out the assembly that makes sections of its own",
                  {}};
}

std::string symbols(const job &j, const workplace &w)
{
    child c;
    c.arguments = nm({}, object_in(w));
    c.keep = 4 << 20;
    ending e = inspected(j, w, c);
    if (!e.ok()) refuse_unreadable(j, w, "nm", e);
    if (e.cut)
        throw refusal{verdict::BUILD_REJECTED,
                      "the file defines or uses too many names to check",
                      "leave out the assembly or the macros that make them",
                      {}};
    return e.text;
}

// Whether host code has the instruction of a system call, for which it needs no function.
bool enters_the_system(const job &j, const workplace &w)
{
    bool found = false;
    child c;
    c.arguments = {"objdump", "-d", "--no-show-raw-insn", object_in(w)};
    c.keep = 0;
    c.each_line = [&](std::string_view line) { found = found || is_system_call(line); };
    ending e = inspected(j, w, c);
    if (!e.ok()) refuse_unreadable(j, w, "objdump", e);
    return found;
}

std::string compiled(const job &j, const std::string &made_at, double &cpu_seconds)
{
    scratch_folder scratch;
    workplace w;
    lay_out(j, scratch.path(), w);
    ending e;
    if (j.limits.closed) close_off(j, w);
    if (w.closed) {
        e = compile(j, w);
        cpu_seconds += e.cpu_seconds;
        if (!e.ok() && e.what == ending::exited && !sandbox_suffices(j)) {
            w.closed.reset();
            w.visible = w.tree;
        }
    }
    if (!w.closed && j.request.require_sandbox)
        throw machine_error(
            "The compiler cannot be shut off from this machine here, or not find all "
            "it needs then; nothing was compiled.\n  what to do: see ./workbook "
            "doctor, beside \"sandbox\", and where the compiler is installed");
    if (!w.closed) { // no sandbox here, or one in which the compiler lacks something
        check_directives(j);
        e = compile(j, w);
        cpu_seconds += e.cpu_seconds;
    }
    if (!e.ok() && machine_came_between(j, w, e)) {
        fs::remove_all(w.tree + "/.made");
        fs::create_directories(w.tree + "/.made");
        e = compile(j, w);
        cpu_seconds += e.cpu_seconds;
    }
    if (!e.ok()) refuse_compile(j, w, e);
    check_dependencies(j, w);
    std::string object = w.tree + "/.made/object.o";
    const bool system_calls = j.request.of->system_calls;
    check_size(j, object);
    std::string wrong = lint_symbols(symbols(j, w), j.shown, system_calls);
    if (wrong.empty() && !system_calls && enters_the_system(j, w))
        wrong = j.shown + " makes a system call in assembly; no lab needs that";
    if (!wrong.empty())
        throw refusal{verdict::BUILD_REJECTED,
                      wrong,
                      "rename it, if the name is yours; leave it out, if it is a call",
                      {}};
    write_atomically(made_at + "/object.o", read_text(object));
    return diagnostics(j, w, e);
}

// The folder with object.o and the compiler's warnings.
std::string object_for(const job &j, built_submission &result)
{
    object_cache objects(j.tools.build_root + "/submissions/" + j.request.of->name + "/objects");
    std::string key = j.key();
    bool found = false;
    std::string at = objects.find(key, found);
    result.from_cache = found;
    if (!found) {
        std::string fresh = objects.prepare(key);
        try {
            write_atomically(fresh + "/warnings", compiled(j, fresh, result.cpu_seconds));
        } catch (...) {
            fs::remove_all(fresh);
            throw;
        }
        objects.keep(fresh, at);
    }
    result.diagnostics = read_text(at + "/warnings");
    return at;
}

std::vector<std::string> link_command(const job &j, const std::string &object,
                                      const std::string &backend)
{
    const toolchain &t = j.tools;
    std::vector<std::string> c = t.cxx;
    // What has no bound in words stays as it is: see in_words. And no plugin reads sections that an
    // object may have for it.
    c.insert(c.end(), {"-fno-use-linker-plugin", object, "-Wl,--no-demangle", "-Wl,--whole-archive",
                       j.request.of->worker_library});
    if (backend == "sim") c.push_back(t.simulator_library);
    c.push_back("-Wl,--no-whole-archive");
    if (backend == "gpu") c.push_back(t.cudart_static);
    c.insert(c.end(), t.link_flags.begin(), t.link_flags.end());
    c.insert(c.end(), j.request.of->link.begin(), j.request.of->link.end());
    return c;
}

// What the linker reads, and the program's folder, to which it writes. The libraries that meson
// makes hold names of objects, which lie in folders beside them.
void close_off_link(const job &j, const std::string &object, const std::string &folder,
                    grading::sandbox &s)
{
    const toolchain &t = j.tools;
    for (const fs::directory_entry &e : fs::directory_iterator(t.build_root))
        if (e.path().string().ends_with(".a.p")) s.show(e.path());
    for (const std::string &file : {j.request.of->worker_library, t.simulator_library,
                                    t.cudart_static, t.build_root + "/yardstick.o", object})
        s.show(file);
    for (const std::string &word : j.request.of->link)
        if (word.starts_with("-L")) s.show(word.substr(2));
    s.show(folder, folder, true);
    show_tools(t, s);
}

// Makes the worker `program` of an object. Not `closed`: with all that this machine has in reach.
ending link(const job &j, const std::string &object, const std::string &backend,
            const std::string &program, bool closed)
{
    const std::string folder = fs::path(program).parent_path();
    child c;
    c.arguments = link_command(j, object, backend);
    c.arguments.insert(c.arguments.end(), {"-o", program});
    c.environment = minimal_environment(j, folder);
    c.wall = std::chrono::seconds(120);
    c.limits = {{RLIMIT_AS, j.limits.memory}, {RLIMIT_FSIZE, j.limits.object_bytes}};
    std::optional<grading::sandbox> within;
    const grading::confinement how = grading::available_confinement(false);
    if (closed && how != grading::confinement::none) {
        within.emplace(how, grading::sandbox_options{.processes = true});
        close_off_link(j, object, folder, *within);
        c.within = &*within;
    }
    ending e = run(c);
    if (e.what == ending::not_started)
        throw machine_error(fmt::format("{} {}", c.arguments[0], e.words()));
    return e;
}

// Whether a file that is right, the naive reference, links in the submission's place.
bool naive_links(const job &j, const std::string &backend, const std::string &folder, bool closed)
{
    std::string object = j.tools.build_root + "/" + j.request.of->name + ".naive.o";
    const std::string program = folder + "/naive";
    const bool links = fs::exists(object) && link(j, object, backend, program, closed).ok();
    fs::remove(program);
    return links;
}

// "scale(float*, int)" of a linker's name. c++filt says so, with limits of its own: few characters
// can stand for more than a machine's memory holds.
std::string in_words(const std::string &symbol)
{
    if (!symbol.starts_with("_Z")) return symbol;
    child c;
    c.arguments = {"c++filt", symbol};
    c.keep = 1000;
    c.wall = std::chrono::seconds(2);
    c.limits = {{RLIMIT_AS, 256 << 20}};
    ending e = run(c);
    const std::vector<std::string> said = lines(e.text);
    return e.ok() && !e.cut && !said.empty() ? said[0] : symbol;
}

// A worker that does not link: a name that only the grader or nothing has.
refusal link_refusal(const job &j, const std::string &backend, const ending &e,
                     const std::string &folder, bool closed)
{
    std::string said = printable(e.text, j.limits.diagnostics);
    static const std::string marker = "undefined reference to `";
    std::set<std::string> names;
    for (std::size_t at = 0; (at = said.find(marker, at)) != said.npos;) {
        at += marker.size();
        names.insert(said.substr(at, said.find('\'', at) - at));
    }
    if (names.empty() && naive_links(j, backend, folder, closed))
        return {verdict::BUILD_FAILED,
                fmt::format("{} compiled but does not link: {}", j.shown,
                            lines(e.text).empty() ? "the linker " + e.words()
                                                  : printable(lines(e.text)[0], 400)),
                "look for huge static arrays, and for assembly", said};
    if (names.empty())
        throw machine_error(fmt::format("{} compiled, but its worker does not link; this is no "
                                        "fault of the submission:\n{}",
                                        j.shown, said));
    std::string all;
    constexpr std::size_t most = 1000; // more is not shown
    for (const std::string &name : names)
        if (all.size() < most) all += (all.empty() ? "" : ", ") + in_words(name);
    return {verdict::BUILD_FAILED,
            fmt::format("{} uses {}, which neither it nor the CUDA runtime defines", j.shown,
                        printable(all, most)),
            "define it in your file, or correct its name; of libraries only the CUDA runtime and "
            "what headers alone hold can be used",
            {}};
}

std::string linked(const job &j, const std::string &object_folder, const std::string &backend,
                   built_submission &result)
{
    object_cache workers(j.tools.build_root + "/submissions/" + j.request.of->name + "/workers");
    std::string runtime = backend == "sim" ? j.tools.simulator_library : j.tools.cudart_static;
    const std::string object = object_folder + "/object.o";
    std::string key = backend + "\n" + read_text(object_folder + "/key") + "\n";
    for (const std::string &word : link_command(j, object, backend)) key += word + " ";
    key += "\n" + stamp(j.request.of->worker_library) + stamp(runtime);
    std::string name =
        "/" + j.request.of->name + "." + fs::path(j.file).stem().string() + "." + backend;
    bool found = false;
    std::string at = workers.find(key, found);
    if (found) return at + name;
    result.from_cache = false;
    std::string fresh = workers.prepare(key);
    bool closed = true;
    auto make = [&] {
        ending e = link(j, object, backend, fresh + name, closed);
        result.cpu_seconds += e.cpu_seconds;
        return e;
    };
    try {
        const std::string killed_before = killed_for_memory();
        ending e = make();
        if (!e.ok() && !j.request.require_sandbox && !naive_links(j, backend, fresh, true) &&
            naive_links(j, backend, fresh, false)) {
            closed = false; // the linker lacks something in the sandbox
            e = make();
        }
        if (!e.ok()) require_room_to_build(fresh);
        if (!e.ok() && speaks_of_machine(e.text)) e = make(); // there is room again
        // A submission can have the linker say that it was killed; the kernel says whom it killed.
        const bool by_words = e.what == ending::exited && e.status <= 128;
        if (const int signal = ended_by(e, e.text);
            signal != 0 && !(by_words && killed_for_memory() == killed_before &&
                             naive_links(j, backend, fresh, closed)))
            require_not_killed(j, signal);
        if (!e.ok()) throw link_refusal(j, backend, e, fresh, closed);
    } catch (...) {
        fs::remove_all(fresh);
        throw;
    }
    workers.keep(fresh, at);
    return at + name;
}

// As make rules and shells can carry it: of "stub (1).cu" stub__1_.cu.
std::string plain_name(std::string name)
{
    for (char &c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.' && c != '+')
            c = '_';
    if (name[0] == '-' || name[0] == '.') name[0] = '_';
    return name;
}

// "labs/02_coalescing/stub.cu" for a file of the project; the bare name for any other.
std::string name_in_tree(const toolchain &t, const fs::path &path)
{
    std::string file = plain_name(path.filename().string());
    fs::path folder = t.shown(fs::weakly_canonical(path.parent_path()).string());
    bool of_project =
        folder.is_relative() && std::all_of(folder.begin(), folder.end(), [](const fs::path &part) {
            return plain_name(part.string()) == part;
        });
    return of_project ? (folder / file).string() : file;
}

job make_job(const toolchain &t, const submission_request &request, const build_limits &limits)
{
    job j{t, request, limits, {}, {}, {}, {}};
    std::string path = fs::absolute(request.path).lexically_normal().string();
    j.shown = t.shown(path);
    if (j.shown[0] == '/') j.shown = request.path;
    j.shown = printable(j.shown, 400);
    // What the compiler and we add to it must fit a file's name, too.
    constexpr std::size_t longest_name = 180;
    if (std::size_t bytes = fs::path(path).filename().string().size(); bytes > longest_name)
        throw refusal{verdict::SUBMISSION_INVALID,
                      fmt::format("{} has a name of {} bytes, and may have one of at most {}",
                                  j.shown, bytes, longest_name),
                      "name the file you edit, e.g. stub.cu",
                      {}};
    j.text = read_submission(path, j.shown, limits.file_bytes);
    if (fs::path(path).extension() != ".cu")
        throw refusal{verdict::SUBMISSION_INVALID,
                      fmt::format("{} is not a .cu file", j.shown),
                      "name the file you edit, e.g. stub.cu",
                      {}};
    j.tree_name = name_in_tree(t, path);
    j.file = fs::path(j.tree_name).filename().string();
    return j;
}

bool is_cuda_name(const std::string &s)
{
    auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return (s.size() > 4 && s.rfind("cuda", 0) == 0 && upper(s[4])) ||
           (s.size() > 2 && s.rfind("cu", 0) == 0 && upper(s[2]));
}

// Names of the C and C++ libraries that nobody needs to replace to write a kernel.
bool is_library_name(const std::string &s)
{
    static const std::set<std::string> names = {"malloc",
                                                "calloc",
                                                "realloc",
                                                "free",
                                                "memcpy",
                                                "memset",
                                                "memcmp",
                                                "memmove",
                                                "exit",
                                                "_exit",
                                                "abort",
                                                "read",
                                                "write",
                                                "clock",
                                                "clock_gettime",
                                                "gettimeofday",
                                                "time",
                                                "recv",
                                                "send",
                                                "recvmsg",
                                                "sendmsg",
                                                "mmap",
                                                "munmap",
                                                "open",
                                                "close",
                                                "dlopen",
                                                "dlsym",
                                                "_start",
                                                "_init",
                                                "_fini",
                                                "__libc_start_main"};
    static const char *const operators[] = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZNSt6chrono"};
    if (names.count(s)) return true;
    return std::any_of(std::begin(operators), std::end(operators),
                       [&](const char *start) { return s.rfind(start, 0) == 0; });
}

std::string wrong_definition(const std::string &symbol)
{
    if (symbol == "main") return "defines main; the grader has its own and calls your functions";
    if (is_cuda_name(symbol))
        return fmt::format("defines {}, which is a name of the CUDA API", symbol);
    if (symbol.rfind("simulator_", 0) == 0 || symbol.rfind("yardstick_", 0) == 0)
        return fmt::format("defines {}, which is a name of the grader", symbol);
    if (is_library_name(symbol))
        return fmt::format("replaces {}, which belongs to the system", in_words(symbol));
    return {};
}

// The C library's other names for one function: "__open64_2@GLIBC_2.7" is open.
std::string plain_c_name(std::string symbol)
{
    symbol.erase(std::min(symbol.size(), symbol.find('@')));
    symbol.erase(0, std::min(symbol.size(), symbol.find_first_not_of('_')));
    if (symbol.starts_with("libc_")) symbol.erase(0, 5);
    for (const char *end : {"_chk", "_2", "64"})
        if (symbol.ends_with(end)) symbol.resize(symbol.size() - std::strlen(end));
    return symbol;
}

// What host code would need to meddle with the process that counts, or with others. No header of
// the C++ library or of CUDA has them in what it makes part of a file, but NVTX: see flags_for.
bool acts_on_processes(const std::string &symbol)
{
    static const std::set<std::string> names = {
        // memory
        "mmap", "munmap", "mremap", "mprotect", "pkey_mprotect", "madvise", "posix_madvise",
        "process_madvise", "remap_file_pages", "mincore", "memfd_create", "memfd_secret",
        "shm_open", "shmget", "shmat", "process_vm_readv", "process_vm_writev",
        // processes
        "fork", "vfork", "Fork", "clone", "clone2", "clone3", "daemon", "system", "popen", "execl",
        "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe", "fexecve",
        "posix_spawn", "posix_spawnp", "ptrace", "prctl", "arch_prctl", "personality", "kill",
        "killpg", "tgkill", "sigqueue", "unshare", "setns", "pidfd_open", "pidfd_getfd",
        "pidfd_send_signal",
        // what is loaded, and where
        "dlopen", "dlopen_mode", "dlmopen", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo",
        "dl_iterate_phdr", "dl_find_object", "r_debug", "getauxval", "DYNAMIC", "executable_start",
        "ehdr_start",
        // open files by their numbers
        "dup", "dup2", "dup3", "fcntl", "ioctl", "open", "openat", "creat", "close", "close_range",
        "closefrom", "fdopen", "read", "pread", "readv", "preadv", "preadv2", "write", "pwrite",
        "writev", "pwritev", "pwritev2", "sendfile", "splice", "vmsplice", "tee", "copy_file_range",
        "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "recv",
        "recvfrom", "recvmsg", "recvmmsg", "send", "sendto", "sendmsg", "sendmmsg",
        // faults
        "signal", "ssignal", "bsd_signal", "sysv_signal", "sigaction", "sigset", "sigvec"};
    return names.count(plain_c_name(symbol)) || symbol.starts_with("_dl_") ||
           symbol.find("9__gnu_cxx13stdio_filebuf") != symbol.npos ||
           symbol.find("St12__basic_fileIcE8sys_open") != symbol.npos;
}

std::string wrong_use(const std::string &symbol, bool system_calls)
{
    // As the compiler writes namespaces: "_ZN7grading4passEv".
    for (const char *part : {"7grading", "7doctest", "9simulator", "simulator_", "yardstick_"})
        if (symbol.find(part) != symbol.npos)
            return fmt::format("uses {}, which belongs to the grader", in_words(symbol));
    if (!system_calls && acts_on_processes(symbol))
        return fmt::format("uses {}, by which a program acts on its process or on others; no lab "
                           "needs that",
                           in_words(symbol));
    return {};
}

} // namespace

std::vector<std::string> telling_warnings(const std::string &diagnostics)
{
    constexpr std::size_t most = 3;
    constexpr int first_of_cuda = 20000, used_before_set = 549;
    constexpr std::string_view marker = "): warning #", end = "-D: ";
    std::vector<std::string> result;
    for (const std::string &line : lines(diagnostics)) { // "stub.cu(12): warning #549-D: words"
        const std::size_t at = line.find(marker);
        const std::size_t open = at == line.npos ? at : line.rfind('(', at);
        if (result.size() == most || open == line.npos) continue;
        const std::string_view rest = std::string_view(line).substr(at + marker.size());
        const int number = leading_number(rest),
                  where = leading_number(line.substr(open + 1, at - open - 1));
        const std::size_t said = rest.find(end);
        if (number < 0 || where < 0 || said == rest.npos) continue;
        std::string words = fmt::format("line {}: {}", where, rest.substr(said + end.size()));
        bool new_one = std::find(result.begin(), result.end(), words) == result.end();
        if ((number >= first_of_cuda || number == used_before_set) && new_one)
            result.push_back(words);
    }
    return result;
}

std::vector<std::string> nm(std::vector<std::string> options, const std::string &object)
{
#if defined __aarch64__
    constexpr const char *target = "--target=elf64-littleaarch64";
#else
    constexpr const char *target = "--target=elf64-x86-64";
#endif
    options.insert(options.begin(), {"nm", target});
    options.push_back(object);
    return options;
}

// Prefixes stand before the name: "rex.W syscall". Of operands none is such a name by itself.
bool is_system_call(std::string_view line)
{
    static const std::set<std::string, std::less<>> names = {"syscall", "sysenter", "int", "svc"};
    const std::size_t colon = line.find(":\t");
    if (colon == line.npos || line.find_first_not_of(" 0123456789abcdef") != colon) return false;
    line.remove_prefix(colon + 2);
    line = line.substr(0, line.find_first_of("<#"));
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != line.npos;) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        if (names.contains(line.substr(at, end - at))) return true;
        at = end;
    }
    return false;
}

std::string lint_symbols(const std::string &nm_output, const std::string &file, bool system_calls)
{
    for (const std::string &line : lines(nm_output)) {
        std::istringstream words(line);
        std::vector<std::string> parts;
        for (std::string word; words >> word;) parts.push_back(word);
        if (parts.size() < 2) continue;
        const std::string &symbol = parts.back(), &type = parts[parts.size() - 2];
        bool undefined = type == "U" || type == "w" || type == "v";
        // Weak definitions are inline functions of headers: std::chrono and the like.
        bool header = type == "W" && is_library_name(symbol);
        std::string wrong = undefined ? wrong_use(symbol, system_calls)
                            : header  ? std::string()
                                      : wrong_definition(symbol);
        if (!wrong.empty()) return fmt::format("{} {}", file, printable(wrong, 1000));
    }
    return {};
}

std::vector<std::string> flags_for(const toolchain &t, const lab &l,
                                   const std::vector<std::string> &backends)
{
    std::vector<std::string> result = t.nvcc_flags;
    if (std::find(backends.begin(), backends.end(), "gpu") == backends.end())
        std::erase_if(result, [](const std::string &flag) {
            return flag.starts_with("-gencode=") && flag.find("code=sm_") != std::string::npos;
        });
    // CUB and Thrust mark their calls for profilers, whose library they load with dlopen: so no
    // honest file would be without what is refused.
    result.push_back("-DCCCL_DISABLE_NVTX");
    result.insert(result.end(), l.nvcc.begin(), l.nvcc.end());
    return result;
}

built_submission build_submission(const toolchain &t, const submission_request &request,
                                  const build_limits &limits)
{
    built_submission result;
    try {
        job j = make_job(t, request, limits);
        std::string object = request.object.empty() ? object_for(j, result) : request.object;
        for (const std::string &backend : request.backends)
            result.workers.push_back(linked(j, object, backend, result));
    } catch (const refusal &r) {
        result.verdict = r.what;
        result.message = printable(r.message, 1000);
        result.hint = r.hint;
        result.diagnostics = r.diagnostics;
        result.workers.clear();
    } catch (const fs::filesystem_error &e) {
        throw machine_error(fmt::format(
            "building {}: {}", request.path,
            cannot_write((e.path2().empty() ? e.path1() : e.path2()).string(), e.code().value())));
    }
    return result;
}

} // namespace cli
