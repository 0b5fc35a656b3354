// What a lab's grade.cpp is written with: cases, inputs, the call, comparisons, and races against
// naive.
//
// A correctness case is three lines: inputs, call, compare.
//
//     CORRECTNESS_CASE("scale_columns: one row more than the block", 1)
//     {
//         auto in = random_floats(33 * 7), factor = random_floats(7);
//         output<float> out(33 * 7);
//         CALL(scale_columns, in, out, 33, 7, factor);
//         expect_equal(out, oracle::scale_columns(in, 33, 7, factor), {33, 7});
//     }
//
// The first thing that goes wrong ends the case with its verdict; the next case is still graded.
#pragma once

#include "call.hpp"
#include "verdict.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace grading {

// Where the case runs.
bool simulated();
const device_facts &device();

// Inputs. The generator is seeded from the run's seed and the case's name, so one case alone sees
// the same inputs as in a full run.
std::mt19937_64 &random_source();
std::vector<float> random_floats(std::size_t n, float low = -1, float high = 1);
// Multiples of 2^-23 in [-1, 1), for inputs of a hundred million elements.
void fill_random(std::span<float> values, std::mt19937_64 &random);
void fill_random(std::span<unsigned char> values, std::mt19937_64 &random);
std::vector<int> random_ints(std::size_t n, int low, int high); // both ends included
int random_between(int low, int high);
// A picture of data/, by the name of its file: binary PGM, 8 bits a pixel, row-major.
struct picture {
    int width = 0, height = 0;
    std::vector<unsigned char> pixels;
};
picture read_picture(const std::string &name);
// Writes NAME.pgm to the folder of --pictures, where one was named: row-major, 0 as black and 1 as
// white, whatever lies beyond as the nearer of them. What is no number is white.
void keep_picture(const std::string &name, int width, int height, std::span<const float> values);

// The call: typed by the contract, made by the student's worker. Ends the case when it goes wrong.
// Returns the function's result, if it has one.
template <class F, class... A> auto call(const char *function, A &&...a) ->
    typename remote<F>::result;
#define CALL(function, ...) grading::call<decltype(function)>(#function __VA_OPT__(, ) __VA_ARGS__)

// Comparisons. `extents` turns an index into coordinates ("row 3, column 5"); empty: a plain index.
using extents = std::vector<std::size_t>;

// What a wrong answer looks like when it comes from a known misconception.
template <class T> struct misconception {
    std::string cause; // a sentence: "Each row was scaled by its own factor."
    std::string next;  // a sentence: "Index `factor` by the column."
    std::function<std::vector<T>()> looks_like; // all elements; compared where the answer is wrong
    bool everywhere = false; // it changes every element as it says: right ones must come of it, too
};

// Bit for bit (but -0 equals +0). T: float, double, and integers of 8 to 64 bits.
template <class T> void expect_equal(const output<T> &got, const std::vector<T> &want,
                                     const extents &shape = {},
                                     const std::vector<misconception<T>> &known = {});

// Sums in float: |got - want| <= 4 max(sqrt(terms), 2) u magnitude + u |want| + tiny, u = 2^-24.
// `magnitude`, the sum of the terms' absolute values, is per element or one for all.
void expect_close(const output<float> &got, const std::vector<double> &want, double terms,
                  const std::vector<double> &magnitude, const extents &shape = {},
                  const std::vector<misconception<float>> &known = {});

// The bound of expect_close, for one element.
bool within(float value, double reference, double terms, double magnitude);

// What it means when the case's next calls read an output that they should only write, said where
// that is seen: by the simulator, or because all of it becomes NaN, as elements of 4 bytes are
// before. The failure then belongs to the TODO of `function`. Empty: nothing in particular.
void reading_an_output_means(const std::string &cause, const std::string &next,
                             const std::string &function);

// What to try, instead of general words, where the case's next calls reach past the end of an
// array. A sentence: "M is j x k, N is k x l."
// `array`: of this argument alone, or of shared memory; empty: of any argument. `in_use`: bytes of
// shared arrays that may be longer; a value just behind them that was never written is past the
// end, too.
void hint_past_the_end(const std::string &hint, const std::string &array = {},
                       std::size_t in_use = 0);

