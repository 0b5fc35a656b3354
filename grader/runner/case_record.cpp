// The records of a run's cases.
#include "case_record.hpp"

#include "run_options.hpp"
#include "text/todo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace grading {

namespace {

std::size_t current = 0;
std::string lab;
double left_out = 0;

// The file itself marks its cases, so that none can be shown by a forgotten word.
bool in_held_back_file(const doctest::detail::TestCase &test)
{
    return std::filesystem::path(test.m_file.c_str()).filename() == "held_back.cpp";
}

} // namespace

std::vector<case_record> &records()
{
    static std::vector<case_record> all;
    return all;
}

std::vector<std::string> case_faults()
{
    std::vector<std::string> faults;
    std::set<std::string> names;
    for (const case_record &r : records()) {
        if (r.held_back && r.what == kind::clock)
            faults.push_back(fmt::format("{}: the held-back case \"{}\" has points of the clock, "
                                         "which a lab's grade.cpp alone gives: make them 0",
                                         r.place, r.test));
        // A name chooses the case, and its inputs.
        if (r.what != kind::clock && !names.insert(r.test).second)
            faults.push_back(fmt::format("{}: another case has the name \"{}\", too: rename one",
                                         r.place, r.test));
    }
    return faults;
}

void put_held_back_last()
{
    std::stable_partition(records().begin(), records().end(),
                          [](const case_record &r) { return !r.held_back; });
}

void leave_out_held_back()
{
    for (const case_record &r : records())
        if (r.held_back) left_out += r.max_points;
    std::erase_if(records(), [](const case_record &r) { return r.held_back; });
}

double points_left_out() { return left_out; }

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

double points_of(const case_record &r)
{
    if (!r.passed()) return 0;
    return r.speed ? points_of_steps(r.max_points, r.speed->reached, r.speed->offered)
                   : r.max_points;
}

static unsigned begun = 0;

void begin_case(const std::string &test)
{
    const auto at = std::find_if(records().begin(), records().end(), [&](const case_record &r) {
        return r.test == test && judged_here(r.what);
    });
    current = static_cast<std::size_t>(at - records().begin());
    current_case().started = true;
    ++begun;
}

unsigned cases_begun() { return begun; }

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
bool warps_are_taught() { return !lab.starts_with("00_") && !lab.starts_with("01_"); }

void case_points::fill(doctest::detail::TestCase &test) const
{
    case_record r;
    r.name = r.test = test.m_name;
    r.held_back = in_held_back_file(test);
    r.body = test.m_test;
    r.place = fmt::format("{}:{}", test.m_file.c_str(), test.m_line);
    r.what = what;
    r.max_points = points;
    // A grid is often as large as the device's occupancy allows. With few multiprocessors, few
    // blocks are resident and each processes several tiles, even of small inputs.
    constexpr int few = 2;
    if (what == kind::correctness) r.multiprocessors = few;
    records().push_back(std::move(r));
    if (clock == 0) return;
    case_record timed;
    timed.name = timed_name_of(test.m_name);
    timed.test = test.m_name;
    timed.held_back = in_held_back_file(test);
    timed.body = test.m_test;
    timed.place = records().back().place;
    timed.what = kind::clock;
    timed.max_points = clock;
    records().push_back(std::move(timed));
}

void record_speed(const speed_result &s) { current_case().speed = s; }

} // namespace grading
