// Writes the student edition, and finds lines of solutions and dead links in it.
#include "student_edition.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"
#include "progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Staff-only files outside solutions/: counters measured on solutions, maintainers' documents, and
// a program that answers a stub (quicksort.cu).
const std::set<std::string> staff_files = {"CONTRIBUTING.md", "grader/tests/sectors.py",
                                           "grader/tests/threats.csv",
                                           "grader/simulator/tests/programs/quicksort.cu"};
const std::set<std::string> staff_names = {"sectors.csv", "library.cu"}; // library.cu is an answer
const std::set<std::string> staff_folders = {"solutions", ".ci", "ci"};
const std::string folder_of_verdicts = "grader/tests/verdicts/"; // the staff submissions' verdicts
const std::string folder_of_pairs = "data/measured/pairs/";      // times of the solutions
const std::string folder_of_answers = "data/measured/programs/answers/"; // to stubs
const std::string instructors_folder = "handouts/instructor/";

// One file of a commit, as `git ls-tree -z` lists it: "MODE TYPE HASH\tPATH".
struct tree_entry {
    std::string mode, path;
};

std::vector<tree_entry> files_of(const std::string &root, const std::string &commit)
{
    exit_result e = run_git(root, {"ls-tree", "-r", "-z", commit});
    if (!e.ok() || e.cut)
        throw machine_error(
            fmt::format("git does not list the files of {} in {} ({})", commit, root, e.words()));
    std::vector<tree_entry> result;
    for (std::size_t from = 0, to; (to = e.text.find('\0', from)) != e.text.npos; from = to + 1) {
        std::string entry = e.text.substr(from, to - from);
        result.push_back({entry.substr(0, entry.find(' ')), entry.substr(entry.find('\t') + 1)});
    }
    return result;
}

void require_success(const exit_result &e, const std::string &what)
{
    if (!e.ok())
        throw machine_error(
            fmt::format("{} {}. It said:\n{}", what, e.words(), sanitized(e.text, 2000)));
}

// Unpacks git's tree, so that no file of the working folder gets in and line ends are git's.
void unpack(const std::string &root, const std::string &commit, const std::string &folder,
            const std::vector<std::string> &paths)
{
    std::string archive = folder + ".tar";
    std::vector<std::string> pack = {"-c",       "tar.umask=0022", "archive", "--format=tar",
                                     "--output", archive,          commit,    "--"};
    for (const std::string &path : paths) pack.push_back(":(literal)" + path);
    require_success(run_git(root, pack), "the files of the edition cannot be packed: git");
    require_success(run_program({"tar", "--no-same-owner", "-xf", archive, "-C", folder}),
                    "the files of the edition cannot be unpacked: tar");
    fs::remove(archive);
}

// A line of edition.txt: "held_back 02_coalescing 5".
constexpr const char *held_back_line = "held_back ";

std::string description(const edition &e)
{
    std::string held_back;
    for (const auto &[lab, points] : e.held_back)
        held_back += fmt::format("{}{} {:g}\n", held_back_line, lab, points);
    return fmt::format("# The student edition of the CUDA workbook: all but the worked solutions. "
                       "meson.build reads which labs.\nversion {}\ncommit {}\n{}labs {}\n",
                       e.version, e.commit, held_back, fmt::join(e.labs, " "));
}

// Replaces the lab of the start page's example commands if this edition does not have it.
std::string with_lab_of(const edition &e, std::string page)
{
    for (const std::string &lab : e.left_out) {
        replace_all(page, lab, e.labs[0]);
        page =
            std::regex_replace(page, std::regex("(\\./workbook [a-z]+ )" + number_of(lab) + "\\b"),
                               "$01" + number_of(e.labs[0]));
    }
    return page;
}

std::vector<fs::path> regular_files(const fs::path &folder)
{
    std::vector<fs::path> result;
    if (!fs::exists(folder)) return result;
    for (const fs::directory_entry &e : fs::recursive_directory_iterator(folder))
        if (e.is_regular_file()) result.push_back(e.path());
    std::sort(result.begin(), result.end());
    return result;
}

