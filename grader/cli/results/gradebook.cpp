// Reads what Moodle and Canvas export of a class, and writes it again with a column filled in.
//
// Moodle's grading worksheet (mod/assign/feedback/offline) has the columns Identifier, Full name,
// Grade, Maximum Grade and others; its importer finds a student by the number in "Participant 123",
// which is also in the names of downloaded submissions, and skips rows with an empty grade. The
// grade export (grade/export/txt) has names, ID number, e-mail address, and a column per activity.
// Both have their words in the user's language.
//
// Canvas (lib/gradebook_exporter.rb and gradebook_importer.rb) begins with Student, or LastName and
// FirstName, and ID, ends a student's data with Section, and calls an assignment "Title (123)".
// Rows above the first student have the points possible, and which assignments are posted by hand.
// Its import takes an empty cell for a grade to remove.
#include "gradebook.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace cli {

namespace {

constexpr const char *byte_order_mark = "\xef\xbb\xbf";

// Throws machine_error for text that a spreadsheet stored in another encoding, or that is no text.
void require_utf8(const std::string &text, const std::string &shown)
{
    std::size_t number = 0;
    for (const std::string &line : lines(text)) {
        ++number;
        try {
            if (line.find('\0') == line.npos && !nlohmann::json(line).dump().empty()) continue;
        } catch (const nlohmann::json::type_error &) { // it writes UTF-8 only
        }
        throw machine_error(fmt::format("{}:{}: it is no UTF-8 text", shown, number));
    }
}

// Returns the separator that the first line has most often.
char separator_of(const std::string &text)
{
    const std::string first = text.substr(0, text.find('\n'));
    auto count = [&](char c) { return std::count(first.begin(), first.end(), c); };
    char best = ',';
    for (char c : {';', '\t'})
        if (count(c) > count(best)) best = c;
    return best;
}

std::string quoted_names(const std::vector<std::string> &names)
{
    std::vector<std::string> shown;
    for (const std::string &name : names)
        shown.push_back("\"" + on_one_line(name, 100, ' ') + "\"");
    return fmt::format("{}", fmt::join(shown, ", "));
}

// Chooses a column among the candidates, as `wanted` names it.
std::size_t choose_column(const std::vector<std::string> &header,
                          const std::vector<std::size_t> &candidates, const std::string &wanted,
                          const std::string &shown)
{
    std::vector<std::size_t> fitting;
    for (std::size_t i : candidates)
        if (wanted.empty() || lower(header[i]).find(lower(wanted)) != std::string::npos)
            fitting.push_back(i);
    for (std::size_t i : candidates)
        if (header[i] == wanted) fitting = {i};
    if (fitting.size() == 1) return fitting[0];
    std::vector<std::string> names;
    for (std::size_t i : fitting.empty() ? candidates : fitting) names.push_back(header[i]);
    if (candidates.empty())
        throw usage_error(fmt::format("{} has no column for the grades of an assignment. Create "
                                      "the assignment in the course, and export it again.",
                                      shown));
    throw usage_error(fmt::format(
        "{}: {} {}. Name one with --column: {}.", shown,
        fitting.empty() ? "there is no column" : "there are several columns",
        wanted.empty() ? "for grades" : fmt::format("like \"{}\"", on_one_line(wanted, 100, ' ')),
        quoted_names(names)));
}

std::optional<std::size_t> place_of(const std::vector<std::string> &header, std::string_view name)
{
    const auto at = std::ranges::find_if(
        header, [&](const std::string &word) { return lower(trimmed(word)) == lower(name); });
    if (at == header.end()) return {};
    return static_cast<std::size_t>(at - header.begin());
}

// Course systems write numbers with a comma in some languages, and no thousands here.
std::optional<double> number_in(std::string word)
{
    word = trimmed(word);
    std::ranges::replace(word, ',', '.');
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    return value;
}

std::string digits_at_end(const std::string &word)
{
    const std::size_t last = word.find_last_not_of("0123456789");
    return word.substr(last == word.npos ? 0 : last + 1);
}

// Adds a name, and of an e-mail address also the part before the @.
void add_name(gradebook_person &p, const std::string &word)
{
    const std::string name = lower(trimmed(word));
    if (name.empty()) return;
    p.names.push_back(name);
    if (const std::size_t at = name.find('@'); at != name.npos && at > 0)
        p.names.push_back(name.substr(0, at));
}

// Both orders: exports and downloads differ, and so do languages.
void add_person(gradebook_person &p, const std::string &first, const std::string &last)
{
    add_name(p, trimmed(first) + " " + trimmed(last));
    add_name(p, trimmed(last) + " " + trimmed(first));
}

} // namespace

gradebook::gradebook(const std::string &text, const std::string &shown, const std::string &lms,
                     const std::string &column)
{
    require_utf8(text, shown);
    if (text.starts_with(byte_order_mark)) mark_ = byte_order_mark;
    const std::string table = text.substr(mark_.size());
    separator_ = separator_of(table);
    rows_ = parse_csv(table, shown, separator_);
    if (rows_.empty())
        throw usage_error(
            fmt::format("{} is empty. Give the file that the course system exported.", shown));
    for (const csv_row &row : rows_)
        if (row.words.size() != rows_[0].words.size())
            throw machine_error(fmt::format("{}:{}: it has {} words, and the header has {}", shown,
                                            row.line, row.words.size(), rows_[0].words.size()));
    lms == "canvas" ? read_canvas(shown, column) : read_moodle(shown, column);
    if (people_.empty())
        throw usage_error(fmt::format("{} has no students. Give the file that the course system "
                                      "exported.",
                                      shown));
    if (kept_.empty())
        for (std::size_t i = 0; i < rows_[0].words.size(); ++i) kept_.push_back(i);
}

