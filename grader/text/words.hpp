// Text from others, made safe for terminals, result files and shells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

// Returns the bytes of the first character of `text`; 0 if it is not valid UTF-8, controls a
// terminal or the writing direction, or is invisible. Tabs and line ends are controls, too.
std::size_t safe_character(std::string_view text);

// Escapes everything but safe characters and tabs: \x1b, \u{202e}.
std::string printable(const std::string &untrusted);

std::string lower(std::string_view text); // changes ASCII letters only

std::vector<std::string> lines(std::string_view text); // without line ends

// Letters, digits and underscores, of which C++ makes names.
bool is_name_char(char c);
bool holds_word(std::string_view text, std::string_view word); // not as a part of a longer name

void replace_all(std::string &text, std::string_view from, std::string_view to);

// Formats the value of a counter: 0.125 in "%" as "12.5 %", and 4 as "4 sectors per request";
// without a unit, the number alone.
std::string show_counted(double value, const std::string &unit);

// Quotes a word for a shell if it contains blanks or special characters.
std::string shell_word(std::string_view text);

} // namespace grading
