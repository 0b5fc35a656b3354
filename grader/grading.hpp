// The interface of a lab's grade.cpp: cases, inputs, the call, comparisons, benchmarks.
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
// The first failure ends the case with its verdict; the next case is still graded.
#pragma once

#include "api/call.hpp"
#include "text/verdict.hpp"

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

bool simulated();             // true if the case runs on the simulator
const device_facts &device(); // of the device that the case runs on; asked for once

// Inputs. The generator is seeded from the run's seed and the case's name, so a case that runs
// alone sees the same inputs as in a full run.
std::mt19937_64 &random_source();
std::vector<float> random_floats(std::size_t n, float low = -1, float high = 1);
// Fills with multiples of 2^-23 in [-1, 1); fast enough for a hundred million elements.
void fill_random(std::span<float> values, std::mt19937_64 &random);
void fill_random(std::span<unsigned char> values, std::mt19937_64 &random);
std::vector<int> random_ints(std::size_t n, int low, int high); // both ends included
int random_between(int low, int high);
// An image of data/, read by its file name: binary PGM, 8 bits per pixel, row-major.
struct picture {
    int width = 0, height = 0;
    std::vector<unsigned char> pixels;
};
picture read_picture(const std::string &name);
// Writes NAME.pgm to the folder of --pictures, if one was given: row-major, 0 is black and 1
// white. Values beyond are clamped; NaN is white.
void keep_picture(const std::string &name, int width, int height, std::span<const float> values);

// Makes a call in the student's worker, with arguments typed by the contract. Ends the case on a
// failure. Returns the function's result, if it has one.
template <class F, class... A> auto call(const char *function, A &&...a) ->
    typename remote<F>::result;
#define CALL(function, ...) grading::call<decltype(function)>(#function __VA_OPT__(, ) __VA_ARGS__)

// Shape of an array, which turns an index into coordinates in messages ("row 3, column 5"); empty:
// messages give the plain index.
using extents = std::vector<std::size_t>;

// A known misconception and the wrong answer that it produces.
template <class T> struct misconception {
    std::string cause; // a sentence: "Each row was scaled by its own factor."
    std::string next;  // a sentence: "Index `factor` by the column."
    std::function<std::vector<T>()> looks_like; // all elements; compared where the answer is wrong
    bool everywhere = false;                    // must match the right elements, too
};

// Compares bit for bit (but -0 equals +0). T: float, double, and integers of 8 to 64 bits.
template <class T> void expect_equal(const output<T> &got, const std::vector<T> &want,
                                     const extents &shape = {},
                                     const std::vector<misconception<T>> &known = {});

// Compares sums in float, with u = 2^-24: |got - want| <= 4 max(sqrt(terms), 2) u magnitude + u
// |want| + tiny. `magnitude`, the sum of the terms' absolute values, is per element or one for
// all.
void expect_close(const output<float> &got, const std::vector<double> &want, double terms,
                  const std::vector<double> &magnitude, const extents &shape = {},
                  const std::vector<misconception<float>> &known = {});

// The bound of expect_close, for one element.
bool within(float value, double reference, double terms, double magnitude);

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

// Replaces the hint if two threads of a kernel write the same location in device memory, in a
// function where each element has its own location.
void hint_one_place(const std::string &hint);

// Replaces the hint if a kernel reads scratch, or memory allocated by the submission, that was
// never written.
void hint_unwritten(const std::string &hint);

// Replaces the hint if exactly the elements of one of these lists (ascending) were never written.
void hint_left_out(const std::vector<std::vector<std::size_t>> &lists, const std::string &hint);

// Replaces the hint if an output of floats begins with exactly the values of one of these, more
// than were asked for, and is untouched behind them.
void hint_too_many(std::vector<misconception<float>> known);

// Replaces the hint if a kernel's access is misaligned.
void hint_misaligned(const std::string &hint);

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

// Makes the simulator begin the blocks of the case's next calls in a random order, and at most
// eight before others have ended, as CUDA allows. A block that waits for one that has not begun
// waits for ever. A GPU has its own order, which nearly always follows blockIdx.
void begin_any_blocks_first();

// Makes the case's next calls in `ranks` processes at the same time, each a rank of one Open MPI
// job, with a device per rank where there are enough. Rank 0 has the arguments; the others get the
// same values and null pointers. The outputs and result of rank 0 are judged; a failure on any
// rank ends the case. Ends the case as skipped if there is no Open MPI.
void run_on_ranks(int ranks);

