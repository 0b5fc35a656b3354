// A result as annotations and a summary of a step in GitHub Actions.
#include "formats.hpp"
#include "safe_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace cli {

namespace {

// Puts everything into HTML blocks without empty lines, in which Markdown is not parsed, so that a
// submission's output cannot become a heading, link or mention.
std::string summary_of(const std::vector<safe_lab> &labs, const json &document)
{
    std::string text;
    for (const safe_lab &l : labs) {
        text += fmt::format("<h3><code>{}</code> {}, {}</h3>\n<table>\n", xml_escaped(l.name),
                            points_words(l), xml_escaped(l.status));
        for (const safe_case &c : l.cases) {
            text += fmt::format("<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>\n",
                                xml_escaped(c.verdict), xml_escaped(c.name),
                                points_words(c.points, c.max_points, c.open_points));
            if (!c.words.empty())
                text += fmt::format("<tr><td colspan=\"3\"><pre>{}</pre></td></tr>\n",
                                    xml_escaped(c.words));
        }
        text += "</table>\n";
    }
    return fmt::format("<pre>{}</pre>\n{}\n", xml_escaped(overview(labs, document)), text);
}

// Escapes text for a workflow command of GitHub Actions: `which` and the percent sign become %XX.
std::string in_command(std::string_view safe, std::string_view which)
{
    std::string result;
    for (char c : safe)
        result += c == '%' || which.find(c) != which.npos
                      ? fmt::format("%{:02X}", static_cast<unsigned char>(c))
                      : std::string(1, c);
    return result;
}

std::string annotation(const std::string &where, const std::string &title, const std::string &words)
{
    return fmt::format("::error {}title={}::{}\n", where, in_command(title, "\n\r:,"),
                       in_command(words, "\n\r"));
}

std::string place(const safe_lab &l, const safe_case &c)
{
    std::string file = "file=" + in_command(l.file, "\n\r:,") + ",";
    return c.line > 0 ? file + fmt::format("line={},", c.line) : file;
}

} // namespace

std::string as_summary(const json &document, std::size_t max_bytes)
{
    return fitting(document, max_bytes,
                   [&](const auto &labs) { return summary_of(labs, document); });
}

std::string as_annotations(const json &document)
{
    constexpr std::size_t max_annotations = 10; // per step; the runner silently drops more
    std::vector<std::string> all;
    std::vector<safe_lab> labs = safe_labs(document, 1000);
    for (const case_group &t : not_passed(labs)) {
        const case_state state = t.first->state;
        if (state == case_state::open) continue;
        const std::string where = state == case_state::failed ? place(*t.lab, *t.first) : "";
        all.push_back(annotation(where, t.title, t.first->words));
    }
    if (all.size() > max_annotations) {
        std::string rest = fmt::format("{} more failures", all.size() - max_annotations + 1);
        all.resize(max_annotations - 1);
        all.push_back(annotation("", rest, "They stand in the step's summary."));
    }
    for (const safe_lab &l : labs)
        if (l.open_points > 0)
            all.push_back(fmt::format(
                "::notice title={}::{}\n", in_command(l.name + ": " + points_words(l), "\n\r:,"),
                in_command(fmt::format("{}", fmt::join(l.open, "\n")), "\n\r")));
    return fmt::format("{}", fmt::join(all, ""));
}

} // namespace cli
