// Reads, checks and merges result documents, and makes those for labs whose grader did not run.
#include "result.hpp"

#include "cli/support/errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

json one_lab(const std::string &lab, const std::string &submission, const char *status,
             const offered_points &offered, json only_case)
{
    double open = only_case.at("open_points");
    json document = {{"schema", result_schema}, {"tool", tool_version}};
    document["labs"] = json::array({{{"lab", lab},
                                     {"submission", submission},
                                     {"status", status},
                                     {"points", 0},
                                     {"max_points", offered.points},
                                     {"open_points", open},
                                     {"clock",
                                      {{"points", 0},
                                       {"max_points", offered.clock},
                                       {"open_points", open > 0 ? offered.clock : 0}}},
                                     {"cases", json::array({std::move(only_case)})}}});
    if (offered.held_back > 0)
        document["labs"][0]["held_back"] = {{"points", 0},
                                            {"max_points", offered.held_back},
                                            {"open_points", open > 0 ? offered.held_back : 0}};
    return document;
}

json no_points_case(const char *name, std::string_view verdict, const std::string &message,
                    const std::string &hint)
{
    return {{"name", name},       {"kind", "correctness"}, {"verdict", verdict},
            {"points", 0},        {"max_points", 0},       {"open_points", 0},
            {"message", message}, {"hint", hint},          {"duration_ms", 0}};
}

case_view case_of(const json &c)
{
    return {.name = text_at(c, "name"),
            .kind = text_at(c, "kind"),
            .verdict = text_at(c, "verdict"),
            .message = text_at(c, "message"),
            .hint = text_at(c, "hint"),
            .points = number_at(c, "points"),
            .max_points = number_at(c, "max_points"),
            .whole = &c,
            .about = text_at(c, "about"),
            .line = int(std::clamp(number_at(c, "line"), 0.0, 1e9)),
            .open_points = number_at(c, "open_points"),
            .held_back = member(c, "held_back") == true};
}

bool of_clock(const case_view &c) { return c.kind == "clock"; }

// Takes the points of an object of result.json.
point_sums sums_of(const json &o)
{
    return {number_at(o, "points"), number_at(o, "max_points"), number_at(o, "open_points")};
}

} // namespace

const json &member(const json &object, const std::string &key)
{
    static const json none;
    const auto at = object.is_object() ? object.find(key) : object.end();
    return at != object.end() ? *at : none;
}

