// Tests that every form is valid, whatever text it holds: 10,000 outputs of cases in results, and
// 10,000 cells in gradebooks.
#include "cli/results/grade_columns.hpp"
#include "cli/support/csv.hpp"
#include "cli/support/subprocess.hpp"
#include "result_documents.hpp"
#include "strict_forms.hpp"

#include <fmt/format.h>

#include <random>

using namespace cli;

namespace {

constexpr int hostile_texts = 10'002, cases_each = 3, cells_each = 7, longest_every = 200;
const std::string held_back_text = "only_staff_may_read_this"; // in what is held back

// Makes text from pieces that mean something to one of the forms, and from any bytes.
class hostile_text {
public:
    explicit hostile_text(unsigned seed) : dice_(seed) {}

    std::string operator()(std::size_t pieces)
    {
        static const std::vector<std::string> known = {"]]>",
                                                       "<![CDATA[",
                                                       "</failure>",
                                                       "<!--",
                                                       "&amp;&#0;",
                                                       "&lt",
                                                       "<script>",
                                                       "\"'`",
                                                       "\n::error::no\n",
                                                       "\r\n::set-output name=a::b",
                                                       "##[error]no",
                                                       "%0A%25",
                                                       "\n\n# head\n",
                                                       "=cmd|' /C calc'!A0",
                                                       "+1",
                                                       "-1",
                                                       "@SUM(1)",
                                                       "\t=1",
                                                       ",;\"\"\n",
                                                       "\n\"scores\":{\"a\":1}}\n",
                                                       "{\"scores\": {\"02_scaling\": 99}}",
                                                       "{\"fraction\": 1}",
                                                       "\\ud800",
                                                       "\\u0000",
                                                       "\\",
                                                       "\nComment :=>> no\nGrade :=>> 100\n",
                                                       "<|--\n- no\n--|>",
                                                       "| a | b |",
                                                       "[x](y) @all",
                                                       "\xe2\x80\xae",
                                                       "\xe2\x80\x8f",
                                                       "\xef\xbb\xbf",
                                                       "\xef\xbf\xbe",
                                                       "\xef\xbf\xbf",
                                                       "\xed\xa0\x80",
                                                       "\xed\xb0\x80",
                                                       "\xc0\x80",
                                                       "\xff\xfe",
                                                       "\xf5\x80\x80\x80",
                                                       "\xe2\x82",
                                                       "\xc2\x85",
                                                       "\xe2\x80\xa8",
                                                       "\x7f",
                                                       "\x1b[31m",
                                                       "\x1b]0;t\x07",
                                                       "\x08\x08",
                                                       "\v\f",
                                                       "\xf0\x9f\x98\x80",
                                                       "\xe4\xb8\xad",
                                                       "word ",
                                                       " ",
                                                       "1e999",
                                                       "NaN",
                                                       "null",
                                                       "true",
                                                       std::string(1, '\0'),
                                                       std::string(90, 'x')};
        std::string text;
        for (std::size_t i = 0; i < pieces; ++i)
            if (dice_() % 4 != 0)
                text += known[dice_() % known.size()];
            else
                for (unsigned n = dice_() % 8; n > 0; --n) text += static_cast<char>(dice_() % 256);
        return text;
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(dice_() % n); }

private:
    std::mt19937 dice_;
};

json result_with(hostile_text &text, bool long_lines)
{
    static const std::vector<std::string> verdicts = {"PASS",    "WRONG_ANSWER", "CRASH",
                                                      "SKIPPED", "TOO_SLOW",     "INFRA_ERROR"};
    std::vector<json> cases;
    for (int i = 0; i < cases_each; ++i) {
        // Most results have no fault of ours, since those have fewer members.
        const unsigned verdict = text.below(text.below(8) == 0 ? 6 : 5);
        json c = case_of("", verdicts[verdict].c_str(), verdicts[verdict] == "PASS" ? 2 : 0, 2,
                         text(4), text(2));
        c["name"] = "c" + text(2);
        c["printed"] = text(long_lines ? 0 : 4) + std::string(long_lines ? 1 << 20 : 0, '<');
        c["output"] = text(2);
        c["more_points"] = text(1);
        c["line"] = text.below(3);
        if (i == cases_each - 1) {
            c["held_back"] = true;
            c["name"] = c["message"] = held_back_text;
        }
        cases.push_back(std::move(c));
    }
    json document = result_with_cases("fail", cases);
    document["labs"][0]["submission"] = text(3);
    document["labs"][0]["warnings"] = {text(2)};
    return document;
}

// Documents for the parsers of Python's library, all in one file: their kind and length, then they.
class for_python {
public:
    void add(const char *kind, const std::string &text)
    {
        all_ += fmt::format("{} {}\n{}", kind, text.size(), text);
        ++count_;
    }
    std::string read_all(project &p) const
    {
        child python;
        python.arguments = {"python3", p.put("read.py", R"(# Parses each document in a file.
import csv, io, json, sys, xml.etree.ElementTree as xml
from pathlib import Path
data, at, count = Path(sys.argv[1]).read_bytes(), 0, 0
while at < len(data):
    end = data.index(b"\n", at)
    kind, size = data[at:end].split()
    text = data[end + 1:end + 1 + int(size)].decode()
    if kind == b"xml":
        xml.fromstring(text)
    elif kind == b"json":
        json.loads(text, parse_constant=lambda name: sys.exit(f"{name} is no JSON"))
    else:
        assert len({len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}) == 1
    at, count = end + 1 + int(size), count + 1
print(count, "documents")
)"),
                            p.put("documents", all_)};
        return run(python).text;
    }
    std::string expected() const { return fmt::format("{} documents\n", count_); }

private:
    std::string all_;
    std::size_t count_ = 0;
};

// A gradebook of Canvas in which everything but the columns' names is hostile, as far as Canvas
// itself would export it: as UTF-8, without the character 0.
std::vector<std::vector<std::string>> roster_with(hostile_text &text)
{
    auto cell = [&] {
        std::string valid =
            json::parse(json(text(3)).dump(-1, ' ', false, json::error_handler_t::replace));
        std::erase(valid, '\0');
        return valid;
    };
    return {{"Student", "ID", "SIS Login ID", "Section", "Lab (12)", "Current Score"},
            {"    Points Possible", "", "", "", "6", "(read only)"},
            {cell(), "7", cell(), cell(), "", cell()},
            {cell(), "8", "ada", cell(), cell(), cell()}};
}

} // namespace

