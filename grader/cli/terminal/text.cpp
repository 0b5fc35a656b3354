// Lays text out for a terminal.
#include "text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace cli {

namespace {

std::string_view variable(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

bool locale_is_utf8()
{
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = lower(variable(name));
        if (value.empty()) continue;
        return value.find("utf-8") != value.npos || value.find("utf8") != value.npos;
    }
    return false;
}

std::string styled(const terminal &t, std::string_view code, std::string_view text)
{
    return t.colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Cuts a quoted source line and the mark below it alike: at the right or, where the mark would be
// lost, at the left.
std::string quoted(std::string source, std::string mark, std::size_t room)
{
    std::size_t caret = mark.find('^');
    if (caret != mark.npos && caret >= room) {
        std::size_t cut = caret - room / 2;
        source = "..." + source.substr(std::min(source.size(), cut + 3));
        mark.erase(0, cut);
    }
    std::string text = "  " + source.substr(0, room) + "\n";
    return mark.empty() ? text : text + "  " + mark.substr(0, room) + "\n";
}

// True for blank lines, the compiler's count of errors, and its remarks on its own options.
bool says_nothing(const std::string &line)
{
    return line.find_first_not_of(' ') == line.npos || line.starts_with("Remark: ") ||
           line.find(" detected in the compilation of ") != line.npos;
}

// Leaves out the notes that list each function of the same name, with their source lines in
// headers.
std::vector<std::string> without_overloads(const std::vector<std::string> &all)
{
    std::vector<std::string> kept;
    bool in_note = false;
    for (const std::string &line : all) {
        if (!line.starts_with(' '))
            in_note =
                line.find(": note #") != line.npos && line.find(" does not match ") != line.npos;
        if (!in_note) kept.push_back(line);
    }
    return kept;
}

} // namespace

terminal detect_terminal(int descriptor)
{
    terminal t;
    t.interactive = isatty(descriptor) && variable("TERM") != "dumb";
    t.colour = t.interactive && variable("NO_COLOR").empty();
    t.utf8 = locale_is_utf8();
    winsize size{};
    if (t.interactive && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        t.width = std::clamp<int>(size.ws_col, 40, 80);
    return t;
}

std::string bold(const terminal &t, std::string_view text) { return styled(t, "1", text); }
std::string dim(const terminal &t, std::string_view text) { return styled(t, "2", text); }
std::string good(const terminal &t, std::string_view text) { return styled(t, "32", text); }
std::string bad(const terminal &t, std::string_view text) { return styled(t, "31", text); }

int columns(std::string_view text)
{
    return static_cast<int>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string padded(std::string_view text, int width)
{
    return std::string(text) + std::string(std::max(0, width - columns(text)), ' ');
}

std::string no_wider(const std::string &text, int width)
{
    std::string result;
    for (char c : text) {
        if (!continues(c) && columns(result) == width) break;
        result += c;
    }
    return result;
}

std::string wrapped(std::string_view text, int width, int indent, int begun)
{
    std::string result, blanks(indent, ' ');
    bool first_line = true;
    for (const std::string &line : lines(text)) {
        if (!first_line) result += "\n" + blanks;
        int used = first_line && begun >= 0 ? begun : indent;
        std::size_t at = 0;
        // Leading blanks are layout, as in a quoted source line, and are kept.
        while (at < line.size() && line[at] == ' ') ++at;
        result.append(at, ' ');
        used += static_cast<int>(at);
        bool first_word = true;
        while (at < line.size()) {
            std::size_t end = std::min(line.find(' ', at), line.size());
            std::string_view word = std::string_view(line).substr(at, end - at);
            bool fits = used + !first_word + columns(word) <= width;
            if (!first_word) result += fits ? " " : "\n" + blanks;
            used = (fits ? used + !first_word : indent) + columns(word);
            result += word;
            first_word = false;
            at = end + 1;
        }
        first_line = false;
    }
    return result;
}

std::string bar(const terminal &t, double fraction, int width)
{
    fraction = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0;
    if (!t.utf8) {
        int n = static_cast<int>(std::lround(fraction * width));
        return std::string(fraction > 0 ? std::max(n, 1) : 0, '#');
    }
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int n = static_cast<int>(std::lround(fraction * width * 8));
    if (fraction > 0) n = std::max(n, 1);
    std::string result;
    for (int i = 0; i < n / 8; ++i) result += "█";
    return result + eighths[n % 8];
}

std::string compiler_words(const std::string &said, int width)
{
    constexpr std::size_t max_lines = 24;
    std::vector<std::string> all = without_overloads(lines(said));
    std::erase_if(all, says_nothing);
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), max_lines); ++i) {
        bool source = all[i][0] == ' ', marked = i + 1 < all.size() && is_caret_line(all[i + 1]);
        if (!source) {
            text += "  " + wrapped(all[i], width, 4) + "\n";
            continue;
        }
        text += quoted(all[i], marked ? all[i + 1] : "", static_cast<std::size_t>(width) - 2);
        i += marked;
    }
    if (all.size() > max_lines)
        text += fmt::format("  [{} more]\n", plural(all.size() - max_lines, "line"));
    return text;
}

} // namespace cli
