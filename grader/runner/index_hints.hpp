// Hints for accesses outside an array, found by its guards or by the simulator.
#pragma once

#include <string>
#include <string_view>

namespace grading {

// `copied`: a copy by the host reached there, not a thread.
std::string negative_index_hint(bool just_before, bool copied);
// `array`: its name. `shared`: in shared memory.
std::string large_index_hint(bool one_element, bool write, std::string_view array, bool shared,
                             bool copied);

// True if a kernel or a variable of the submission has this name, in whichever namespace.
bool has_unqualified_name(std::string_view symbol, std::string_view name);

// True if hint_past_the_end gave words for this location.
bool has_own_hint(std::string_view array, bool shared);

} // namespace grading
