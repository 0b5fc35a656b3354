// Text for people: what the terminal can show, wrapping, bars, and other people's text made safe.
#pragma once

#include "../words.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// What may be written where output goes. Plain ASCII, no colour and 80 columns when in doubt.
struct terminal {
    bool colour = false;
    bool utf8 = false;
    bool interactive = false; // a person watches: a progress line may rewrite itself
    int width = 80;
};
terminal detect_terminal(int descriptor); // respects NO_COLOR, TERM=dumb, LC_ALL/LC_CTYPE/LANG

std::string bold(const terminal &t, std::string_view text);
std::string dim(const terminal &t, std::string_view text);
std::string good(const terminal &t, std::string_view text);
std::string bad(const terminal &t, std::string_view text);

// Columns that UTF-8 text takes, one a code point.
int columns(std::string_view text);
std::string padded(std::string_view text, int width); // at least one column a code point

// Breaks at blanks so that no line is longer than `width`; every line but the first starts with
// `indent` blanks. Line ends in the text stay.
std::string wrapped(std::string_view text, int width, int indent);

// `fraction` of `width` columns, at least one mark for anything above zero.
std::string bar(const terminal &t, double fraction, int width);

// Text from a compiler or a submission: control characters, escape sequences and invalid UTF-8
// become '?', tabs blanks; at most `most` bytes, whole characters, and a note when it was cut.
std::string printable(std::string_view raw, std::size_t most);

// The same for a file's name, or for words that must stay on one line: a line's end becomes `end`.
std::string on_one_line(std::string_view raw, std::size_t most, char end = '?');

// What a compiler says, indented by two and at most `width` columns: sentences wrapped, source
// lines and the marks below them cut in step, a long tail counted only. `said` is printable.
std::string compiler_words(const std::string &said, int width);

// The time now, as strftime's `format` writes it: on this machine's clock, or in UTC.
std::string local_time(const char *format);
std::string utc_time(const char *format);

std::string trimmed(std::string_view line); // of blanks, tabs and carriage returns

std::vector<std::string> words_between_blanks(const std::string &text);

std::string csv_quoted(std::string word); // in quotes where CSV needs them

using grading::lines;
using grading::lower;
using grading::shell_word;

// The candidate that a mistyped word most likely meant; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);

// Three figures where they mean something: 0.125, 12.5, 1250. A share is told in percent.
std::string three_figures(double v);
std::string value_words(double value, const std::string &unit); // unit: "%" of a share, or none

std::string plural(std::size_t n, std::string_view one); // "1 case", "3 cases"

} // namespace cli
