// Sums the counters of memory accesses, and writes them as JSON.
#include "counters.hpp"

#include "memory.hpp"
#include "timeline.hpp"

#include <algorithm>
#include <utility>

namespace simulator {

namespace {

// JSON is written by hand so that simulated programs need no JSON library.
std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (code < 0x20)
            out += {'\\', 'u', '0', '0', "01"[code >> 4], "0123456789abcdef"[code & 15]};
        else
            out += c;
    }
    return out + '"';
}

// Builds one JSON object; members keep their order.
class object {
public:
    object &add(const char *name, std::uint64_t value) { return put(name, std::to_string(value)); }
    object &add(const char *name, const std::string &text) { return put(name, quoted(text)); }
    object &add(const char *name, const object &inner) { return put(name, inner.text()); }
    object &add(const char *name, const std::vector<object> &list)
    {
        std::string all;
        for (const object &o : list) all += (all.empty() ? "" : ",") + o.text();
        return put(name, "[" + all + "]");
    }
    template <typename list> object &add_list(const char *name, const list &numbers)
    {
        std::string all;
        for (const auto n : numbers) all += (all.empty() ? "" : ",") + std::to_string(n);
        return put(name, "[" + all + "]");
    }
    std::string text() const { return "{" + members_ + "}"; }

private:
    object &put(const char *name, const std::string &value)
    {
        members_ += (members_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
        return *this;
    }
    std::string members_;
};

object to_json(const access_counts &a)
{
    return object()
        .add("requests", a.requests)
        .add("sectors", a.sectors)
        .add("ideal_sectors", a.ideal_sectors)
        .add("bytes", a.bytes)
        .add("lanes", a.lanes);
}

object to_json(const shared_counts &s)
{
    return object()
        .add("requests", s.requests)
        .add("wavefronts", s.wavefronts)
        .add("ideal_wavefronts", s.ideal_wavefronts)
        .add("lanes", s.lanes);
}

// All but the accesses, in the order of the JSON text.
constexpr std::pair<const char *, std::uint64_t site_counts::*> site_numbers[] = {
    {"constant_requests", &site_counts::constant_requests},
    {"constant_addresses", &site_counts::constant_addresses},
    {"host_sectors", &site_counts::host_sectors},
    {"global_atomics", &site_counts::global_atomics},
    {"atomic_same_address", &site_counts::atomic_same_address},
    {"atomic_requests", &site_counts::atomic_requests},
    {"global_atomic_requests", &site_counts::global_atomic_requests},
    {"global_atomic_sectors", &site_counts::global_atomic_sectors},
    {"texture_requests", &site_counts::texture_requests},
    {"texture_bytes", &site_counts::texture_bytes},
    {"texture_sectors", &site_counts::texture_sectors},
    {"printed_bytes", &site_counts::printed_bytes},
    {"barriers", &site_counts::barriers},
    {"multiplications", &site_counts::multiplications},
    {"divisions", &site_counts::divisions},
    {"double_operations", &site_counts::double_operations},
    {"exact_divisions", &site_counts::exact_divisions},
    {"exact_square_roots", &site_counts::exact_square_roots},
    {"warp_instructions", &site_counts::warp_instructions},
    {"thread_instructions", &site_counts::thread_instructions},
};

object &add_counts(object &out, const site_counts &s)
{
    out.add("global_load", to_json(s.global_load))
        .add("global_store", to_json(s.global_store))
        .add("local_load", to_json(s.local_load))
        .add("local_store", to_json(s.local_store))
        .add("shared_load", to_json(s.shared_load))
        .add("shared_store", to_json(s.shared_store))
        .add("shared_atomic", to_json(s.shared_atomic));
    for (const auto &[name, number] : site_numbers) out.add(name, s.*number);
    return out;
}

// Addresses are printed as distances from the first, which is shorter.
object to_json(const worst_request &w)
{
    static const char *const kinds[] = {"load", "store", "atomic"};
    std::vector<std::int64_t> distances;
    for (const std::uint64_t at : w.at)
        distances.push_back(static_cast<std::int64_t>(at - w.at.front()));
    return object()
        .add("kind", std::string(w.shared ? "shared_" : "global_") +
                         kinds[static_cast<std::size_t>(w.kind)])
        .add("bytes", w.bytes)
        .add("lanes", w.lanes)
        .add("cost", w.cost)
        .add("ideal", w.ideal)
        .add("one_address", w.one_address)
        .add("first", w.at.front())
        .add_list("distances", distances)
        .add("where", w.where);
}

object to_json(const kernel_counts &k)
{
    std::vector<object> sites;
    for (const auto &[place, counts] : k.sites) {
        object site;
        site.add("file", place.first).add("line", static_cast<std::uint64_t>(place.second));
        add_counts(site, counts);
        if (auto at = k.worst.find(place); at != k.worst.end()) {
            std::vector<object> worst;
            for (const worst_request &w : at->second) worst.push_back(to_json(w));
            site.add("worst", worst);
        }
        sites.push_back(site);
    }
    return object()
        .add("kernel", k.kernel)
        .add("launches", k.launches)
        .add("launches_by_kernels", k.launches_by_kernels)
        .add("instructions_by_kernels", k.instructions_by_kernels)
        .add("parameter_bytes", k.parameter_bytes)
        .add("all_parameter_bytes", k.all_parameter_bytes)
        .add("blocks", k.blocks)
        .add("threads", k.threads)
        .add("sectors_read", k.sectors_read)
        .add("sectors_written", k.sectors_written)
        .add("busiest_block_instructions", k.busiest_block_instructions)
        .add("managed_pages", k.managed_pages)
        .add("managed_sectors", k.managed_sectors)
        .add_list("multiplications_of", k.multiplications_of)
        .add("sites", sites);
}

// Numbers streams by first appearance, because ids reveal how many streams the process has had.
class lane_names {
public:
    std::string of(const timeline_step &s)
    {
        const bool host = s.kind == step_kind::host_wait;
        if (host)
            return s.stream_or_thread ? "host thread " + std::to_string(s.stream_or_thread + 1)
                                      : "host";
        const auto device =
            s.device_of_stream ? " of device " + std::to_string(s.device_of_stream) : "";
        if (s.stream_or_thread == 1) return "NULL stream" + device;
        if (s.stream_or_thread == 2) return "thread's stream" + device;
        const auto next = numbers_.size() + 1;
        const auto number = numbers_.try_emplace(s.stream_or_thread, next).first->second;
        return "stream " + std::to_string(number) + device;
    }

private:
    std::map<unsigned long long, std::size_t> numbers_;
};

object to_json(const timeline_step &s, step_id id, lane_names &lanes)
{
    static const char *const kinds[] = {"other",         "copy",         "fill",       "kernel",
                                        "host_function", "event_record", "event_wait", "host_wait"};
    static const char *const ways[] = {"on_host", "to_device", "to_host", "inside_device",
                                       "between_devices"};
    static const char *const reasons[] = {"nothing", "order", "engine", "host"};
    object o;
    o.add("id", id).add("kind", std::string(kinds[static_cast<std::size_t>(s.kind)]));
    o.add("lane", lanes.of(s)).add("start", s.start).add("end", s.end);
    if (s.kind == step_kind::copy) o.add("way", std::string(ways[static_cast<std::size_t>(s.way)]));
    if (!s.name.empty()) o.add("name", s.name);
    if (s.bytes) o.add("bytes", s.bytes);
    if (s.blocks) o.add("blocks", s.blocks);
    o.add_list("after", s.after);
    o.add("waited_for", s.held_by)
        .add("why", std::string(reasons[static_cast<std::size_t>(s.why)]));
    return o.add("critical", s.critical);
}

object to_json(const timeline_report &t)
{
    std::vector<object> steps;
    lane_names lanes;
    for (std::size_t i = 0; i < t.steps.size(); ++i)
        steps.push_back(to_json(t.steps[i], i + 1, lanes));
    return object()
        .add("ticks", t.ticks)
        .add("serial", t.serial)
        .add("copying", t.copying)
        .add("hidden", t.hidden)
        .add("left_out", t.left_out)
        .add("host_waits", t.host_waits)
        .add("idle_waits", t.idle_waits)
        .add("steps", steps);
}

} // namespace

