// Renders the result of one grade for a terminal.
#include "text_report.hpp"

#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

namespace cli {

namespace {

constexpr int report_width = 80;

// Fills lines up to `report_width` columns and ends each with a line break. Lines begin with
// `indent` blanks, except that the first begins with `head`, if any.
std::string paragraph(const std::string &text, int indent, const std::string &head = {})
{
    const std::vector<std::string> words = words_between_blanks(text);
    if (words.empty()) return {};
    const std::string begin = head.empty() ? std::string(std::size_t(indent), ' ') : head;
    return begin +
           wrapped(fmt::format("{}", fmt::join(words, " ")), report_width, indent, columns(begin)) +
           "\n";
}

// `columns`: of the command as it is shown. It has a line of its own if both do not fit into one.
std::string mend_then(const std::string &command, int columns)
{
    const std::string begin = "Next: mend it, then";
    const bool fits = int(begin.size()) + 1 + columns <= report_width;
    return begin + (fits ? " " : "\n  ") + command + "\n";
}

std::string timed_words(const case_view &c)
{
    const json &speedup = member(*c.whole, "speedup"), &fraction = member(*c.whole, "fraction");
    if (!member(speedup, "median").is_number()) return {};
    std::string text = fmt::format("{:.2f}x naive", number_at(speedup, "median"));
    if (member(speedup, "low").is_number())
        text += fmt::format(" ({:.2f} to {:.2f}, {:g} pairs)", number_at(speedup, "low"),
                            number_at(speedup, "high"), number_at(speedup, "pairs"));
    if (const double required = number_at(speedup, "required"); required > 0)
        text += fmt::format(", needs {:g}x", required);
    if (c.whole->contains("fraction")) {
        text += fmt::format("; {:.0f} % of {}", 100 * number_at(fraction, "value"),
                            text_at(fraction, "of"));
        if (const double required = number_at(fraction, "required"); required > 0)
            text += fmt::format(", needs {:.0f} %", 100 * required);
    }
    if (const json &library = member(member(*c.whole, "measured"), "library_ratio");
        library.is_number())
        text += fmt::format("; {:.2f}x the library", library.get<double>());
    if (member(speedup, "decided_by_median") == true)
        text += "; too noisy for an interval, the median decided";
    return text;
}

// The measured times and counters of a speed case.
std::string gates(const case_view &c)
{
    std::string text = timed_words(c);
    const json &counters = member(*c.whole, "counters"), &gate = member(*c.whole, "counted_gates");
    const json &naive = member(*c.whole, "naive_counters");
    if (!counters.is_object()) return text;
    for (const auto &[what, value] : counters.items()) {
        const std::string unit = text_at(member(gate, what), "unit");
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what,
                            grading::show_counted(number_at(counters, what), unit));
        if (naive.contains(what))
            text += fmt::format(" (naive {})", grading::show_counted(number_at(naive, what), unit));
    }
    return text;
}

std::string more_points(const case_view &c) { return text_at(*c.whole, "more_points"); }

// Text that the submission printed in the case.
std::string printed_text(const case_view &c)
{
    const std::vector<std::string> printed = lines(text_at(*c.whole, "printed"));
    if (printed.empty()) return {};
    std::string text = "    It printed:\n";
    constexpr std::size_t max_lines = 12;
    for (std::size_t n = 0; n < std::min(max_lines, printed.size()); ++n)
        text += "    | " + printed[n].substr(0, report_width - 6) + "\n";
    if (printed.size() > max_lines || member(*c.whole, "printed_cut") == true)
        text += "    | (more was cut)\n";
    return text;
}

// Short message for a function's first failure that is not shown in full.
std::string in_short(const std::string &message)
{
    constexpr std::size_t max_length = 200; // three lines
    std::string text = message.substr(0, message.find(". "));
    if (text.size() > max_length) {
        const std::size_t end = text.rfind(' ', max_length - 4);
        text = text.substr(0, end == text.npos ? max_length - 4 : end) + " ...";
    } else if (!text.empty() && text.back() != '.') {
        text += '.';
    }
    return text;
}

class report {
public:
    report(const json &document, const report_context &context)
        : document_(document),
          context_(context),
          lab_(labs_of(document).at(0)),
          out_(context.out),
          functions_(tallies(lab_))
    {
        if (const json &names = member(document.at("labs")[0], "not_chosen"); !names.is_null())
            not_chosen_ = names.get<std::vector<std::string>>();
        order_failures();
    }

