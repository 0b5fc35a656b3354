// Forwards harness.h to a program's own simulated device, for tests of the simulator.
#include "client.hpp"

#include "simulator/runtime/harness.h"

#include <algorithm>

using namespace simulator::remote;

extern "C" {

void simulator_begin(void) { ask_with(call_number::begin); }
void simulator_schedule(int flags, uint64_t seed) { ask_with(call_number::schedule, flags, seed); }
void simulator_streams(int order) { ask_with(call_number::streams, order); }
void simulator_close_peers(uint64_t pairs) { ask_with(call_number::close_peers, pairs); }
void simulator_multiprocessors(int count) { ask_with(call_number::multiprocessors, count); }
void simulator_step_budget(uint64_t n) { ask_with(call_number::step_budget, n); }
void simulator_check_races(int on) { ask_with(call_number::check_races, on); }

size_t simulator_findings(struct simulator_finding *out, size_t room)
{
    const auto bytes = ask_with(call_number::findings);
    const std::size_t all = bytes.size() / sizeof *out;
    if (room && all) std::memcpy(out, bytes.data(), std::min(all, room) * sizeof *out);
    return all;
}

} // extern "C"
