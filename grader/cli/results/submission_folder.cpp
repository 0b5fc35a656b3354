// The files of a class as course systems export them, matched to students and labs.
#include "submission_folder.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr int max_depth = 4; // levels below the student's folder
constexpr std::size_t max_entries = 10'000;

bool is_source(const std::string &name) { return fs::path(name).extension() == ".cu"; }

bool is_archive(const std::string &name)
{
    static const std::set<std::string> ends = {".zip", ".gz",  ".tgz", ".xz", ".tar",
                                               ".7z",  ".rar", ".bz2", ".zst"};
    return ends.contains(lower(fs::path(name).extension().string()));
}

std::string lab_in(const std::string &name, const std::vector<std::string> &labs)
{
    for (const std::string &lab : labs)
        if (name.find(lab) != name.npos) return lab;
    return {};
}

// "Lovelace Ada_12345_assignsubmission_file_REST"; an online text gets a folder of its own.
const std::regex &moodle()
{
    static const std::regex form(R"((.+_(\d+))_assignsubmission_(?:file|onlinetext)_(.*))");
    return form;
}

// "lovelaceada_LATE_123_45678_REST". The submission id, the second number, has more digits than a
// lab's number.
const std::regex &canvas()
{
    static const std::regex form(R"((.+?)(?:_LATE)?_(\d+)_\d{3,}_(.+))");
    return form;
}

struct owner {
    std::string name, file; // `file`: a single file's own name, as in student_files
    course_identity known_as = {};
};

// Returns the student of a file or folder whose name is of a course system's form; else no name.
owner owner_by_system(const std::string &name)
{
    std::smatch m;
    if (std::regex_match(name, m, moodle())) return {m[1], m[3], {"moodle", m[2]}};
    if (std::regex_match(name, m, canvas()))
        return {m.str(1) + "_" + m.str(2), m[3], {"canvas", m[2]}};
    return {};
}

owner owner_of_folder(const std::string &name)
{
    std::smatch m;
    return std::regex_match(name, m, moodle()) ? owner_by_system(name) : owner{name, ""};
}

owner owner_of_file(const std::string &name, const std::vector<std::string> &labs)
{
    if (owner known = owner_by_system(name); !known.name.empty()) return known;
    std::smatch m;
    std::string stem = fs::path(name).stem().string(), who = stem, lab = lab_in(stem, labs);
    if (!lab.empty()) who.erase(who.find(lab), lab.size());
    static const std::regex bare(R"([-_. ]*(.*?)(?:[-_. ]+stub)?[-_. ]*)");
    if (!std::regex_match(who, m, bare) || m.length(1) == 0) return {stem, name};
    return {m[1], name};
}

// Folders that the workbook itself creates hold copies of stubs, which are not submissions.
bool made_by_workbook(const std::string &name)
{
    return name.starts_with(".") || name == "build" || name.starts_with("build-");
}

// Searches below a folder without following links.
struct search {
    std::string lab;
    std::vector<std::string> archives = {};
    std::vector<std::string> found = {}, links = {}, others = {};
    std::vector<std::string> unreadable = {};   // with the reason
    std::vector<student_files::lone_file> lone; // at the top level of the folder
    std::size_t seen = 0;
    void look(const fs::path &folder, int depth)
    {
        std::error_code error;
        fs::directory_iterator at(folder, error);
        for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
            if (++seen > max_entries) return;
            const fs::path &path = at->path();
            std::string name = path.filename().string();
            std::error_code unreadable;
            fs::file_status what = fs::symlink_status(path, unreadable);
            if (name == "stub.cu" && folder.filename() == lab)
                found.push_back(path.string());
            else if (depth == 0 && is_source(name) && !made_by_workbook(name))
                lone.push_back({path.string(), name});
            else if (fs::is_symlink(what))
                links.push_back(path.string());
            else if (fs::is_directory(what) && depth < max_depth && !made_by_workbook(name))
                look(path, depth + 1);
            else if (is_archive(name))
                archives.push_back(path.string());
            else if (!name.starts_with("."))
                others.push_back(path.string());
        }
        if (error)
            unreadable.push_back(fmt::format(
                "{} cannot be read: {}",
                depth == 0 ? "the student's folder" : on_one_line(folder.filename().string(), 200),
                lower(error.message())));
    }
    // Adds to `found` those of the lone files that belong to the lab.
    void choose(bool only_lab, const std::vector<std::string> &labs)
    {
        for (const auto &file : lone)
            if (file.name.find(lab) != file.name.npos) found.push_back(file.path);
        if (!found.empty() || !only_lab) return;
        // Browsers and course systems append a number to the name of a second copy.
        static const std::regex stub(R"(stub([-_ ]*\(?\d+\)?)?\.cu)");
        for (const auto &file : lone)
            if (std::regex_match(file.name, stub)) found.push_back(file.path);
        if (!found.empty()) return;
        for (const auto &file : lone)
            if (lab_in(file.name, labs).empty()) found.push_back(file.path);
    }
};

std::string base(const std::string &path)
{
    return on_one_line(fs::path(path).filename().string(), 200);
}

// Shows the path relative to the student's folder, so that files of equal name differ.
std::string shown(const std::string &path, const student_files &student)
{
    for (const std::string &folder : student.folders)
        if (path.starts_with(folder + "/"))
            return on_one_line(fs::path(path).lexically_relative(folder).string(), 200);
    return base(path);
}

// False for a file that this process has no right to read. A link is judged where it is read.
bool may_be_read(const std::string &path)
{
    std::error_code gone;
    return !fs::is_regular_file(fs::symlink_status(path, gone)) ||
           faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0 || errno != EACCES;
}