// The elements of the case's results are counts of values in bins: hints are about these.
void results_are_counts();

// The case's next calls bring their results by copies: hints are about these, not about threads.
void results_are_copied();

// The same where the right elements are there in another order: by itself that is taken for places
// in the order of arrival, which is not all that a sort can do wrong.
void hint_another_order(const std::string &hint);

// The same where two threads of a kernel write one place of device memory, in a function that gives
// each element a place of its own.
void hint_one_place(const std::string &hint);

// The same where a kernel reads scratch, or memory of the submission's own, that nobody has
// written.
void hint_unwritten(const std::string &hint);

// The same where just these elements, in ascending order, were never written, or just those of
// another of these lists.
void hint_left_out(const std::vector<std::vector<std::size_t>> &lists, const std::string &hint);

// The same where an output of floats begins with just the values that one of these gives, more than
// were asked for, and is untouched behind them.
void hint_too_many(std::vector<misconception<float>> known);

// The same where a kernel's access is misaligned.
void hint_misaligned(const std::string &hint);

// The same where a call of the case's next does not end.
void hint_without_end(const std::string &hint);

// Nobody but kernels is to work on what lies on the device: on the simulator, a call ends the case
// where the host saw more than an eighth of its inputs there and brought more than an eighth of its
// outputs, and an element either way. In the case's next calls, the host may do more by the
// contract: it sees and brings up to `share` of them and `bytes` (counts and offsets), and the
// usual parameters of launches, which then depend on what it saw, are not counted.
void host_may_steer(double share, std::size_t bytes = 0);
// The host may work on all of it.
void host_may_work();

// When the simulator runs what the case's next calls put into streams. Late: where the program
// waits for it, and only what that wait needs, what was queued last as early as it may, so that a
// missing event or synchronisation shows; a host that polls memory without a call then waits for
// ever. Shuffled: at any time until then, by
// the case's seed. A GPU has its own order.
enum class stream_work : std::uint8_t { as_queued, late, shuffled };
void run_streams(stream_work when);

// The simulator begins the blocks of the case's next calls in no order, and no more than eight
// before others have ended, as the language allows: who waits for a block that has not begun waits
// for ever. A GPU has its own order, which nearly always follows blockIdx.
void begin_any_blocks_first();

// The case's next calls are made by `ranks` processes at once, each a rank of one Open MPI job with
// a device of its own where there are so many. Rank 0 has the arguments; the others are called with
// the same values and null pointers. What it writes and returns is judged, what goes wrong on any
// of them ends the case. Ends the case as skipped where there is no Open MPI.
void run_on_ranks(int ranks);

// What each rank did in `call`, which makes one CALL on ranks: on a GPU, it is made once more on
// the simulator.
struct counted;
std::vector<counted> count_ranks(const std::function<void()> &call);

// The first 8 bytes of what the ranks returned of the last CALL on ranks: rank after rank, and once
// more for each time that the function was called for it.
std::span<const std::uint64_t> returned_by_ranks();

// On the simulator, in the case's next calls: pairs (device, peer) without access to each other's
// memory, whose copies go by way of the host. Elsewhere the machine has what it has.
void close_peers(const std::vector<std::pair<int, int>> &pairs);

// On the simulator, in the case's next calls: how many multiprocessors the device has, so that as
// many blocks as it runs at a time are few and each sees much. Without a call: 2 in a
// CORRECTNESS_CASE, and in a SPEED_CASE as many as device() says; so they are for 0.
void limit_multiprocessors(int count);

// How many launches by kernels may wait to begin in the case's next calls, beyond which they are
// refused: cudaLimitDevRuntimePendingLaunchCount. 0: as many as usual. A GPU may allow more.
// `others_launch`: in runs in another order, others hold places for a moment, so that a launch may
// be refused and the next one not.
void limit_launches(int places, bool others_launch = false);

// On the simulator: whether `call`, a CALL that is told of more elements than its argument `array`
// has, reads on behind them, in whatever order blocks and warps run. It ends there. This is how a
// size is seen to arrive whole for which there is no memory. Anything else that goes wrong ends the
// case. On a GPU the simulator is asked all the same.
bool reads_on(const std::string &array, const std::function<void()> &call);

