// Reads the counters of a call from the simulator's report, and answers what they show.
#include "call_counters.hpp"

#include "argument_images.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "host_work.hpp"
#include "parse_counters.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace grading {

namespace {

std::string counters_if_any(const std::byte *from)
{
    try {
        return report_counters({from, report_bytes});
    } catch (const std::exception &) {
        return {};
    }
}

// Returns a report's counters, also as JSON, or ends the case.
std::pair<std::string, counted> read_report(const std::byte *report)
{
    try {
        const std::string text = report_counters({report, report_bytes});
        return {text, parse_counters(text)};
    } catch (const std::exception &e) {
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The simulator's counters cannot be read: {}.", printable(e.what())),
                 "A submission must leave the memory that it was not given alone.");
    }
}

} // namespace

call_counters &counters()
{
    static call_counters c;
    return c;
}

bool counters_known() { return options().simulated && !counters().of_last_call.empty(); }

counted counts_of_last_call()
{
    if (!counters_known()) return {};
    try {
        return parse_counters(counters().of_last_call);
    } catch (const std::exception &) { // a submission has overwritten them
        return {};
    }
}

void keep_counters(const std::byte *report)
{
    counters().of_last_call = counters_if_any(report);
    counters().of_each_call.push_back(counters().of_last_call);
}

counted counters_of_rank(const std::byte *report) { return read_report(report).second; }

void keep_largest_counters(const std::byte *report)
{
    static std::uint64_t max_requests = 0;
    case_record &r = current_case();
    const auto [text, counts] = read_report(report);
    const std::uint64_t requests = counts.load_requests + counts.store_requests;
    if (!r.counts.empty() && requests <= max_requests) return;
    max_requests = requests;
    r.counts = text;
}

bool kernels_stored(const counted &c) { return c.store_requests + c.global_atomic_requests > 0; }

void expect_work_of_kernels(double bytes, double multiplications)
{
    if (!options().simulated) return;
    counted all;
    if (current_case().ranks)
        for (const counted &of_rank : counters().of_ranks) {
            all.compulsory_bytes += of_rank.compulsory_bytes;
            all.multiplications += of_rank.multiplications;
        }
    else if (!counters_known())
        return;
    else
        all = counts_of_last_call();
    check_kernels_worked(current_case().function, bytes, multiplications, all);
}

bool kernels_stored() { return kernels_stored(counts_of_last_call()); }

std::uint64_t bytes_stored_by_kernels() { return counts_of_last_call().store_bytes; }

bool kernels_launched()
{
    return !counters_known() || counts_of_last_call().launches > 0 ||
           !current_case().refused_launch.empty();
}

std::span<const std::uint64_t> returned_by_ranks() { return counters().results_of_ranks; }

} // namespace grading
