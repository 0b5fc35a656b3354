// Reads and writes the table of expected verdicts and compares it with the present ones.
#include "verdict_table.hpp"

#include "cli/support/csv.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace cli {

namespace {

// Identifies a row: its submission and case.
using row_id = std::pair<std::string, std::string>;
row_id row_id_of(const verdict_row &row) { return {row.submission, row.case_name}; }

const std::vector<std::string> change_header = {"backend", "lab",   "submission", "case",
                                                "before",  "after", "reason"};

std::vector<std::string> table_header(bool keyed)
{
    std::vector<std::string> header = {"submission", "case", "verdict", "points", "why"};
    if (keyed) header.push_back("key");
    return header;
}

void check_row(const verdict_row &row, const std::string &path, std::size_t line)
{
    std::vector<std::string> verdicts =
        words_between_blanks(row.varies() ? row.verdict.substr(1) : row.verdict);
    if (!row.varies() && verdicts.size() != 1)
        throw machine_error(fmt::format("{}:{}: \"{}\" is not one verdict; several begin with *",
                                        path, line, row.verdict));
    for (const std::string &verdict : verdicts) {
        grading::verdict v;
        if (!grading::parse(verdict, v) || v == grading::verdict::INFRA_ERROR)
            throw machine_error(
                fmt::format("{}:{}: \"{}\" is no verdict of a row", path, line, verdict));
    }
    if (row.varies() && row.why.empty())
        throw machine_error(fmt::format(
            "{}:{}: the verdict of {} in {} varies, and the column \"why\" must say with what",
            path, line, row.submission, row.case_name));
}

bool agrees(const verdict_row &table, const verdict_row &got)
{
    if (got.varies()) return table.varies();
    if (!table.varies()) return table.words() == got.words();
    std::vector<std::string> any = words_between_blanks(table.verdict.substr(1));
    return any.empty() || std::ranges::find(any, got.verdict) != any.end();
}

// The changes of each row, oldest first. Each change must start from the result of the one before;
// the last must end in the table's verdict, or start from it if it is not yet recorded.
class history {
public:
    history(const verdict_table &table, const std::vector<verdict_change> &changes)
    {
        for (const verdict_change &c : changes)
            if (c.backend == table.backend && c.lab == table.lab)
                of_[{c.submission, c.case_name}].push_back(&c);
    }
    // Returns what is wrong with the changes of a row; empty if nothing is.
    std::string fault(const verdict_row &row) const
    {
        auto at = of_.find(row_id_of(row));
        if (at == of_.end()) return {};
        const verdict_change *last = nullptr;
        for (const verdict_change *c : at->second) {
            if (last && last->after != c->before)
                return fmt::format("changes.csv:{}: {} in {} was \"{}\" before, says line {}, not "
                                   "\"{}\"",
                                   c->line, c->submission, c->case_name, last->after, last->line,
                                   c->before);
            last = c;
        }
        if (last->after == row.words() || last->before == row.words()) return {};
        return fmt::format("changes.csv:{}: {} in {} is \"{}\" in the table, neither \"{}\" nor "
                           "\"{}\"",
                           last->line, row.submission, row.case_name, row.words(), last->before,
                           last->after);
    }
    // Returns the last change of a row if the table does not have it yet, else null.
    const verdict_change *waiting(const verdict_row &row) const
    {
        auto at = of_.find(row_id_of(row));
        if (at == of_.end()) return nullptr;
        const verdict_change *last = at->second.back();
        return last->before == row.words() && last->after != row.words() ? last : nullptr;
    }

private:
    std::map<row_id, std::vector<const verdict_change *>> of_;
};

} // namespace

std::string verdict_row::words() const { return points.empty() ? verdict : verdict + " " + points; }

