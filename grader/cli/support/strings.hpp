// Strings for people: text of others made safe, words, numbers, the time, and what was meant.
#pragma once

#include "text/words.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Makes text of a compiler or submission safe to print: each control character but a line end, each
// mark of the writing direction and each byte that is not UTF-8 becomes '?', so that of an escape
// sequence the printable part stays; a tab becomes four blanks. Keeps at most `max_bytes`; a note
// about what was cut follows them.
std::string sanitized(std::string_view raw, std::size_t max_bytes);

// The same for a file name or other text that must stay on one line: a line break becomes `end`.
std::string on_one_line(std::string_view raw, std::size_t max_bytes, char end = '?');

// Escapes sanitized text for elements and attributes of HTML and XML.
std::string markup_escaped(std::string_view safe);

// The time now, as strftime's `format` writes it: on this machine's clock, or in UTC.
std::string local_time(const char *format);
std::string utc_time(const char *format);

std::string trimmed(std::string_view line); // removes outer blanks, tabs and carriage returns

std::string without_line_ends(std::string text); // removes those at its end

std::vector<std::string> words_between_blanks(const std::string &text);

using grading::lines;
using grading::lower;
using grading::replace_all;
using grading::shell_word;

// True for the carets that a compiler puts below a source line.
bool is_caret_line(const std::string &line);

// Returns the candidate that a mistyped word most likely meant; empty if none is close.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);

// Formats three significant digits: 0.125, 12.5, 1250; with unit "%" a share as percent.
std::string value_words(double value, const std::string &unit);

std::string plural(std::size_t n, std::string_view one); // "1 case", "3 cases"

} // namespace cli