    std::string text() const
    {
        std::string text = heading() + failures() + "\n";
        for (const function_tally &t : functions_) text += function_line(t);
        for (const std::string &note : open_notes(lab_)) text += paragraph(note, 2);
        for (const std::string &note : disputed_notes(lab_)) text += paragraph(note, 2);
        text += unwatched_note() + printed_in_passing();
        if (!context_.moved.empty()) text += paragraph("Note: " + context_.moved, 2);
        if (lab_.status == "error")
            return text + "\n" +
                   paragraph("Not graded: a fault of the machine or of the workbook left cases "
                             "without a verdict. That is no fault of the file, and no zero.",
                             0);
        text += fmt::format("\n{:g} of {:g} points{}{}\n", lab_.points, lab_.max_points,
                            open_words(lab_.open_points), band_words(lab_));
        return text + paragraph(clock_words(lab_), 0) + paragraph(held_back_words(lab_), 0) +
               next_step();
    }

private:
    bool simulated() const { return text_at(document_, "backend") == "sim"; }
    bool counted() const { return text_at(document_, "backend") != "gpu"; }

    // A function that writes nothing in any case counts as not written: it gets one line, not one
    // per case. That is unknown if only some of its cases were chosen.
    bool nothing_written(const function_tally &t) const
    {
        return t.not_written == t.cases &&
               std::ranges::find(not_chosen_, t.function, function_of) == not_chosen_.end();
    }
    bool nothing_written(const std::string &function) const
    {
        return nothing_written(*std::ranges::find(functions_, function, &function_tally::function));
    }

    bool is_given(const std::string &function) const
    {
        return is_as_given(*std::ranges::find(functions_, function, &function_tally::function),
                           context_.todos);
    }

    // All of its TODOs are begun, so that the function runs, and still stores nothing.
    bool is_begun(const case_view &c) const
    {
        return !context_.todos.words(c.name).empty() && context_.todos.open_of(c.name).next == 0;
    }

    void order_failures()
    {
        std::vector<grading::case_outcome> outcomes;
        for (const case_view &c : lab_.cases) outcomes.push_back(outcome_of(c));
        for (const std::string &name : not_chosen_) outcomes.push_back({name, false, true, false});
        for (std::size_t i : grading::order_to_mend(outcomes, context_.todos)) {
            const case_view &c = lab_.cases[i];
            if (!first_)
                first_ = &c;
            else if (!nothing_written(function_of(c.name)) && !is_given(function_of(c.name)))
                others_.push_back(&c);
        }
        to_write_ = first_ && nothing_written(function_of(first_->name)) && !is_begun(*first_);
    }

    std::string heading() const
    {
        const std::string who =
            lab_.submission == "stub" ? "labs/" + lab_.lab + "/stub.cu" : lab_.submission;
        const std::string gpu = text_at(member(document_, "env"), "gpu");
        const std::string where = simulated() ? "on the simulator"
                                              : (counted() ? "on the simulator and " : "on ") +
                                                    (gpu.empty() ? "a GPU" : gpu);
        std::string text = paragraph(
            fmt::format("{}: {} {}, seed {}", lab_.lab, who, where, text_at(document_, "seed")), 0);
        return text.replace(0, lab_.lab.size(), bold(out_, lab_.lab));
    }

