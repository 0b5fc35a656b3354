// Makes text of others safe, and writes numbers, times and words for people.
#include "strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <utility>

namespace cli {

namespace {

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

// Formats three significant digits: 0.125, 12.5, 1250.
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

// `split` is localtime_r or gmtime_r.
std::string time_now(const char *format, decltype(localtime_r) *split)
{
    std::time_t now = std::time(nullptr);
    std::tm when{};
    split(&now, &when);
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, format, &when));
}

} // namespace

std::string sanitized(std::string_view raw, std::size_t max_bytes)
{
    std::string result;
    while (!raw.empty()) {
        if (result.size() + 4 > max_bytes)
            return result + fmt::format("\n[cut: {} more bytes]", raw.size());
        const std::size_t n = grading::safe_character(raw);
        if (n > 0)
            result += raw.substr(0, n);
        else if (raw[0] == '\n')
            result += '\n';
        else if (raw[0] == '\t')
            result += "    ";
        else if (!raw.starts_with("\r\n"))
            result += '?';
        raw.remove_prefix(std::max<std::size_t>(n, 1));
    }
    return result;
}

std::string on_one_line(std::string_view raw, std::size_t max_bytes, char end)
{
    std::string text = sanitized(raw, max_bytes);
    std::ranges::replace(text, '\n', end);
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

bool is_caret_line(const std::string &line)
{
    return line.find('^') != line.npos && line.find_first_not_of(" ^~|") == line.npos;
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

std::string value_words(double value, const std::string &unit)
{
    return unit == "%" ? three_figures(100 * value) + " %" : three_figures(value);
}

std::string plural(std::size_t n, std::string_view one)
{
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string local_time(const char *format) { return time_now(format, localtime_r); }
std::string utc_time(const char *format) { return time_now(format, gmtime_r); }

} // namespace cli
