// Merges the results of the simulator and of a GPU, case by case.
#include "both_backends.hpp"

#include "cli/support/errors.hpp"

#include <fmt/format.h>

#include <map>

namespace cli {

namespace {

bool is(const json &c, const char *verdict) { return text_at(c, "verdict") == verdict; }
bool is_judged(const json &c) { return c.is_object() && !is(c, "SKIPPED"); }
bool failed_at(const json &c)
{
    return is_judged(c) && !is(c, "PASS") && !is(c, "INFRA_ERROR");
}

using case_map = std::map<std::string, json>;
case_map cases_of(const json &document)
{
    case_map result;
    for (const json &l : member(document, "labs"))
        for (const json &c : member(l, "cases")) result[text_at(c, "name")] = c;
    return result;
}

json case_in(const case_map &cases, const std::string &name)
{
    const auto at = cases.find(name);
    return at != cases.end() ? at->second : json();
}

// The simulator passed the case, and the GPU did not.
json disputed(json by_simulator, json by_gpu, const json &again)
{
    const json seen = {{"verdict", by_gpu["verdict"]}, {"message", by_gpu["message"]}};
    const bool repeated = failed_at(again);
    json c = repeated ? std::move(by_gpu) : std::move(by_simulator);
    c["disputed"] = true;
    c["gpu"] = seen;
    return c;
}

json merged_case(const json &by_simulator, const json &by_gpu, const json &again)
{
    if (text_at(by_simulator, "kind") == "clock") return by_gpu.is_null() ? by_simulator : by_gpu;
    if (text_at(by_simulator, "kind") == "speed" || !is_judged(by_gpu)) return by_simulator;
    if (is(by_gpu, "INFRA_ERROR")) return by_gpu;
    if (!is_judged(by_simulator)) {
        json c = by_gpu;
        c["judged_by"] = "gpu";
        return c;
    }
    if (is(by_simulator, "PASS") && failed_at(by_gpu)) return disputed(by_simulator, by_gpu, again);
    return by_simulator;
}

const char *status_word(int status)
{
    return status == passed           ? "pass"
           : status == failed         ? "fail"
           : status == nothing_graded ? "skipped"
                                      : "error";
}

} // namespace

bool disagree(const json &by_simulator, const json &by_gpu)
{
    return text_at(by_simulator, "kind") == "correctness" && is(by_simulator, "PASS") &&
           failed_at(by_gpu);
}

int status_of(const json &document)
{
    bool graded = false, open = false, wrong = false;
    for (const json &l : member(document, "labs"))
        for (const json &c : member(l, "cases")) {
            if (is(c, "INFRA_ERROR")) return infrastructure;
            graded = graded || is_judged(c);
            open = open || (is(c, "SKIPPED") && member(c, "not_required") != true);
            wrong = wrong || failed_at(c);
        }
    return wrong ? failed : open || !graded ? nothing_graded : passed;
}

json merged_backends(const json &by_simulator, const json &by_gpu, const json &again)
{
    json document = by_simulator;
    document["backend"] = "both";
    if (by_gpu.contains("env")) document["env"] = by_gpu["env"];
    const case_map gpu = cases_of(by_gpu), repeated = cases_of(again);
    json &l = document["labs"][0];
    std::map<std::string, double> counted, clock;
    for (json &c : l["cases"]) {
        const std::string name = text_at(c, "name");
        c = merged_case(c, case_in(gpu, name), case_in(repeated, name));
        for (const char *key : {"points", "max_points", "open_points"})
            (text_at(c, "kind") == "clock" ? clock : counted)[key] += number_at(c, key);
    }
    for (const auto &[key, value] : counted) l[key] = value;
    for (const auto &[key, value] : clock) l["clock"][key] = value;
    l["status"] = status_word(status_of(document));
    return document;
}

} // namespace cli
