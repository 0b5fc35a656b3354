// A result as JUnit XML, for GitLab, Jenkins and others.
//
// GitLab's page "Unit test reports": a file is smaller than 30 MB, and of tests with the same name
// and class it takes only the first. It shows about 80 lines of a failure, so the message is first.
#include "formats.hpp"
#include "safe_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>
#include <vector>

namespace cli {

namespace {

std::string first_line(const std::string &words) { return words.substr(0, words.find('\n')); }

std::string junit_case(const safe_lab &l, const safe_case &c, const std::string &name)
{
    std::string text =
        fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3f}\">\n",
                    xml_escaped(l.name), xml_escaped(c.kind), name, c.seconds);
    std::string why = xml_escaped(c.verdict + ": " + first_line(c.words)),
                words = xml_escaped(c.words);
    if (c.state == case_state::passed) {
        if (!words.empty()) text += fmt::format("      <system-out>{}</system-out>\n", words);
    } else if (c.state == case_state::open)
        text +=
            fmt::format("      <skipped message=\"{}: {}\"/>\n", xml_escaped(c.judged_as()), words);
    else
        text += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                            c.state == case_state::error ? "error" : "failure",
                            xml_escaped(c.verdict), why, words);
    return text + "    </testcase>\n";
}

// Returns the escaped name, with a number if another case has it.
std::string distinct(const std::string &safe, std::set<std::string> &taken)
{
    const std::string name = xml_escaped(safe);
    std::string result = name;
    for (int n = 2; !taken.insert(result).second; ++n) result = fmt::format("{} ({})", name, n);
    return result;
}

std::string junit_of(const std::vector<safe_lab> &labs, const json &document)
{
    auto counts = [](std::size_t tests, std::size_t failures, std::size_t errors, double seconds) {
        return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", tests,
                           failures, errors, seconds);
    };
    std::string text;
    std::size_t tests = 0, failures = 0, errors = 0;
    for (const safe_lab &l : labs) {
        tests += l.cases.size();
        failures += l.count(case_state::failed);
        errors += l.count(case_state::error);
        text += fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\" file=\"{}\">\n"
                            "    <properties>\n",
                            xml_escaped(l.name),
                            counts(l.cases.size(), l.count(case_state::failed),
                                   l.count(case_state::error), l.seconds),
                            l.count(case_state::open), xml_escaped(l.file));
        std::vector<std::pair<const char *, std::string>> properties = {
            {"status", l.status},
            {"backend", short_line(text_at(document, "backend"))},
            {"seed", short_line(text_at(document, "seed"))}};
        if (l.graded()) {
            properties.emplace_back("points", fmt::format("{:g}", l.points));
            properties.emplace_back("max_points", fmt::format("{:g}", l.max_points));
            properties.emplace_back("open_points", fmt::format("{:g}", l.open_points));
        }
        if (!l.held_back_words.empty()) properties.emplace_back("held_back", l.held_back_words);
        for (const auto &[name, value] : properties)
            text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name,
                                xml_escaped(value));
        text += "    </properties>\n";
        std::set<std::string> taken;
        for (const safe_case &c : l.cases) text += junit_case(l, c, distinct(c.name, taken));
        if (!l.warnings.empty())
            text += fmt::format("    <system-out>{}</system-out>\n",
                                xml_escaped(fmt::format("{}", fmt::join(l.warnings, "\n"))));
        text += "  </testsuite>\n";
    }
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n{}"
                       "</testsuites>\n",
                       counts(tests, failures, errors, total(labs, &safe_lab::seconds)), text);
}

} // namespace

std::string as_junit(const json &document)
{
    return fitting(document, 29'999'999,
                   [&](const auto &labs) { return junit_of(labs, document); });
}

} // namespace cli
