// Further questions about calls, most of which the simulator answers.
#pragma once

#include "call.hpp"
#include "counters.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace grading {

// All but expect_scratch_for_many and the last three leave a case open on a GPU, where the
// simulator has judged it.

// Returns the counters of each rank for `call`, which makes one CALL on ranks.
std::vector<counted> count_ranks(const std::function<void()> &call);

// True if `call`, a CALL with a larger size than its argument `array` has, reads
// past the end of it in any order of blocks and warps. The call ends there. This tests that a size
// arrives unchanged for which there is not enough memory. Any other failure ends the case.
bool reads_on(const std::string &array, const std::function<void()> &call);

// The same, but ends the case only for a refused launch. Other failures may come from the missing
// memory, for instance a texture that is too small.
void expect_launches(const std::string &array, const std::function<void()> &call);

// Returns the bytes of device memory that `call`, a CALL with less than 100 KB of arguments, leaks:
// allocates and does not free, although the same call came before it, so a cache is no leak. Only
// on the simulator, as the next.
std::uint64_t leaks(const std::function<void()> &call);
// The same for streams, events, and texture and surface objects: returns how many more there are
// after each such call.
std::uint64_t leaked_handles(const std::function<void()> &call);

// Ends the case if `call`, which makes one CALL of `function`, leaks() or leaks handles; on a GPU
// it is only made. `hint`: the next thing to try.
void expect_nothing_kept(const char *function, const std::function<void()> &call,
                         const std::string &hint = "Free what a call allocates, once its kernels "
                                                   "have ended, or keep it for the next call.");
void expect_handles_destroyed(const char *function, const std::function<void()> &call,
                              const std::string &hint);

// Returns the bytes that copies of the last CALL brought from the host to devices, and back. Only
// on the simulator.
std::uint64_t copied_to_devices();
std::uint64_t copied_from_devices();

// Ends the case if `function` asks for less scratch for more elements, or for more than any device
// has. Tests the largest sizes that the contract allows, for which there is no memory here.
// `arguments` returns those of a call with n elements; arrays may be empty.
void expect_scratch_for_many(const char *function,
                             const std::function<std::vector<argument>(int n)> &arguments);

// The host could compute results that it can reach without a copy, or that it must fetch. On the
// simulator: ends the case unless kernels of the last CALL, of all ranks together, moved at least
// 90 % of these bytes and did 90 % of these multiplications.
void expect_work_of_kernels(double bytes, double multiplications = 0);

// On the simulator: true if kernels of the last CALL stored anything to device memory, even
// unchanged values.
bool kernels_stored();

// On the simulator: the useful bytes that kernels of the last CALL stored to device memory, again
// for each store; fewer where lanes of a warp store to the same sector. A GPU does not say: 0.
std::uint64_t bytes_stored_by_kernels();

// On the simulator: true if the last CALL launched a kernel, or was refused a launch. A GPU does
// not say: true.
bool kernels_launched();

// Hint for a missing result if no counters tell what kernels did.
inline constexpr const char *does_a_kernel_write =
    "Does a kernel run at all, and does it write its result? Check cudaGetLastError() after the "
    "launch.";

// Ends the case as not written unless the last CALL `changed` its in-place argument. `otherwise`
// is the hint unless counters show that kernels ran and stored nothing.
void expect_changed_in_place(bool changed, std::string message,
                             const std::string &otherwise = does_a_kernel_write);
// If kernels stored anything, an unchanged array is a WRONG_ANSWER with the hint `stored_again`;
// else as above. `message` lacks its full stop.
void expect_changed_in_place(bool changed, const std::string &message,
                             const std::string &stored_again, const std::string &otherwise);

} // namespace grading
