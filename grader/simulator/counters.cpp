// Sums and prints what was counted.
#include "counters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace simulator {

namespace {

using json = nlohmann::ordered_json;

json to_json(const access_counts &a)
{
    return {{"requests", a.requests},
            {"sectors", a.sectors},
            {"ideal_sectors", a.ideal_sectors},
            {"bytes", a.bytes},
            {"lanes", a.lanes}};
}

json to_json(const shared_counts &s)
{
    return {{"requests", s.requests},
            {"wavefronts", s.wavefronts},
            {"ideal_wavefronts", s.ideal_wavefronts},
            {"lanes", s.lanes},
            {"worst_way", s.worst_way}};
}

json to_json(const site_counts &s)
{
    return {{"global_load", to_json(s.global_load)},
            {"global_store", to_json(s.global_store)},
            {"local_load", to_json(s.local_load)},
            {"local_store", to_json(s.local_store)},
            {"shared_load", to_json(s.shared_load)},
            {"shared_store", to_json(s.shared_store)},
            {"constant_requests", s.constant_requests},
            {"constant_addresses", s.constant_addresses},
            {"global_atomics", s.global_atomics},
            {"shared_atomics", s.shared_atomics},
            {"atomic_same_address", s.atomic_same_address},
            {"atomic_requests", s.atomic_requests},
            {"branches", s.branches},
            {"divergent_branches", s.divergent_branches},
            {"barriers", s.barriers},
            {"exact_divisions", s.exact_divisions},
            {"exact_square_roots", s.exact_square_roots},
            {"warp_instructions", s.warp_instructions},
            {"thread_instructions", s.thread_instructions}};
}

json to_json(const kernel_counts &k)
{
    json sites = json::array();
    for (const auto &[place, counts] : k.sites) {
        json site = {{"file", place.first}, {"line", place.second}};
        site.update(to_json(counts));
        sites.push_back(std::move(site));
    }
    return {{"kernel", k.kernel},
            {"launches", k.launches},
            {"blocks", k.blocks},
            {"threads", k.threads},
            {"sectors_read", k.sectors_read},
            {"sectors_written", k.sectors_written},
            {"total", to_json(k.total)},
            {"sites", std::move(sites)}};
}

double ratio(std::uint64_t a, std::uint64_t b)
{
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
}

std::string thousands(std::uint64_t n)
{
    std::string digits = std::to_string(n);
    for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
        digits.insert(static_cast<std::size_t>(i), " ");
    return digits;
}

// One row of the table of accesses: nothing for an access that never happened.
std::string row(const std::string &name, const access_counts &a)
{
    if (a.requests == 0) return {};
    return fmt::format("  {:<34}{:>15}{:>13.2f}{:>13.1f} %\n", name, thousands(a.requests),
                       ratio(a.sectors, a.requests), 100 * ratio(a.bytes, 32 * a.sectors));
}

std::string row(const std::string &name, const shared_counts &s)
{
    if (s.requests == 0) return {};
    return fmt::format("  {:<34}{:>15}{:>13.2f}{:>9}-way\n", name, thousands(s.requests),
                       ratio(s.wavefronts, s.ideal_wavefronts), s.worst_way);
}

std::string tail(std::string path, std::size_t width)
{
    if (path.size() > width) path = "..." + path.substr(path.size() - width + 3);
    return path;
}

std::string accesses(const std::string &place, const site_counts &s)
{
    return row(place + " load", s.global_load) + row(place + " store", s.global_store) +
           row(place + " local load", s.local_load) + row(place + " local store", s.local_store);
}

std::string shared_accesses(const std::string &place, const site_counts &s)
{
    return row(place + " shared load", s.shared_load) +
           row(place + " shared store", s.shared_store);
}

// `rows` gives the lines of one place; the total comes first, then each source line.
template <typename function>
std::string table(const kernel_counts &k, const char *third, const char *fourth, function rows)
{
    std::string total = rows("all", k.total);
    if (total.empty()) return {};
    std::string text =
        fmt::format("  {:<34}{:>15}{:>13}{:>15}\n", "", "requests", third, fourth) + total;
    for (const auto &[place, counts] : k.sites)
        text += rows(tail(place.first + ":" + std::to_string(place.second), 20), counts);
    return text;
}

std::string text_of(const kernel_counts &k)
{
    const site_counts &t = k.total;
    std::string text =
        fmt::format("{}: {} launches, {} blocks, {} threads\n", k.kernel, thousands(k.launches),
                    thousands(k.blocks), thousands(k.threads));
    text += table(k, "sectors/req", "bytes used", accesses);
    text += table(k, "of ideal", "worst", shared_accesses);
    text += fmt::format("  compulsory bytes: {} read, {} written\n", thousands(32 * k.sectors_read),
                        thousands(32 * k.sectors_written));
    text +=
        fmt::format("  active lanes an instruction: {:.1f}; divergent branches: {} of {}; "
                    "barriers: {}\n",
                    ratio(t.thread_instructions, t.warp_instructions),
                    thousands(t.divergent_branches), thousands(t.branches), thousands(t.barriers));
    if (t.atomic_requests)
        text += fmt::format("  atomics: {} global, {} shared; lanes on one address: {:.1f}\n",
                            thousands(t.global_atomics), thousands(t.shared_atomics),
                            ratio(t.atomic_same_address, t.atomic_requests));
    if (t.constant_requests)
        text += fmt::format("  constant addresses a request: {:.2f}\n",
                            ratio(t.constant_addresses, t.constant_requests));
    if (t.exact_divisions || t.exact_square_roots)
        text += fmt::format("  exact divisions: {}; exact square roots: {}\n",
                            thousands(t.exact_divisions), thousands(t.exact_square_roots));
    return text;
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
    worst_way = std::max(worst_way, o.worst_way);
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
    constant_requests += o.constant_requests;
    constant_addresses += o.constant_addresses;
    global_atomics += o.global_atomics;
    shared_atomics += o.shared_atomics;
    atomic_same_address += o.atomic_same_address;
    atomic_requests += o.atomic_requests;
    branches += o.branches;
    divergent_branches += o.divergent_branches;
    barriers += o.barriers;
    exact_divisions += o.exact_divisions;
    exact_square_roots += o.exact_square_roots;
    warp_instructions += o.warp_instructions;
    thread_instructions += o.thread_instructions;
    return *this;
}

counters &counters::instance()
{
    // Never destroyed: kernels may still run while static objects go.
    static counters *const one = new counters;
    return *one;
}

void counters::clear() { *this = {}; }

std::string counters::json() const
{
    auto list = simulator::json::array();
    for (const kernel_counts &k : kernels) list.push_back(to_json(k));
    return simulator::json{{"kernels", std::move(list)},
                           {"transfers",
                            {{"host_to_device", transfers.host_to_device},
                             {"device_to_host", transfers.device_to_host},
                             {"device_to_device", transfers.device_to_device},
                             {"memset", transfers.memset}}}}
        .dump();
}

std::string counters::text() const
{
    std::string text;
    for (const kernel_counts &k : kernels) text += text_of(k) + "\n";
    text += fmt::format("copies, bytes: {} to the device, {} to the host, {} inside; set: {}\n",
                        thousands(transfers.host_to_device), thousands(transfers.device_to_host),
                        thousands(transfers.device_to_device), thousands(transfers.memset));
    return text;
}

} // namespace simulator
