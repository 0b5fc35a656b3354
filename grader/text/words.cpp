// Makes text from others safe for a terminal, a file or a shell.
#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace grading {

namespace {

// The first code point of `s` and its length; 0 bytes if it is not valid UTF-8.
struct code_point {
    unsigned value = 0;
    std::size_t bytes = 0;
};

code_point first_of(std::string_view s)
{
    unsigned char c = static_cast<unsigned char>(s[0]);
    if (c < 0x80) return {c, 1};
    std::size_t n = c >= 0xf5 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
    if (n == 0 || s.size() < n) return {};
    unsigned value = c & (0xffu >> (n + 1));
    for (std::size_t i = 1; i < n; ++i) {
        unsigned char d = static_cast<unsigned char>(s[i]);
        if ((d & 0xc0) != 0x80) return {};
        value = value << 6 | (d & 0x3f);
    }
    bool too_long = (n == 3 && value < 0x800) || (n == 4 && value < 0x10000);
    bool surrogate = value >= 0xd800 && value < 0xe000;
    return too_long || surrogate || value > 0x10ffff ? code_point{} : code_point{value, n};
}

// True for controls of ASCII and Latin-1, zero-width characters, line separators, marks that change
// the writing direction, and the byte order mark.
bool steers(unsigned v)
{
    return v < 0x20 || (v >= 0x7f && v < 0xa0) || (v >= 0x200b && v <= 0x200f) ||
           (v >= 0x2028 && v <= 0x202e) || (v >= 0x2066 && v <= 0x2069) || v == 0xfeff;
}

} // namespace

std::size_t safe_character(std::string_view text)
{
    code_point c = first_of(text);
    return c.bytes == 0 || steers(c.value) ? 0 : c.bytes;
}

std::string printable(const std::string &untrusted)
{
    std::string result;
    for (std::string_view rest = untrusted; !rest.empty();) {
        code_point c = first_of(rest);
        if (rest[0] == '\t' || safe_character(rest) > 0)
            result += rest.substr(0, c.bytes);
        else if (c.bytes > 1)
            result += fmt::format("\\u{{{:x}}}", c.value);
        else
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[0]));
        rest.remove_prefix(std::max<std::size_t>(c.bytes, 1));
    }
    return result;
}

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    return result;
}

std::vector<std::string> lines(std::string_view text)
{
    std::vector<std::string> result;
    while (!text.empty()) {
        std::size_t end = std::min(text.find('\n'), text.size());
        result.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool holds_word(std::string_view text, std::string_view word)
{
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_name_char(text[at - 1])) &&
            (end == text.size() || !is_name_char(text[end])))
            return true;
    }
    return false;
}

void replace_all(std::string &text, std::string_view from, std::string_view to)
{
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
}

std::string show_counted(double value, const std::string &unit)
{
    if (unit == "%") return fmt::format("{:.4g} %", 100 * value);
    return unit.empty() ? fmt::format("{:.4g}", value) : fmt::format("{:.4g} {}", value, unit);
}

std::string shell_word(std::string_view text)
{
    constexpr std::string_view plain = "_-./+:=,@%";
    bool safe = !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return std::isalnum(c) || plain.find(static_cast<char>(c)) != plain.npos;
    });
    if (safe) return std::string(text);
    std::string quoted(text);
    replace_all(quoted, "'", "'\\''");
    return "'" + quoted + "'";
}

} // namespace grading
