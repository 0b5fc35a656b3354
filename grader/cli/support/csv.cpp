// Reads and writes tables of comma-separated words.
#include "csv.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "strings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace cli {

namespace {

std::string csv_quoted(std::string word)
{
    if (word.find_first_of(",;\t\"\n\r") == word.npos) return word;
    replace_all(word, "\"", "\"\"");
    return "\"" + word + "\"";
}

// Splits one line of CSV. A quoted word may hold commas and doubled quotes, but no line break.
// Returns false if a quote is not closed or is followed by anything but a comma.
bool split_csv(const std::string &line, std::vector<std::string> &words)
{
    words.assign(1, {});
    bool quoted = false, closed = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            words.back() += '"';
            ++i;
        } else if (quoted && c == '"') {
            quoted = false, closed = true;
        } else if (quoted) {
            words.back() += c;
        } else if (c == ',') {
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

std::string csv_line(const std::vector<std::string> &words)
{
    std::string line;
    for (std::size_t i = 0; i < words.size(); ++i) line += (i ? "," : "") + csv_quoted(words[i]);
    return line + "\n";
}

std::vector<csv_row> read_csv(const std::string &path, const std::vector<std::string> &header)
{
    if (!std::filesystem::exists(path)) return {};
    std::vector<csv_row> rows;
    std::size_t number = 0;
    for (const std::string &line : lines(read_text(path))) {
        csv_row row{++number, {}};
        if (!split_csv(line, row.words))
            throw machine_error(
                fmt::format("{}:{}: a quoted word does not end in a quote", path, number));
        if (number == 1 && row.words != header)
            throw machine_error(
                fmt::format("{}:1: the first line must be {}", path, fmt::join(header, ",")));
        if (row.words.size() != header.size())
            throw machine_error(fmt::format("{}:{}: it has {} words, and the header has {}", path,
                                            number, row.words.size(), header.size()));
        if (number > 1) rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace cli
