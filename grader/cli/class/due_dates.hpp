// When a file was handed in, when it was due, and by how many days it is late.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

using timestamp = std::int64_t; // seconds since 1970 in UTC

// Reads "2026-12-01", "2026-12-01T23:59" or "2026-12-01T23:59:00", with the end of the day or of
// the minute for what is left out. Behind it may stand Z, +01:00 or the like; else it is in this
// machine's time zone. Empty if it is none of these or there is no such time.
std::optional<timestamp> time_in(const std::string &words);
// Returns "2026-12-01T22:59:00Z"; empty if the year has not four digits.
std::string rfc3339(timestamp);

// The due date of a class's labs, and the extensions of single students.
class due_dates {
public:
    // `due`: as for time_in(); empty: nothing is due, and nothing late. `extensions`: a file with
    // the header student,lab,due; empty: none. An empty lab means all; a due date like +3 means
    // that many days later, as this machine's time zone has days. `students` and `labs` are the
    // names that may stand in it. Throws usage_error, which names the line.
    due_dates(const std::string &due, const std::string &extensions,
              const std::vector<std::string> &students, const std::vector<std::string> &labs);

    bool any() const { return due_.has_value(); }
    // Returns the begun days between the due date and `handed_in`; 0: in time. Call it only if
    // any().
    int late_days(const std::string &student, const std::string &lab, timestamp handed_in) const;

private:
    std::optional<timestamp> due_;
    std::map<std::pair<std::string, std::string>, timestamp> extended_; // by student and lab
};

} // namespace cli