access_counts &access_counts::operator+=(const access_counts &o)
{
    requests += o.requests;
    sectors += o.sectors;
    ideal_sectors += o.ideal_sectors;
    bytes += o.bytes;
    lanes += o.lanes;
    return *this;
}

shared_counts &shared_counts::operator+=(const shared_counts &o)
{
    requests += o.requests;
    wavefronts += o.wavefronts;
    ideal_wavefronts += o.ideal_wavefronts;
    lanes += o.lanes;
    return *this;
}

site_counts &site_counts::operator+=(const site_counts &o)
{
    global_load += o.global_load;
    global_store += o.global_store;
    local_load += o.local_load;
    local_store += o.local_store;
    shared_load += o.shared_load;
    shared_store += o.shared_store;
    shared_atomic += o.shared_atomic;
    for (const auto &[name, number] : site_numbers) this->*number += o.*number;
    return *this;
}

bool kernel_counts::has_worse(const std::pair<std::string, int> &place, bool shared,
                              access_kind kind, std::uint32_t score) const
{
    auto all = worst.find(place);
    return all != worst.end() &&
           std::any_of(all->second.begin(), all->second.end(), [&](const worst_request &w) {
               return w.shared == shared && w.kind == kind && w.score >= score;
           });
}

void kernel_counts::keep_worst(const std::pair<std::string, int> &place, worst_request w)
{
    std::vector<worst_request> &all = worst[place];
    auto same = std::find_if(all.begin(), all.end(), [&](const worst_request &o) {
        return o.shared == w.shared && o.kind == w.kind;
    });
    if (same == all.end()) {
        all.push_back(std::move(w));
        return;
    }
    bool one_address = same->one_address && w.one_address && same->at.front() == w.at.front();
    if (w.score > same->score) *same = std::move(w);
    same->one_address = one_address;
}

