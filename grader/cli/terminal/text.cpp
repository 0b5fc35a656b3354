// Text for people: wrapping, bars, suggestions for typos, and sanitizing of untrusted text.
#include "text.hpp"

#include "text/words.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>

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

// Edit distance with insertions, deletions, substitutions and swaps of neighbours at cost 1.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1), last, before_last; // each for one letter of `a`
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row.back();
}

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

bool is_mark(const std::string &line)
{
    return line.find('^') != line.npos && line.find_first_not_of(" ^~|") == line.npos;
}

// True for blank lines, the compiler's count of errors, and its remarks on its own options.
bool says_nothing(const std::string &line)
{
    return line.find_first_not_of(' ') == line.npos || line.rfind("Remark: ", 0) == 0 ||
           line.find(" detected in the compilation of ") != line.npos;
}

std::string written(const std::tm &when, const char *format)
{
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, format, &when));
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
    return static_cast<int>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
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

std::string wrapped(std::string_view text, int width, int indent)
{
    std::string result, blanks(indent, ' ');
    bool first_line = true;
    for (const std::string &line : lines(text)) {
        if (!first_line) result += "\n" + blanks;
        int used = indent;
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

std::string sanitized(std::string_view raw, std::size_t max_bytes)
{
    std::string result;
    while (!raw.empty()) {
        if (result.size() + 4 > max_bytes)
            return result + fmt::format("\n[cut: {} more bytes]", raw.size());
        std::size_t n = 1;
        if (raw[0] == '\n')
            result += '\n';
        else if (raw[0] == '\t')
            result += "    ";
        else if (raw[0] == '\r' && raw.size() > 1 && raw[1] == '\n')
            ;
        else if ((n = grading::safe_character(raw)) > 0)
            result += raw.substr(0, n);
        else {
            result += '?';
            n = 1;
        }
        raw.remove_prefix(n);
    }
    return result;
}

std::string on_one_line(std::string_view raw, std::size_t max_bytes, char end)
{
    std::string text = sanitized(raw, max_bytes);
    std::replace(text.begin(), text.end(), '\n', end);
    return text;
}

std::string markup_escaped(std::string_view safe)
{
    std::string result(safe);
    replace_all(result, "&", "&amp;"); // first, since the others begin with it
    replace_all(result, "<", "&lt;");
    replace_all(result, ">", "&gt;");
    replace_all(result, "\"", "&quot;");
    return result;
}

std::string trimmed(std::string_view line)
{
    std::size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    return first == line.npos ? std::string() : std::string(line.substr(first, last - first + 1));
}

std::string without_line_ends(std::string text)
{
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

std::string compiler_words(const std::string &said, int width)
{
    constexpr std::size_t max_lines = 24;
    std::vector<std::string> all = lines(said);
    std::erase_if(all, says_nothing);
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), max_lines); ++i) {
        bool source = all[i][0] == ' ', marked = i + 1 < all.size() && is_mark(all[i + 1]);
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

std::string nearest(std::string_view word, const std::vector<std::string> &candidates)
{
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string &candidate : candidates) {
        std::size_t d = distance(word, candidate);
        if (d < best_distance) best_distance = d, best = candidate;
    }
    return best;
}

std::vector<std::string> words_between_blanks(const std::string &text)
{
    std::vector<std::string> words;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t end = std::min(text.find(' ', from), text.size());
        if (end > from) words.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return words;
}

std::string three_figures(double v)
{
    if (v != 0 && (std::abs(v) < 0.001 || std::abs(v) >= 1e6)) return fmt::format("{:.2e}", v);
    int digits = v == 0 ? 0 : 2 - static_cast<int>(std::floor(std::log10(std::abs(v))));
    std::string text = fmt::format("{:.{}f}", v, std::max(0, digits));
    if (text.find('.') != text.npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

std::string value_words(double value, const std::string &unit)
{
    return unit == "%" ? three_figures(100 * value) + " %" : three_figures(value);
}

std::string plural(std::size_t n, std::string_view one)
{
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string local_time(const char *format)
{
    std::time_t now = std::time(nullptr);
    std::tm when{};
    localtime_r(&now, &when);
    return written(when, format);
}

std::string utc_time(const char *format)
{
    std::time_t now = std::time(nullptr);
    std::tm when{};
    gmtime_r(&now, &when);
    return written(when, format);
}

} // namespace cli
