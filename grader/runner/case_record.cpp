// The records of a run's cases.
#include "case_record.hpp"

#include "run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace grading {

namespace {

std::size_t current = 0;
std::string lab;

} // namespace

std::vector<case_record> &records()
{
    static std::vector<case_record> all;
    return all;
}

case_record &current_case()
{
    static case_record none;
    return current < records().size() ? records()[current] : none;
}

const char *name(kind what)
{
    switch (what) {
    case kind::speed:
        return "speed";
    case kind::clock:
        return "clock";
    default:
        return "correctness";
    }
}

bool judged_here(kind what)
{
    return what == kind::correctness || (what == kind::speed) == options().simulated;
}

double points_of_steps(double max_points, int reached, int offered)
{
    return offered > 0 ? std::floor(2 * max_points * reached / offered) / 2 : max_points;
}

void begin_case(const std::string &test)
{
    const auto at = std::find_if(records().begin(), records().end(), [&](const case_record &r) {
        return r.test == test && judged_here(r.what);
    });
    current = static_cast<std::size_t>(at - records().begin());
    current_case().started = true;
}

const case_result *endless_before(const case_record &r, const std::string &function)
{
    const auto end = std::find_if(records().begin(), records().end(),
                                  [&](const case_record &other) { return other.name == r.name; });
    for (const std::string &name : {function, std::string()}) {
        const auto at = std::find_if(records().begin(), end,
                                     [&](const case_record &c) { return c.endless == name; });
        if (at != end) return &*at;
    }
    return nullptr;
}

std::string not_tried(const std::string &function, const case_result &earlier)
{
    return fmt::format("Not tried: {} did not end in time in the case \"{}\".",
                       earlier.endless->empty() ? "the submission" : function, earlier.name);
}

const std::string &lab_name() { return lab; }
void set_lab_name(std::string name) { lab = std::move(name); }

void case_points::fill(doctest::detail::TestCase &test) const
{
    case_record r;
    r.name = r.test = test.m_name;
    r.what = what;
    r.max_points = points;
    // A grid is often as large as the device's occupancy allows. With few multiprocessors, few
    // blocks are resident and each processes several tiles, even of small inputs.
    constexpr int few = 2;
    if (what == kind::correctness) r.multiprocessors = few;
    records().push_back(std::move(r));
    if (clock == 0) return;
    case_record timed;
    timed.name = std::string(test.m_name) + ", timed";
    timed.test = test.m_name;
    timed.what = kind::clock;
    timed.max_points = clock;
    records().push_back(std::move(timed));
}

void record_speed(const speed_result &s) { current_case().speed = s; }

} // namespace grading