void gradebook::read_moodle(const std::string &shown, const std::string &column)
{
    const std::vector<std::string> &header = rows_[0].words;
    auto at = [&](const char *name) { return place_of(header, name); };
    const auto identifier = at("Identifier"), full_name = at("Full name"), first = at("First name"),
               maximum = at("Maximum Grade");
    const auto last = at("Last name") ? at("Last name") : at("Surname");
    const std::vector<std::optional<std::size_t>> keys = {full_name, at("Email address"),
                                                          at("ID number"), at("Username")};
    if (!identifier && !(first && last) &&
        std::ranges::none_of(keys, [](const auto &key) { return key.has_value(); }))
        throw usage_error(fmt::format(
            "{} has no column Identifier, Full name, First name and Last name, Email address, ID "
            "number or Username. Give Moodle's grading worksheet or its export of grades, "
            "downloaded while your language there is English.",
            shown));
    std::vector<std::size_t> candidates;
    if (const auto grade = at("Grade"); grade && identifier)
        candidates = {*grade};
    else
        for (std::size_t i = 0; i < header.size(); ++i)
            if (header[i].ends_with("(Real)") && !header[i].starts_with("Course total"))
                candidates.push_back(i);
    grade_ = choose_column(header, candidates, column, shown);
    for (std::size_t row = 1; row < rows_.size(); ++row) {
        const std::vector<std::string> &words = rows_[row].words;
        gradebook_person p{.row = row, .id = {}, .names = {}, .shown = {}, .maximum = {}};
        if (identifier) p.id = digits_at_end(words[*identifier]);
        for (const auto &key : keys)
            if (key) add_name(p, words[*key]);
        if (first && last) add_person(p, words[*first], words[*last]);
        const std::string name = full_name       ? words[*full_name]
                                 : first && last ? words[*first] + " " + words[*last]
                                                 : words[0];
        p.shown = fmt::format("{} (line {})", on_one_line(name, 100, ' '), rows_[row].line);
        if (maximum) p.maximum = number_in(words[*maximum]);
        people_.push_back(std::move(p));
    }
}

void gradebook::read_canvas(const std::string &shown, const std::string &column)
{
    const std::vector<std::string> &header = rows_[0].words;
    auto at = [&](const char *name) { return place_of(header, name); };
    const auto student = at("Student"), last = at("LastName"), first = at("FirstName"),
               id = at("ID"), section = at("Section");
    if (!id || !section || !(student || (first && last)))
        throw usage_error(fmt::format("{} has no columns Student, ID and Section, as a gradebook "
                                      "that Canvas exported has. Give that.",
                                      shown));
    const auto is_heading = [&](const std::vector<std::string> &words) {
        return words[0].find("Points Possible") != std::string::npos || trimmed(words[*id]).empty();
    };
    std::vector<std::size_t> candidates;
    std::set<std::size_t> read_only;
    for (const csv_row &row : rows_)
        for (std::size_t i = 0; i < header.size() && is_heading(row.words); ++i)
            if (row.words[i].find("read only") != std::string::npos) read_only.insert(i);
    for (std::size_t i = *section + 1; i < header.size(); ++i) {
        const std::string name = trimmed(header[i]);
        const std::string number =
            name.ends_with(")") ? digits_at_end(name.substr(0, name.size() - 1)) : "";
        if (!number.empty() && name.ends_with(" (" + number + ")") && !read_only.contains(i))
            candidates.push_back(i);
    }
    grade_ = choose_column(header, candidates, column, shown);
    for (std::size_t i = 0; i <= *section; ++i) kept_.push_back(i);
    kept_.push_back(grade_);
    std::optional<double> possible;
    for (std::size_t row = 1; row < rows_.size(); ++row) {
        const std::vector<std::string> &words = rows_[row].words;
        if (words[0].find("Points Possible") != std::string::npos)
            possible = number_in(words[grade_]);
        if (is_heading(words)) continue;
        gradebook_person p{
            .row = row, .id = trimmed(words[*id]), .names = {}, .shown = {}, .maximum = {}};
        for (const char *key : {"SIS User ID", "SIS Login ID", "Integration ID"})
            if (const auto place = at(key)) add_name(p, words[*place]);
        std::string name = student ? words[*student] : words[*first] + " " + words[*last];
        const std::size_t comma = name.find(", ");
        if (!student)
            add_person(p, words[*first], words[*last]);
        else if (comma != name.npos)
            add_person(p, name.substr(comma + 2), name.substr(0, comma));
        add_name(p, name);
        p.shown = fmt::format("{} (line {})", on_one_line(name, 100, ' '), rows_[row].line);
        people_.push_back(std::move(p));
    }
    for (gradebook_person &p : people_) p.maximum = possible;
}

bool gradebook::has_ids() const
{
    return std::ranges::none_of(people_, [](const auto &p) { return p.id.empty(); });
}

std::string gradebook::text() const
{
    std::string result = mark_;
    for (const csv_row &row : rows_) {
        std::vector<std::string> words;
        for (std::size_t i : kept_) words.push_back(row.words[i]);
        result += csv_line(words, separator_);
    }
    return result;
}

} // namespace cli
