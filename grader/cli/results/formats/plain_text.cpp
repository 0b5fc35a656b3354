// A result as plain text, for people.
#include "formats.hpp"
#include "safe_result.hpp"

#include "cli/terminal/text.hpp"

#include <fmt/format.h>

namespace cli {

namespace {

// Breaks words that are longer than a line, which wrapped() leaves whole.
std::string folded(const std::string &text, int width)
{
    std::string result;
    for (std::string line : lines(text)) {
        while (columns(line) > width) {
            const std::string head = no_wider(line, width);
            result += head + "\n";
            line.replace(0, head.size(), "    ");
        }
        result += line + "\n";
    }
    return result;
}

} // namespace

std::string plain_text(const std::vector<safe_lab> &labs, const json &document)
{
    constexpr int width = 80;
    std::string text;
    for (const std::string &line : lines(overview(labs, document)))
        text += wrapped(line, width, 2) + "\n";
    for (const case_group &t : not_passed(labs))
        text += fmt::format("\n{}\n    {}\n", wrapped(t.title, width, 4),
                            wrapped(t.first->words, width, 4));
    text += "\n";
    for (const safe_lab &l : labs) {
        text += fmt::format("{}: {} of {} passed", l.name, l.count(case_state::passed),
                            plural(l.cases.size(), "case"));
        std::size_t open = l.count(case_state::open);
        text += open > 0 ? fmt::format(", {} open\n", open) : "\n";
    }
    return folded(text, width);
}

std::string as_text(const json &document)
{
    return plain_text(safe_labs(document, usual_length), document);
}

} // namespace cli
