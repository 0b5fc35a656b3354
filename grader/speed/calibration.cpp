// Reads, writes and judges calibrations of timed gates.
#include "calibration.hpp"

#include "text/bare_code.hpp"
#include "text/fnv1a.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace grading {

namespace {

using nlohmann::json;

constexpr double same = 1e-6; // gates that differ by more were changed

bool is_timed(const calibration_figure &f)
{
    return f.verdict == "PASS" || f.verdict == "TOO_SLOW";
}

// Why a version that misses the lesson is not surely below the gate; empty: it is.
std::string not_below(const std::string &name, const calibration_figure &f, double required)
{
    if (!is_timed(f))
        return fmt::format("{} was not timed ({})", name,
                           f.verdict.empty() ? "no result" : f.verdict);
    // A call so slow that it ran into its limit has no figures.
    if (std::isnan(f.high) && f.verdict == "TOO_SLOW") return {};
    if (f.high < required) return {};
    return fmt::format("{} reaches up to {:.3g} times naive's speed, and {:.3g} is required", name,
                       f.high, required);
}

std::string solution_misses(const calibrated_case &c)
{
    const calibration_figure &f = c.solution;
    if (!is_timed(f))
        return fmt::format("the solution was not timed ({})",
                           f.verdict.empty() ? "no result" : f.verdict);
    if (c.required > 0 && !(f.low >= solution_margin * c.required))
        return fmt::format("the solution surely reaches only {:.3g} times naive's speed; {:.3g} "
                           "would leave room above the {:.3g} required",
                           f.low, solution_margin * c.required, c.required);
    if (c.required_fraction > 0 && f.fraction < c.required_fraction)
        return fmt::format("the solution reaches {:.0f} % of this device's rate, and {:.0f} % is "
                           "required",
                           100 * f.fraction, 100 * c.required_fraction);
    if (f.verdict != "PASS") return "the solution does not pass";
    if (f.reached < c.offered)
        return fmt::format("the solution reaches {} of {} steps", f.reached, c.offered);
    return {};
}

double rounded(double v) { return std::round(v * 1e4) / 1e4; }
json number(double v) { return std::isfinite(v) ? json(v) : json(); }

calibration_figure rounded(calibration_figure f)
{
    for (double *v : {&f.ratio, &f.low, &f.high, &f.fraction}) *v = rounded(*v);
    return f;
}
// A decision must follow from the figures as the file has them.
calibrated_case rounded(calibrated_case c)
{
    c.naive = rounded(c.naive);
    c.solution = rounded(c.solution);
    for (auto &[name, f] : c.rungs) f = rounded(f);
    return c;
}

json figure_json(const calibration_figure &f)
{
    json o = {{"verdict", f.verdict},
              {"ratio", number(f.ratio)},
              {"low", number(f.low)},
              {"high", number(f.high)},
              {"steps", f.reached}};
    if (f.fraction > 0) o["fraction"] = number(f.fraction);
    if (!f.counted.empty()) o["counted"] = f.counted;
    return o;
}

json case_json(const calibrated_case &measured)
{
    const calibrated_case c = rounded(measured);
    const gate_decision d = decide_gate(c);
    json o = {{"required", c.required},
              {"required_fraction", c.required_fraction},
              {"steps", c.offered},
              {"naive", figure_json(c.naive)},
              {"solution", figure_json(c.solution)},
              {"rungs", json::object()},
              {"kept", d.kept}};
    if (c.naive_may_pass) o["naive_may_pass"] = true;
    if (!d.kept) o["why"] = d.why;
    for (const auto &[name, f] : c.rungs) o["rungs"][name] = figure_json(f);
    return o;
}

// A number that may be null.
double measure(const json &o, const char *key)
{
    const auto at = o.find(key);
    return at == o.end() || at->is_null() ? std::numeric_limits<double>::quiet_NaN()
                                          : at->get<double>();
}

calibration_figure figure_of(const json &o)
{
    calibration_figure f;
    f.verdict = o.at("verdict").get<std::string>();
    f.ratio = measure(o, "ratio");
    f.low = measure(o, "low");
    f.high = measure(o, "high");
    f.fraction = o.value("fraction", 0.0);
    f.reached = o.at("steps").get<int>();
    f.counted = o.value("counted", "");
    return f;
}

calibrated_case case_of(const json &o, const std::string &name)
{
    calibrated_case c;
    c.required = o.at("required").get<double>();
    c.required_fraction = o.at("required_fraction").get<double>();
    c.offered = o.at("steps").get<int>();
    c.naive_may_pass = o.value("naive_may_pass", false);
    c.naive = figure_of(o.at("naive"));
    c.solution = figure_of(o.at("solution"));
    for (const auto &[rung, f] : o.at("rungs").items()) c.rungs[rung] = figure_of(f);
    if (o.at("kept").get<bool>() != decide_gate(c).kept)
        throw std::invalid_argument(
            fmt::format("\"kept\" of \"{}\" does not follow from the figures beside it", name));
    return c;
}

calibrated_lab lab_of(const json &o)
{
    calibrated_lab l;
    l.contract = o.at("contract").get<std::string>();
    l.driver = o.at("driver").get<std::string>();
    l.cuda = o.at("cuda").get<std::string>();
    l.date = o.at("date").get<std::string>();
    l.version = o.at("version").get<std::string>();
    for (const auto &[name, c] : o.at("cases").items()) l.cases[name] = case_of(c, name);
    return l;
}

std::string number_of_lab(const std::string &lab) { return lab.substr(0, lab.find('_')); }

} // namespace

