// Reads and writes tables of comma-separated words.
#include "csv.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "strings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

namespace cli {

namespace {

std::string csv_quoted(std::string word)
{
    if (word.find_first_of(",;\t\"\n\r") == word.npos) return word;
    replace_all(word, "\"", "\"\"");
    return "\"" + word + "\"";
}

// Reads one row from `at` on, past its line end. Returns false if a quote is not closed or is
// followed by anything but a separator or a line end.
bool read_row(const std::string &text, std::size_t &at, char separator,
              std::vector<std::string> &words)
{
    words.assign(1, {});
    bool quoted = false, closed = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
            words.back() += '"';
            ++at;
        } else if (quoted && c == '"') {
            quoted = false, closed = true;
        } else if (quoted) {
            words.back() += c;
        } else if (c == '\n' || text.compare(at, 2, "\r\n") == 0) {
            at += c == '\n' ? 1 : 2;
            return true;
        } else if (c == separator) {
            words.emplace_back();
            closed = false;
        } else if (closed || (c == '"' && !words.back().empty())) {
            return false;
        } else if (c == '"') {
            quoted = true;
        } else {
            words.back() += c;
        }
    }
    return !quoted;
}

} // namespace

std::string without_formula(const std::string &word)
{
    const std::string begins = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    for (const char *sign : {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"})
        if (begins.starts_with(sign)) return "'" + word;
    return word;
}

std::string csv_line(const std::vector<std::string> &words, char separator)
{
    std::string line;
    for (std::size_t i = 0; i < words.size(); ++i)
        line += (i ? std::string(1, separator) : "") + csv_quoted(words[i]);
    return line + "\n";
}

std::vector<csv_row> parse_csv(const std::string &text, const std::string &shown, char separator)
{
    std::vector<csv_row> rows;
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t from = at;
        rows.push_back({line, {}});
        if (!read_row(text, at, separator, rows.back().words))
            throw machine_error(
                fmt::format("{}:{}: a quoted word does not end in a quote", shown, line));
        line += static_cast<std::size_t>(std::count(text.begin() + std::ptrdiff_t(from),
                                                    text.begin() + std::ptrdiff_t(at), '\n'));
    }
    return rows;
}

std::vector<csv_row> read_csv(const std::string &path, const std::vector<std::string> &header)
{
    if (!std::filesystem::exists(path)) return {};
    std::string text = read_text(path);
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark))
        text.erase(0, mark.size()); // of Excel's "CSV UTF-8"
    std::vector<csv_row> rows = parse_csv(text, path);
    for (const csv_row &row : rows) {
        if (row.line == 1 && row.words != header)
            throw machine_error(
                fmt::format("{}:1: the first line must be {}", path, fmt::join(header, ",")));
        if (row.words.size() != header.size())
            throw machine_error(fmt::format("{}:{}: it has {} words, and the header has {}", path,
                                            row.line, row.words.size(), header.size()));
    }
    if (!rows.empty()) rows.erase(rows.begin());
    return rows;
}

} // namespace cli
