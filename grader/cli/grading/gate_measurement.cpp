// Reads ratios, fractions and verdicts from the result documents of a ladder.
#include "gate_measurement.hpp"

#include "text/todo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cli {

namespace {

using grading::calibrated_case;
using grading::calibration_figure;

constexpr const char *machine_fault = "INFRA_ERROR";

// Returns the case of a document; null: it has none of this name.
const json &case_in(const json &document, const std::string &name)
{
    static const json none;
    for (const lab_view &l : labs_of(document))
        for (const case_view &c : l.cases)
            if (c.name == name) return *c.whole;
    return none;
}

double measure(const json &object, const char *key)
{
    const json &value = member(object, key);
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool is_judged_by_time(const json &graded)
{
    return text_at(graded, "kind") == "clock" && graded.contains("speedup");
}

calibration_figure figure_of(const json &graded)
{
    calibration_figure f;
    f.verdict = text_at(graded, "verdict");
    const json &ratio = member(graded, "speedup");
    f.ratio = measure(ratio, "median");
    f.low = measure(ratio, "low");
    f.high = measure(ratio, "high");
    f.fraction = number_at(member(graded, "fraction"), "value");
    f.reached = int(number_at(member(graded, "steps"), "reached"));
    return f;
}

bool is_spoiled(const calibrated_case &c)
{
    return c.naive.verdict == machine_fault || c.solution.verdict == machine_fault ||
           std::ranges::any_of(c.rungs,
                               [](const auto &r) { return r.second.verdict == machine_fault; });
}

} // namespace

bool misses_a_lesson(const json &counted)
{
    for (const lab_view &l : labs_of(counted))
        for (const case_view &c : l.cases)
            if (c.kind == "clock" &&
                text_at(case_in(counted, grading::counted_name_of(c.name)), "verdict") != "PASS")
                return true;
    return false;
}

std::map<std::string, calibrated_case> calibrated_cases(const ladder_results &results)
{
    std::map<std::string, calibrated_case> cases;
    for (const auto &[version, document] : results.timed)
        for (const lab_view &l : labs_of(document))
            for (const case_view &view : l.cases) {
                if (!is_judged_by_time(*view.whole)) continue;
                calibrated_case &c = cases[view.name];
                c.required = number_at((*view.whole)["speedup"], "required");
                c.required_fraction = number_at(member(*view.whole, "fraction"), "required");
                c.offered = int(number_at(member(*view.whole, "steps"), "offered"));
                c.naive_may_pass = member(*view.whole, "naive_may_pass") == json(true);
            }
    for (auto &[name, c] : cases)
        for (const auto &[version, document] : results.timed) {
            calibration_figure f = figure_of(case_in(document, name));
            const auto counted = results.counted.find(version);
            if (counted != results.counted.end())
                f.counted =
                    text_at(case_in(counted->second, grading::counted_name_of(name)), "verdict");
            if (version == "naive")
                c.naive = f;
            else if (version == "solution")
                c.solution = f;
            else
                c.rungs[version] = f;
        }
    return cases;
}

std::vector<std::string> machine_faults(const ladder_results &results)
{
    std::vector<std::string> faults;
    for (const auto *documents : {&results.timed, &results.counted})
        for (const auto &[version, document] : *documents)
            for (const lab_view &l : labs_of(document))
                for (const case_view &c : l.cases)
                    if (c.verdict == machine_fault)
                        faults.push_back(fmt::format("{}, {}: {}", version, c.name, c.message));
    return faults;
}

void keep_earlier_where_spoiled(const grading::calibrated_lab &earlier,
                                grading::calibrated_lab &measured)
{
    if (earlier.contract != measured.contract) return;
    for (const auto &[name, before] : earlier.cases) {
        const auto now = measured.cases.find(name);
        if (now == measured.cases.end() || is_spoiled(now->second)) measured.cases[name] = before;
    }
}

} // namespace cli
