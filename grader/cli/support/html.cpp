// The frame and the common style of the workbook's HTML pages.
#include "html.hpp"

namespace cli {

namespace {

// Holds no '<' and no '>', so that a page is well-formed XML, too.
constexpr const char *common_style = R"(
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1d1f23; --faint: #676b73;
  --rule: #d9dad6; --panel: #f3f3ef; --hot: #b3400a; --hot-paper: #fdeee2; --cool: #1f6cab;
  --cool-paper: #dcebf7; --blue: #4a90cc; --orange: #ef9a5f; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171b; --ink: #e4e4e0; --faint: #9a9ea6;
  --rule: #363a41; --panel: #1e2126; --hot: #ff9a5c; --hot-paper: #3a2416; --cool: #7dbcf0;
  --cool-paper: #1b3a55; --blue: #4f9bdb; --orange: #c8662a; } }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0.5rem 0 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; padding-top: 1rem; border-top: 2px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
p { margin: 0.25rem 0; }
.faint { color: var(--faint); }
table { border-collapse: collapse; }
th { color: var(--faint); font-weight: normal; }
)";

} // namespace

std::string prose(std::string_view sentence)
{
    std::string text = escaped(sentence), result;
    auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    bool code = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool pair = text[i] == '`' && (code || text.find('`', i + 1) != text.npos);
        const bool inside =
            text[i] == ' ' && i > 0 && is_digit(text[i - 1]) && is_digit(text[i + 1]);
        if (pair) code = !code;
        if (pair)
            result += code ? "<code>" : "</code>";
        else if (inside)
            result += "&#8239;";
        else
            result += text[i];
    }
    return result;
}

std::string html_page(const std::string &title, const std::string &style, const std::string &body)
{
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\"/>\n<title>{}</title>\n<style>{}{}</style>\n</head>\n"
        "<body>\n{}</body>\n</html>\n",
        escaped(title), common_style, style, body);
}

} // namespace cli
