// Reads the grader's file of counters, which is untrusted: submissions' workers write parts of it.
#include "access_counts.hpp"

#include "cli/support/strings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace cli {

namespace {

using json = nlohmann::json;

std::uint64_t number(const json &of, const char *key)
{
    const json &value = of.at(key);
    if (!value.is_number_unsigned()) throw std::runtime_error(std::string(key) + " is no count");
    return value.get<std::uint64_t>();
}

// The sums of a source line, by name.
struct sum_field {
    const char *name;
    access_sum access_counts::*sum;
    const char *cost = "sectors", *ideal = "ideal_sectors";
};
constexpr sum_field sum_fields[] = {
    {"global_load", &access_counts::global_load},
    {"global_store", &access_counts::global_store},
    {"local_load", &access_counts::local_load},
    {"local_store", &access_counts::local_store},
    {"shared_load", &access_counts::shared_load, "wavefronts", "ideal_wavefronts"},
    {"shared_store", &access_counts::shared_store, "wavefronts", "ideal_wavefronts"}};

// Its other counters, by name.
struct count_field {
    const char *name;
    std::uint64_t access_counts::*count;
    const char *part = nullptr; // the number is this one of an object
};
constexpr count_field count_fields[] = {
    {"global_atomics", &access_counts::global_atomics},
    {"shared_atomic", &access_counts::shared_atomics, "lanes"},
    {"atomic_requests", &access_counts::atomic_requests},
    {"atomic_same_address", &access_counts::atomic_same_address},
    {"constant_requests", &access_counts::constant_requests},
    {"constant_addresses", &access_counts::constant_addresses}};

worst_request read_worst(const json &of)
{
    static const std::vector<std::string> kinds = {"load", "store", "atomic"};
    worst_request w;
    std::string kind = of.at("kind").get<std::string>();
    w.shared = kind.starts_with("shared_");
    auto at = std::ranges::find(kinds, kind.substr(std::min<std::size_t>(7, kind.size())));
    if (at == kinds.end()) throw std::runtime_error("there is no kind of access " + kind);
    w.kind = static_cast<access_kind>(at - kinds.begin());
    w.bytes = static_cast<unsigned>(number(of, "bytes"));
    w.cost = static_cast<unsigned>(number(of, "cost"));
    w.ideal = static_cast<unsigned>(number(of, "ideal"));
    w.one_address = number(of, "one_address") != 0;
    std::uint64_t mask = number(of, "lanes"), first = number(of, "first");
    for (int lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1) w.lanes.push_back(lane);
    for (const json &distance : of.at("distances"))
        w.addresses.push_back(first + static_cast<std::uint64_t>(distance.get<std::int64_t>()));
    if (!std::has_single_bit(w.bytes) || w.bytes > 32 || w.lanes.empty() ||
        w.lanes.size() != w.addresses.size() || mask >> 32 != 0)
        throw std::runtime_error("a request's lanes and addresses do not fit together");
    w.where = sanitized(of.at("where").get<std::string>(), 200);
    return w;
}

// Maps a word to the enumerator at its index in `words`.
template <class E> E one_of(const json &word, const std::vector<std::string> &words)
{
    auto at = std::ranges::find(words, word.get<std::string>());
    if (at == words.end()) throw std::runtime_error("unknown: " + word.get<std::string>());
    return static_cast<E>(at - words.begin());
}

timeline_step read_step(const json &of)
{
    static const std::vector<std::string> kinds = {"other",      "copy",          "fill",
                                                   "kernel",     "host_function", "event_record",
                                                   "event_wait", "host_wait"};
    static const std::vector<std::string> directions = {"on_host", "to_device", "to_host",
                                                        "inside_device", "between_devices"};
    static const std::vector<std::string> reasons = {"nothing", "order", "engine", "host"};
    timeline_step s;
    s.kind = one_of<step_kind>(of.at("kind"), kinds);
    if (s.kind == step_kind::copy) s.direction = one_of<copy_direction>(of.at("way"), directions);
    s.why = one_of<wait_reason>(of.at("why"), reasons);
    s.stream = sanitized(of.at("lane").get<std::string>(), 40);
    if (of.contains("name")) s.name = sanitized(of.at("name").get<std::string>(), 200);
    s.start = number(of, "start");
    s.end = number(of, "end");
    if (of.contains("bytes")) s.bytes = number(of, "bytes");
    if (of.contains("blocks")) s.blocks = number(of, "blocks");
    s.waited_for = number(of, "waited_for");
    s.critical = number(of, "critical") != 0;
    return s;
}

stream_timeline read_timeline(const json &of)
{
    stream_timeline t;
    t.ticks = number(of, "ticks");
    t.serial = number(of, "serial");
    t.copying = number(of, "copying");
    t.hidden = number(of, "hidden");
    t.left_out = number(of, "left_out");
    for (const json &s : of.at("steps")) t.steps.push_back(read_step(s));
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        const timeline_step &s = t.steps[i];
        // Unless it waits for an engine, a step waits for one that was queued before it.
        if (s.start > s.end || s.end > t.ticks || s.waited_for > t.steps.size() ||
            (s.why != wait_reason::engine && s.waited_for > i))
            throw std::runtime_error("the timeline's steps do not fit together");
    }
    return t;
}