    // `todo` is one TODO or several, in words.
    std::string where_hints_are(const std::string &todo) const
    {
        const std::string one = "TODO ";
        if (lab_.submission != "stub" || !todo.starts_with(one)) return {};
        return fmt::format(" Hints: ./workbook hint {} --todo {}", lab_.lab.substr(0, 2),
                           todo.substr(one.size()));
    }

    std::string failure(const case_view &c) const
    {
        std::string text = paragraph(c.name, 4, c.verdict + "  ");
        text = "\n" + text.replace(0, c.verdict.size(), bad(out_, c.verdict));
        text += paragraph(c.message, 4);
        const std::string todo = c.verdict == "INFRA_ERROR"
                                     ? ""
                                     : grading::todo_words(todos_to_blame(c, lab_, context_.todos));
        if (!c.hint.empty())
            text += paragraph("Try: " + c.hint + (todo.empty() ? "" : " (" + todo + ")"), 4);
        else if (!todo.empty())
            text += paragraph("It belongs to " + todo + "." + where_hints_are(todo), 4);
        for (const std::string &warning : lab_.warnings)
            text += paragraph("nvcc warned: " + warning, 4);
        // The message already lists the missed counters.
        if (!timed_words(c).empty()) text += paragraph(gates(c), 4);
        text += paragraph(more_points(c), 4) + printed_text(c);
        const std::string replay = text_at(*c.whole, "replay");
        // These tools need a GPU; a finding of the simulator names the line already.
        const bool of_gpu = !counted() || c.kind == "clock" || c.whole->contains("judged_by") ||
                            member(*c.whole, "disputed") == true;
        if (!replay.empty() && of_gpu) text += replay_words(context_.worker, replay);
        return text;
    }

    std::string failures() const
    {
        std::string text;
        if (first_ && !to_write_) text += failure(*first_);
        // Where the next step is to write a function, the first failure of one that is written is
        // still told in full.
        std::span<const case_view *const> rest = others_;
        if (to_write_ && !others_.empty()) {
            text += "\nNot passed, and for later:" + failure(*others_[0]);
            rest = rest.subspan(1);
        }
        if (rest.empty()) return text;
        text += "\nAlso not passed:\n";
        std::set<std::string> shown{function_of((to_write_ ? others_[0] : first_)->name)};
        for (const case_view *c : rest) {
            text +=
                paragraph(c->name + (member(*c->whole, "not_tried") == true ? " (not tried)" : ""),
                          23, fmt::format("    {:<18} ", c->verdict));
            if (shown.insert(function_of(c->name)).second)
                text += paragraph(in_short(c->message), 23);
        }
        return text;
    }

    std::string function_line(const function_tally &t) const
    {
        const bool none = nothing_written(t), given = !none && is_as_given(t, context_.todos);
        const std::string mark = t.passed == t.cases ? good(out_, "ok  ")
                                 : none || given     ? "todo"
                                 : t.faults          ? "err "
                                 : t.rest_open()     ? "open"
                                                     : bad(out_, "FAIL");
        const std::string todo = context_.todos.words(t.function);
        std::string what = none    ? "not written yet" + (todo.empty() ? "" : ": " + todo)
                           : given ? "as it was given: " + todo
                                   : fmt::format("{} of {} cases", t.passed, t.cases);
        if (t.open > 0) what += fmt::format(", {:g} point{} open", t.open, t.open == 1 ? "" : "s");
        std::string text = fmt::format("  {}  {:<20} {:<30} {:>4g} of {:>4g} points\n", mark,
                                       t.function, what, t.points, t.max_points);
        if (first_ && !to_write_) return text; // what passed would hide the failure
        for (const case_view &c : lab_.cases) {
            if (function_of(c.name) != t.function || !c.passed() || !c.whole->contains("steps"))
                continue;
            text += paragraph(c.name + ": " + gates(c), 8);
            if (const std::string more = more_points(c); !more.empty())
                text += paragraph(
                    fmt::format("{:g} of {:g} points. {}", c.points, c.max_points, more), 8);
        }
        return text;
    }

