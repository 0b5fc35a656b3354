// Forwards harness.h to a program's own simulated device, for tests of the simulator.
#include "client.hpp"

#include "simulator/runtime/harness.h"

#include <algorithm>

using namespace simulator::remote;

extern "C" {

void simulator_begin(void) { make_call_with(call_number::begin); }
void simulator_schedule(int flags, uint64_t seed)
{
    make_call_with(call_number::schedule, flags, seed);
}
void simulator_streams(int order) { make_call_with(call_number::streams, order); }
void simulator_close_peers(uint64_t pairs) { make_call_with(call_number::close_peers, pairs); }
void simulator_multiprocessors(int count) { make_call_with(call_number::multiprocessors, count); }
void simulator_limit_work(uint64_t n) { make_call_with(call_number::limit_work, n); }
void simulator_check_races(int on) { make_call_with(call_number::check_races, on); }

size_t simulator_findings(struct simulator_finding *out, size_t room)
{
    const auto bytes = make_call_with(call_number::findings);
    const std::size_t all = bytes.size() / sizeof *out;
    if (room && all) std::memcpy(out, bytes.data(), std::min(all, room) * sizeof *out);
    return all;
}

} // extern "C"
