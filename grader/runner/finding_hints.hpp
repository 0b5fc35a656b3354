// The hint that goes with a finding of the simulator.
#pragma once

#include "api/argument.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/runtime/harness.h"
#include "text/verdict.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace grading {

inline simulator::finding_kind kind_of(const simulator_finding &f)
{
    return static_cast<simulator::finding_kind>(f.kind);
}
inline simulator::location place_of(const simulator_finding &f)
{
    return static_cast<simulator::location>(f.place);
}
// True if a thread stores to shared memory what another one has read further down in the file, as
// the next turn of a loop does.
bool is_write_after_read(const simulator_finding &f);

inline bool misses(const simulator_finding &f, simulator::missing_order what)
{
    return f.missing == static_cast<std::uint8_t>(what);
}

// True if the address lies in the argument, or near it.
bool is_in(const simulator_finding &, const argument &);

verdict verdict_of(const simulator_finding &);

// True if the fault is not in the reported line but in an earlier write or synchronisation that is
// missing.
bool lacks_order(const simulator_finding &, const std::vector<argument> &);

std::string hint_for(const simulator_finding &, const std::vector<argument> &);

} // namespace grading
