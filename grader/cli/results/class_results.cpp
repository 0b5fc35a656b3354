// Writes a class's results as tables, and finds one student's in them.
#include "class_results.hpp"

#include "cli/support/csv.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>

namespace cli {

namespace {

std::string shown_file(const std::string &file) { return file == "-" ? "standard input" : file; }

// Returns a discarded value if the file, or standard input for "-", holds no JSON.
json read_document(const std::string &file)
{
    std::string text;
    try {
        text = file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                           : read_text(file);
    } catch (const machine_error &e) { // the user named the file
        throw usage_error(fmt::format("{}. Give the file that --json wrote.", e.what()));
    }
    return json::parse(text, nullptr, false);
}

std::string verdict_words(const grade_row &row)
{
    std::string result;
    for (const auto &[verdict, count] : row.verdicts)
        result += fmt::format("{}{} {}", result.empty() ? "" : " ", verdict, count);
    return result;
}

json sums_of_row(const grade_row &row, const point_sums &sums)
{
    return {{"points", row.without_grade() ? json() : json(sums.points)},
            {"max_points", sums.max_points},
            {"open_points", row.without_grade() ? json() : json(sums.open)}};
}

} // namespace

void grade_row::add_problem(const std::string &words)
{
    if (!problem.empty() && !words.empty()) problem += "; ";
    problem += on_one_line(words, 4000, ' ');
}

std::string grade_row::remarks() const
{
    return remark + (remark.empty() || problem.empty() ? "" : "; ") + problem;
}

std::string as_csv(const std::vector<grade_row> &rows, const std::string &backend,
                   const std::string &seed)
{
    std::string text = "student,lab,status,points,max_points,open_points,clock_points,"
                       "clock_max_points,clock_open_points,held_back_points,held_back_max_points,"
                       "held_back_open_points,verdicts,first_failure,problem,file,handed_in,"
                       "late_days,backend,seed,tool\n";
    auto number = [](const grade_row &row, double v) {
        return row.without_grade() ? "" : fmt::format("{:g}", v);
    };
    for (grade_row row : rows) {
        for (const std::string &note : row.open) row.add_problem(note);
        std::vector<std::string> words = {row.student,
                                          row.lab,
                                          row.status,
                                          number(row, row.points),
                                          fmt::format("{:g}", row.max_points),
                                          number(row, row.open_points),
                                          number(row, row.clock.points),
                                          fmt::format("{:g}", row.clock.max_points),
                                          number(row, row.clock.open),
                                          number(row, row.held_back.points),
                                          fmt::format("{:g}", row.held_back.max_points),
                                          number(row, row.held_back.open),
                                          verdict_words(row),
                                          row.first_failure,
                                          row.remarks(),
                                          on_one_line(row.file, 1000),
                                          row.handed_in,
                                          row.late_days ? std::to_string(*row.late_days) : "",
                                          backend,
                                          seed,
                                          tool_version};
        for (std::string &word : words) word = without_formula(word);
        text += csv_line(words);
    }
    return text;
}

json as_json(const std::vector<grade_row> &rows, const std::string &backend,
             const std::string &seed)
{
    json document = {{"schema", class_schema},
                     {"tool", tool_version},
                     {"seed", seed},
                     {"backend", backend},
                     {"rows", json::array()}};
    for (const grade_row &row : rows) document["rows"].push_back(row_as_json(row));
    return document;
}

json row_as_json(const grade_row &row)
{
    auto number = [&](double v) { return row.without_grade() ? json() : json(v); };
    return {{"student", row.student},
            {"known_as", {{"system", row.known_as.system}, {"id", row.known_as.id}}},
            {"lab", row.lab},
            {"file", on_one_line(row.file, 1000)},
            {"sha256", row.sha256},
            {"handed_in", row.handed_in},
            {"time_of_commit", row.time_of_commit},
            {"late_days", row.late_days ? json(*row.late_days) : json()},
            {"status", row.status},
            {"problem", row.problem},
            {"remark", row.remark},
            {"points", number(row.points)},
            {"max_points", row.max_points},
            {"open_points", number(row.open_points)},
            {"clock", sums_of_row(row, row.clock)},
            {"held_back", sums_of_row(row, row.held_back)},
            {"open", row.open},
            {"verdicts", row.verdicts},
            {"first_failure", row.first_failure},
            {"result", row.document}};
}

grade_row row_in(const json &from)
{
    grade_row row;
    row.student = text_at(from, "student"), row.lab = text_at(from, "lab");
    const json &known_as = member(from, "known_as");
    row.known_as = {text_at(known_as, "system"), text_at(known_as, "id")};
    row.file = text_at(from, "file"), row.sha256 = text_at(from, "sha256");
    row.handed_in = text_at(from, "handed_in");
    row.time_of_commit = member(from, "time_of_commit") == true;
    if (member(from, "late_days").is_number())
        row.late_days = static_cast<int>(number_at(from, "late_days"));
    row.status = text_at(from, "status"), row.problem = text_at(from, "problem");
    row.remark = text_at(from, "remark");
    row.points = number_at(from, "points"), row.max_points = number_at(from, "max_points");
    row.open_points = number_at(from, "open_points");
    auto sums = [&](const char *key) -> point_sums {
        const json &o = member(from, key);
        return {number_at(o, "points"), number_at(o, "max_points"), number_at(o, "open_points")};
    };
    row.clock = sums("clock"), row.held_back = sums("held_back");
    for (const json &note : member(from, "open"))
        if (note.is_string()) row.open.push_back(note);
    for (const auto &[verdict, count] : member(from, "verdicts").items())
        if (count.is_number_integer()) row.verdicts[verdict] = count;
    row.first_failure = text_at(from, "first_failure");
    row.document = member(from, "result");
    return row;
}

json result_of_student(const json &of_class, const std::string &student)
{
    std::vector<json> documents;
    std::vector<std::string> names;
    for (const json &row : member(of_class, "rows")) {
        if (!row.is_object()) continue;
        names.push_back(text_at(row, "student"));
        if (names.back() != student) continue;
        const json &result = member(row, "result");
        std::string lab = text_at(row, "lab"), problem = text_at(row, "problem");
        built_submission none;
        none.verdict = grading::verdict::SUBMISSION_INVALID;
        none.message = "Nothing was graded: " + problem;
        if (invalid(result).empty())
            documents.push_back(result);
        else if (text_at(row, "status") == "missing")
            documents.push_back(refused_build(lab, "stub", none,
                                              {number_at(row, "max_points"),
                                               number_at(member(row, "clock"), "max_points"),
                                               number_at(member(row, "held_back"), "max_points")}));
        else
            documents.push_back(grader_fault(lab, "stub", problem));
    }
    if (documents.empty()) {
        std::string near = nearest(student, names);
        throw usage_error(fmt::format("There is no student \"{}\" among the {} rows.{}",
                                      sanitized(student, 200), names.size(),
                                      near.empty() ? "" : " Did you mean " + near + "?"));
    }
    json result = merged(documents, text_at(of_class, "seed"), text_at(of_class, "backend"));
    for (const char *key : {"tool", "held_back_seed"})
        if (const std::string word = text_at(of_class, key); !word.empty()) result[key] = word;
    return result;
}

json read_result(const std::string &file, const std::string &student)
{
    const std::string shown = shown_file(file);
    json document = read_document(file);
    const bool class_of = text_at(document, "schema") == class_schema;
    if (class_of && student.empty())
        throw usage_error(fmt::format("{} is of a class: say whose results with --student NAME, as "
                                      "the table names them.",
                                      shown));
    const std::string newer = newer_schema(document);
    if (!class_of && !student.empty() && newer.empty())
        throw usage_error(fmt::format("--student is for what autograde --json wrote, and {} is "
                                      "none: leave it out.",
                                      shown));
    if (class_of) document = result_of_student(document, student);
    if (!newer.empty()) throw usage_error(fmt::format("{} {}", shown, newer));
    if (const std::string wrong = invalid(document); !wrong.empty())
        throw usage_error(
            fmt::format("{} {}. Give the file that grade --json wrote.", shown, wrong));
    return document;
}

json read_class_results(const std::string &file)
{
    json document = read_document(file);
    if (const std::string newer = newer_schema(document); !newer.empty())
        throw usage_error(fmt::format("{} {}", shown_file(file), newer));
    if (text_at(document, "schema") != class_schema || !member(document, "rows").is_array())
        throw usage_error(fmt::format("{} is not of a class. Give the file that autograde --json "
                                      "wrote.",
                                      shown_file(file)));
    return document;
}

} // namespace cli