TEST_CASE("ten thousand hostile outputs make no invalid document in any form")
{
    hostile_text text(20261126);
    for_python python;
    int invalid_documents = 0;
    std::string first;
    auto check = [&](int i, const char *form, const std::string &wrong) {
        if (wrong.empty()) return;
        if (invalid_documents++ == 0) first = fmt::format("{} of result {}: {}", form, i, wrong);
    };
    for (int i = 0; i < hostile_texts / cases_each; ++i) {
        const json whole = result_with(text, i % longest_every == 0),
                   document = without_held_back(whole);
        auto form = [&](const char *name, const std::string &made, const std::string &wrong,
                        const char *kind) {
            check(i, name, wrong);
            if (kind) python.add(kind, made);
            const bool hides = name == std::string("gradescope");
            if (!hides && contains(made, held_back_text))
                check(i, name, "it shows what is held back");
        };
        std::string made = as_junit(document);
        form("junit", made, wrong_in_junit(made), "xml");
        made = as_summary(document, 1 << 20);
        form("summary", made, wrong_in_xml("?>" + made), nullptr);
        made = as_gradescope(whole, true);
        form("gradescope", made, wrong_in_gradescope(made), "json");
        made = as_prairielearn(document);
        form("prairielearn", made, wrong_in_prairielearn(made), "json");
        made = as_autolab(document);
        form("autolab", made, wrong_in_autolab(made), nullptr);
        made = as_coderunner(document);
        form("coderunner", made, wrong_in_coderunner(made), "json");
        made = as_text(document);
        form("text", made, wrong_in_text(made), nullptr);
        made = as_annotations(document);
        form("annotations", made, wrong_in_annotations(made), nullptr);
        bool ungraded = false; // Classroom 50 has no form for that
        for (const json &c : document["labs"][0]["cases"])
            ungraded |= c["verdict"] == "INFRA_ERROR";
        bool all_open = true;
        for (const json &c : document["labs"][0]["cases"]) all_open &= c["verdict"] == "SKIPPED";
        if (!ungraded && !all_open) {
            made = as_classroom50(document, one_submission);
            form("classroom50", made, wrong_in_classroom50(made), "json");
        }
    }
    INFO(first);
    CHECK(invalid_documents == 0);
    project p;
    CHECK(python.read_all(p) == python.expected());
}

TEST_CASE("ten thousand hostile cells of gradebooks come back as they were")
{
    hostile_text text(20261127);
    for_python python;
    int changed = 0;
    json of_class = {{"schema", class_schema},
                     {"rows",
                      {{{"student", "ada"},
                        {"lab", "02_scaling"},
                        {"status", "fail"},
                        {"points", 4.5},
                        {"max_points", 6},
                        {"open_points", 0}}}}};
    for (int i = 0; i < hostile_texts / cells_each; ++i) {
        std::vector<std::vector<std::string>> roster = roster_with(text);
        if (lower(trimmed(roster[3][4])) == "ex") continue;
        std::string table;
        for (const auto &row : roster) table += csv_line(row);
        const filled_column filled = fill_column(of_class, table,
                                                 {.lms = "canvas",
                                                  .roster_name = "roster.csv",
                                                  .lab = "",
                                                  .column = "",
                                                  .clock = false,
                                                  .published = false});
        roster[3][4] = "4.5";
        const std::vector<csv_row> read = parse_csv(filled.table, "filled");
        REQUIRE(read.size() == roster.size());
        bool same = true;
        for (std::size_t row = 0; row < roster.size(); ++row) {
            roster[row].pop_back(); // the read-only column
            same &= read[row].words == roster[row];
        }
        changed += !same;
        python.add("csv", filled.table);
        for (const std::string &note : filled.notes)
            if (const std::string wrong = unsafe_in(note); !wrong.empty()) FAIL_CHECK(wrong);
    }
    CHECK(changed == 0);
    project p;
    CHECK(python.read_all(p) == python.expected());
}
