// Hints and machine properties for a case's next calls.
#pragma once

#include "compare.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace grading {

// Explains what it means if the case's next calls read an output that they should only write. The
// simulator sees that; elsewhere all of the output becomes NaN, because elements of 4 bytes are
// NaN before the call. The failure then belongs to the TODO of `function`. Empty: no explanation.
void reading_an_output_means(const std::string &cause, const std::string &next,
                             const std::string &function);

// Replaces the general hint if the case's next calls access memory past the end of an array. A
// sentence: "M is j x k, N is k x l."
// `array` restricts it to this argument, or to shared memory; empty: any argument. `in_use`: used
// bytes of shared arrays that may be longer; reading a value just behind them that was never
// written counts as past the end, too.
void hint_past_the_end(const std::string &hint, const std::string &array = {},
                       std::size_t in_use = 0);

// Declares that the results are counts of values in bins; hints then explain such counts.
void results_are_counts();

// Declares that the case's next calls produce their results by copies; hints then are about
// copies, not about threads.
void results_are_copied();

// Replaces the hint if the right elements come in another order. The general hint blames output
// positions that threads reserve with atomics, in the order of their arrival; a sort can go wrong
// in other ways.
void hint_another_order(const std::string &hint);

// Replaces the hint if one of the case's next calls accesses memory before the start of an array.
void hint_before_the_start(const std::string &hint);

// Replaces the hint if two threads of a kernel write the same location in device memory, in a
// function where each element has its own location.
void hint_one_place(const std::string &hint);

// Replaces the hint if two threads of a kernel race, in any memory. The hint of hint_one_place
// comes first.
void hint_race(const std::string &hint);

// Replaces the hint if threads of two grids race, also of a grid and one that it launched.
void hint_race_of_grids(const std::string &hint);

// Replaces the hint if threads of two blocks of this kernel race.
void hint_race_of_blocks(const std::string &kernel, const std::string &hint);

// Replaces the hint if a kernel reads an element of shared memory that was never written.
void hint_unwritten_shared(const std::string &hint);

// Replaces the hint if not all threads of a block come to a barrier.
void hint_barrier(const std::string &hint);

// Replaces the hint if a kernel reads scratch, or memory allocated by the submission, that was
// never written.
void hint_unwritten(const std::string &hint);

// Elements of an output, in ascending order, and the hint if exactly these were never written.
struct elements_left_out {
    std::vector<std::size_t> elements;
    std::string hint;
};
// Replaces the hint by that of the first of these whose elements were never written.
void hint_left_out(const std::vector<elements_left_out> &known);

// Replaces the hint if an output of floats begins with exactly the values of one of these, more
// than were asked for, and is untouched behind them.
void hint_too_many(std::vector<misconception<float>> known);

// Replaces the hint if a kernel's access is misaligned.
void hint_misaligned(const std::string &hint);

// Replaces the hint if a launch of one of the case's next calls is refused and its error left in
// the runtime. The case is about such launches, so no other hint blames them.
void hint_refused_launch(const std::string &hint);

// Replaces the hint if one of the case's next calls does not end.
void hint_without_end(const std::string &hint);

// Lets the host work on part of the device data in the case's next calls. By default only kernels
// may: on the simulator, a call ends the case if the host saw more than an eighth of its inputs on
// the device and brought more than an eighth of its outputs, plus one element each. If the
// contract needs more, the host may see and bring up to `share` of them plus `bytes` (counts and
// offsets). Ordinary launch parameters, which then depend on what it saw, are not counted.
void host_may_steer(double share, std::size_t bytes = 0);
// Lets the host work on all of it.
void host_may_work();

// Schedule of the work that the case's next calls put into streams, on the simulator.
// late: work runs only when the program waits for it, and only the work that this wait needs; work
// queued last runs as early as it may. A missing event or synchronisation then shows. A host that
// polls memory without a runtime call waits for ever.
// shuffled: at any time until then, by the case's seed.
// A GPU has its own order.
enum class stream_work : std::uint8_t { as_queued, late, shuffled };
void run_streams(stream_work when);
// Calls `tries` with late work, and again with shuffled work. A host that waits for one device
// after the other puts late work in order, which hides missing waits.
template <class F> void late_and_shuffled(F tries)
{
    for (stream_work when : {stream_work::late, stream_work::shuffled}) {
        run_streams(when);
        tries();
    }
}

// Makes the simulator begin the blocks of the case's next calls in a random order, and at most
// eight before others have ended, as CUDA allows. A block that waits for one that has not begun
// waits for ever. A GPU has its own order, which nearly always follows blockIdx.
void begin_any_blocks_first();

// Makes the case's next calls in `ranks` processes at the same time, each a rank of one Open MPI
// job, with a device per rank where there are enough. Rank 0 has the arguments; the others get the
// same values and null pointers. The outputs and result of rank 0 are judged; a failure on any
// rank ends the case. Ends the case as skipped if there is no Open MPI.
void run_on_ranks(int ranks);

// Returns the first 8 bytes of each rank's result in the last CALL on ranks, rank after rank; if
// the CALL made two calls, first all of one, then all of the other.
std::span<const std::uint64_t> returned_by_ranks();

// On the simulator, in the case's next calls: denies access to each other's memory to these pairs
// (device, peer), whose copies then go through the host. A GPU machine stays as it is.
void close_peers(const std::vector<std::pair<int, int>> &pairs);
void close_all_peers(); // no device has access to another's memory

// On the simulator, in the case's next calls: sets the number of multiprocessors, so that few
// blocks run at a time and each has much to do. 0: as many as device() reports. The default is 2
// in a CORRECTNESS_CASE and 0 in a SPEED_CASE.
void limit_multiprocessors(int count);

// Limits the launches by kernels that are pending at a time in the case's next calls; further
// launches are refused: cudaLimitDevRuntimePendingLaunchCount. 0: the default. A GPU may allow
// more. `others_launch`: in calls with another order of blocks, other launches are pending for a
// moment, too, so that one launch may be refused and the next one not.
void limit_launches(int pending, bool others_launch = false);

} // namespace grading
