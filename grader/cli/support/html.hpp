// Pages of HTML: their frame and common style, escaped text, and SVG elements.
#pragma once

#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace cli {

// Escapes text for HTML and SVG, after making it printable.
inline std::string escaped(std::string_view text)
{
    std::string result = markup_escaped(sanitized(text, 4 * text.size() + 64));
    replace_all(result, "'", "&#39;");
    return result;
}

// Escapes a sentence: text between backticks becomes code, and no number is broken at its spaces.
std::string prose(std::string_view sentence);

// Returns a whole page, which loads nothing and runs no script. The common style defines colours
// for light and dark, headings, tables and the class `faint`; `style` adds to it. `title` is plain
// text, `body` is HTML.
std::string html_page(const std::string &title, const std::string &style, const std::string &body);

// The elements below take escaped text.

inline std::string svg(double width, double height, const std::string &label,
                       const std::string &inside)
{
    return fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                       width, height, label, inside);
}

// `title` is a tooltip; empty: none.
inline std::string svg_rect(double x, double y, double w, double h, const char *css_class,
                            const std::string &title = {})
{
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.4g}\" y=\"{:.4g}\" width=\"{:.4g}\" height=\"{:.4g}\"{}\n",
        css_class, x, y, w, h, title.empty() ? "/>" : "><title>" + title + "</title></rect>");
}

inline std::string svg_text(double x, double y, const char *css_class, const std::string &text)
{
    return fmt::format("<text class=\"{}\" x=\"{:.4g}\" y=\"{:.4g}\">{}</text>\n", css_class, x, y,
                       text);
}

inline std::string svg_line(double x1, double y1, double x2, double y2, const char *css_class)
{
    return fmt::format(
        "<line class=\"{}\" x1=\"{:.4g}\" y1=\"{:.4g}\" x2=\"{:.4g}\" y2=\"{:.4g}\"/>\n", css_class,
        x1, y1, x2, y2);
}

} // namespace cli
