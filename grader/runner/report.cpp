// Records of a run, the report for people, and result.json.
#include "report.hpp"
#include "case_run.hpp"
#include "counted.hpp"
#include "replay.hpp"
#include "text/open_points.hpp"
#include "text/todo.hpp"
#include "whole_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>

namespace grading {

namespace {

std::size_t current = 0;
std::string lab;

constexpr std::size_t width = 80;

// Wraps text to `width` columns, each line after `indent` spaces, the first after `head` if given.
std::string wrapped(const std::string &text, int indent, const std::string &head = {})
{
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string result, line, word, before = head.empty() ? margin : head;
    std::istringstream words(text);
    auto flush = [&] {
        if (!line.empty()) {
            result += before + line + "\n";
            before = margin;
        }
        line.clear();
    };
    while (words >> word) {
        if (!line.empty() && before.size() + line.size() + 1 + word.size() > width) flush();
        line += (line.empty() ? "" : " ") + word;
    }
    flush();
    return result;
}

struct painter {
    bool colour;
    std::string operator()(const char *code, const std::string &text) const
    {
        return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
    }
};

bool passed(const case_record &r) { return r.started && r.result == verdict::PASS; }
bool skipped(const case_record &r) { return !r.started || r.result == verdict::SKIPPED; }
int open_points(const case_record &r)
{
    return r.started && r.result == verdict::SKIPPED ? r.max_points : 0;
}

// Uses the TODOs of the submission's own comments if the stub as handed out is not known.
const todo_list &todos()
{
    static const todo_list list = [] {
        std::string present = file_text(options().source);
        std::string original = file_text(options().original);
        return original.empty() ? todo_list(present) : todo_list(original, present);
    }();
    return list;
}

std::string short_lab() { return lab.substr(0, lab.find('_')); }

std::string how_to_grade()
{
    std::string command = "./workbook grade " + short_lab();
    if (options().submission == "solution") return command + " --solutions";
    if (options().submission == "stub" || options().source.empty()) return command;
    return command + " --submission " + shell_word(options().source);
}

std::string gates(const speed_result &s)
{
    std::string text;
    if (!std::isnan(s.median)) {
        text += fmt::format("{:.2f}x naive", s.median);
        if (!std::isnan(s.low))
            text += fmt::format(" ({:.2f} to {:.2f}, {} pairs)", s.low, s.high, s.pairs);
        else
            text += " (shown, not graded)";
        if (s.required > 0) text += fmt::format(", needs {:g}x", s.required);
        if (!std::isnan(s.fraction)) {
            text += fmt::format("; {:.0f} % of {}", 100 * s.fraction, s.of);
            if (s.required_fraction > 0)
                text += fmt::format(", needs {:.0f} %", 100 * s.required_fraction);
        }
        if (!std::isnan(s.library_ratio))
            text += fmt::format("; {:.2f}x the library", s.library_ratio);
        if (s.by_median) text += "; too noisy for an interval, the median decided";
    }
    for (const auto &[what, value] : s.counters) {
        if (!text.empty()) text += "; ";
        auto unit = s.units.find(what);
        auto shown = [&](double v) {
            return show_counted(v, unit == s.units.end() ? "" : unit->second);
        };
        text += fmt::format("{}: {}", what, shown(value));
        auto naive = s.naive_counters.find(what);
        if (naive != s.naive_counters.end())
            text += fmt::format(" (naive {})", shown(naive->second));
    }
    return text;
}

// Requirements for the points that a speed case has not reached: "For 4 points: at least 65 % of
// copy bandwidth. For 6 points: at least 90 % of copy bandwidth."
std::string more_points(const case_record &r)
{
    if (!r.speed || r.speed->offered < 2 || r.points == r.max_points) return {};
    std::string text;
    for (int step = r.speed->reached + 1; step <= r.speed->offered; ++step) {
        int points = r.max_points * step / r.speed->offered;
        if (points == r.points) continue;
        text += fmt::format(
            "{}For {} point{}: {}.", text.empty() ? "" : " ", points, points == 1 ? "" : "s",
            step == 1 ? "what is required" : r.speed->needs.at(std::size_t(step - 1)));
    }
    return text;
}

std::string printable_lines(const std::string &untrusted)
{
    std::vector<std::string> all = lines(untrusted);
    for (std::string &line : all) line = printable(line);
    return fmt::format("{}", fmt::join(all, "\n"));
}

// Text that the submission printed in the case.
std::string printed_text(const case_record &r)
{
    if (r.text.empty()) return {};
    std::string text = "    It printed:\n";
    std::istringstream lines(r.text);
    std::string line;
    constexpr int max_lines = 12;
    for (int n = 0; n < max_lines && std::getline(lines, line); ++n)
        text += "    | " + printable(line).substr(0, width - 6) + "\n";
    if (lines.peek() != EOF || r.text_cut) text += "    | (more was cut)\n";
    return text;
}

// Mentions text printed in passed cases, which the report does not show otherwise.
std::string printed_in_passing(const std::vector<const case_record *> &printed, std::size_t cases)
{
    if (printed.empty()) return {};
    if (cases == 1) return "\n" + printed_text(*printed[0]);
    return wrapped(fmt::format("It printed in {} case{} that passed; to read it: {} --case \"{}\"",
                               printed.size(), printed.size() == 1 ? "" : "s", how_to_grade(),
                               printed[0]->name),
                   2);
}

std::string failure(const case_record &r, const painter &paint)
{
    const std::string what(name(r.result));
    std::string text = wrapped(r.name, 4, what + "  ");
    text = "\n" + text.replace(0, what.size(), paint("31", what));
    text += wrapped(r.message, 4);
    std::string todo = r.result == verdict::INFRA_ERROR
                           ? std::string()
                           : todos().words(r.about.empty() ? r.name : r.about, r.line);
    if (!r.hint.empty())
        text += wrapped("Try: " + r.hint + (todo.empty() ? "" : " (" + todo + ")"), 4);
    else if (!todo.empty())
        text += wrapped("It belongs to " + todo + ".", 4);
    for (const std::string &warning : options().warnings)
        text += wrapped("nvcc warned: " + warning, 4);
    // The message already lists the missed counters.
    if (r.speed && !std::isnan(r.speed->median)) text += wrapped(gates(*r.speed), 4);
    text += wrapped(more_points(r), 4);
    text += printed_text(r);
    // The simulator already reports more than a debugger could.
    if (!r.replay.empty() && !options().simulated)
        text +=
            fmt::format("    Repeat this call alone, under cuda-gdb, ncu or compute-sanitizer:\n"
                        "      {} --replay \\\n        '{}'\n",
                        std::filesystem::proximate(options().worker).string(),
                        std::filesystem::proximate(r.replay).string());
    return text;
}

// Say once that some kernels were only partly checked for races.
std::string unwatched_note()
{
    int cases = 0;
    const case_record *first = nullptr;
    for (const case_record &r : records())
        if (r.started && !r.unwatched.empty() && cases++ == 0) first = &r;
    if (!first) return {};
    return wrapped(fmt::format("Note: races were looked for in a part of kernel {} only, in {} "
                               "case{}: it touches more memory than the simulator keeps track of. "
                               "The first: {}.",
                               first->unwatched, cases, cases == 1 ? "" : "s", first->name),
                   2);
}

// Cases that could not be judged, grouped by reason.
std::string notes_on_open_cases()
{
    std::vector<open_case> cases;
    for (const case_record &r : records())
        if (r.started && r.result == verdict::SKIPPED)
            cases.push_back(
                {r.name, double(r.max_points), r.message + (r.hint.empty() ? "" : " " + r.hint)});
    std::string text;
    for (const std::string &note : open_notes(cases)) text += wrapped(note, 2);
    return text;
}

// Short message for a function's first failure that is not shown in full.
std::string in_short(const case_record &r)
{
    constexpr std::size_t max_length = 200; // three lines
    std::string text = r.message.substr(0, r.message.find(". "));
    if (text.size() > max_length) {
        const std::size_t end = text.rfind(' ', max_length - 4);
        text = text.substr(0, end == text.npos ? max_length - 4 : end) + " ...";
    } else if (!text.empty() && text.back() != '.') {
        text += '.';
    }
    return text;
}

struct tally {
    int cases = 0, passed = 0, points = 0, max_points = 0, not_written = 0, skipped = 0, faults = 0,
        open = 0; // points
    std::vector<const case_record *> speed;
};

std::string where()
{
    return options().simulated ? "on the simulator" : fmt::format("on {}", device().name);
}

nlohmann::json number(double v)
{
    return std::isnan(v) || std::isinf(v) ? nlohmann::json() : nlohmann::json(v);
}

nlohmann::json speed_json(const speed_result &s, nlohmann::json c)
{
    if (!std::isnan(s.naive_ms)) { // it was timed, even if it did not end
        c["speedup"] = {{"median", number(s.median)},
                        {"low", number(s.low)},
                        {"high", number(s.high)},
                        {"pairs", s.pairs},
                        {"required", s.required},
                        {"discarded", s.discarded},
                        {"parent_clock", number(s.parent_ratio)},
                        {"decided_by_median", s.by_median},
                        {"measured_again", s.measured_again}};
        c["measured"] = {
            {"naive_ms", number(s.naive_ms)}, {"ms", number(s.ms)}, {"gbps", number(s.gbps)}};
        c["costs"] = {{"device_s", number(s.device_s)},
                      {"prepare_s", number(s.prepare_s)},
                      {"verify_s", number(s.verify_s)}};
        if (!std::isnan(s.library_ratio)) c["measured"]["library_ratio"] = s.library_ratio;
    }
    if (!std::isnan(s.fraction))
        c["fraction"] = {{"value", s.fraction}, {"required", s.required_fraction}, {"of", s.of}};
    c["counters"] = nlohmann::json::object();
    for (const auto &[what, value] : s.counters) c["counters"][what] = number(value);
    for (const auto &[what, more] : s.more_is_better)
        c["counted_gates"][what] = {{"better", more ? "more" : "fewer"},
                                    {"unit", s.units.count(what) ? s.units.at(what) : ""}};
    if (!s.naive_counters.empty()) {
        c["naive_counters"] = nlohmann::json::object();
        for (const auto &[what, value] : s.naive_counters)
            c["naive_counters"][what] = number(value);
    }
    c["steps"] = {{"reached", s.reached}, {"offered", s.offered}};
    // If the gate asks for less than naive's own speed, naive's way is the right one.
    if (s.naive_may_pass || (s.required > 0 && s.required < 1)) c["naive_may_pass"] = true;
    return c;
}

} // namespace

std::vector<case_record> &records()
{
    static std::vector<case_record> all;
    return all;
}

case_record &current_case()
{
    static case_record none;
    return current < records().size() ? records()[current] : none;
}

const case_result *endless_before(const case_record &r, const std::string &function)
{
    const auto end = std::find_if(records().begin(), records().end(),
                                  [&](const case_record &other) { return other.name == r.name; });
    for (const std::string &name : {function, std::string()}) {
        const auto at = std::find_if(records().begin(), end,
                                     [&](const case_record &c) { return c.endless == name; });
        if (at != end) return &*at;
    }
    return nullptr;
}

std::string not_tried(const std::string &function, const case_result &earlier)
{
    return fmt::format("Not tried: {} did not end in time in the case \"{}\".",
                       earlier.endless->empty() ? "the submission" : function, earlier.name);
}

const std::string &lab_name() { return lab; }
void set_lab_name(std::string name) { lab = std::move(name); }

void case_points::fill(doctest::detail::TestCase &test) const
{
    case_record r;
    r.name = test.m_name;
    r.what = what;
    r.max_points = points;
    // A grid is often as large as the device has room for. With few multiprocessors, few blocks
    // then have several pieces each, even for small inputs.
    constexpr int few = 2;
    if (what == kind::correctness) r.multiprocessors = few;
    records().push_back(std::move(r));
    test.m_test_suite = what == kind::speed ? "speed" : "correctness";
}

void record_speed(const speed_result &s) { current_case().speed = s; }

namespace {

// Returns the longest beginning of a case's name that fits into `room` columns, if it identifies
// the case; else the whole name.
std::string part_of_name(const std::string &case_name, std::size_t room)
{
    auto means_it_alone = [&](const std::string &part) {
        return std::none_of(records().begin(), records().end(), [&](const case_record &r) {
            return r.name != case_name && r.name.find(part) != r.name.npos;
        });
    };
    for (std::size_t end = case_name.size(); end != 0 && end != case_name.npos;
         end = case_name.rfind(' ', end - 1)) {
        std::string part = case_name.substr(0, end);
        if (part.size() <= room) return means_it_alone(part) ? part : case_name;
    }
    return case_name;
}

// A command of one line, or of two with a continuation.
std::string how_to_grade_case(const std::string &case_name)
{
    const std::string begin = how_to_grade(), option = " --case \"";
    if (std::size_t used = 2 + begin.size() + option.size() + 1; used < width)
        if (std::string part = part_of_name(case_name, width - used); used + part.size() <= width)
            return begin + option + part + "\"";
    const std::string margin = "   ";
    std::size_t used = margin.size() + option.size() + 1;
    return begin + " \\\n" + margin + option + part_of_name(case_name, width - used) + "\"";
}

// Returns an empty string if nothing is left to do. `to_write`: the function of `first` is not
// written yet.
std::string what_next(const case_record *first, bool to_write, bool points_left)
{
    if (first && !to_write) return how_to_grade_case(first->name);
    if (!points_left) return {};
    std::string file = options().source.empty() ? "it" : options().source;
    todo_list::open_todo open = first ? todos().open_of(first->name) : todo_list::open_todo();
    if (open.line > 0)
        return fmt::format("write TODO {} ({}:{}), then {}", open.next, file, open.line,
                           how_to_grade());
    return fmt::format("edit {}, then {}", file, how_to_grade());
}

} // namespace

std::string human_report(bool colour)
{
    painter paint{colour};
    std::string who =
        options().submission == "stub" ? "labs/" + lab + "/stub.cu" : options().submission;
    std::string text =
        wrapped(fmt::format("{}: {} {}, seed {:x}", lab, who, where(), options().seed), 0);
    text.replace(0, lab.size(), paint("1", lab));
    std::vector<std::string> order;
    std::map<std::string, tally> by_function;
    const case_record *first = nullptr;
    std::vector<const case_record *> others;
    int out_of_reach = 0;                // points that no change of the file can bring here
    std::map<std::string, int> cases_of; // by function, including cases that were not chosen
    for (const case_record &r : records()) {
        std::string f = function_of(r.name);
        ++cases_of[f];
        if (!r.started) continue;
        if (!by_function.count(f)) order.push_back(f);
        tally &t = by_function[f];
        ++t.cases;
        t.passed += passed(r);
        t.points += r.points;
        t.max_points += r.max_points;
        t.not_written += r.result == verdict::NOT_WRITTEN;
        t.skipped += skipped(r);
        t.faults += r.result == verdict::INFRA_ERROR;
        t.open += open_points(r);
        if (!r.unsupported) out_of_reach += open_points(r);
        if (r.speed) t.speed.push_back(&r);
    }
    // A function that writes nothing in any case counts as not written: it gets one line, not one
    // per case. That is unknown if only some of its cases were chosen.
    auto nothing_written = [&](const std::string &function) {
        return by_function[function].not_written == cases_of[function];
    };
    auto unwritten = [&](const case_record &r) { return nothing_written(function_of(r.name)); };
    std::vector<case_outcome> outcomes;
    for (const case_record &r : records())
        outcomes.push_back({r.name, r.started && !passed(r) && !skipped(r),
                            !r.started || r.result == verdict::NOT_WRITTEN, r.what == kind::speed});
    for (std::size_t i : order_to_mend(outcomes, todos())) {
        const case_record &r = records()[i];
        if (!first)
            first = &r;
        else if (!unwritten(r))
            others.push_back(&r);
    }
    bool to_write = first && unwritten(*first);
    if (first && !to_write) text += failure(*first, paint);
    // Where the next step is to write a function, the first failure of one that is written is still
    // told in full.
    std::span<const case_record *const> in_short_only = others;
    if (to_write && !others.empty()) {
        text += "\nNot passed, and for later:" + failure(*others[0], paint);
        in_short_only = in_short_only.subspan(1);
    }
    if (!in_short_only.empty()) {
        text += "\nAlso not passed:\n";
        std::set<std::string> shown{function_of((to_write ? others[0] : first)->name)};
        for (const case_record *r : in_short_only) {
            text += wrapped(r->name + (r->tried ? "" : " (not tried)"), 23,
                            fmt::format("    {:<18} ", name(r->result)));
            if (shown.insert(function_of(r->name)).second && !r->message.empty())
                text += wrapped(in_short(*r), 23);
        }
    }
    text += "\n";
    int points = 0, max_points = 0, open = 0;
    for (const std::string &f : order) {
        const tally &t = by_function[f];
        points += t.points;
        max_points += t.max_points;
        open += t.open;
        bool all = t.passed == t.cases, none = nothing_written(f);
        bool rest_open = t.passed + t.skipped == t.cases;
        std::string mark = all         ? paint("32", "ok  ")
                           : none      ? "todo"
                           : t.faults  ? "err "
                           : rest_open ? "open"
                                       : paint("31", "FAIL");
        std::string todo = todos().words(f);
        std::string what = none ? "not written yet" + (todo.empty() ? "" : ": " + todo)
                                : fmt::format("{} of {} cases", t.passed, t.cases);
        if (t.open > 0) what += fmt::format(", {} point{} open", t.open, t.open == 1 ? "" : "s");
        text += fmt::format("  {}  {:<20} {:<30} {:>3} of {:>3} points\n", mark, f, what, t.points,
                            t.max_points);
        for (const case_record *r : t.speed)
            if (passed(*r)) {
                text += wrapped(r->name + ": " + gates(*r->speed), 8);
                if (std::string more = more_points(*r); !more.empty())
                    text += wrapped(
                        fmt::format("{} of {} points. {}", r->points, r->max_points, more), 8);
            }
    }
    text += notes_on_open_cases();
    text += unwatched_note();
    std::vector<const case_record *> printed;
    std::size_t cases = 0;
    for (const case_record &r : records()) {
        cases += r.started;
        if (r.started && passed(r) && !r.text.empty()) printed.push_back(&r);
    }
    text += printed_in_passing(printed, cases);
    if (exit_status() == 99)
        return text + "\n" +
               wrapped("Not graded: a fault of the machine or of the workbook left cases without "
                       "a verdict. That is no fault of the file, and no zero.",
                       0);
    text += fmt::format("\n{} of {} points{}", points, max_points, open_words(open));
    text += options().simulated ? " (simulated: efficiency is counted, not timed)\n" : "\n";
    std::string next = what_next(first, to_write, points + out_of_reach < max_points);
    if (!next.empty() && next.size() + 6 <= width)
        text += "Next: " + next + "\n";
    else if (!next.empty())
        text += "Next:\n" + (to_write || !first ? wrapped(next, 2) : "  " + next + "\n");
    return text;
}

std::string result_json()
{
    nlohmann::json l, cases = nlohmann::json::array();
    int points = 0, max_points = 0, open = 0;
    for (const case_record &r : records()) {
        if (!r.started) continue;
        points += r.points;
        max_points += r.max_points;
        open += open_points(r);
        nlohmann::json c{{"name", r.name},
                         {"kind", r.what == kind::speed ? "speed" : "correctness"},
                         {"verdict", name(r.result)},
                         {"points", r.points},
                         {"max_points", r.max_points},
                         {"open_points", open_points(r)},
                         {"message", r.message},
                         {"hint", r.hint},
                         {"duration_ms", std::round(r.duration_ms * 100) / 100}};
        if (!r.about.empty()) c["about"] = r.about;
        if (r.line > 0) c["line"] = r.line;
        if (!r.text.empty()) c["printed"] = printable_lines(r.text.substr(0, 4096));
        if (r.unsupported) c["unsupported"] = true;
        if (!r.replay.empty()) c["replay"] = r.replay;
        if (!r.unwatched.empty()) c["races_partly_unwatched"] = r.unwatched;
        if (r.speed) c = speed_json(*r.speed, c);
        if (std::string more = more_points(r); !more.empty()) c["more_points"] = more;
        cases.push_back(c);
    }
    static const std::map<int, const char *> status{
        {0, "pass"}, {1, "fail"}, {77, "skipped"}, {99, "error"}};
    l = {{"lab", lab},
         {"submission", options().submission},
         {"status", status.at(exit_status())},
         {"points", points},
         {"max_points", max_points},
         {"open_points", open},
         {"cases", cases}};
    if (!options().warnings.empty()) l["warnings"] = options().warnings;
    nlohmann::json env{{"sandbox", name(sandbox_found().how)}};
    if (!options().simulated) {
        const device_facts &d = device();
        env["gpu"] = printable(d.name);
        env["cc"] = fmt::format("{}.{}", d.major, d.minor);
        env["driver"] = fmt::format("{}.{}", d.driver / 1000, d.driver % 1000 / 10);
        env["cuda"] = fmt::format("{}.{}", d.runtime / 1000, d.runtime % 1000 / 10);
    }
    nlohmann::json document{{"schema", "cuda-workbook/1"},
                            {"tool", WORKBOOK_VERSION},
                            {"seed", fmt::format("{:x}", options().seed)},
                            {"backend", options().simulated ? "sim" : "gpu"},
                            {"env", env},
                            {"labs", nlohmann::json::array({l})}};
    return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string counters_json()
{
    nlohmann::json all = nlohmann::json::object();
    for (const case_record &r : records())
        if (!r.counts.empty())
            all[r.name] = {{"function", r.function},
                           {"counters", nlohmann::json::parse(r.counts, nullptr, false)}};
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int exit_status()
{
    bool graded = false, open = false, failed = false;
    for (const case_record &r : records()) {
        if (!r.started) continue;
        if (r.result == verdict::INFRA_ERROR) return 99;
        graded = graded || !skipped(r);
        // A case that needs something the machine lacks, and the lab can do without, is not
        // required.
        open = open || (skipped(r) && !r.lacking);
        failed = failed || (!passed(r) && !skipped(r));
    }
    return failed ? 1 : open || !graded ? 77 : 0;
}

// Enters the progress of doctest's run into the records.
struct case_listener : doctest::IReporter {
    explicit case_listener(const doctest::ContextOptions &) {}
    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats &) override {}
    void test_case_start(const doctest::TestCaseData &data) override
    {
        auto &all = records();
        auto at = std::find_if(all.begin(), all.end(),
                               [&](const auto &r) { return r.name == data.m_name; });
        current = static_cast<std::size_t>(at - all.begin());
        current_case().started = true;
        start_ = std::chrono::steady_clock::now();
        if (options().isolate) restart_workers();
    }
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void test_case_end(const doctest::CurrentTestCaseStats &stats) override
    {
        case_record &r = current_case();
        r.duration_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
                .count();
        // Only end_case fails a case; any other failure seen by doctest is a fault of the grader.
        if (stats.failure_flags != 0 && !r.ended) {
            r.ended = true;
            r.result = verdict::INFRA_ERROR;
            r.message = "The grader itself failed: " + problem_;
        }
        problem_.clear();
        if (passed(r))
            r.points = r.speed && r.speed->offered > 0
                           ? r.max_points * r.speed->reached / r.speed->offered
                           : r.max_points;
        if (r.result == verdict::UNINITIALISED && todos().waits_for_others(r.name, r.line)) {
            r.line = 0; // the line itself is right
            r.hint = "What is read there must be written first, and that is not done yet.";
        }
        take_submission_text(r);
        if (!passed(r) || options().keep_replays) r.replay = keep_call();
        forget_call();
        static const std::set<verdict> harmless{verdict::PASS, verdict::WRONG_ANSWER,
                                                verdict::NOT_WRITTEN, verdict::PARTIALLY_WRITTEN,
                                                verdict::TOO_SLOW};
        if (!harmless.count(r.result)) restart_workers();
    }
    void test_case_exception(const doctest::TestCaseException &e) override
    {
        problem_ = e.error_string.c_str();
    }
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData &a) override
    {
        if (a.m_failed) problem_ = fmt::format("{} at {}:{}", a.m_expr, a.m_file, a.m_line);
    }
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &) override {}

private:
    std::chrono::steady_clock::time_point start_;
    std::string problem_;
};
REGISTER_REPORTER("records", 0, case_listener);

} // namespace grading