verdict_table read_table(const std::string &path, const std::string &backend,
                         const std::string &lab)
{
    verdict_table table{backend, lab, {}};
    for (const csv_row &read : read_csv(path, table_header(table.keyed()))) {
        const std::vector<std::string> &w = read.words;
        verdict_row row{w[0], w[1], w[2], w[3], w[4], table.keyed() ? w[5] : ""};
        check_row(row, path, read.line);
        if (!table.rows.empty() && row_id_of(table.rows.back()) >= row_id_of(row))
            throw machine_error(fmt::format("{}:{}: rows must be in order, each once; this one "
                                            "belongs above the last",
                                            path, read.line));
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string as_csv(const verdict_table &table)
{
    std::string text = csv_line(table_header(table.keyed()));
    for (const verdict_row &row : table.rows) {
        std::vector<std::string> words = {row.submission, row.case_name, row.verdict, row.points,
                                          row.why};
        if (table.keyed()) words.push_back(row.key);
        text += csv_line(words);
    }
    return text;
}

std::vector<verdict_change> read_changes(const std::string &path)
{
    std::vector<verdict_change> changes;
    for (const csv_row &read : read_csv(path, change_header)) {
        const std::vector<std::string> &w = read.words;
        if (trimmed(w[6]).empty())
            throw machine_error(fmt::format("{}:{}: the change of {} in {} has no reason; say in "
                                            "the last column why it is right",
                                            path, read.line, w[2], w[3]));
        changes.push_back({w[0], w[1], w[2], w[3], w[4], w[5], w[6], read.line});
    }
    return changes;
}

graded_submission rows_of(const lab_view &graded, const std::string &submission, bool pointed)
{
    graded_submission g{submission, graded_submission::whole, {}};
    for (const case_view &c : graded.cases) {
        if (c.held_back) continue; // an instructor's own, and no part of the project
        // Other skipped cases count, because the submission used what the simulator lacks.
        const bool not_judged =
            c.verdict == "SKIPPED" && c.whole && !c.whole->value("unsupported", false);
        if (not_judged && c.kind != "correctness") continue; // the other backend judges it
        if (c.verdict == "INFRA_ERROR" || not_judged) {
            g.how = graded_submission::some_cases;
            continue;
        }
        std::string points;
        if (pointed) points = fmt::format("{:g}/{:g}", c.points, c.max_points);
        g.rows.push_back({submission, c.name, c.verdict, points, {}, {}});
    }
    std::ranges::sort(g.rows, {}, row_id_of);
    return g;
}

verdict_comparison compare(const verdict_table &table, const std::vector<graded_submission> &all,
                           const std::vector<verdict_change> &changes)
{
    verdict_comparison c;
    c.recorded = {table.backend, table.lab, {}};
    const history listed(table, changes);
    std::map<std::string, const graded_submission *> graded;
    std::map<row_id, const verdict_row *> got;
    for (const graded_submission &g : all) {
        graded[g.submission] = &g;
        for (const verdict_row &row : g.rows) got[row_id_of(row)] = &row;
    }
    for (const verdict_row &row : table.rows) {
        if (std::string fault = listed.fault(row); !fault.empty()) c.faults.push_back(fault);
        auto of = graded.find(row.submission);
        auto now = got.find(row_id_of(row));
        const bool gone =
            of == graded.end() || (of->second->how == graded_submission::whole && now == got.end());
        if (gone) {
            c.differences.push_back({row.submission, row.case_name, row.words(), {}, {}});
            continue;
        }
        verdict_row kept = row;
        if (now != got.end()) {
            const verdict_row &is = *now->second;
            const verdict_change *change = listed.waiting(row);
            ++c.compared;
            if (agrees(row, is)) {
                kept.key = is.key;
                if (change)
                    c.faults.push_back(fmt::format("changes.csv:{}: {} in {} is still \"{}\"",
                                                   change->line, row.submission, row.case_name,
                                                   row.words()));
            } else {
                const bool taken = change && change->after == is.words();
                if (taken) kept = is;
                std::string note;
                if (change)
                    note = fmt::format("changes.csv:{} lists {}", change->line,
                                       taken ? "this, to be recorded" : change->after);
                c.differences.push_back(
                    {row.submission, row.case_name, row.words(), is.words(), note});
            }
            got.erase(now);
        }
        c.recorded.rows.push_back(std::move(kept));
    }
    for (const auto &[where, row] : got) {
        c.differences.push_back({row->submission, row->case_name, {}, row->words(), {}});
        c.recorded.rows.push_back(*row);
    }
    std::ranges::sort(c.recorded.rows, {}, row_id_of);
    return c;
}

std::vector<verdict_difference> verdict_comparison::refused() const
{
    std::map<row_id, std::string> kept;
    for (const verdict_row &row : recorded.rows) kept[row_id_of(row)] = row.words();
    std::vector<verdict_difference> result;
    for (const verdict_difference &d : differences)
        if (d.changed() && kept[{d.submission, d.case_name}] != d.after) result.push_back(d);
    return result;
}

std::string difference_words(const verdict_comparison &c, std::size_t max_lines)
{
    std::string text;
    std::size_t shown = 0;
    auto add = [&](const std::string &line) {
        if (++shown <= max_lines) text += (text.empty() ? "" : "\n") + line;
    };
    for (const verdict_difference &d : c.differences) {
        std::string before = d.before.empty() ? "not in the table" : "was " + d.before;
        std::string now = d.after.empty() ? "is not there any more" : "is " + d.after;
        add(fmt::format("{}  {}  {}: {}, {}{}", c.recorded.lab, d.submission, d.case_name, before,
                        now, d.note.empty() ? "" : " (" + d.note + ")"));
    }
    for (const std::string &fault : c.faults) add(fault);
    const bool is_new = c.compared == 0 && c.faults.empty() &&
                        std::ranges::all_of(c.differences, [](const verdict_difference &d) {
                            return d.before.empty();
                        });
    if (is_new && shown > max_lines)
        return fmt::format("the table has none of these {} rows yet: --record writes them", shown);
    if (shown > max_lines) text += fmt::format("\nand {} more", shown - max_lines);
    return text;
}

std::string lines_for_changes(const verdict_comparison &c)
{
    std::string text;
    for (const verdict_difference &d : c.refused())
        text += csv_line(
            {c.recorded.backend, c.recorded.lab, d.submission, d.case_name, d.before, d.after, ""});
    return text;
}

} // namespace cli