bool misses_lesson(const calibration_figure &f)
{
    return !f.counted.empty() && f.counted != "PASS" && f.counted != "SKIPPED";
}

gate_decision decide_gate(const calibrated_case &c)
{
    if (c.required > 0) {
        // Below 1, naive's way is the right one.
        if (!c.naive_may_pass && c.required >= 1)
            if (std::string why = not_below("naive", c.naive, c.required); !why.empty())
                return {false, why};
        for (const auto &[name, f] : c.rungs) {
            if (!misses_lesson(f)) continue;
            if (std::string why = not_below(name, f, c.required); !why.empty()) return {false, why};
        }
    }
    const std::string why = solution_misses(c);
    return {why.empty(), why};
}

calibration parse_calibration(const std::string &text)
{
    try {
        const json o = json::parse(text);
        if (o.at("schema").get<std::string>() != calibration_schema)
            throw std::invalid_argument(fmt::format("its schema is not {}", calibration_schema));
        calibration c;
        c.model = o.at("model").get<std::string>();
        c.cc = o.at("cc").get<std::string>();
        for (const auto &[name, l] : o.at("labs").items()) c.labs[name] = lab_of(l);
        return c;
    } catch (const json::parse_error &e) {
        throw std::invalid_argument(fmt::format("it is no JSON from byte {} on", e.byte));
    } catch (const json::exception &e) { // a key is missing or of another type
        throw std::invalid_argument(fmt::format("it lacks a part ({})", e.what()));
    }
}

std::string calibration_text(const calibration &c)
{
    json labs = json::object();
    for (const auto &[name, l] : c.labs) {
        json cases = json::object();
        for (const auto &[case_name, of] : l.cases) cases[case_name] = case_json(of);
        labs[name] = {{"contract", l.contract}, {"driver", l.driver},   {"cuda", l.cuda},
                      {"date", l.date},         {"version", l.version}, {"cases", cases}};
    }
    const json o = {
        {"schema", calibration_schema}, {"model", c.model}, {"cc", c.cc}, {"labs", labs}};
    return o.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string calibration_file(const std::string &folder, const std::string &model)
{
    std::string name;
    for (unsigned char c : model) name += std::isalnum(c) || c == '-' ? char(c) : '_';
    return folder + "/" + name + ".json";
}

// The line of a contract, and of a naive version, below which no function is timed.
static constexpr std::string_view not_timed = "\n// --- Not timed ---\n";

std::string contract_hash(const std::string &header, const std::string &naive)
{
    auto timed = [](const std::string &text) {
        return bare_code(text.substr(0, text.find(not_timed)));
    };
    return fmt::format("{:016x}", fnv1a(timed(header) + '\n' + timed(naive)));
}

std::string open_gate(const asked_gate &gate, const std::string &file, const std::string &text)
{
    const std::string to_do = fmt::format("./workbook calibrate {}, or copy a colleague's {}",
                                          number_of_lab(gate.lab), file);
    const std::string missing = fmt::format("not calibrated for {}: {}", gate.model, to_do);
    if (text.empty()) return missing;
    calibration all;
    try {
        all = parse_calibration(text);
    } catch (const std::invalid_argument &e) {
        return fmt::format("{} cannot be used: {}. What to do: {}", file, e.what(), to_do);
    }
    if (all.model != gate.model)
        return fmt::format("{} is about another GPU, {}; {}", file, all.model, missing);
    const auto l = all.labs.find(gate.lab);
    if (l == all.labs.end()) return missing;
    const auto c = l->second.cases.find(gate.case_name);
    if (l->second.contract != gate.contract ||
        (c != l->second.cases.end() &&
         (std::abs(c->second.required - gate.required) > same ||
          std::abs(c->second.required_fraction - gate.required_fraction) > same ||
          c->second.offered != gate.offered)))
        return fmt::format("the calibration for {} is of {}, and the contract, the naive version "
                           "or the gate has changed since: {}",
                           gate.model, l->second.date, to_do);
    if (c == l->second.cases.end()) return missing;
    const gate_decision d = decide_gate(c->second);
    if (d.kept) return {};
    return fmt::format("on {} this gate does not tell right from wrong: {} ({})", gate.model, d.why,
                       file);
}

} // namespace grading
