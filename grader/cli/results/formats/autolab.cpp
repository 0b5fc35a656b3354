// A result as what an autograder of Autolab prints: text for the student, then the scores.
//
// Autolab's "Guide for Lab Authors" wants a JSON object in the last line of standard output, with a
// problem's points under its name. Autolab quotes each word before a colon before it parses that
// line, so names have no colons there. A line that it cannot parse scores 0; a null leaves the
// score empty.
#include "formats.hpp"
#include "safe_result.hpp"

#include "cli/support/strings.hpp"

namespace cli {

std::string as_autolab(const json &document)
{
    return fitting(document, 1'000'000, [&](const std::vector<safe_lab> &labs) {
        json result = {{"scores", json::object()}};
        for (const safe_lab &l : labs) {
            std::string problem = l.name;
            replace_all(problem, ":", " ");
            result["scores"][problem] = l.graded() ? json(l.points) : json();
        }
        const bool only_ascii = true;
        return plain_text(labs, document) + result.dump(-1, ' ', only_ascii) + "\n";
    });
}

} // namespace cli
