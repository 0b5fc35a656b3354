// Other people's text, made safe for terminals, result files and shells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

// Bytes of the character that `text` begins with; 0 when it is no valid UTF-8, or one that steers a
// terminal or turns the direction of writing. Tabs and line ends steer too.
std::size_t safe_character(std::string_view text);

// UTF-8 in which all but safe characters and tabs are shown as numbers: \x1b, \u{202e}.
std::string printable(const std::string &untrusted);

std::string lower(std::string_view text); // its ASCII letters

std::vector<std::string> lines(std::string_view text); // without their ends

// A word as a shell must be given it: quoted where it holds blanks or signs of the shell's.
std::string shell_word(std::string_view text);

} // namespace grading
