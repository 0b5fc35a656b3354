// Lists the files of a class, and which of a student's counts.
#include "class_list.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/sha256.hpp"
#include "cli/support/strings.hpp"
#include "handed_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

// The student's folder that holds the file; empty for a single file.
std::string folder_with(const student_files &student, const std::string &file)
{
    for (const std::string &folder : student.folders)
        if (file.starts_with(folder + "/")) return folder;
    return {};
}

class_work work_on(const lab &l, const student_files &student, const std::string &file)
{
    class_work w{.of = &l, .owner = student.name, .row = {}};
    w.row.student = student.shown;
    w.row.known_as = student.known_as;
    w.row.lab = l.name;
    w.row.file = file;
    if (file.empty()) return w;
    try {
        const handed_in_time when = time_of(file, folder_with(student, file));
        w.row.handed_in = rfc3339(when.at), w.row.time_of_commit = when.of_commit;
    } catch (const machine_error &e) {
        w.remark = e.what();
    }
    if (const auto text = text_to_grade(file)) w.row.sha256 = sha256(*text);
    return w;
}

} // namespace

std::optional<std::string> text_to_grade(const std::string &path)
{
    constexpr std::uintmax_t max_bytes = 16 << 20;
    std::error_code unreadable;
    if (!fs::is_regular_file(fs::symlink_status(path, unreadable))) return {};
    std::uintmax_t size = fs::file_size(path, unreadable);
    if (unreadable || size > max_bytes) return {};
    try {
        return read_text(path);
    } catch (const machine_error &) { // its row will report it
        return {};
    }
}

const class_work &class_entry::counted() const
{
    // Times in UTC of one form are ordered as text.
    auto rank = [](const class_work &w) {
        return std::tuple(!w.row.without_grade(), -w.row.points, -w.row.clock.points,
                          w.row.handed_in);
    };
    return *std::ranges::min_element(files, {}, rank);
}

void class_entry::choose_newest()
{
    const std::size_t of = files.size();
    if (of < 2) return;
    files = {
        *std::ranges::max_element(files, {}, [](const class_work &w) { return w.row.handed_in; })};
    files[0].remark = fmt::format("the newest of {} files", of);
}

grade_row class_entry::row() const
{
    const class_work &w = counted();
    grade_row row = w.row;
    row.remark = w.remark;
    if (files.size() > 1 && row.without_grade())
        row.add_problem(fmt::format("which of the {} files counts is not known", files.size()));
    else if (files.size() > 1)
        row.add_problem(fmt::format("the best of {} files", files.size()));
    return row;
}

std::vector<class_entry> entries_of(const toolchain &t, const std::vector<student_files> &students,
                                    const std::vector<std::string> &labs, which_file which)
{
    std::map<std::string, offered_points> offered;
    for (const std::string &name : labs) offered[name] = points_offered(t, lab_called(t, name));
    std::vector<class_entry> all;
    for (const student_files &student : students)
        for (const std::string &name : labs) {
            const lab &l = lab_called(t, name);
            const handed_in h = find_file(student, name, labs.size() == 1, t.lab_names(false));
            class_entry e;
            if (h.files.size() > 1 && which != which_file::only)
                for (const std::string &file : h.files)
                    e.files.push_back(work_on(l, student, file));
            else
                e.files.push_back(work_on(l, student, h.file));
            for (class_work &w : e.files) {
                w.row.max_points = offered[name].points;
                w.row.clock.max_points = offered[name].clock;
                w.row.held_back.max_points = offered[name].held_back;
                if (!w.row.file.empty()) continue;
                w.row.status = h.unreadable ? "unreadable" : "missing";
                w.row.problem = h.problem;
                w.finished = true;
            }
            all.push_back(std::move(e));
        }
    return all;
}

void mark_copies(const toolchain &t, std::vector<class_entry> &all)
{
    std::map<std::pair<std::string, std::string>, std::vector<class_work *>>
        same; // by lab and file
    for (class_entry &e : all)
        for (class_work &w : e.files)
            if (!w.row.sha256.empty()) same[{w.row.lab, w.row.sha256}].push_back(&w);
    for (const auto &[of, whose] : same) {
        const lab &l = *whose[0]->of;
        const std::string &digest = of.second;
        auto is = [&](const std::optional<std::string> &text) {
            return text && digest == sha256(*text);
        };
        if (is("") || is(original_stub(t, l).text) || is(text_to_grade(t.stub(l)))) continue;
        const bool naive = is(text_to_grade(t.source(l, "naive")));
        auto add = [](class_work &w, const std::string &words) {
            w.remark += (w.remark.empty() ? "" : "; ") + words;
        };
        // A student who hands in one file twice has copied from nobody.
        std::vector<class_work *> others = whose;
        std::ranges::sort(others, {}, &class_work::owner);
        const auto end = std::unique(others.begin(), others.end(),
                                     [](auto *a, auto *b) { return a->owner == b->owner; });
        others.erase(end, others.end());
        for (class_work *w : whose) {
            if (naive)
                add(*w,
                    fmt::format("the file is {}, byte for byte", t.shown(t.source(l, "naive"))));
            if (naive || others.size() < 2) continue;
            const class_work &other = *others[others[0]->owner == w->owner ? 1 : 0];
            add(*w, fmt::format("the file is the same as {}'s{}, byte for byte", other.row.student,
                                others.size() > 2 ? " and others'" : ""));
        }
    }
}

} // namespace cli
