// Reads toolchain.json and gives the path of each part of a lab.
#include "toolchain.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// A JSON object of the file; errors name the file and the wrong key.
class object {
public:
    object(const json &value, std::string where) : value_(value), where_(std::move(where)) {}

    template <class T> T need(const char *key) const
    {
        if (!value_.contains(key)) fail(key, "is missing");
        return take<T>(key);
    }
    template <class T> T get(const char *key, T otherwise) const
    {
        return value_.contains(key) && !value_[key].is_null() ? take<T>(key) : otherwise;
    }

private:
    template <class T> T take(const char *key) const
    {
        try {
            return value_.at(key).get<T>();
        } catch (const json::exception &) {
            fail(key, "has the wrong type");
        }
    }
    [[noreturn]] void fail(const char *key, const char *what) const
    {
        throw machine_error(
            fmt::format("{}: \"{}\" {}. Configure the build again: ./workbook", where_, key, what));
    }
    const json &value_;
    std::string where_;
};

using strings = std::vector<std::string>;

lab read_lab(const json &value, const std::string &where)
{
    object row(value, where);
    lab l;
    l.name = row.need<std::string>("lab");
    l.test = row.get<bool>("test", false);
    l.solutions = row.get<bool>("solutions", true);
    l.system_calls = row.get<bool>("system_calls", false);
    l.slow_mistakes = row.get<bool>("slow_mistakes", false);
    l.compiled_together = row.get<bool>("compiled_together", true);
    l.library = row.get<bool>("library", false);
    l.library_on_sim = row.get<bool>("library_on_sim", false);
    l.rungs = row.get<strings>("rungs", {});
    l.forbidden = row.get<strings>("forbidden", {});
    l.given_wrong = row.get<strings>("given_wrong", {});
    for (const std::string &words : row.get<strings>("moved", {})) { // "transpose 03_aos_soa"
        const std::size_t blank = words.find(' ');
        if (blank == words.npos)
            throw machine_error(
                fmt::format("{}: \"moved\" names no lab for {}. Configure the build "
                            "again: ./workbook",
                            where, words));
        l.moved.emplace_back(words.substr(0, blank), words.substr(blank + 1));
    }
    l.nvcc = row.get<strings>("nvcc", {});
    l.link = row.get<strings>("link", {});
    l.mpirun = row.get<std::string>("mpirun", "");
    l.keep = row.need<std::string>("keep");
    l.worker_library = row.need<std::string>("worker_library");
    return l;
}

// Returns a lab's folder in labs, reference or solutions; a test lab has one folder for all.
std::string folder_in(const toolchain &t, const lab &l, const char *which)
{
    return fmt::format("{}/{}/{}/", t.source_root, l.test ? "grader/tests/labs" : which, l.name);
}

} // namespace

std::string toolchain::header(const lab &l) const
{
    return folder_in(*this, l, "labs") + "lab.hpp";
}

std::vector<std::string> toolchain::headers(const lab &l) const
{
    std::vector<std::string> all = {header(l)};
    if (!l.test)
        for (const char *shared : {"check.hpp", "devices.hpp"})
            all.push_back(source_root + "/labs/" + shared);
    return all;
}

std::string toolchain::stub(const lab &l) const { return folder_in(*this, l, "labs") + "stub.cu"; }

std::string toolchain::empty_functions(const lab &l) const
{
    return build_root + "/" + l.name + ".open.cu";
}

std::string toolchain::source(const lab &l, const std::string &implementation) const
{
    bool ours = implementation == "naive" || implementation == "library";
    return folder_in(*this, l, ours ? "reference" : "solutions") + implementation + ".cu";
}

std::string toolchain::folder_of(const lab &l, const std::string &which) const
{
    return folder_in(*this, l, "solutions") + which;
}

std::string toolchain::program(const lab &l, const std::string &implementation,
                               const std::string &backend) const
{
    return fmt::format("{}/{}.{}.{}", build_root, l.name, implementation, backend);
}

std::string toolchain::grader(const lab &l) const { return build_root + "/grade." + l.name; }

std::string toolchain::simulated_device() const { return build_root + "/cudasim-device"; }

std::string toolchain::shown(const std::string &path) const
{
    std::string inside = source_root + "/";
    return path.starts_with(inside) ? path.substr(inside.size()) : path;
}

std::vector<std::string> toolchain::lab_names(bool test_too) const
{
    std::vector<std::string> names;
    for (const lab &l : labs)
        if (test_too || !l.test) names.push_back(l.name);
    return names;
}

toolchain read_toolchain(const std::string &path)
{
    json document = json::parse(read_text(path), nullptr, false);
    if (!document.is_object())
        throw machine_error(
            fmt::format("{} is not JSON. Configure the build again: ./workbook", path));
    object o(document, path);
    toolchain t;
    t.source_root = o.need<std::string>("source_root");
    t.build_root = o.need<std::string>("build_root");
    t.ninja = o.get<std::string>("ninja", "ninja");
    t.nvcc = o.need<std::string>("nvcc");
    t.compile_script = o.need<std::string>("compile_script");
    t.cxx = o.need<strings>("cxx");
    t.nvcc_flags = o.need<strings>("nvcc_flags");
    t.gpu_archs = o.get<strings>("gpu_archs", {});
    t.link_flags = o.get<strings>("link_flags", {});
    t.cuda_include = o.get<std::string>("cuda_include", "");
    t.cudart_static = o.need<std::string>("cudart_static");
    t.simulator_library = o.need<std::string>("simulator_library");
    for (const json &row : o.need<std::vector<json>>("labs")) t.labs.push_back(read_lab(row, path));
    if (t.cxx.empty()) throw machine_error(fmt::format("{}: \"cxx\" is empty", path));
    return t;
}

std::string toolchain_path()
{
    if (const char *path = std::getenv("CUDA_WORKBOOK_TOOLCHAIN")) return path;
    return (fs::read_symlink("/proc/self/exe").parent_path() / "toolchain.json").string();
}

const lab &lab_called(const toolchain &t, const std::string &name)
{
    auto at = std::ranges::find(t.labs, name, &lab::name);
    if (at == t.labs.end()) throw usage_error(fmt::format("no lab is called {}", name));
    return *at;
}

std::string number_of(const std::string &lab) { return lab.substr(0, lab.find('_')); }

} // namespace cli