    // Says once that some kernels were only partly checked for races.
    std::string unwatched_note() const
    {
        std::size_t cases = 0;
        const case_view *first = nullptr;
        for (const case_view &c : lab_.cases)
            if (c.whole->contains("races_partly_unwatched") && cases++ == 0) first = &c;
        if (!first) return {};
        return paragraph(fmt::format("Note: races were looked for in a part of kernel {} only, in "
                                     "{} case{}: it touches more memory than the simulator keeps "
                                     "track of. The first: {}.",
                                     text_at(*first->whole, "races_partly_unwatched"), cases,
                                     cases == 1 ? "" : "s", first->name),
                         2);
    }

    // Mentions text printed in passed cases, which the report does not show otherwise.
    std::string printed_in_passing() const
    {
        std::vector<const case_view *> printed;
        for (const case_view &c : lab_.cases)
            if (c.passed() && c.whole->contains("printed")) printed.push_back(&c);
        if (printed.empty()) return {};
        if (lab_.cases.size() == 1) return "\n" + printed_text(*printed[0]);
        return paragraph(fmt::format("It printed in {} case{} that passed; to read it: {} "
                                     "--case \"{}\"",
                                     printed.size(), printed.size() == 1 ? "" : "s",
                                     context_.command, printed[0]->name),
                         2);
    }

    // Returns the longest beginning of a case's name that fits into `room` columns, if it
    // identifies the case; else the whole name.
    std::string part_of_name(const std::string &name, std::size_t room) const
    {
        auto other = [&](const std::string &of, const std::string &part) {
            return of != name && of.find(part) != of.npos;
        };
        auto means_it_alone = [&](const std::string &part) {
            return std::none_of(lab_.cases.begin(), lab_.cases.end(),
                                [&](const case_view &c) { return other(c.name, part); }) &&
                   std::none_of(not_chosen_.begin(), not_chosen_.end(),
                                [&](const std::string &n) { return other(n, part); });
        };
        for (std::size_t end = name.size(); end != 0 && end != name.npos;
             end = name.rfind(' ', end - 1)) {
            const std::string part = name.substr(0, end);
            if (part.size() <= room) return means_it_alone(part) ? part : name;
        }
        return name;
    }

    // A command of one line, or of two with a continuation.
    std::string how_to_grade_case(const std::string &name) const
    {
        const std::string option = " --case \"";
        if (std::size_t used = 2 + context_.command.size() + option.size() + 1; used < report_width)
            if (std::string part = part_of_name(name, report_width - used);
                used + part.size() <= report_width)
                return context_.command + option + part + "\"";
        const std::string margin = "   ";
        const std::size_t used = margin.size() + option.size() + 1;
        return context_.command + " \\\n" + margin + option +
               part_of_name(name, report_width - used) + "\"";
    }

    // "TODO 2 (labs/02_coalescing/stub.cu:17)"; empty: no TODO is known.
    std::string with_place(const std::vector<int> &todos) const
    {
        const std::string words = grading::todo_words(todos);
        const int line = todos.empty() ? 0 : context_.todos.line_of(todos.front());
        if (line == 0) return words;
        return fmt::format("{} ({}:{})", words, source(), line);
    }
    std::string source() const { return context_.source.empty() ? "it" : context_.source; }

    // The first failure is of a step that may have no line yet.
    bool is_next_step() const
    {
        return first_ && first_->verdict == "TOO_SLOW" && context_.todos.is_for_later(first_->name);
    }