// Returns the counters of each rank for `call`, which makes one CALL on ranks. On a GPU, the call
// is made once more on the simulator.
struct counted;
std::vector<counted> count_ranks(const std::function<void()> &call);

// Returns the first 8 bytes of each rank's result in the last CALL on ranks, rank after rank; if
// the CALL made two calls, first all of one, then all of the other.
std::span<const std::uint64_t> returned_by_ranks();

// On the simulator, in the case's next calls: denies access to each other's memory to these pairs
// (device, peer), whose copies then go through the host. A GPU machine stays as it is.
void close_peers(const std::vector<std::pair<int, int>> &pairs);

// On the simulator, in the case's next calls: sets the number of multiprocessors, so that few
// blocks run at a time and each has much to do. 0: as many as device() reports. The default is 2
// in a CORRECTNESS_CASE and 0 in a SPEED_CASE.
void limit_multiprocessors(int count);

// Limits the launches by kernels that are pending at a time in the case's next calls; further
// launches are refused: cudaLimitDevRuntimePendingLaunchCount. 0: the default. A GPU may allow
// more. `others_launch`: in calls with another order of blocks, other launches are pending for a
// moment, too, so that one launch may be refused and the next one not.
void limit_launches(int pending, bool others_launch = false);

// On the simulator: true if `call`, a CALL with a larger size than its argument `array` has, reads
// past the end of it in any order of blocks and warps. The call ends there. This tests that a size
// arrives unchanged for which there is not enough memory. Any other failure ends the case. On a
// GPU the simulator is used, too.
bool reads_on(const std::string &array, const std::function<void()> &call);

// The same, but ends the case only for a refused launch. Other failures may come from the missing
// memory, for instance a texture that is too small.
void expect_launches(const std::string &array, const std::function<void()> &call);

// On the simulator: true if `call`, a CALL with less than 100 KB of arguments, leaks device
// memory: it leaves more allocated than the same call before it did, so a cache is no leak. On a
// GPU the simulator is used, too.
bool leaks(const std::function<void()> &call);
// The same for streams and events: returns how many more there are after each such call.
std::uint64_t leaked_handles(const std::function<void()> &call);

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

// Hint for a missing result if no counters tell what kernels did.
inline constexpr const char *does_a_kernel_write =
    "Does a kernel run at all, and does it write its result? Check cudaGetLastError() after the "
    "launch.";

// Ends the case as not written unless the last CALL `changed` its in-place argument. `otherwise`
// is the hint unless counters show that kernels ran and stored nothing.
void expect_changed_in_place(bool changed, std::string message,
                             const std::string &otherwise = does_a_kernel_write);

// Ends the case with verdict `otherwise` unless `right`.
void expect(bool right, verdict otherwise, const std::string &message,
            const std::string &hint = {});

// True if right(first, last) holds for ranges that cover [0, n), called on all cores: for outputs
// of a hundred million elements. `per_thread` elements are worth a thread.
bool in_ranges(std::size_t n, const std::function<bool(std::size_t first, std::size_t last)> &right,
               std::size_t per_thread = 1 << 20);
template <class F> bool for_all(std::size_t n, F right, std::size_t per_thread = 1 << 20)
{
    auto all_right = [&](std::size_t first, std::size_t last) {
        bool all = true;
        for (std::size_t i = first; i < last; ++i) all &= right(i);
        return all;
    };
    return in_ranges(n, all_right, per_thread);
}

// True if both hold the same 4-byte elements, each equally often, in any order. Compares sums of
// hashes that no submission can predict. O(n), on all cores.
bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b);

// True if each run of `length` elements (the last may be shorter) is sorted and holds the elements
// of the same run of `given`. Compares by hashes as same_in_any_order() does.
bool sorted_in_runs(const std::vector<float> &got, const std::vector<float> &given, int length);
bool sorted_in_runs(const std::vector<unsigned> &got, const std::vector<unsigned> &given,
                    int length);

// Thresholds of a speed case. Steps of 0 are not offered.
struct steps {
    double pass = 0, good = 0, excellent = 0;
};

