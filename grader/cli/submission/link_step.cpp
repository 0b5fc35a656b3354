// Links a worker: the submission's object, our worker library, and the CUDA or simulator runtime.
#include "build_step.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "object_cache.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <filesystem>
#include <set>

namespace cli {

namespace fs = std::filesystem;
using grading::verdict;

namespace {

std::vector<std::string> link_command(const job &j, const std::string &object,
                                      const std::string &backend)
{
    const toolchain &t = j.tools;
    std::vector<std::string> c = t.cxx;
    // Names stay mangled, because demangled ones have no bound: see demangled_symbol(). No linker
    // plugin reads sections that an object may have for it.
    c.insert(c.end(), {"-fno-use-linker-plugin", object, "-Wl,--no-demangle", "-Wl,--whole-archive",
                       j.request.of->worker_library});
    if (backend == "sim") c.push_back(t.simulator_library);
    c.push_back("-Wl,--no-whole-archive");
    if (backend == "gpu") c.push_back(t.cudart_static);
    c.insert(c.end(), t.link_flags.begin(), t.link_flags.end());
    c.insert(c.end(), j.request.of->link.begin(), j.request.of->link.end());
    return c;
}

// Shows the sandbox what the linker reads, and the program's folder, which it may write. Meson's
// libraries are thin archives that name objects in the .a.p folders beside them.
void confine_link(const job &j, const std::string &object, const std::string &folder,
                  grading::sandbox &s)
{
    const toolchain &t = j.tools;
    show_tools(t, s);
    std::error_code absent; // a test of linking has none of these folders
    for (const char *place : {"", "/grader/simulator", "/grader/worker"})
        for (const fs::directory_entry &e : fs::directory_iterator(t.build_root + place, absent))
            if (e.path().string().ends_with(".a.p")) s.show(e.path());
    for (const std::string &file :
         {j.request.of->worker_library, t.simulator_library, t.cudart_static,
          t.build_root + "/grader/worker/yardstick.o", object})
        s.show(file);
    for (const std::string &word : j.request.of->link)
        if (word.starts_with("-L")) s.show(word.substr(2));
    s.show(folder, folder, true); // last: it may lie below a folder shown read-only
}

// Links an object to the worker `program`; in a sandbox if `sandboxed` and this machine can make
// one.
exit_result link(const job &j, const std::string &object, const std::string &backend,
                 const std::string &program, bool sandboxed)
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
    if (sandboxed && how != grading::confinement::none) {
        within.emplace(how, grading::sandbox_options{.processes = true});
        confine_link(j, object, folder, *within);
        c.within = &*within;
    }
    exit_result e = run(c);
    if (e.what == exit_result::not_started)
        throw machine_error(fmt::format("{} {}", c.arguments[0], e.words()));
    return e;
}

// True if the naive reference, which is known to be correct, links in the submission's place.
bool naive_links(const job &j, const std::string &backend, const std::string &folder,
                 bool sandboxed)
{
    std::string object = j.tools.build_root + "/" + j.request.of->name + ".naive.o";
    const std::string program = folder + "/naive";
    const bool links = fs::exists(object) && link(j, object, backend, program, sandboxed).ok();
    fs::remove(program);
    return links;
}

// Explains a failed link. Throws machine_error if the submission cannot be the cause.
refusal link_refusal(const job &j, const std::string &backend, const exit_result &e,
                     const std::string &folder, bool sandboxed)
{
    std::string said = sanitized(e.text, j.limits.diagnostics);
    static const std::string marker = "undefined reference to `";
    std::set<std::string> names;
    for (std::size_t at = 0; (at = said.find(marker, at)) != said.npos;) {
        at += marker.size();
        names.insert(said.substr(at, said.find('\'', at) - at));
    }
    if (names.empty() && naive_links(j, backend, folder, sandboxed))
        return {verdict::BUILD_FAILED,
                fmt::format("{} compiled but does not link: {}", j.shown,
                            lines(e.text).empty() ? "the linker " + e.words()
                                                  : sanitized(lines(e.text)[0], 400)),
                "look for huge static arrays, and for assembly", said};
    if (names.empty())
        throw machine_error(fmt::format("{} compiled, but its worker does not link; this is no "
                                        "fault of the submission:\n{}",
                                        j.shown, said));
    std::string all;
    constexpr std::size_t max_shown = 1000; // bytes
    for (const std::string &name : names)
        if (all.size() < max_shown) all += (all.empty() ? "" : ", ") + demangled_symbol(name);
    return {verdict::BUILD_FAILED,
            fmt::format("{} uses {}, which neither it nor the CUDA runtime defines", j.shown,
                        sanitized(all, max_shown)),
            "define it in your file, or correct its name; of libraries only the CUDA runtime and "
            "what headers alone hold can be used"};
}

} // namespace

linked_worker link_worker(const job &j, const std::string &object_folder,
                          const std::string &backend)
{
    linked_worker result;
    object_cache workers(j.tools.build_root + "/submissions/" + j.request.of->name + "/workers");
    std::string runtime = backend == "sim" ? j.tools.simulator_library : j.tools.cudart_static;
    const std::string object = object_folder + "/object.o";
    std::string key = backend + "\n" + read_text(object_folder + "/key") + "\n";
    for (const std::string &word : link_command(j, object, backend)) key += word + " ";
    key += "\n" + stamp(j.request.of->worker_library) + stamp(runtime);
    std::string name =
        "/" + j.request.of->name + "." + fs::path(j.tree_name).stem().string() + "." + backend;
    if (auto at = workers.find(key)) {
        result.program = *at + name;
        return result;
    }
    result.from_cache = false;
    auto link_in = [&](const std::string &folder) {
        bool sandboxed = true;
        auto attempt = [&] {
            exit_result e = link(j, object, backend, folder + name, sandboxed);
            result.cpu_seconds += e.cpu_seconds;
            return e;
        };
        const std::string oom_kills_before = oom_kills();
        exit_result e = attempt();
        if (!e.ok() && !j.request.require_sandbox && !naive_links(j, backend, folder, true) &&
            naive_links(j, backend, folder, false)) {
            sandboxed = false; // the linker lacks something in the sandbox
            e = attempt();
        }
        if (!e.ok()) require_room_to_build(folder);
        if (!e.ok() && speaks_of_machine(e.text)) e = attempt(); // there is room again
        // A submission can forge the linker's message that it was killed, but not oom_kills().
        const bool by_words = e.what == exit_result::exited && e.status <= 128;
        if (const int signal = ended_by(e, e.text);
            signal != 0 && !(by_words && oom_kills() == oom_kills_before &&
                             naive_links(j, backend, folder, sandboxed)))
            require_not_killed(j, signal);
        if (!e.ok()) throw link_refusal(j, backend, e, folder, sandboxed);
    };
    try {
        result.program = workers.make(key, link_in) + name;
    } catch (const refusal &r) {
        result.refused = r;
    }
    return result;
}

} // namespace cli