    // TODOs of passed cases that give a part of their points; empty: none is known.
    std::string more_to_do() const
    {
        std::vector<std::string> names;
        double missing = 0;
        for (const case_view &c : lab_.cases)
            if (c.passed() && c.kind != "correctness" && c.points + c.open_points < c.max_points) {
                names.push_back(c.name);
                missing += c.max_points - c.points - c.open_points;
            }
        const std::string todo = with_place(context_.todos.for_more(names));
        return todo.empty() ? todo
                            : fmt::format("{} for {:g} more point{}, then {}", todo, missing,
                                          missing == 1 ? "" : "s", context_.command);
    }

    // The next step if no failure is to be mended; empty: nothing is left to do.
    std::string next_words() const
    {
        if (is_next_step())
            return fmt::format("{}, then {}",
                               with_place(todos_to_blame(*first_, lab_, context_.todos)),
                               context_.command);
        double out_of_reach = 0; // points that no change of the file brings here
        for (const case_view &c : lab_.cases)
            // Another submission may be judged here where this one uses something unsupported.
            if (member(*c.whole, "unsupported") != true) out_of_reach += c.open_points;
        const double all = lab_.max_points + lab_.clock.max_points;
        if (lab_.points + lab_.clock.points + out_of_reach >= all) return {};
        const todo_list::open_todo open =
            first_ ? context_.todos.open_of(first_->name) : todo_list::open_todo();
        if (open.line > 0)
            return fmt::format("write {}, then {}", with_place({open.next}), context_.command);
        if (const std::string more = first_ ? "" : more_to_do(); !more.empty()) return more;
        return fmt::format("edit {}, then {}", source(), context_.command);
    }

    std::string next_step() const
    {
        if (first_ && !to_write_ && !is_next_step()) {
            const std::string command = how_to_grade_case(first_->name);
            return mend_then(command, int(command.size()));
        }
        const std::string next = next_words();
        if (next.empty()) return {};
        return next.size() + 6 <= report_width ? "Next: " + next + "\n"
                                               : "Next:\n" + paragraph(next, 2);
    }

    const json &document_;
    const report_context &context_;
    const lab_view lab_;
    const terminal &out_;
    const std::vector<function_tally> functions_;
    std::vector<std::string> not_chosen_;   // names of the lab's other cases
    const case_view *first_ = nullptr;      // the failure to mend first
    std::vector<const case_view *> others_; // other failures, in the order to mend them
    bool to_write_ = false;                 // the function of first_ is not written yet
};

} // namespace

std::string replay_words(const std::string &worker, const std::string &call)
{
    return fmt::format("    Repeat this call alone, under cuda-gdb, ncu or compute-sanitizer:\n"
                       "      {} --replay \\\n        '{}'\n",
                       std::filesystem::proximate(worker).string(),
                       std::filesystem::proximate(call).string());
}

std::string text_report(const json &document, const report_context &context)
{
    const json shown = without_held_back(document);
    return report(shown, context).text();
}

std::string case_report(const case_view &c, const terminal &out)
{
    std::string text = fmt::format("{}  {}\n", bad(out, c.verdict), c.name);
    text += fmt::format("  {}\n", wrapped(c.message, out.width, 2));
    if (!c.hint.empty()) text += fmt::format("  {}\n", wrapped(c.hint, out.width, 2));
    return text;
}

std::string refused_build_report(const json &document, const report_context &context)
{
    const lab_view lab = labs_of(document).at(0);
    const case_view &c = lab.cases.at(0);
    const terminal &out = context.out;
    const std::string said = text_at(*c.whole, "output");
    std::string text = fmt::format("{}: {}\n\n", bold(out, lab.lab), context.source);
    text += fmt::format("{}\n", bad(out, c.verdict));
    if (said.find(c.message) == said.npos) // else the compiler's output has it
        text += fmt::format("  {}\n", wrapped(c.message, out.width, 2));
    text += compiler_words(said, out.width);
    if (!c.hint.empty()) text += fmt::format("  {}\n", wrapped("Try: " + c.hint, out.width, 2));
    return text + "\n" + mend_then(bold(out, context.command), int(context.command.size()));
}

} // namespace cli
