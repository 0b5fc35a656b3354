// Judges the results of our submissions: each role has its own demand.
#include "judgement.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace cli {

namespace {

// Lists the failures among the cases that count; without any, one correctness case must have
// passed.
std::string failures(const lab_view &l, const std::function<bool(const case_view &)> &counts)
{
    std::string result;
    for (const case_view &c : l.cases)
        if (counts(c) && !c.passed() && c.verdict != "SKIPPED")
            result += fmt::format("{}{}  {}: {}", result.empty() ? "" : "\n      ", c.verdict,
                                  c.name, c.message);
    const bool some = std::ranges::any_of(
        l.cases, [](const case_view &c) { return c.kind == "correctness" && c.passed(); });
    return result.empty() && !some ? "no correctness case was graded" : result;
}

bool any_case(const case_view &) { return true; }
bool correctness(const case_view &c)
{
    // A speed case with a wrong answer counts as incorrect, not as slow.
    return c.kind == "correctness" || (c.verdict != "PASS" && c.verdict != "TOO_SLOW");
}

// Returns the functions that are not written at all: all their cases, except skipped ones, say so.
std::set<std::string> not_begun(const lab_view &l)
{
    std::set<std::string> functions;
    for (const case_view &c : l.cases)
        if (c.verdict == "NOT_WRITTEN") functions.insert(function_of(c.name));
    for (const case_view &c : l.cases)
        if (c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
            functions.erase(function_of(c.name));
    return functions;
}

double required_of(const json &c, const char *gate)
{
    return number_at(c.value(gate, json()), "required");
}

bool has_gate(const case_view &c)
{
    if (c.kind == "correctness" || c.verdict == "SKIPPED") return false;
    if (c.kind == "clock")
        return required_of(*c.whole, "speedup") > 0 || required_of(*c.whole, "fraction") > 0;
    return c.whole->contains("counters") && !c.whole->at("counters").empty();
}

// True for a gate that is meant to fail other code than naive; a file in wrong/ is an example.
bool naive_may_pass(const case_view &c) { return c.whole->value("naive_may_pass", false); }

// Naive must fail all the other gates: one that it passes is useless.
check_finding gates_separate(const lab_view &naive)
{
    check_finding f{"naive misses every speed gate that the solution must reach", {}};
    bool any = false;
    for (const case_view &c : naive.cases) {
        any = any || has_gate(c);
        if (has_gate(c) && c.passed() && !naive_may_pass(c))
            f.fault += fmt::format("{}{} passes", f.fault.empty() ? "" : "; ", c.name);
    }
    if (!any) f.fault = "no speed case has a gate";
    return f;
}

std::string stub_fault(const toolchain &t, const check_task &work, const lab_view &l,
                       const std::string &backend)
{
    if (states_expectation(read_text(work.what.source)))
        return unmet(expectation_of(t, work, backend), l);
    if (l.status != "fail") return fmt::format("its status is {}", l.status);
    const std::vector<std::string> &wrong = work.of->given_wrong;
    for (const case_view &c : l.cases) {
        const bool given = std::ranges::find(wrong, function_of(c.name)) != wrong.end();
        if (c.passed() ? given : !given && c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
            return fmt::format("{}  {}: {}", c.verdict, c.name, c.message);
    }
    return {};
}

check_finding judge_stub(const toolchain &t, const check_task &work, const lab_view &l,
                         const std::string &backend)
{
    check_finding f{"stub compiles and is not written", stub_fault(t, work, l, backend)};
    std::string file = t.shown(t.stub(*work.of));
    if (work.edited) f.what += fmt::format(" (the one git has: {} was edited)", file);
    if (!work.known && !f.fault.empty()) {
        f.fault.clear();
        f.skipped = file + " was edited, and without git nobody has the original";
    }
    return f;
}

// Naive may leave out a function in which nothing is counted or timed: it would be an answer, and
// student editions contain naive.
check_finding judge_naive(const lab_view &l)
{
    std::set<std::string> left_out = not_begun(l);
    for (const case_view &c : l.cases)
        if (c.kind != "correctness") left_out.erase(function_of(c.name));
    return {"naive is right", failures(l, [&](const case_view &c) {
                return correctness(c) && !left_out.contains(function_of(c.name));
            })};
}

// The vendor's version may rely on more than the contract promises. Its first lines then name the
// case in which that shows; it must be right in all others.
check_finding judge_library(const toolchain &t, const check_task &work, const lab_view &l,
                            const std::string &backend)
{
    if (states_expectation(read_text(work.what.source))) {
        const expectation e = expectation_of(t, work, backend);
        if (!e.passes && !e.may_pass) {
            std::string fault = failures(
                l, [&](const case_view &c) { return correctness(c) && c.name != e.case_name; });
            return {fmt::format("{} is right, but for {} in {}", work.what.name, e.verdict,
                                e.case_name),
                    fault.empty() ? unmet(e, l) : fault};
        }
    }
    return {work.what.name + " is right", wrong_answers(l)};
}

// A student who solves the stub adds lines to it and needs to change none.
check_finding judge_filled(const toolchain &t, const check_task &work, const std::string &wrong,
                           const std::string &backend)
{
    // git's stub is no matter of the device, and may be older where a copy of the files is graded.
    if (backend == "gpu") return {"filled is right", wrong};
    std::string lost = line_not_kept(read_text(original_of(t, t.stub(*work.of)).path),
                                     read_text(work.what.source));
    if (!lost.empty()) lost = fmt::format("it does not keep the stub's line \"{}\"", lost);
    return {"filled only adds lines to the stub, and is right", lost.empty() ? wrong : lost};
}

// Judges one speed case that was graded alone: naive must fail it, other implementations pass.
check_finding judge_speed(const check_task &work, const lab_view &l)
{
    const bool slow = work.as == check_role::naive;
    check_finding f{
        fmt::format("{} {} {}", work.what.name, slow ? "misses" : "reaches", work.case_name), {}};
    for (const case_view &c : l.cases) {
        if (c.verdict == "SKIPPED") f.skipped = c.message;
        const bool lacks_speed = c.verdict == "TOO_SLOW" || c.verdict == "TIMEOUT";
        const bool holds = slow ? lacks_speed || naive_may_pass(c) : c.passed();
        if (holds || c.verdict == "SKIPPED") continue;
        f.fault = fmt::format("{}  {}: {}", c.verdict, c.name, c.message);
    }
    if (l.cases.empty()) f.fault = "it was not graded";
    return f;
}

// Naive and a wrong submission are about the lab's own cases, not about an instructor's.
lab_view judged_by_its_file(const check_task &work, lab_view l)
{
    if (work.as == check_role::naive || work.as == check_role::wrong)
        std::erase_if(l.cases, [](const case_view &c) { return c.held_back; });
    return l;
}

} // namespace

std::string wrong_answers(const lab_view &l) { return failures(l, correctness); }

std::vector<check_finding> judge(const toolchain &t, const check_task &work, const lab_view &graded,
                                 const std::string &backend)
{
    const lab_view l = judged_by_its_file(work, graded);
    const std::string wrong = wrong_answers(l);
    if (work.only == "speed") return {judge_speed(work, l)};
    switch (work.as) {
    case check_role::naive:
        // Test labs need no gates that naive fails.
        if (work.of->test) return {{"naive is right", wrong}};
        if (!work.whole()) return {judge_naive(l)};
        return {judge_naive(l), gates_separate(l)};
    case check_role::library:
        return {judge_library(t, work, l, backend)};
    case check_role::rung:
        return {{work.what.name + " is right", wrong}};
    case check_role::solution:
        return {{"solution passes everything", failures(l, any_case)}};
    case check_role::stub:
        return {judge_stub(t, work, l, backend)};
    case check_role::filled:
        return {judge_filled(t, work, wrong, backend)};
    case check_role::right: {
        const std::set<std::string> left_out = not_begun(l);
        std::string fault = failures(l, [&](const case_view &c) {
            return !left_out.count(function_of(c.name)) && (work.only.empty() || correctness(c));
        });
        return {{work.submission() + ": passes everything", fault}};
    }
    case check_role::wrong: {
        expectation e = expectation_of(t, work, backend);
        std::string gets = e.passes     ? "passes here"
                           : e.may_pass ? "may pass here"
                                        : fmt::format("{} in {}", e.verdict, e.case_name);
        return {{fmt::format("wrong/{}: {}", work.what.name, gets), unmet(e, l)}};
    }
    }
    return {};
}

} // namespace cli
