// Writes result.json and the counters of a run.
#include "api/inputs.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "text/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace grading {

namespace {

// Requirements for the points that a speed case has not reached: "For 4 points: at least 65 % of
// copy bandwidth. For 6 points: at least 90 % of copy bandwidth." The cause follows, if known.
std::string more_points(const case_record &r)
{
    if (!r.speed || r.speed->offered < 2 || r.points == r.max_points) return {};
    std::string text;
    for (int step = r.speed->reached + 1; step <= r.speed->offered; ++step) {
        const double points = points_of_steps(r.max_points, step, r.speed->offered);
        if (points == r.points) continue;
        text += fmt::format(
            "{}For {:g} point{}: {}.", text.empty() ? "" : " ", points, points == 1 ? "" : "s",
            step == 1 ? "what is required" : r.speed->needs.at(std::size_t(step - 1)));
    }
    return text.empty() || r.speed->cause.empty() ? text : text + " " + r.speed->cause;
}

std::string printable_lines(const std::string &untrusted)
{
    std::vector<std::string> all = lines(untrusted);
    for (std::string &line : all) line = printable(line);
    return fmt::format("{}", fmt::join(all, "\n"));
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
    // A case that requires less than naive's own speed accepts naive's algorithm.
    if (s.naive_may_pass || (s.required > 0 && s.required < 1)) c["naive_may_pass"] = true;
    return c;
}

struct point_sums {
    double points = 0, max_points = 0, open = 0;
    void add(const case_record &r)
    {
        points += r.points;
        max_points += r.max_points;
        open += r.open_points();
    }
};

nlohmann::json sums_json(const point_sums &s)
{
    return {{"points", s.points}, {"max_points", s.max_points}, {"open_points", s.open}};
}

constexpr std::size_t max_printed = 4096; // bytes of a case's own output in its result

nlohmann::json case_json(const case_record &r)
{
    nlohmann::json c{{"name", r.name},
                     {"kind", name(r.what)},
                     {"verdict", name(r.result)},
                     {"points", r.points},
                     {"max_points", r.max_points},
                     {"open_points", r.open_points()},
                     {"message", r.message},
                     {"hint", r.hint},
                     {"duration_ms", std::round(r.duration_ms * 100) / 100}};
    if (r.held_back) c["held_back"] = true;
    if (!r.about.empty()) c["about"] = r.about;
    if (r.line > 0) c["line"] = r.line;
    if (!r.text.empty()) c["printed"] = printable_lines(r.text.substr(0, max_printed));
    if (r.text_cut || r.text.size() > max_printed) c["printed_cut"] = true;
    if (!r.tried) c["not_tried"] = true;
    if (r.lacking) c["not_required"] = true;
    if (r.unsupported) c["unsupported"] = true;
    if (!r.replay.empty()) c["replay"] = r.replay;
    if (!r.unwatched.empty()) c["races_partly_unwatched"] = r.unwatched;
    if (r.speed) c = speed_json(*r.speed, c);
    if (std::string more = more_points(r); !more.empty()) c["more_points"] = more;
    return c;
}

} // namespace

std::string result_json()
{
    nlohmann::json l, cases = nlohmann::json::array(), not_chosen = nlohmann::json::array();
    point_sums counted, clock, held_back;
    held_back.max_points = held_back.open = points_left_out();
    for (const case_record &r : records()) {
        if (!r.started) {
            if (!r.held_back) not_chosen.push_back(r.name);
            continue;
        }
        (r.held_back ? held_back : r.what == kind::clock ? clock : counted).add(r);
        cases.push_back(case_json(r));
    }
    static const std::map<int, const char *> status{
        {0, "pass"}, {1, "fail"}, {77, "skipped"}, {99, "error"}};
    l = {{"lab", lab_name()},
         {"submission", options().submission},
         {"status", status.at(exit_status())},
         {"points", counted.points},
         {"max_points", counted.max_points},
         {"open_points", counted.open},
         {"clock", sums_json(clock)},
         {"cases", cases}};
    if (held_back.max_points > 0) l["held_back"] = sums_json(held_back);
    if (!not_chosen.empty()) l["not_chosen"] = not_chosen;
    nlohmann::json env{{"sandbox", name(sandbox_found().how)}};
    if (!options().simulated) {
        const device_facts &d = device();
        env["gpu"] = printable(d.name);
        env["cc"] = fmt::format("{}.{}", d.major, d.minor);
        env["driver"] = fmt::format("{}.{}", d.driver / 1000, d.driver % 1000 / 10);
        env["cuda"] = fmt::format("{}.{}", d.runtime / 1000, d.runtime % 1000 / 10);
    }
    nlohmann::json document{{"schema", "cuda-workbook/1"},
                            {"tool", tool_version},
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
        graded = graded || !r.skipped();
        if (r.held_back) continue; // its points are on top, and a status would tell of it
        // A case that needs something the machine lacks, and the lab can do without, is not
        // required.
        open = open || (r.skipped() && !r.lacking);
        failed = failed || (!r.passed() && !r.skipped());
    }
    return failed ? 1 : open || !graded ? 77 : 0;
}

} // namespace grading
