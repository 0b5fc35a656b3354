// Reads times and extensions, and counts late days.
#include "due_dates.hpp"

#include "cli/results/lab_names.hpp"
#include "cli/support/csv.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <regex>
#include <tuple>

namespace cli {

namespace {

constexpr timestamp day = 24 * 60 * 60;
constexpr const char *time_forms = "2026-12-01, 2026-12-01T23:59 or 2026-12-01T23:59+01:00";

// A day in which the clocks are changed has 23 or 25 hours.
timestamp days_later(timestamp at, int days)
{
    const std::time_t from = at;
    std::tm t{};
    localtime_r(&from, &t);
    t.tm_mday += days;
    t.tm_isdst = -1;
    return std::mktime(&t);
}

// Reads "Z", "+01:00", "-0530"; empty: the time has no zone.
timestamp offset_in(const std::string &zone)
{
    if (zone == "Z" || zone == "z") return 0;
    const int hours = std::stoi(zone.substr(1, 2)),
              minutes = std::stoi(zone.substr(zone.size() - 2));
    return (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

} // namespace

std::optional<timestamp> time_in(const std::string &words)
{
    static const std::regex form(R"((\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?)"
                                 R"((Z|z|[+-]\d\d:?\d\d)?)");
    std::smatch m;
    if (!std::regex_match(words, m, form)) return {};
    auto number = [&](std::size_t at, int otherwise) {
        return m[at].matched ? std::stoi(m.str(at)) : otherwise;
    };
    std::tm wanted{};
    wanted.tm_year = number(1, 0) - 1900, wanted.tm_mon = number(2, 0) - 1;
    wanted.tm_mday = number(3, 0);
    wanted.tm_hour = number(4, 23), wanted.tm_min = number(5, 59);
    wanted.tm_sec = number(6, 59);
    wanted.tm_isdst = -1;
    std::tm t = wanted;
    const timestamp at = m[7].matched ? timegm(&t) - offset_in(m.str(7)) : std::mktime(&t);
    // Both normalise 31 November to 1 December, 24:00 to the next day, and mktime() an hour that a
    // change of the clocks leaves out.
    auto fields = [](const std::tm &of) {
        return std::tuple(of.tm_mon, of.tm_mday, of.tm_hour, of.tm_min, of.tm_sec);
    };
    const bool exists = fields(t) == fields(wanted);
    return exists ? std::optional(at) : std::nullopt;
}

std::string rfc3339(timestamp at)
{
    const std::time_t seconds = at;
    std::tm t{};
    if (!gmtime_r(&seconds, &t) || t.tm_year < 1000 - 1900 || t.tm_year > 9999 - 1900) return {};
    char text[40];
    const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t);
    return std::string(text, n);
}

due_dates::due_dates(const std::string &due, const std::string &extensions,
                     const std::vector<std::string> &students, const std::vector<std::string> &labs)
{
    if (due.empty() && !extensions.empty())
        throw usage_error("--extensions needs a due date to extend: add --due " +
                          std::string(time_forms));
    if (due.empty()) return;
    due_ = time_in(due);
    if (!due_)
        throw usage_error(fmt::format("--due {}: that is no time. Write {}",
                                      shell_word(sanitized(due, 100)), time_forms));
    if (extensions.empty()) return;
    if (!std::filesystem::is_regular_file(extensions))
        throw usage_error(fmt::format("--extensions {}: there is no such file", extensions));
    std::vector<csv_row> rows;
    try {
        rows = read_csv(extensions, {"student", "lab", "due"});
    } catch (const machine_error &e) { // the user named the file
        throw usage_error(fmt::format("--extensions {}", e.what()));
    }
    for (const csv_row &row : rows) {
        const std::string &student = row.words[0], &lab = row.words[1], &until = row.words[2];
        auto wrong = [&](const std::string &what) {
            return usage_error(fmt::format("--extensions {}:{}: {}", extensions, row.line, what));
        };
        // A mistyped name would quietly give nobody an extension.
        if (std::ranges::find(students, student) == students.end()) {
            const std::string near = nearest(student, students);
            throw wrong(fmt::format("there is no student {}{}", shell_word(sanitized(student, 100)),
                                    near.empty() ? "" : "; did you mean " + near + "?"));
        }
        static const std::regex days(R"(\+(\d{1,3}))");
        std::smatch m;
        const std::optional<timestamp> at = std::regex_match(until, m, days)
                                                ? days_later(*due_, std::stoi(m.str(1)))
                                                : time_in(until);
        if (!at)
            throw wrong(fmt::format("{} is no time. Write {}, or +3 for three days more",
                                    shell_word(sanitized(until, 100)), time_forms));
        std::vector<std::string> whose = labs;
        try {
            if (!lab.empty()) whose = {find_lab(lab, labs)};
        } catch (const usage_error &e) {
            throw wrong(e.what());
        }
        for (const std::string &name : whose) extended_[{student, name}] = *at;
    }
}

int due_dates::late_days(const std::string &student, const std::string &lab,
                         timestamp handed_in) const
{
    const auto own = extended_.find({student, lab});
    const timestamp due = own == extended_.end() ? *due_ : own->second;
    if (handed_in <= due) return 0;
    int days = static_cast<int>((handed_in - due) / day); // at most one or two too few
    while (handed_in > days_later(due, days)) ++days;
    return days;
}

} // namespace cli
