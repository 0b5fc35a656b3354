// Options of a case's next calls, and the hints for them.
#include "api/call_options.hpp"
#include "api/compare.hpp"
#include "case_record.hpp"

#include <utility>

namespace grading {

void reading_an_output_means(const std::string &cause, const std::string &next,
                             const std::string &function)
{
    current_case().output_read = {cause, next, function};
}

void hint_past_the_end(const std::string &hint, const std::string &array, std::size_t in_use)
{
    current_case().past_the_end = {hint, array, in_use};
}

void results_are_counts() { current_case().results_are_counts = true; }

void results_are_copied() { current_case().results_are_copied = true; }

void host_may_steer(double share, std::size_t bytes)
{
    current_case().host.share = share;
    current_case().host.bytes = bytes;
    current_case().host.steers = true;
}

void host_may_work() { current_case().host.exempt = true; }

void hint_another_order(const std::string &hint) { current_case().another_order_hint = hint; }

void hint_one_place(const std::string &hint) { current_case().one_location_hint = hint; }

void hint_before_the_start(const std::string &hint) { current_case().before_start_hint = hint; }

void hint_race(const std::string &hint) { current_case().race_hint = hint; }

void hint_race_of_grids(const std::string &hint) { current_case().race_of_grids_hint = hint; }

void hint_race_of_blocks(const std::string &kernel, const std::string &hint)
{
    current_case().race_of_blocks = {kernel, hint};
}

void hint_unwritten_shared(const std::string &hint) { current_case().unwritten_shared_hint = hint; }

void hint_barrier(const std::string &hint) { current_case().barrier_hint = hint; }

void hint_unwritten(const std::string &hint) { current_case().unwritten_hint = hint; }

void hint_left_out(const std::vector<elements_left_out> &known) { current_case().left_out = known; }

void hint_too_many(std::vector<misconception<float>> known)
{
    current_case().too_many = std::move(known);
}

void hint_misaligned(const std::string &hint) { current_case().misaligned_hint = hint; }

void hint_refused_launch(const std::string &hint) { current_case().refused_launch_hint = hint; }

void hint_without_end(const std::string &hint) { current_case().without_end_hint = hint; }

void run_streams(stream_work when) { current_case().streams = when; }

void begin_any_blocks_first() { current_case().any_blocks_first = true; }

void close_peers(const std::vector<std::pair<int, int>> &pairs)
{
    for (auto [device, peer] : pairs)
        current_case().closed_peers |= std::uint64_t{1} << (8 * device + peer);
}

void close_all_peers()
{
    constexpr int max_devices = 8;
    for (int device = 0; device < max_devices; ++device)
        for (int peer = 0; peer < max_devices; ++peer)
            if (device != peer) close_peers({{device, peer}});
}

void limit_multiprocessors(int count) { current_case().multiprocessors = count; }

void limit_launches(int pending, bool others_launch)
{
    current_case().pending_launches = pending;
    current_case().others_launch = others_launch;
}

} // namespace grading