// The same where nothing matters but that no launch is refused, which ends the case. Other things
// can go wrong for want of memory, and are no one's fault: a texture is not made of too little.
void expect_launches(const std::string &array, const std::function<void()> &call);

// On the simulator: whether `call`, a CALL with less than 100 KB of arguments, leaves device memory
// allocated that the same call before it had not left: what is kept to be used again is no leak. On
// a GPU the simulator is asked all the same.
bool leaks(const std::function<void()> &call);
// The same of streams and events: how many more there are after each such call.
std::uint64_t leaked_handles(const std::function<void()> &call);

// Ends the case where `function` asks for less scratch the more elements there are, or for more
// than any device has: of the largest that the contract allows, for which there is no memory here.
// `arguments`: of a call with n elements; arrays may be empty.
void expect_scratch_for_many(const char *function,
                             const std::function<std::vector<argument>(int n)> &arguments);

// What the host reaches without a copy, or must bring home, it could compute as well. On the
// simulator: ends the case unless kernels of the last CALL, of all ranks together, moved nearly so
// many bytes and did nearly so many multiplications.
void expect_work_of_kernels(double bytes, double multiplications = 0);

// On the simulator: whether kernels of the last CALL stored anything to device memory, be it what
// was there before.
bool kernels_stored();

// What to try where no result is seen, and nobody knows what kernels did.
inline constexpr const char *does_a_kernel_write =
    "Does a kernel run at all, and does it write its result? Check cudaGetLastError() after the "
    "launch.";

// Ends the case as not written unless `changed`: what the last CALL changes in place. `otherwise`
// is the hint where nobody knows that kernels ran and stored nothing.
void expect_changed_in_place(bool changed, std::string message,
                             const std::string &otherwise = does_a_kernel_write);

// Anything else: ends the case unless `right`.
void expect(bool right, verdict otherwise, const std::string &message,
            const std::string &hint = {});

// Whether right(i) for every i < n, asked on all cores: for outputs of a hundred million elements.
// `a_thread`: so many are worth a thread.
bool in_ranges(std::size_t n, const std::function<bool(std::size_t first, std::size_t last)> &right,
               std::size_t a_thread = 1 << 20);
template <class F> bool for_all(std::size_t n, F right, std::size_t a_thread = 1 << 20)
{
    auto all_right = [&](std::size_t first, std::size_t last) {
        bool all = true;
        for (std::size_t i = first; i < last; ++i) all &= right(i);
        return all;
    };
    return in_ranges(n, all_right, a_thread);
}

// Whether both hold the same elements of 4 bytes, each as often, in whatever order: by sums of
// hashes that no submission can foresee. O(n), on all cores.
bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b);

// Whether each run of `length` elements, the last of what is left, holds the elements of `given`
// there in rising order. Told as same_in_any_order() tells it.
bool sorted_in_runs(const std::vector<float> &got, const std::vector<float> &given, int length);
bool sorted_in_runs(const std::vector<unsigned> &got, const std::vector<unsigned> &given,
                    int length);

// A speed case. Steps of 0 are not offered.
struct steps {
    double pass = 0, good = 0, excellent = 0;
};

// One measure the simulator takes. Points never depend on instruction totals.
struct counted_gate {
    std::string name; // "sector bytes used by loads"
    std::function<double(const counted &)> value;
    bool at_least = true; // else: at most
    steps required;
    std::string unit;    // "%", "bytes an element", "sectors a request"
    std::string meaning; // said when missed: what it means and what to try
    // Said instead, where these counters tell more; else empty.
    std::function<std::string(const counted &)> cause = {};
    bool general = false;   // `meaning` leaves open why, so speed_gates::too_slow is said too
    std::string about = {}; // the case or function whose TODOs it belongs to; empty: the case's own
    bool of_any_order = false;     // at least: the order in which blocks take turns that suits it
    bool of_what_is_moved = false; // a share of it, so that moving more than naive is no pass
};
// A lab's own measures; those below are for all labs.
counted_gate at_least(std::string name, const steps &least, std::string unit, std::string meaning,
                      std::function<double(const counted &)> value);
