// Arranges a timeline's steps in rows.
#include "timeline_rows.hpp"

#include <algorithm>
#include <functional>

namespace cli {

namespace {

// True if the step is drawn. A host function takes no ticks but is drawn all the same.
bool has_bar(const timeline_step &s)
{
    return s.kind == step_kind::host_function || ((works(s) || waits(s)) && s.end > s.start);
}

void add_step(std::vector<timeline_row> &rows, const timeline_step &s)
{
    bool is_new = rows.empty();
    for (timeline_row &r : rows)
        if (r.steps.back()->end <= s.start) return r.steps.push_back(&s);
    rows.push_back({is_new ? s.stream : "", {&s}});
}

} // namespace

bool works(const timeline_step &s)
{
    return s.kind == step_kind::copy || s.kind == step_kind::fill || s.kind == step_kind::kernel;
}

bool waits(const timeline_step &s)
{
    return s.kind == step_kind::event_wait || s.kind == step_kind::host_wait;
}

std::vector<timeline_row> rows_of(const stream_timeline &t)
{
    std::vector<std::string> streams, hosts;
    for (const timeline_step &s : t.steps) {
        auto &in = s.kind == step_kind::host_wait ? hosts : streams;
        if (has_bar(s) && std::ranges::find(in, s.stream) == in.end()) in.push_back(s.stream);
    }
    streams.insert(streams.end(), hosts.begin(), hosts.end());
    std::vector<timeline_row> all;
    for (const std::string &name : streams) {
        std::vector<const timeline_step *> steps;
        for (const timeline_step &s : t.steps)
            if (has_bar(s) && s.stream == name) steps.push_back(&s);
        std::ranges::stable_sort(steps, {}, &timeline_step::start);
        std::vector<timeline_row> rows;
        for (const timeline_step *s : steps) add_step(rows, *s);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

mark mark_of(const timeline_step &s)
{
    if (s.kind == step_kind::kernel) return {'#', "kernel", "kernel"};
    if (s.kind == step_kind::host_function) return {'h', "host", "host function"};
    if (waits(s)) return {'.', "waits", "waits"};
    if (s.direction == copy_direction::to_device) return {'>', "to_device", "copy to the device"};
    if (s.direction == copy_direction::to_host) return {'<', "to_host", "copy to the host"};
    if (s.direction == copy_direction::between_devices)
        return {'*', "between", "copy between devices"};
    return {'=', "inside", "other copy, fill"};
}

std::vector<mark> marks_of(const std::vector<timeline_row> &rows)
{
    std::vector<mark> all;
    for (const timeline_row &r : rows)
        for (const timeline_step *s : r.steps) {
            mark m = mark_of(*s);
            if (std::ranges::find(all, m.sign, &mark::sign) == all.end()) all.push_back(m);
        }
    std::ranges::sort(all, std::greater(), &mark::sign);
    return all;
}

} // namespace cli