counters &counters::instance()
{
    // Never destroyed: kernels may still run during static destruction.
    static counters *const one = new counters;
    return *one;
}

void counters::clear(std::uint64_t existing_handles)
{
    *this = {};
    memory_used = memory::instance().used_on_all_devices();
    handles = existing_handles;
}

std::string counters::json(std::uint64_t existing_handles) const
{
    std::vector<object> list;
    for (const kernel_counts &k : kernels) list.push_back(to_json(k));
    return object()
        .add("kernels", list)
        .add("transfers", object()
                              .add("host_to_device", transfers.host_to_device)
                              .add("device_to_host", transfers.device_to_host)
                              .add("device_to_device", transfers.device_to_device)
                              .add("in_pieces", transfers.in_pieces)
                              .add("memset", transfers.memset)
                              .add("staged", transfers.staged)
                              .add_list("sent", transfers.sent)
                              .add_list("uploaded", transfers.uploaded)
                              .add("from_pageable", transfers.from_pageable)
                              .add("to_pageable", transfers.to_pageable)
                              .add("managed", transfers.managed)
                              .add("fill_values", transfers.fill_values)
                              .add("commands", transfers.commands)
                              .add("managed_copies", transfers.managed_copies))
        .add("timeline", to_json(timeline::instance().scheduled()))
        .add("kept_bytes",
             std::max(memory_used, memory::instance().used_on_all_devices()) - memory_used)
        .add("kept_handles", std::max(handles, existing_handles) - handles)
        .text();
}

} // namespace simulator