counted_gate at_most(std::string name, const steps &most, std::string unit, std::string meaning,
                     std::function<double(const counted &)> value);
counted_gate used_by_loads(double pass); // bytes asked for over bytes of sectors moved; 0..1
counted_gate used_by_stores(double pass);
// At most so many wavefronts in shared memory, of those that hold all words asked for. `meaning` is
// said where the lanes' distance does not tell the cause.
counted_gate bank_conflicts(double most, std::string meaning);
// The same beside any number of requests without conflicts: at most so many wavefronts an element
// beyond those.
counted_gate conflicts_an_element(std::function<double()> elements, double most);
counted_gate blocks_share(double pass); // at least so many blocks' worth of work at a time
// At least so many lanes of a warp take part in an instruction, of 32, on the average of all that
// kernels execute. Of what we know to be sound the fewest are 22, in CUB's histogram.
counted_gate lanes_at_work(double pass = 12);
counted_gate copies_hidden(double pass); // of the ticks in which copies run, with a kernel; 0..1
// Ticks until all has ended, over those that naive's work takes one after another.
counted_gate makespan(const steps &);
// Streams in which something was copied, filled or computed; the default stream is one of them.
// Where work overlaps in one stream, as that of a graph may, it counts as two.
counted_gate streams_at_work(double pass);
// Of the ticks in which kernels run, those in which two of them do; 0..1.
counted_gate kernels_side_by_side(double pass);