// One measure taken by the simulator. Points never depend on instruction totals.
struct counted_gate {
    std::string name; // "sector bytes used by loads"
    std::function<double(const counted &)> value;
    bool at_least = true; // else: at most
    steps required;
    std::string unit;    // "%", "bytes an element", "sectors a request"
    std::string meaning; // printed if missed: its meaning and the next thing to try
    // Printed instead of `meaning` if these counters show the cause; else empty.
    std::function<std::string(const counted &)> cause = {};
    bool general = false;   // `meaning` does not name a cause, so speed_gates::too_slow is added
    std::string about = {}; // case or function whose TODOs it names; empty: the case's own
    // At least: a value that misses the gate is counted once more with blocks in another order, and
    // the better one judged.
    bool best_of_schedules = false;
    // A fraction of the bytes moved, which useless traffic may raise: moving more than twice
    // naive's sectors is no pass.
    bool is_efficiency = false;
};
// A lab's own measures; the gates below are for all labs.
counted_gate at_least(std::string name, const steps &required, std::string unit,
                      std::string meaning, std::function<double(const counted &)> value);
counted_gate at_most(std::string name, const steps &limit, std::string unit, std::string meaning,
                     std::function<double(const counted &)> value);
counted_gate used_by_loads(double pass); // bytes asked for over bytes of sectors moved; 0..1
counted_gate used_by_stores(double pass);
// Limits wavefronts in shared memory over the fewest possible for the words asked for. `meaning`
// is printed if the lanes' distance does not show the cause.
counted_gate bank_conflicts(double limit, std::string meaning);
// Limits the wavefronts beyond the ideal ones, per element; requests without conflicts do not
// dilute it.
counted_gate conflicts_an_element(std::function<double()> elements, double limit);
// Requires that the kernels ran this many times the warp instructions of their busiest block.
counted_gate blocks_share(double pass);
// Requires that, on average, this many of 32 lanes are active in a warp instruction. The lowest
// value that a good kernel is known to have is 22, in CUB's histogram.
counted_gate lanes_at_work(double pass = 12);
counted_gate copies_hidden(double pass); // share of copy ticks during which a kernel runs; 0..1
// Limits the ticks until all work has ended over those of naive's work done serially.
counted_gate makespan(const steps &);
// Requires work (copies, fills, kernels) in this many streams; the default stream is one of them.
// Work that overlaps in one stream, as that of a graph may, counts as two.
counted_gate streams_at_work(double pass);
// Requires a share of the kernel ticks in which two kernels run; 0..1.
counted_gate kernels_side_by_side(double pass);

