// Grades lab 14, memory on the host.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

// One call each.

static void try_upload(std::size_t n)
{
    floats source = random_floats(n);
    output<float> dst(n);
    results_are_copied();
    CALL(upload, acquired(source), misaligned(dst, int(n % 4)), n);
    expect_equal(dst, source);
}

static void try_sums(std::size_t n, int passes)
{
    floats values = random_floats(n);
    output<double> out{std::size_t(passes)};
    CALL(sum_mapped, mapped(values), int(n), passes, out, scratch);
    expect_sums(out, values);
    expect_work_of_kernels(4.0 * double(n), double(n) * (passes - 1));
}

static void need_managed_pages()
{
    expect(device().pages_on_demand != 0, verdict::SKIPPED,
           "On this machine kernels cannot fetch single pages of managed memory "
           "(concurrentManagedAccess is 0), so all of it moves before a launch, with or without a "
           "prefetch.");
}

static void try_managed(std::size_t n, float factor, int rounds)
{
    floats before = random_floats(n);
    output<float> data = changed_in_place(before);
    CALL(scale_managed, managed(data), int(n), factor, rounds);
    expect_scaled(data, before, factor, rounds);
    if (rounds > 0) expect_work_of_kernels(8.0 * double(n), double(n) * rounds);
}

// Copies as time_copy_ms should, in the submission's own process, and returns what events say.
static double measured_ms(floats &source, int repeats)
{
    output<float> dst(source.size());
    return grading::call<float(const float *, float *, std::size_t, int)>(
        "yardstick_upload_ms", pinned(source), dst, source.size(), repeats);
}

// On the simulator all copies of a size take equally long. A GPU is measured before and after, and
// again if the times differ, since other processes use the link, too.
static void try_timing(std::size_t n, int repeats)
{
    floats source = random_floats(n);
    output<float> dst(n);
    double before = 0, got = 0;
    bool equal = false;
    for (int tries = simulated() ? 1 : 5; tries > 0 && !equal; --tries) {
        before = measured_ms(source, repeats);
        results_are_copied();
        got = CALL(time_copy_ms, pinned(source), dst, n, repeats);
        expect_equal(dst, source);
        const double after = simulated() ? before : measured_ms(source, repeats);
        const double slack = simulated() ? 1.001 : 2;
        equal = got >= std::min(before, after) / slack && got <= std::max(before, after) * slack;
    }
    const std::string cause = why_mistimed(got, before, repeats);
    expect(equal, verdict::WRONG_ANSWER,
           "time_copy_ms returned " + show_element(got) + " ms for a copy of " +
               std::to_string(4 * n) + " bytes, and by the grader's events one takes " +
               show_element(before) + " ms." + (cause.empty() ? "" : " " + cause),
           !cause.empty()
               ? "Which copies lie between the two events, and by how many is their time divided?"
               : "Only events in the stream of the copies measure the device's time: record one in "
                 "front of the copies and one behind them, with nothing else between. The host's "
                 "clock measures how long the host took to queue the copies.");
}

// A function that returns a time counts as written if it has copied.
CORRECTNESS_CASE("time_copy_ms: by events", 5)
{
    if (!simulated()) return try_timing(timed_floats, 10);
    for (int repeats : {1, 2, 7}) try_timing(100003, repeats);
    for (std::size_t n : {1, 5, 4096}) try_timing(n, 3);
}

CORRECTNESS_CASE("time_copy_ms: a warm-up copy", 2)
{
    constexpr std::size_t n = 20001;
    constexpr int repeats = 6;
    floats source = random_floats(n);
    output<float> dst(n);
    results_are_copied();
    CALL(time_copy_ms, pinned(source), dst, n, repeats);
    const double copies = double(copied_to_devices()) / (4.0 * n);
    expect(copies >= repeats + 1, verdict::WRONG_ANSWER,
           "With repeats = " + std::to_string(repeats) + ", time_copy_ms made " +
               show_element(copies) + " copies, and " + std::to_string(repeats + 1) +
               " were asked for.",
           "The first copy of a program may include set-up work of the driver. Make one before the "
           "first event, so that it is not measured.");
    expect(copies <= repeats + 1, verdict::WRONG_ANSWER,
           "With repeats = " + std::to_string(repeats) + ", time_copy_ms made " +
               show_element(copies) +
               " copies: one to warm up and `repeats` to be measured are "
               "enough.",
           "How often does the loop run, and what is copied outside of it?");
}

