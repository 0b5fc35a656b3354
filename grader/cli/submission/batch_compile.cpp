// Compiles many small submissions of ours in one nvcc run.
#include "batch_compile.hpp"

#include "build_advice.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"
#include "object_cache.hpp"
#include "submission.hpp"

#include <fmt/format.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

std::string space_of(const std::string &path) { return fs::path(path).stem().string(); }

// Returns the macro that a line defines: TILE for "#define TILE 16"; empty if it defines none.
std::string defined_by(const std::string &line)
{
    const std::string directive = "#define ";
    if (!line.starts_with(directive)) return {};
    std::size_t end = line.find_first_of(" (", directive.size());
    return line.substr(directive.size(), end - directive.size());
}

// True if a header may read a macro that the file defines: joined files share their headers.
bool configures_headers(const std::string &text)
{
    const std::size_t last = text.rfind("\n#include ");
    return last != text.npos && text.substr(0, last).find("\n#define ") != text.npos;
}

// Joins all files, each in its own namespace, with their #include lines in front.
std::string joined(const std::vector<std::string> &paths)
{
    std::set<std::string> included;
    std::string spaces;
    for (const std::string &path : paths) {
        std::string names;
        spaces += fmt::format("namespace {} {{\n#line 1 \"{}\"\n", space_of(path), path);
        for (std::string line : lines(read_text(path))) {
            if (line.starts_with("#include ")) {
                included.insert(line);
                line.clear();
            }
            if (std::string name = defined_by(line); !name.empty())
                names += "#undef " + name + "\n";
            spaces += line + "\n";
        }
        spaces += "}\n" + names;
    }
    std::string all;
    for (const std::string &line : included) all += line + "\n";
    return all + spaces;
}

exit_result run_tool(std::vector<std::string> words, double &cpu_seconds)
{
    child c;
    c.arguments = std::move(words);
    c.keep = 4 << 20;
    exit_result e = run(c);
    cpu_seconds += e.cpu_seconds;
    return e;
}

// Demangles a symbol to "scale(float*, int)"; names that are not C++ stay as they are. Only for
// our own names: crafted ones can take any amount of memory.
std::string demangled(const std::string &symbol)
{
    int status = 0;
    char *name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 ? name : symbol;
    std::free(name);
    return result;
}

// Returns an object's symbols by demangled name: "tail_cleared::compact(float const*, int)".
std::map<std::string, std::string> global_names(const std::string &object, double &cpu_seconds)
{
    std::map<std::string, std::string> result;
    exit_result e = run_tool(nm({"-gj", "--defined-only"}, object), cpu_seconds);
    if (!e.ok()) throw machine_error(fmt::format("nm {}. It is part of binutils", e.words()));
    for (const std::string &symbol : lines(e.text)) result[demangled(symbol)] = symbol;
    return result;
}

// Returns the objcopy options that rename one file's functions to the contract's names; empty if
// the file lacks one of them that an earlier edition asked for, too. `kept` holds the contract's
// symbols and lines "# added SYMBOL".
std::vector<std::string> renames(const std::map<std::string, std::string> &names,
                                 const std::string &space, const std::vector<std::string> &kept)
{
    std::vector<std::string> result;
    for (const std::string &symbol : kept) {
        if (symbol.starts_with("#")) continue;
        auto at = names.find(space + "::" + demangled(symbol));
        if (at == names.end() && std::ranges::find(kept, "# added " + symbol) != kept.end())
            continue;
        if (at == names.end()) return {};
        result.push_back(fmt::format("--redefine-sym={}={}", at->second, symbol));
    }
    return result;
}

} // namespace

std::map<std::string, std::string> compile_together(const toolchain &t, const lab &l,
                                                    std::vector<std::string> paths,
                                                    const std::vector<std::string> &backends,
                                                    double &cpu_seconds)
{
    std::erase_if(paths, [](const auto &path) { return configures_headers(read_text(path)); });
    std::vector<std::string> flags = flags_for(t, l, backends);
    if (paths.size() < 2) return {};
    flags.push_back("-I" + fs::path(t.header(l)).parent_path().string());
    std::string source = joined(paths), key = compiler_key(t, flags);
    for (const std::string &header : t.headers(l)) key += read_text(header);
    key += read_text(t.compile_script) + read_text(l.keep) + source;

    object_cache objects(t.build_root + "/submissions/" + l.name + "/objects");
    std::map<std::string, std::string> result; // from path to cached folder
    std::vector<std::string> missing;
    for (const std::string &path : paths)
        if (auto at = objects.find(space_of(path) + "\n" + key))
            result[path] = *at;
        else
            missing.push_back(path);
    if (missing.empty()) return result;

    scratch_folder folder;
    std::string file = folder.path() + "/together.cu", object = folder.path() + "/object.o";
    write_atomically(file, source);
    std::vector<std::string> compile = {
        "/bin/sh", t.compile_script,           "--joined", t.nvcc, file,
        object,    folder.path() + "/depends", l.keep};
    compile.insert(compile.end(), flags.begin(), flags.end());
    if (const exit_result made = run_tool(compile, cpu_seconds); !made.ok()) {
        fmt::print(stderr, "{}: {} files do not compile together, so each is compiled alone: {}\n",
                   l.name, missing.size(),
                   made.text.empty() ? made.words() : first_error(made.text));
        return result;
    }
    const std::map<std::string, std::string> names = global_names(object, cpu_seconds);
    const std::vector<std::string> kept = lines(read_text(l.keep));
    for (const std::string &path : missing) {
        std::vector<std::string> objcopy = renames(names, space_of(path), kept);
        if (objcopy.empty()) continue;
        result[path] = objects.make(space_of(path) + "\n" + key, [&](const std::string &made_in) {
            objcopy.insert(objcopy.begin(), "objcopy");
            objcopy.insert(objcopy.end(), {"--keep-global-symbols=" + l.keep,
                                           "--redefine-sym=syscall=futex_only_syscall", object,
                                           made_in + "/object.o"});
            if (exit_result e = run_tool(objcopy, cpu_seconds); !e.ok())
                throw machine_error(fmt::format("objcopy {}: {}", e.words(), e.text));
        });
    }
    return result;
}

} // namespace cli