struct counted { // totals over every kernel of one call, and the source lines behind them
    std::uint64_t launches = 0, blocks = 0, threads = 0;
    std::uint64_t launches_by_kernels = 0;     // included in launches
    std::uint64_t instructions_by_kernels = 0; // included in warp_instructions
    // Warp instructions; the sum over launches of the busiest block's; and thread instructions,
    // which over warp instructions give the average number of active lanes, of 32.
    std::uint64_t warp_instructions = 0, busiest_block_instructions = 0, thread_instructions = 0;
    std::uint64_t load_requests = 0, load_sectors = 0, load_bytes = 0, load_ideal_sectors = 0;
    std::uint64_t store_requests = 0, store_sectors = 0, store_bytes = 0, store_ideal_sectors = 0;
    std::uint64_t compulsory_bytes = 0; // 32 x distinct sectors per launch, reads and writes
    // Copies by the host's calls to devices and within a device.
    std::uint64_t copied_bytes = 0;
    // Part of copied_bytes with which copies may have done the kernels' work: those from the host,
    // and rows shorter than 128 bytes within a device, which can permute elements.
    std::uint64_t brought_bytes = 0;
    // A wavefront is one pass over the 32 banks; ideal: the fewest for the words asked for.
    std::uint64_t shared_wavefronts = 0, shared_ideal_wavefronts = 0;
    std::uint64_t texture_bytes = 0;     // read through textures, by all lanes
    std::uint64_t multiplications = 0;   // of float and double, including FMA; by all lanes
    std::uint64_t divisions = 0;         // of float and double, exact or not; by all lanes
    std::uint64_t double_operations = 0; // arithmetic in double; by all lanes
    // div.rn, sqrt.rn and similar, of float and double; by all lanes.
    std::uint64_t exact_divisions = 0, exact_square_roots = 0;
    std::uint64_t texture_requests = 0, texture_sectors = 0; // distinct sectors per fetch
    std::uint64_t global_atomics = 0, local_requests = 0, barriers = 0;
    // By request, in device memory; atomics in shared memory are not included.
    std::uint64_t global_atomic_requests = 0, atomic_sectors = 0, local_sectors = 0;
    std::uint64_t filled_bytes = 0;  // by memset
    std::uint64_t printed_bytes = 0; // text that kernels printed, for the host
    std::uint64_t constant_requests = 0, constant_addresses = 0; // distinct ones per request
    // Bytes to the device over the link to the host: copies, parameters, and accesses by kernels,
    // loads and stores alike, to pinned memory and, with several devices, to managed memory.
    // pageable_bytes: copies from pageable memory. parameter_bytes: parameters beyond a few words
    // per launch.
    std::uint64_t host_link_bytes = 0, pageable_bytes = 0, parameter_bytes = 0;
    // With several devices: bytes sent by the device that sent most to others, in copies and in
    // accesses by kernels to each other's memory; and copies between devices that went through the
    // host, which are also in host_link_bytes.
    std::uint64_t most_sent_bytes = 0, staged_bytes = 0;
    std::uint64_t most_uploaded_bytes = 0; // copied from the host to the device that got most
    std::uint64_t pageable_out_bytes = 0;  // copied to the host, into pageable memory
    // From devices to the host: copies, and accesses by kernels to pinned memory, loads included.
    std::uint64_t downloaded_bytes = 0;
    // From the host, and to it, in copies alone: without accesses by kernels to pinned memory.
    std::uint64_t copied_in_bytes = 0, copied_out_bytes = 0;
    std::array<std::uint64_t, 16> multiplications_of{}; // by device
    std::uint64_t message_bytes = 0; // bytes that one of several ranks gave MPI for the others
    std::uint64_t host_waits = 0;    // times that the host waited for devices
    // Waits of streams for an event in which the call had recorded nothing yet.
    std::uint64_t idle_waits = 0;
    // Accesses by kernels to memory that host code reaches as well: pinned and managed memory,
    // both ways.
    std::uint64_t shared_with_host_bytes = 0;
    // All bytes that launch parameters and the values of fills may have carried.
    std::uint64_t carried_bytes = 0;
    // Launches by the host, copies, fills, graph nodes, created textures.
    std::uint64_t host_commands = 0;
    std::uint64_t kept_bytes = 0;    // device memory allocated and not freed again
    std::uint64_t kept_handles = 0;  // streams and events created and not destroyed again
    std::uint64_t managed_pages = 0; // 4096-byte pages not resident when a kernel accessed them
    // Times from the simulator's timeline (simulator/README.md): until all work had ended; all
    // work done serially; copies to or from a device; and the part of these during which a kernel
    // ran.
    std::uint64_t ticks = 0, serial_ticks = 0, copying_ticks = 0, hidden_ticks = 0;
    std::uint64_t naive_serial_ticks = 0;                   // serial_ticks of naive's call
    std::uint64_t streams = 0;                              // streams that had work to do
    std::uint64_t kernel_ticks = 0, side_by_side_ticks = 0; // while a kernel ran; while two ran
    std::uint64_t longest_kernel_ticks = 0;
    // Waits of the host that kept work from beginning earlier; 0 if their cost was negligible.
    std::uint64_t holding_waits = 0;
    std::uint64_t kernels_behind_streams = 0; // in the default stream, after other streams' work
    // True if a kernel in the default stream waited for none of the streams that had work before
    // it.
    bool default_stream_alone = false;
    bool own_streams = false; // work was put into another stream than the default stream
    // Atomics in global and shared memory: requests; and per request, the lanes on the address
    // that most of its lanes use.
    std::uint64_t atomic_requests = 0, atomic_same_address = 0;
    struct site {
        std::string kernel, file;
        int line = 0;
        std::uint64_t requests, sectors, ideal_sectors;
        bool store;
    };
    std::vector<site> worst; // global accesses, by sectors beyond ideal, descending
    struct bank_site {       // in shared memory
        std::string kernel, file;
        int line = 0;
        std::uint64_t wavefronts = 0, ideal = 0;
        bool store = false;
        std::int64_t lane_stride = 0; // bytes between lanes of the worst request; 0: not uniform
    };
    bank_site worst_banks; // the line with the most wavefronts beyond ideal
};