std::string text_at(const json &object, const std::string &key)
{
    const json &value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

double number_at(const json &object, const std::string &key)
{
    const json &value = member(object, key);
    return value.is_number() ? value.get<double>() : 0;
}

grading::case_outcome outcome_of(const case_view &c)
{
    // A skipped case, as one of the clock without a GPU, does not show that its function is
    // written.
    const bool skipped = c.verdict == "SKIPPED";
    return {c.name, !c.passed() && !skipped, skipped || c.verdict == "NOT_WRITTEN",
            c.kind != "correctness"};
}

namespace {

std::vector<grading::case_outcome> outcomes_of(const lab_view &l)
{
    std::vector<grading::case_outcome> outcomes;
    for (const case_view &c : l.cases) outcomes.push_back(outcome_of(c));
    return outcomes;
}

} // namespace

std::vector<int> todos_to_blame(const case_view &c, const lab_view &l, const todo_list &todos)
{
    return grading::todos_to_blame(c.named_in_todo(), c.line, outcomes_of(l), todos);
}

const case_view *first_to_mend(const lab_view &l, const todo_list &todos)
{
    std::vector<std::size_t> order = grading::order_to_mend(outcomes_of(l), todos);
    return order.empty() ? nullptr : &l.cases[order[0]];
}

const case_view *first_to_improve(const lab_view &l)
{
    for (const case_view &c : l.cases)
        if (c.passed() && c.kind != "correctness" && c.points < c.max_points) return &c;
    return nullptr;
}

std::vector<lab_view> labs_of(const json &document)
{
    std::vector<lab_view> result;
    for (const json &l : member(document, "labs")) {
        lab_view lab{.lab = text_at(l, "lab"),
                     .submission = text_at(l, "submission"),
                     .status = text_at(l, "status"),
                     .points = number_at(l, "points"),
                     .max_points = number_at(l, "max_points"),
                     .open_points = number_at(l, "open_points"),
                     .clock = sums_of(member(l, "clock")),
                     .held_back = sums_of(member(l, "held_back"))};
        for (const json &c : member(l, "cases")) lab.cases.push_back(case_of(c));
        if (const json &warnings = member(l, "warnings"); warnings.is_array())
            for (const json &w : warnings)
                if (w.is_string()) lab.warnings.push_back(w.get<std::string>());
        result.push_back(std::move(lab));
    }
    return result;
}

bool is_as_given(const function_tally &t, const todo_list &todos)
{
    return t.passed == 0 && t.skipped == 0 && todos.is_untouched(t.function);
}

std::vector<function_tally> tallies(const lab_view &l)
{
    std::vector<function_tally> all;
    for (const case_view &c : l.cases) {
        const std::string function = function_of(c.name);
        auto at = std::ranges::find(all, function, &function_tally::function);
        if (at == all.end()) at = all.insert(at, function_tally{function});
        if (of_clock(c)) {
            at->clock.points += c.points;
            at->clock.max_points += c.max_points;
            at->clock.open += c.open_points;
            if (c.open_points > 0) continue;
        }
        ++at->cases;
        at->passed += c.passed();
        at->not_written += c.verdict == "NOT_WRITTEN";
        at->skipped += c.verdict == "SKIPPED";
        at->faults += c.verdict == "INFRA_ERROR";
        if (of_clock(c)) continue;
        at->points += c.points;
        at->max_points += c.max_points;
        at->open += c.open_points;
    }
    return all;
}

json refused_build(const std::string &lab, const std::string &submission,
                   const built_submission &built, const offered_points &offered)
{
    json c = no_points_case("build", grading::name(built.verdict), built.message, built.hint);
    if (!built.diagnostics.empty()) c["output"] = built.diagnostics;
    return one_lab(lab, submission, "fail", offered, std::move(c));
}

json grader_fault(const std::string &lab, const std::string &submission, const std::string &message)
{
    return one_lab(
        lab, submission, "error", {},
        no_points_case("grader", "INFRA_ERROR", message, "this is no fault of the submission"));
}

json skipped_lab(const std::string &lab, const std::string &submission, const std::string &message,
                 const offered_points &offered)
{
    json c = no_points_case("grader", "SKIPPED", message, {});
    c["max_points"] = c["open_points"] = offered.points;
    return one_lab(lab, submission, "skipped", offered, std::move(c));
}

bool lab_view::judged() const
{
    if (status == "error") return false;
    return status != "skipped" ||
           std::ranges::any_of(cases, [](const case_view &c) { return c.verdict != "SKIPPED"; });
}

std::string open_words(double open) { return open > 0 ? fmt::format(", {:g} open", open) : ""; }

std::vector<std::string> open_notes(const lab_view &l)
{
    struct open_reason {
        std::string why, names;
        double points;
    };
    std::vector<open_reason> reasons;
    for (const case_view &c : l.cases) {
        if (c.open_points <= 0 || of_clock(c) || c.held_back) continue;
        const std::string why = c.message + (c.hint.empty() ? "" : " " + c.hint);
        const auto same = std::find_if(reasons.begin(), reasons.end(),
                                       [&](const open_reason &r) { return r.why == why; });
        if (same == reasons.end()) {
            reasons.push_back({why, c.name, c.open_points});
            continue;
        }
        same->names += "; " + c.name;
        same->points += c.open_points;
    }
    std::vector<std::string> notes;
    for (const open_reason &r : reasons)
        notes.push_back(fmt::format("{:g} point{} open: {}. {}", r.points,
                                    r.points == 1 ? " is" : "s are", r.names, r.why));
    return notes;
}

std::vector<std::string> disputed_notes(const lab_view &l)
{
    std::vector<std::string> notes;
    for (const case_view &c : l.cases) {
        if (c.held_back) continue;
        if (c.whole && text_at(*c.whole, "judged_by") == "gpu")
            notes.push_back(
                fmt::format("{} was judged by the GPU alone: the simulator could not.", c.name));
        if (!c.whole || member(*c.whole, "disputed") != true) continue;
        const json &gpu = member(*c.whole, "gpu");
        notes.push_back(fmt::format("Disputed: {}. The simulator passes it, and on the GPU it was "
                                    "{}{}.",
                                    c.name, text_at(gpu, "verdict"),
                                    !c.passed() ? ", again in fresh processes"
                                    : text_at(gpu, "again").empty()
                                        ? ", once; it was not judged again"
                                        : ", but not again in fresh "
                                          "processes"));
    }
    return notes;
}

std::string clock_words(const lab_view &l)
{
    if (l.clock.max_points <= 0) return {};
    std::string text = l.clock.open >= l.clock.max_points
                           ? fmt::format("Clock: {:g} points, all open", l.clock.max_points)
                           : fmt::format("Clock: {:g} of {:g} points{}", l.clock.points,
                                         l.clock.max_points, open_words(l.clock.open));
    std::vector<std::string> reasons;
    for (const case_view &c : l.cases)
        if (of_clock(c) && c.open_points > 0 &&
            std::ranges::find(reasons, c.message) == reasons.end())
            reasons.push_back(c.message);
    for (const std::string &why : reasons)
        text += ". " + why.substr(0, why.find_last_not_of('.') + 1);
    return text + ".";
}

std::string clock_shown(const point_sums &clock)
{
    if (clock.max_points <= 0) return {};
    return clock.open >= clock.max_points ? "open" : points_words(clock.points, clock.max_points);
}

std::string band_of(const lab_view &l)
{
    constexpr double understood = 30;
    if (l.max_points != points_without_clock) return {};
    if (l.points >= points_without_clock)
        return l.clock.max_points > 0 && l.clock.points >= l.clock.max_points ? "complete and fast"
                                                                              : "complete";
    return l.points >= understood                 ? "understood"
           : l.points >= points_for_right_answers ? "right"
                                                  : "";
}

std::string band_words(const lab_view &l)
{
    const std::string band = band_of(l);
    return band.empty() ? band : ": " + band;
}

bool was_judged(const json &c)
{
    const std::string verdict = text_at(c, "verdict");
    return !verdict.empty() && verdict != "SKIPPED" && verdict != "INFRA_ERROR";
}

bool failed_in(const json &c) { return was_judged(c) && text_at(c, "verdict") != "PASS"; }

int status_of(const json &lab)
{
    bool graded = false, open = false, wrong = false;
    for (const json &c : member(lab, "cases")) {
        if (text_at(c, "verdict") == "INFRA_ERROR") return infrastructure;
        graded = graded || was_judged(c);
        if (member(c, "held_back") == true) continue; // the lab's status would tell of it
        open = open || (text_at(c, "verdict") == "SKIPPED" && member(c, "not_required") != true);
        wrong = wrong || failed_in(c);
    }
    return wrong ? failed : open || !graded ? nothing_graded : passed;
}

const char *status_word(int status)
{
    return status == passed           ? "pass"
           : status == failed         ? "fail"
           : status == nothing_graded ? "skipped"
                                      : "error";
}

json as_counted(json document, bool with_clock)
{
    for (json &l : document["labs"]) {
        if (!with_clock) {
            json &cases = l["cases"];
            const std::size_t all = cases.size();
            cases.erase(std::remove_if(cases.begin(), cases.end(),
                                       [](const json &c) { return text_at(c, "kind") == "clock"; }),
                        cases.end());
            if (cases.size() < all) l["status"] = status_word(status_of(l));
            continue;
        }
        for (const char *key : {"points", "max_points", "open_points"})
            l[key] = number_at(l, key) + number_at(member(l, "clock"), key);
    }
    return document;
}

static bool is_held_back(const json &graded_case)
{
    return member(graded_case, "held_back") == true;
}

json without_held_back(json document)
{
    document.erase("held_back_seed");
    for (json &l : document["labs"]) {
        const double all = number_at(member(l, "held_back"), "max_points");
        if (all > 0) l["held_back"] = {{"points", 0}, {"max_points", all}, {"open_points", all}};
        json &cases = l["cases"];
        if (std::ranges::none_of(cases, is_held_back)) continue;
        cases.erase(std::remove_if(cases.begin(), cases.end(), is_held_back), cases.end());
        l["status"] = status_word(status_of(l));
    }
    return document;
}

json with_held_back_published(json document)
{
    for (json &l : document["labs"]) {
        const json sums = member(l, "held_back");
        const double all = number_at(sums, "max_points");
        if (all <= 0) continue;
        const bool left_out =
            std::ranges::none_of(l["cases"], is_held_back) && number_at(sums, "open_points") >= all;
        if (left_out && std::ranges::any_of(l["cases"], was_judged))
            throw usage_error(fmt::format(
                "{} was graded without its held-back cases, {:g} points, so there is nothing of "
                "them to publish. Give what autograde --json wrote in the workbook that has "
                "labs/{}/held_back.cpp.",
                on_one_line(text_at(l, "lab"), 100), all, on_one_line(text_at(l, "lab"), 100)));
        for (const char *key : {"points", "max_points", "open_points"})
            l[key] = number_at(l, key) + number_at(sums, key);
        l.erase("held_back");
        for (json &c : l["cases"]) c.erase("held_back");
        l["status"] = status_word(status_of(l));
    }
    return document;
}

std::string held_back_words(const lab_view &l)
{
    const double all = l.held_back.max_points;
    if (all <= 0) return {};
    return fmt::format("{:g} point{} held back until publication.", all,
                       all == 1 ? " is" : "s are");
}

static bool more_than_all(const json &of)
{
    return number_at(of, "open_points") > 0 &&
           number_at(of, "points") + number_at(of, "open_points") > number_at(of, "max_points");
}

std::string invalid(const json &document)
{
    if (!document.is_object()) return "is not a JSON object";
    if (text_at(document, "schema") != result_schema)
        return fmt::format("is not of schema {}", result_schema);
    const json &labs = member(document, "labs");
    if (!labs.is_array() || labs.empty()) return "has no labs";
    for (const json &l : labs) {
        if (text_at(l, "lab").empty()) return "has a lab without a name";
        const json &cases = member(l, "cases");
        if (!cases.is_array()) return "has a lab without cases";
        if (more_than_all(l) || more_than_all(member(l, "held_back")))
            return "has a lab with more points reached and open than there are";
        for (const json &c : cases) {
            grading::verdict v;
            if (!grading::parse(text_at(c, "verdict"), v))
                return fmt::format("has a case with the unknown verdict \"{}\"",
                                   text_at(c, "verdict"));
            if (more_than_all(c))
                return fmt::format("has more points reached and open than there are in \"{}\"",
                                   text_at(c, "name"));
        }
    }
    return {};
}

std::string newer_schema(const json &document)
{
    const std::string schema = text_at(document, "schema");
    for (const std::string known : {result_schema, class_schema}) {
        const std::size_t stem = known.find('/') + 1;
        const std::string version = schema.substr(std::min(stem, schema.size()));
        const bool number = !version.empty() && version.size() <= 6 &&
                            version.find_first_not_of("0123456789") == version.npos;
        if (schema.starts_with(known.substr(0, stem)) && number &&
            std::stoi(version) > std::stoi(known.substr(stem)))
            return fmt::format("is of schema {}, which a newer workbook wrote; this one reads {}. "
                               "Use the workbook that wrote it.",
                               schema, known);
    }
    return {};
}

json merged(const std::vector<json> &documents, const std::string &seed, const std::string &backend)
{
    json result = {{"schema", result_schema}, {"tool", tool_version},  {"seed", seed},
                   {"backend", backend},      {"env", json::object()}, {"labs", json::array()}};
    for (const json &d : documents) {
        if (result["env"].empty() && d.contains("env")) result["env"] = d["env"];
        for (const json &l : d.at("labs")) result["labs"].push_back(l);
    }
    return result;
}

int merged_status(const std::vector<int> &statuses)
{
    for (int status : {infrastructure, failed, nothing_graded})
        if (std::ranges::find(statuses, status) != statuses.end()) return status;
    return passed;
}

std::string points_words(double points, double max_points, double open)
{
    return fmt::format("{:g} / {:g}{}", points, max_points, open_words(open));
}

std::string points_words(const lab_view &l)
{
    return points_words(l.points, l.max_points, l.open_points);
}

} // namespace cli