CORRECTNESS_CASE("time_copy_ms: call after call", 2)
{
    // A GPU copies a few thousand floats in less time than a call takes.
    const std::size_t n = simulated() ? 3001 : timed_floats;
    expect_handles_destroyed(
        "time_copy_ms", [n] { try_timing(n, 4); },
        "Call cudaEventDestroy for each event, once its time has been read.");
}

CORRECTNESS_CASE("upload: what arrives", 4)
{
    for (std::size_t n : {10, 1, 1025, 100003}) try_upload(n);
}

// A copy to a pinned buffer within upload would hide that acquire did not pin.
static void expect_pinned()
{
    floats some = random_floats(1000);
    constexpr int known_to_the_device = 1, of_the_device = 2; // cudaMemoryTypeHost, ...Device
    int type = grading::call<int(const float *)>("yardstick_memory_type", acquired(some));
    expect(type == known_to_the_device, verdict::TOO_SLOW,
           type == 0 ? "acquire returned ordinary, pageable memory: the device cannot read it "
                       "directly, so every upload must first be copied to a pinned buffer."
           : type == of_the_device
               ? "acquire returned device memory, which the caller cannot fill."
               : "acquire returned managed memory, whose pages move between host and device: it is "
                 "not pinned.",
           "Pin the memory when it is acquired, not when it is uploaded: cudaMallocHost.");
}

SPEED_CASE("upload: speed", 6.5, 4)
{
    const double n = double(floats_to_cross());
    speed_gates gates;
    gates.speedup = 1.3;
    gates.counted = {at_least(
        "uploaded from pinned memory", {1}, "%",
        "The copy engine reads physical addresses, so pages must not move meanwhile, and "
        "those of pinned memory do not. Other memory is copied to a pinned buffer first.",
        per(4 * n, [](const counted &c) { return c.host_link_bytes - c.pageable_bytes; }))};
    gates.too_slow = "Which kind of memory does acquire return, and does upload copy once?";
    results_are_copied();
    race(upload_floats(), gates);
    expect_pinned();
}

CORRECTNESS_CASE("sum_mapped: no values", 1)
{
    for (int passes : {1, 5, 16}) try_sums(0, passes);
}

CORRECTNESS_CASE("sum_mapped: one pass", 2)
{
    for (std::size_t n : {10, 1, 33, 1025, 20011}) try_sums(n, 1);
}

CORRECTNESS_CASE("sum_mapped: several passes", 2.5)
{
    for (int passes : {2, 3, 8, 16}) try_sums(3001, passes);
    run_streams(stream_work::late);
    for (int passes : {2, 5}) try_sums(3001, passes);
}

// The host can access these arrays, too, without a copy that would show it.
static counted_gate multiplied_by_kernels(double elements, double least)
{
    return at_least("multiplications by kernels per element", {least}, "",
                    "The host can compute this, too: let a kernel do it.",
                    per(elements, &counted::multiplications));
}

SPEED_CASE("sum_mapped: speed", 5.5, 3)
{
    const double n = double(floats_to_cross());
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {
        at_most(
            "host-link bytes per element", {4.1}, "",
            "Mapped memory stays on the host: each time a kernel reads it, it crosses the link. "
            "Let it cross once: into scratch, or into a kernel that does all passes at once.",
            per(n, &counted::host_link_bytes)),
        multiplied_by_kernels(n, 6.5), lanes_at_work()};
    gates.too_slow = "How often does each element cross the link to the host?";
    race(sum_floats(8), gates);
}

CORRECTNESS_CASE("scale_managed: a few rounds", 4)
{
    need_managed_pages();
    for (int rounds : {3, 1, 0, 8}) try_managed(1000, 1.1f, rounds);
    for (std::size_t n : {1, 33, 1025, 5003, 0}) try_managed(n, -0.75f, 2);
}

SPEED_CASE("scale_managed: speed", 5.5, 3)
{
    need_managed_pages();
    const double n = double(floats_to_scale());
    speed_gates gates;
    gates.speedup = 1.5;
    gates.counted = {
        at_least("pages on the device before a kernel needed them", {1}, "%",
                 "A kernel that accesses a page of managed memory on the host waits until it has "
                 "been moved, page by page. cudaMemPrefetchAsync moves all of them beforehand, in "
                 "large pieces.",
                 [n](const counted &c) {
                     return std::max(0.0, 1 - double(c.managed_pages) * 4096 / (4 * n));
                 }),
        multiplied_by_kernels(n, 3.5),
        at_least("compulsory bytes per element", {7.5}, "bytes",
                 "Every element is read and written, 4 bytes each way: let kernels do both.",
                 per(n, &counted::compulsory_bytes)),
        lanes_at_work()};
    gates.too_slow = "What does the first kernel wait for?";
    race(scale_floats(4), gates);
}