struct counted { // totals over every kernel of one call, and the source lines behind them
    std::uint64_t launches = 0, blocks = 0, threads = 0;
    std::uint64_t launches_by_kernels = 0;     // of the launches
    std::uint64_t instructions_by_kernels = 0; // of the warp instructions: those of such launches
    // Warp instructions; and of each launch those of the block that executed most. Thread
    // instructions over warp instructions: the lanes at work, of 32.
    std::uint64_t warp_instructions = 0, busiest_block_instructions = 0, thread_instructions = 0;
    std::uint64_t load_requests = 0, load_sectors = 0, load_bytes = 0, load_ideal_sectors = 0;
    std::uint64_t store_requests = 0, store_sectors = 0, store_bytes = 0, store_ideal_sectors = 0;
    std::uint64_t compulsory_bytes = 0; // 32 x distinct sectors a launch, reads and writes
    std::uint64_t brought_bytes = 0;    // of these, from the host or put in another order
    std::uint64_t copied_bytes = 0;     // to and within devices, by no kernel
    std::uint64_t shared_wavefronts = 0, shared_ideal_wavefronts = 0;
    std::uint64_t texture_bytes = 0;     // read through textures, by all lanes
    std::uint64_t multiplications = 0;   // of float and double, also those that add; by all lanes
    std::uint64_t divisions = 0;         // of float and double, exact or not; by all lanes
    std::uint64_t double_operations = 0; // arithmetic in double; by all lanes
    // div.rn, sqrt.rn and their like, of float and double; by all lanes.
    std::uint64_t exact_divisions = 0, exact_square_roots = 0;
    std::uint64_t texture_requests = 0, texture_sectors = 0; // the latter: distinct ones a fetch
    std::uint64_t global_atomics = 0, local_requests = 0, barriers = 0;
    // Of device memory, by request; atomics in shared memory are no part of them.
    std::uint64_t global_atomic_requests = 0, atomic_sectors = 0, local_sectors = 0;
    std::uint64_t filled_bytes = 0;  // by memset
    std::uint64_t printed_bytes = 0; // text that kernels printed, for the host
    std::uint64_t constant_requests = 0, constant_addresses = 0; // distinct ones, a request each
    // To the device over the link to the host: copies, what kernels read and write of pinned memory
    // and, of several devices, of managed memory, and parameters. Of the copies, those that came
    // from ordinary memory. Of the parameters, those beyond a few words a launch.
    std::uint64_t host_link_bytes = 0, pageable_bytes = 0, parameter_bytes = 0;
    // Of several devices: what the one that sent most to others sent, in copies and in what kernels
    // read and write of each other's memory; and what of the copies went by way of the host, which
    // is also in host_link_bytes.
    std::uint64_t most_sent_bytes = 0, staged_bytes = 0;
    std::uint64_t most_uploaded_bytes = 0; // copied from the host to the device that got most
    std::uint64_t pageable_out_bytes = 0;  // copied to the host, into ordinary memory
    // From devices to the host, in copies, and what kernels read and write of pinned memory.
    std::uint64_t downloaded_bytes = 0;
    // From the host, and to it, in copies alone: nothing that kernels do with pinned memory.
    std::uint64_t copied_in_bytes = 0, copied_out_bytes = 0;
    std::array<std::uint64_t, 16> multiplications_of{}; // by device
    std::uint64_t message_bytes = 0; // of one of several ranks: given to MPI for the others
    std::uint64_t host_waits = 0;    // times that the host waited for devices
    // Times that a stream was told to wait for an event of which the call had recorded nothing yet.
    std::uint64_t idle_waits = 0;
    // Between kernels and what host code reaches as well: pinned and managed memory, both ways.
    std::uint64_t shared_with_host_bytes = 0;
    // What launches' parameters and the values of fills may have carried, all of it.
    std::uint64_t carried_bytes = 0;
    std::uint64_t host_commands = 0; // launches, copies, fills, textures
    std::uint64_t kept_bytes = 0;    // of device memory, allocated and not freed again
    std::uint64_t kept_handles = 0;  // streams and events, created and not destroyed again
    std::uint64_t managed_pages = 0; // of 4096 bytes, not on the device when a kernel asked
    // Of the simulator's timeline (simulator/README.md): until all had ended; all work one after
    // another; while something was copied to or from a device; and of these while a kernel ran.
    std::uint64_t ticks = 0, serial_ticks = 0, copying_ticks = 0, hidden_ticks = 0;
    std::uint64_t naive_serial_ticks = 0;                   // the same of naive's call
    std::uint64_t streams = 0;                              // that had work to do
    std::uint64_t kernel_ticks = 0, side_by_side_ticks = 0; // with a kernel; with two at a time
    std::uint64_t longest_kernel_ticks = 0;
    // Waits of the host that kept work from beginning earlier; 0 where all that was next to
    // nothing.
    std::uint64_t holding_waits = 0;
    std::uint64_t kernels_behind_streams = 0; // in the default stream, and others' work before
    // A kernel in the default stream waited for none of the streams that had work before it.
    bool default_stream_alone = false;
    bool own_streams = false; // something was put into another stream than the default one
    // Of atomics, in global and shared memory; of each request, its lanes on the address that most
    // of them had.
    std::uint64_t atomic_requests = 0, atomic_same_address = 0;
    struct site {
        std::string kernel, file;
        int line = 0;
        std::uint64_t requests, sectors, ideal_sectors;
        bool store;
    };
    std::vector<site> worst; // global accesses, most sectors beyond ideal first
    struct bank_site {       // of shared memory
        std::string kernel, file;
        int line = 0;
        std::uint64_t wavefronts = 0, ideal = 0;
        bool store = false;
        std::int64_t distance = 0; // bytes from each lane of the worst request to the next, if one
    };
    bank_site worst_banks; // where most wavefronts were beyond ideal
};

// Sectors of 32 bytes moved by anything, and as often as it was asked for: loads and stores,
// atomics, fetches from textures, local memory, constants beyond one address a request (which is a
// broadcast), copies but those between devices, memset, and what kernels print. What a gate bounds
// by it cannot go another way.
double moved_sectors(const counted &);
// Warp instructions that take something from memory of whatever kind, but for shared memory: loads,
// atomics, fetches from textures, local memory and constants.
double memory_requests(const counted &);
// The same with what passes through shared memory: its wavefronts and atomics.
double accesses(const counted &);
// At most so many bytes moved an element, by moved_sectors(). `elements` is asked when they are
// counted, which on a GPU is where simulated() has become true.
counted_gate moved_bytes(const std::string &element, std::function<double()> elements,
                         const steps &most, std::string meaning);