// Returns every three consecutive meaningful lines of a file, and the number of the first.
std::map<std::string, std::size_t> passages(const std::string &text)
{
    std::map<std::string, std::size_t> result;
    std::vector<std::pair<std::string, std::size_t>> last;
    std::size_t number = 0;
    for (const std::string &line : lines(text)) {
        std::string said = trimmed(line);
        ++number;
        if (said.size() < 12 || said.starts_with("//") || said.starts_with("#")) continue;
        last.emplace_back(said, number);
        if (last.size() > 3) last.erase(last.begin());
        if (last.size() == 3)
            result.emplace(last[0].first + "\n" + last[1].first + "\n" + last[2].first,
                           last[0].second);
    }
    return result;
}

// True for files that students get anyway.
bool given(const fs::path &path)
{
    std::string name = path.filename().string();
    return name == "stub.cu" || name == "naive.cu";
}

// True for the solution and its rungs, but not for wrong/ and right/: these reveal less than the
// idioms that they share with tests.
bool is_secret(const fs::path &path)
{
    const std::string folder = path.parent_path().filename().string();
    return path.extension() == ".cu" && folder != "wrong" && folder != "right";
}

std::vector<std::string> repeated_lines(const fs::path &root, const fs::path &folder)
{
    std::map<std::string, std::string> secret; // from passage to file
    for (const fs::path &path : regular_files(root / "solutions"))
        if (is_secret(path))
            for (const auto &[passage, at] : passages(read_text(path.string())))
                secret.emplace(passage, path.lexically_relative(root).string());
    std::vector<fs::path> all = regular_files(folder);
    for (const fs::path &path : all)
        if (given(path))
            for (const auto &[passage, at] : passages(read_text(path.string())))
                secret.erase(passage);
    std::vector<std::string> faults;
    for (const fs::path &path : all)
        for (const auto &[passage, at] : passages(read_text(path.string()))) {
            auto whose = secret.find(passage);
            if (whose == secret.end()) continue;
            faults.push_back(fmt::format("{}:{}: three lines in a row are those of {}",
                                         path.lexically_relative(folder).string(), at,
                                         whose->second));
            break;
        }
    return faults;
}

// Finds what a page names but the edition lacks: files in links and in code spans such as
// `labs/LAB/stub.cu`, and commands that are not for students.
std::vector<std::string> dead_ends(const fs::path &folder, const fs::path &page)
{
    static const std::regex link(R"(\]\(([^)#:]+)\))");
    static const std::regex named("`((?:labs|handouts|reference|solutions|grader|data|subprojects)"
                                  "/[A-Za-z0-9_./-]*)`");
    static const std::regex command(R"(\./workbook (demo|check|release)\b)");
    std::string text = read_text(page.string());
    std::vector<std::string> faults;
    for (std::sregex_iterator m(text.begin(), text.end(), command), end; m != end; ++m)
        faults.push_back(fmt::format("{} names {}, which is not for students",
                                     page.lexically_relative(folder).string(), m->str()));
    auto need = [&](const std::string &name, const fs::path &path) {
        if (name.find("LAB") == name.npos && !fs::exists(path))
            faults.push_back(fmt::format("{} names {}, which is not there",
                                         page.lexically_relative(folder).string(), name));
    };
    for (std::sregex_iterator m(text.begin(), text.end(), link), end; m != end; ++m)
        need((*m)[1], page.parent_path() / (*m)[1].str());
    for (std::sregex_iterator m(text.begin(), text.end(), named), end; m != end; ++m)
        need((*m)[1], folder / (*m)[1].str());
    return faults;
}

} // namespace

bool delivered(const edition &e, const std::string &path)
{
    fs::path p(path);
    if (staff_files.contains(path) || staff_names.contains(p.filename().string())) return false;
    if (staff_folders.contains(p.begin()->string()) || path.starts_with(folder_of_verdicts) ||
        path.starts_with(folder_of_pairs) || path.starts_with(folder_of_answers) ||
        path.starts_with(instructors_folder) ||
        (path.starts_with("labs/") && p.filename() == held_back_file))
        return false;
    // One stem finds every part of a lab.
    for (const fs::path &part : p)
        if (std::ranges::find(e.left_out, part.string().substr(0, part.string().find('.'))) !=
            e.left_out.end())
            return false;
    return true;
}

