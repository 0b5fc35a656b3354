// Merges the results of the simulator and of a GPU, case by case.
#include "both_backends.hpp"

#include <map>

namespace cli {

namespace {

bool is(const json &c, const char *verdict) { return text_at(c, "verdict") == verdict; }

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
    const json seen = {{"verdict", by_gpu["verdict"]},
                       {"message", by_gpu["message"]},
                       {"again", was_judged(again) ? text_at(again, "verdict") : ""}};
    json c = failed_in(again) ? std::move(by_gpu) : std::move(by_simulator);
    c["disputed"] = true;
    c["gpu"] = seen;
    return c;
}

// A fault of the machine or of ours leaves the clock open: what the simulator judged counts.
json case_of_clock(const json &by_simulator, json by_gpu)
{
    if (by_gpu.is_null()) return by_simulator;
    if (!is(by_gpu, "INFRA_ERROR")) return by_gpu;
    by_gpu["verdict"] = "SKIPPED";
    by_gpu["open_points"] = by_gpu["max_points"];
    by_gpu["not_required"] = by_gpu["fault"] = true;
    return by_gpu;
}

json merged_case(const json &by_simulator, const json &by_gpu, const json &again)
{
    if (text_at(by_simulator, "kind") == "clock") return case_of_clock(by_simulator, by_gpu);
    if (text_at(by_simulator, "kind") == "speed" || !was_judged(by_gpu)) return by_simulator;
    if (is(by_simulator, "SKIPPED")) {
        json c = by_gpu;
        c["judged_by"] = "gpu";
        return c;
    }
    if (is(by_simulator, "PASS") && failed_in(by_gpu)) return disputed(by_simulator, by_gpu, again);
    return by_simulator;
}

// The sandbox of both runs is no stronger than the weaker one.
std::string weaker_sandbox(const json &a, const json &b)
{
    for (const char *how : {"none", "landlock"})
        for (const json *env : {&a, &b})
            if (text_at(*env, "sandbox") == how) return how;
    return text_at(b, "sandbox");
}

} // namespace

bool disagree(const json &by_simulator, const json &by_gpu)
{
    return text_at(by_simulator, "kind") == "correctness" && is(by_simulator, "PASS") &&
           failed_in(by_gpu);
}

json merged_backends(const json &by_simulator, const json &by_gpu, const json &again)
{
    json document = by_simulator;
    document["backend"] = "both";
    if (by_gpu.contains("env")) {
        document["env"] = by_gpu["env"];
        document["env"]["sandbox"] = weaker_sandbox(member(by_simulator, "env"), by_gpu["env"]);
    }
    const case_map gpu = cases_of(by_gpu), repeated = cases_of(again);
    json &l = document["labs"][0];
    std::map<std::string, double> counted, clock, held_back;
    for (json &c : l["cases"]) {
        const std::string name = text_at(c, "name");
        c = merged_case(c, case_in(gpu, name), case_in(repeated, name));
        for (const char *key : {"points", "max_points", "open_points"})
            (member(c, "held_back") == true  ? held_back
             : text_at(c, "kind") == "clock" ? clock
                                             : counted)[key] += number_at(c, key);
    }
    for (const auto &[key, value] : counted) l[key] = value;
    for (const auto &[key, value] : clock) l["clock"][key] = value;
    for (const auto &[key, value] : held_back) l["held_back"][key] = value;
    l["status"] = status_word(status_of(l));
    return document;
}

} // namespace cli