struct speed_gates {
    // S, least ratio of naive's time to the submission's; 0: shown, not graded; below 1: naive's
    // way is the right one, and the case's gates are there to hold back others.
    double speedup = 0;
    double most_speedup = 0; // what no version can reach: more is implausible; 0: nothing is known
    steps copy;              // fraction of this device's copy bandwidth
    steps fma;               // fraction of this device's FMA rate
    // The part of workload::multiply_adds that no version can do without: to be faster than that
    // part allows is implausible.
    double fma_needed = 1;
    std::vector<counted_gate> counted;
    bool naive_may_pass = false; // as where S is below 1
    // Where naive would take too long: which part of the work `make_for_naive` makes. Its time is
    // then taken for what all of it would take at that speed, and the library does all of it.
    double naive_share = 1;
    std::string
        too_slow; // what a student below S or the first step has probably missed, and what to try
};

// What is raced: one set of arguments and what is known about it. A lab derives one a function.
class workload {
public:
    virtual ~workload() = default;
    virtual const char *function() const = 0;
    virtual std::vector<argument> arguments() = 0; // by remote<decltype(f)>::arguments
    // Changes some inputs, so that no round's answer is that of an earlier one; returns the bytes
    // changed of what calls only read. Vectors may be made anew, of the same size.
    virtual std::vector<std::span<std::byte>> change(std::mt19937_64 &random) = 0;
    virtual void check() = 0; // O(n), by expect_*: is the output right for the inputs as they are?
    virtual double bytes() const { return 0; } // that any version must move, read and written
    // That any version must do, but for what speed_gates::fma_needed lets it leave out.
    virtual double multiply_adds() const { return 0; }
    virtual bool in_kernels() const { return true; } // whether kernels must do it, not copies
    // Whether naive's time depends on what it changes in place. If not, it goes on, once verified,
    // with what its last call left: putting that back can take longer than all else.
    virtual bool restored_for_naive() const { return true; }
};
using make_workload = std::function<std::unique_ptr<workload>(std::mt19937_64 &)>;

// On gpu: naive and the submission alternate, timed (see speed.hpp). On the simulator: one call,
// counted. `make` is called for each of the inputs, and several at a time: it draws from its own
// argument only, and sizes them by simulated() and device(). check() of several workloads may run
// at a time too. What a call writes in place, change() puts back to what it was to be called with;
// of an output with a range, that range is all it puts back, and check() proves the rest untouched.
// Where the submission chose the form of its arguments and naive (and the library) takes another,
// `make_for_naive` makes the same work in theirs from the same random numbers.
void race(const make_workload &make, const speed_gates &gates,
          const make_workload &make_for_naive = {});

// A wrong answer has no speed, on no day: makes the workload's call on the simulator, once with its
// streams late and once shuffled, each time with inputs of its own, and ends the case where it is
// wrong. Nothing where there is no simulator.
void right_in_any_order(const make_workload &make);

// What one call of naive costs here, by which a case balances what it asks for: on a GPU in
// milliseconds, the shortest of some calls; on the simulator in ticks.
double naive_cost(const make_workload &make);

enum class kind : std::uint8_t { correctness, speed };
struct worth { // a doctest decorator: enters the case in the grader's own records
    kind what;
    int points;
    worth(kind of, int full) : what(of), points(full) {}
    void fill(doctest::detail::TestCase &) const;
};
#define CORRECTNESS_CASE(name, points)                                                             \
    TEST_CASE(name *grading::worth(grading::kind::correctness, points))
#define SPEED_CASE(name, points) TEST_CASE(name *grading::worth(grading::kind::speed, points))

// Machinery of `call`, in call.cpp. `result` receives the function's return value.
void make_call(const char *function, std::vector<argument> arguments, void *result,
               std::size_t result_bytes);

template <class F, class... A> auto call(const char *function, A &&...a) ->
    typename remote<F>::result
{
    using R = typename remote<F>::result;
    if constexpr (std::is_void_v<R>)
        make_call(function, remote<F>::arguments(a...), nullptr, 0);
    else {
        R r{};
        make_call(function, remote<F>::arguments(a...), &r, sizeof r);
        return r;
    }
}

} // namespace grading