void set_worst(access_counts &c, worst_request w)
{
    if (w.kind == access_kind::atomic) {
        if (!c.worst_atomic || w.cost > c.worst_atomic->cost) c.worst_atomic = std::move(w);
    } else if (w.kind == access_kind::store) {
        (w.shared ? c.shared_store : c.global_store).worst = std::move(w);
    } else {
        (w.shared ? c.shared_load : c.global_load).worst = std::move(w);
    }
}

access_counts read_counts(const json &of)
{
    access_counts c;
    for (const sum_field &f : sum_fields) {
        const json &sum = of.at(f.name);
        access_sum &a = c.*f.sum;
        a.requests = number(sum, "requests");
        a.cost = number(sum, f.cost);
        a.ideal = number(sum, f.ideal);
        if (sum.contains("bytes")) a.bytes = number(sum, "bytes");
    }
    for (const count_field &f : count_fields)
        c.*f.count = f.part ? number(of.at(f.name), f.part) : number(of, f.name);
    if (of.contains("worst"))
        for (const json &w : of.at("worst")) set_worst(c, read_worst(w));
    return c;
}

void add_kernel(case_counters &c, const json &of)
{
    kernel_counters k;
    k.name = sanitized(of.at("kernel").get<std::string>(), 400);
    k.launches = number(of, "launches");
    k.threads = number(of, "threads");
    k.bytes_read = 32 * number(of, "sectors_read");
    for (const json &site : of.at("sites")) {
        access_counts line = read_counts(site);
        const access_sum &loads = line.global_load;
        k.bytes_loaded += std::min(loads.bytes, 32 * loads.ideal);
        k.total.add(line);
        c.lines[{sanitized(site.at("file").get<std::string>(), 4000), site.at("line").get<int>()}]
            .add(line);
    }
    c.kernels.push_back(std::move(k));
}

// Returns the sectors or wavefronts wasted. Lanes that load the same bytes may still cost a sector
// for each 32 bytes that they ask for: that is no waste.
unsigned excess(const worst_request &w)
{
    auto requested = static_cast<unsigned>(w.lanes.size()) * w.bytes / 32;
    unsigned fair = w.shared ? w.ideal : std::max(w.ideal, requested);
    return w.cost - std::min(fair, w.cost);
}

} // namespace

std::string worst_request::memory() const
{
    std::size_t from = where.find('`'), to = where.rfind('`');
    return from < to && to != where.npos ? where.substr(from + 1, to - from - 1) : "";
}

void access_sum::add(const access_sum &o)
{
    requests += o.requests;
    cost += o.cost;
    ideal += o.ideal;
    bytes += o.bytes;
    if (o.worst && (!worst || excess(*o.worst) > excess(*worst))) worst = o.worst;
}

void access_counts::add(const access_counts &o)
{
    for (const sum_field &f : sum_fields) (this->*f.sum).add(o.*f.sum);
    for (const count_field &f : count_fields) this->*f.count += o.*f.count;
    if (o.worst_atomic && (!worst_atomic || o.worst_atomic->cost > worst_atomic->cost))
        worst_atomic = o.worst_atomic;
}

bool access_counts::touches_memory() const
{
    return atomic_requests + constant_requests > 0 ||
           std::ranges::any_of(sum_fields,
                               [&](const sum_field &f) { return (this->*f.sum).requests > 0; });
}

std::map<std::string, case_counters> read_counters(std::string_view text)
{
    std::map<std::string, case_counters> all;
    const json document = json::parse(text);
    for (const auto &[name, of] : document.items()) {
        case_counters &c = all[name];
        c.function = sanitized(of.at("function").get<std::string>(), 200);
        const json &counted = of.at("counters");
        for (const json &k : counted.at("kernels")) add_kernel(c, k);
        if (counted.contains("timeline")) c.timeline = read_timeline(counted["timeline"]);
    }
    return all;
}

} // namespace cli