// Lists some files that the student's folders do hold, for a message that none was found.
std::string other_files(const search &s, const student_files &student)
{
    if (student.folders.empty()) return {};
    constexpr std::size_t max_names = 3;
    std::vector<std::string> names;
    for (const auto &file : s.lone) names.push_back(shown(file.path, student));
    for (const std::string &path : s.others) names.push_back(shown(path, student));
    if (names.empty()) return "; there are no files";
    std::sort(names.begin(), names.end());
    std::string more;
    if (names.size() > max_names) more = fmt::format(" and {} more", names.size() - max_names);
    names.resize(std::min(names.size(), max_names));
    return fmt::format("; there is {}{}", fmt::join(names, ", "), more);
}

std::string why_none(const search &s, const student_files &student,
                     const std::vector<std::string> &labs)
{
    std::string why = fmt::format("there is no {0}/stub.cu, nor labs/{0}/stub.cu", s.lab);
    if (student.folders.empty()) why = "there is no file for it";
    auto unnamed = std::ranges::find_if(
        s.lone, [&](const auto &file) { return lab_in(file.name, labs).empty(); });
    if (!s.links.empty())
        return fmt::format("there is no {}/stub.cu; {} is a link, which is not followed", s.lab,
                           shown(s.links[0], student));
    if (unnamed != s.lone.end())
        return fmt::format("{}; {} does not say that it is this lab's. Grade one lab at a time, or "
                           "put the lab's name into the file's",
                           why, base(unnamed->path));
    if (!s.archives.empty())
        return fmt::format("{}; unpack {}", why, shown(s.archives[0], student));
    return why + other_files(s, student);
}

} // namespace

class_files read_class(const std::string &folder, const std::vector<std::string> &labs)
{
    std::error_code problem;
    if (!fs::is_directory(folder, problem))
        throw usage_error(fmt::format("{}: there is no such folder here ({})",
                                      shell_word(sanitized(folder, 400)),
                                      fs::current_path().string()));
    fs::directory_iterator entries(folder, problem);
    if (problem)
        throw machine_error(fmt::format("{} cannot be read: {}.\n  what to do: get the right to "
                                        "read it (ls -ld says whose it is)",
                                        shell_word(sanitized(folder, 400)),
                                        lower(problem.message())));
    std::map<std::string, student_files> by_name;
    class_files all;
    auto of_student = [&](const owner &of) -> student_files & {
        student_files &student = by_name[of.name];
        if (!of.known_as.id.empty()) student.known_as = of.known_as;
        return student;
    };
    for (const fs::directory_entry &e : entries) {
        std::string name = e.path().filename().string();
        if (name.starts_with(".") || name == "__MACOSX") continue; // made by the operating system
        std::error_code unknown; // set for a link that is dangling or circular
        if (e.is_directory(unknown)) {
            of_student(owner_of_folder(name)).folders.push_back(e.path().string());
        } else if (is_source(name) && fs::exists(e.path(), unknown)) {
            const owner of = owner_of_file(name, labs);
            of_student(of).files.push_back({e.path().string(), of.file});
        } else if (const owner of = is_archive(name) ? owner_by_system(name) : owner{};
                   !of.name.empty()) { // others, as "all.zip", may be a whole class's
            of_student(of).archives.push_back(e.path().string());
        } else {
            all.skipped.push_back(name);
        }
    }
    if (by_name.empty())
        throw usage_error(fmt::format("{} holds no folders and no .cu files; it must hold a folder "
                                      "or a file per student. {}",
                                      shell_word(sanitized(folder, 400)),
                                      all.skipped.empty() ? "It is empty" : "Unpack archives"));
    std::set<std::string> taken;
    for (auto &[name, student] : by_name) {
        student.name = name;
        // Names that differ only in what cannot be shown would be one student's in a table.
        const std::string shown = on_one_line(name, 200);
        student.shown = shown;
        for (int n = 2; !taken.insert(student.shown).second; ++n)
            student.shown = fmt::format("{} ({})", shown, n);
        std::sort(student.folders.begin(), student.folders.end());
        all.students.push_back(std::move(student));
    }
    std::sort(all.skipped.begin(), all.skipped.end());
    return all;
}

handed_in find_file(const student_files &student, const std::string &lab, bool only_lab,
                    const std::vector<std::string> &labs)
{
    search s{.lab = lab, .archives = student.archives, .lone = student.files};
    for (const std::string &folder : student.folders) {
        std::error_code gone;
        if (fs::is_symlink(fs::symlink_status(folder, gone)))
            return {.problem = "the student's folder is a link, which is not followed"};
        s.look(folder, 0);
    }
    if (s.seen > max_entries)
        return {.problem = fmt::format("there are more than {} files; hand in the .cu file alone",
                                       max_entries)};
    s.choose(only_lab, labs);
    std::sort(s.found.begin(), s.found.end());
    if (s.found.size() > 1)
        return {.problem = fmt::format("there are {} files for it: {} and {}", s.found.size(),
                                       shown(s.found[0], student), shown(s.found[1], student)),
                .files = s.found};
    if (s.found.size() == 1 && !may_be_read(s.found[0]))
        return {.problem = shown(s.found[0], student) + " cannot be read: permission denied",
                .unreadable = true};
    if (s.found.size() == 1) return {.file = s.found[0], .files = s.found};
    if (!s.unreadable.empty())
        return {.problem = s.unreadable[0] + "; nobody knows what is in it", .unreadable = true};
    return {.problem = why_none(s, student, labs)};
}

} // namespace cli