// Returns the sectors of 32 bytes moved by anything, counted each time: loads and stores, atomics,
// texture fetches, local memory, constants beyond one address per request (which is a broadcast),
// copies except between devices, memset, and text printed by kernels. No other way to move data
// evades a gate on it.
double moved_sectors(const counted &);
// Returns the warp instructions that read any memory but shared memory: loads, atomics, texture
// fetches, local memory and constants.
double memory_requests(const counted &);
// The same, plus wavefronts and atomics in shared memory.
double accesses(const counted &);
// Limits the bytes moved per element, by moved_sectors(). `elements` is called when they are
// counted; on a GPU simulated() is true by then.
counted_gate moved_bytes(const std::string &element, std::function<double()> elements,
                         const steps &limit, std::string meaning);

struct speed_gates {
    // S, the lowest ratio of naive's time to the submission's. 0: shown, not graded. Below 1:
    // naive's way is the right one, and the case's gates reject other ways.
    double speedup = 0;
    double most_speedup = 0; // more is implausible; 0: no bound is known
    steps copy;              // fraction of this device's copy bandwidth
    steps fma;               // fraction of this device's FMA rate
    // The part of workload::multiply_adds that no version can do without: being faster than that
    // part allows is implausible.
    double fma_needed = 1;
    std::vector<counted_gate> counted;
    bool naive_may_pass = false; // as if S were below 1
    // The share of the work that `make_for_naive` makes, if naive would take too long for all of
    // it. Naive's time is then scaled up to the full work. The library does the full work.
    double naive_share = 1;
    std::string too_slow; // likely reasons for missing S or the first step, and hints
};

// A benchmark's workload: one set of arguments and the properties of the call. A lab derives one
// per function.
class workload {
public:
    virtual ~workload() = default;
    virtual const char *function() const = 0;
    virtual std::vector<argument> arguments() = 0; // from remote<decltype(f)>::arguments
    // Changes some inputs, so that no round has the answer of an earlier one. Returns the changed
    // bytes of read-only inputs. Vectors may be reallocated with the same size.
    virtual std::vector<std::span<std::byte>> change(std::mt19937_64 &random) = 0;
    virtual void check() = 0; // O(n), by expect_*: is the output right for the current inputs?
    virtual double bytes() const { return 0; } // that any version must move, read and written
    // Multiply-adds that any version must do, except what speed_gates::fma_needed allows it to
    // skip.
    virtual double multiply_adds() const { return 0; }
    virtual bool in_kernels() const { return true; } // kernels must do it, not copies
    // True if naive's time depends on data that it changes in place. Otherwise, once verified,
    // naive continues with the results of its last call, because restoring can take longer than
    // everything else.
    virtual bool restored_for_naive() const { return true; }
};
using make_workload = std::function<std::unique_ptr<workload>(std::mt19937_64 &)>;

// Benchmarks naive and the submission alternately on a GPU (see speed.hpp); on the simulator,
// compares the counters of one call, or of two equal ones, with the gates.
// `make` is called once per set of inputs, several at a time: it draws only from its own argument,
// and chooses sizes by simulated() and device(). check() of several workloads may run at the same
// time, too. change() restores everything that a call writes in place; for an output with a range
// it restores only that range, and check() proves the rest untouched. If the submission chose the
// form of its arguments and naive (and the library) takes another, `make_for_naive` makes the same
// work in their form from the same random numbers.
void race(const make_workload &make, const speed_gates &gates,
          const make_workload &make_for_naive = {});

// Checks the answer before its speed counts: makes the workload's call on the simulator, once with
// late streams and once with shuffled ones, each time with new inputs, and ends the case if it is
// wrong. Does nothing without a simulator.
void right_in_any_order(const make_workload &make);

// Returns the cost of one call of naive here, so that a case can balance its sizes: on a GPU in
// milliseconds, the shortest of some calls; on the simulator in ticks.
double naive_cost(const make_workload &make);

enum class kind : std::uint8_t { correctness, speed };
struct case_points { // a doctest decorator: enters the case in the grader's own records
    kind what;
    int points;
    case_points(kind of, int full) : what(of), points(full) {}
    void fill(doctest::detail::TestCase &) const;
};
#define CORRECTNESS_CASE(name, points)                                                             \
    TEST_CASE(name *grading::case_points(grading::kind::correctness, points))
#define SPEED_CASE(name, points) TEST_CASE(name *grading::case_points(grading::kind::speed, points))

// Implementation of `call`, in call.cpp. `result` receives the function's return value.
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