std::string page_for_students(const edition &e, const std::string &page, const std::string &file)
{
    enum { plain, staff, student } in = plain;
    std::string result;
    for (const std::string &line : lines(page)) {
        std::string mark = trimmed(line);
        bool of_others =
            mark.starts_with("|") && std::ranges::any_of(e.left_out, [&](const std::string &lab) {
                return mark.find(lab) != mark.npos;
            });
        if (in == plain && mark == "<!-- whole edition -->")
            in = staff;
        else if (in == plain && mark == "<!-- student edition")
            in = student;
        else if ((in == staff && mark == "<!-- end -->") || (in == student && mark == "-->"))
            in = plain;
        else if (in != staff && !of_others && !(mark.empty() && result.ends_with("\n\n")))
            result += line + "\n";
    }
    if (in != plain)
        throw machine_error(fmt::format("{}: a passage of one edition has no end: {}", file,
                                        in == staff ? "<!-- end -->" : "-->"));
    return result;
}

std::size_t write_edition(const edition &e, const std::string &root, const std::string &folder)
{
    std::vector<std::string> paths;
    for (const tree_entry &entry : files_of(root, e.commit)) {
        if (!delivered(e, entry.path)) continue;
        if (entry.mode != "100644" && entry.mode != "100755")
            throw machine_error(fmt::format("{} is a link or a repository of its own; an edition "
                                            "holds plain files only",
                                            entry.path));
        paths.push_back(entry.path);
    }
    unpack(root, e.commit, folder, paths);
    fs::create_directories(folder + "/.workbook/stubs");
    for (const std::string &lab : e.labs) { // for `reset`, even after edits before the first run
        std::string stub = folder + "/labs/" + lab + "/stub.cu";
        if (fs::exists(stub)) fs::copy_file(stub, folder + "/.workbook/stubs/" + lab + ".cu");
    }
    for (const std::string &path : paths) {
        if (!path.ends_with(".md")) continue;
        std::string page = page_for_students(e, read_text(folder + "/" + path), path);
        write_atomically(folder + "/" + path, path == "README.md" ? with_lab_of(e, page) : page);
    }
    write_atomically(folder + "/" + edition_file, description(e));
    return paths.size() + 1;
}

std::vector<std::string> edition_faults(const std::string &root, const std::string &folder)
{
    std::vector<std::string> faults = repeated_lines(root, folder);
    for (const fs::path &path : regular_files(folder))
        if (path.extension() == ".md")
            for (std::string &fault : dead_ends(folder, path)) faults.push_back(std::move(fault));
    return faults;
}

std::string line_not_kept(const std::string &stub, const std::string &filled)
{
    auto code = [](const std::string &text) {
        std::vector<std::string> result;
        for (const std::string &line : lines(text))
            if (std::string said = trimmed(line); !said.empty() && !said.starts_with("//"))
                result.push_back(said);
        return result;
    };
    std::vector<std::string> has = code(filled);
    auto at = has.begin();
    for (const std::string &line : code(stub)) {
        at = std::find(at, has.end(), line);
        if (at == has.end()) return line;
        ++at;
    }
    return {};
}

bool is_student_edition(const std::string &root) { return fs::exists(root + "/" + edition_file); }

double held_back_from_edition(const std::string &root, const std::string &lab)
{
    if (!is_student_edition(root)) return 0;
    const std::string begin = held_back_line + lab + " ";
    for (const std::string &line : lines(read_text(root + "/" + edition_file)))
        if (line.starts_with(begin)) return std::strtod(line.c_str() + begin.size(), nullptr);
    return 0;
}

edition read_edition(const std::string &root)
{
    const std::string path = root + "/" + edition_file;
    edition e;
    for (const std::string &line : lines(read_text(path))) {
        std::istringstream row(line);
        std::string key;
        row >> key;
        if (key == "version") row >> e.version;
        if (key == "commit") row >> e.commit;
        for (std::string lab; key == "labs" && row >> lab;) e.labs.push_back(lab);
    }
    if (e.version.empty() || e.labs.empty())
        throw machine_error(fmt::format("{} names no {}, so it does not describe an edition", path,
                                        e.version.empty() ? "version" : "labs"));
    return e;
}

} // namespace cli
