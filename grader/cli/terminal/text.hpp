// Text on a terminal: its capabilities, colours, columns, wrapping and bars.
#pragma once

#include "cli/support/strings.hpp"

#include <string>
#include <string_view>

namespace cli {

// The capabilities of an output stream. Plain ASCII, no colour and 80 columns when in doubt.
struct terminal {
    bool colour = false;
    bool utf8 = false;
    bool interactive = false; // a progress line may rewrite itself
    int width = 80;
};
terminal detect_terminal(int descriptor); // respects NO_COLOR, TERM=dumb, LC_ALL/LC_CTYPE/LANG

std::string bold(const terminal &t, std::string_view text);
std::string dim(const terminal &t, std::string_view text);
std::string good(const terminal &t, std::string_view text);
std::string bad(const terminal &t, std::string_view text);

// The number of columns of UTF-8 text, at one column per code point.
int columns(std::string_view text);
std::string padded(std::string_view text, int width); // with blanks to `width` columns; never cuts

std::string no_wider(const std::string &text, int width); // cuts after `width` columns

// Breaks at blanks so that no line is longer than `width`; every line but the first starts with
// `indent` blanks. Line breaks in the text stay. `begun`: columns of the first line that are
// already taken; by default `indent`.
std::string wrapped(std::string_view text, int width, int indent, int begun = -1);

// Draws a bar over `fraction` of `width` columns, with at least one mark for anything above zero.
std::string bar(const terminal &t, double fraction, int width);

// Formats sanitized compiler output, indented by two, at most `width` columns wide: sentences are
// wrapped, source lines and the carets below them cut alike, and the lines of a long tail counted.
std::string compiler_words(const std::string &said, int width);

} // namespace cli
