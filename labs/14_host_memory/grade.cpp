// Grades lab 14, memory on the host.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// An array that is changed in place counts as not written if it is unchanged.
static void expect_changed(const char *function, const output<float> &got, const floats &before,
                           const floats &want)
{
    if (want == before || got.values != before) return;
    std::string message = std::string(function) + " returned, and every element is unchanged";
    expect(!kernels_stored(), verdict::WRONG_ANSWER, message + ", though a kernel stored elements.",
           "It stored the old values: is everything moved twice, or stored where it was loaded?");
    expect_changed_in_place(false, message + ".",
                            "Does a kernel run at all, and does it write its result?");
}

static void expect_scaled(const output<float> &got, const floats &before, float factor, int rounds)
{
    floats want = oracle::scale_managed(before, factor, rounds);
    expect_changed("scale_managed", got, before, want);
    expect_equal(got, want, {}, [&] { return wrong_scalings(before, factor, rounds); });
}

// One call each.

static void try_upload(std::size_t n)
{
    floats source = random_floats(n);
    output<float> dst(n);
    results_are_copied();
    CALL(upload, acquired(source), misaligned(dst, int(n % 4)), n);
    expect_equal(dst, source);
}

static void expect_sums(const output<double> &got, const floats &mapped)
{
    int passes = int(got.size());
    std::vector<double> want = oracle::sum_mapped(mapped, passes);
    floats sizes = mapped;
    for (float &x : sizes) x = std::abs(x);
    std::vector<double> magnitudes = oracle::sum_mapped(sizes, passes);
    for (std::size_t p = 0; p < want.size(); ++p) {
        bool in_float = std::abs(got[p] - want[p]) <= 1e-5 * magnitudes[p];
        expect(std::abs(got[p] - want[p]) <= 1e-10 * magnitudes[p], verdict::WRONG_ANSWER,
               "out[" + std::to_string(p) + "] is " + show_element(got[p]) +
                   ", and the elements to the power of " + std::to_string(p + 1) + " add up to " +
                   show_element(want[p]) + ": it is off by " +
                   show_element(std::abs(got[p] - want[p])) + "." +
                   (in_float ? " That is the precision of float." : ""),
               in_float ? "Multiply and add as double."
                        : "out[p] is the sum of all mapped[i] to the power of p + 1. Does every "
                          "pass begin with 0?");
    }
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

// On the simulator all copies of a size take equally long. A GPU is measured before and after.
static void try_timing(std::size_t n, int repeats)
{
    floats source = random_floats(n);
    const double before = measured_ms(source, repeats);
    output<float> dst(n);
    results_are_copied();
    const double got = CALL(time_copy_ms, pinned(source), dst, n, repeats);
    expect_equal(dst, source);
    const double after = simulated() ? before : measured_ms(source, repeats);
    const double slack = simulated() ? 1.001 : 2;
    const double least = std::min(before, after) / slack, most = std::max(before, after) * slack;
    const std::string cause = why_mistimed(got, before, repeats);
    expect(got >= least && got <= most, verdict::WRONG_ANSWER,
           "time_copy_ms returned " + show_element(got) + " ms for a copy of " +
               std::to_string(4 * n) + " bytes, and by the grader's events one takes " +
               show_element(before) + " ms." + (cause.empty() ? "" : " " + cause),
           !cause.empty()
               ? "Which copies lie between the two events, and by how many is their time divided?"
               : "Only events in the stream of the copies measure the device's time: record one in "
                 "front of the copies and one behind them, with nothing else between. The host's "
                 "clock measures how long the host took to queue the copies.");
}

// A speed case runs a function; these are its arguments, and what changes between two calls.

namespace {

struct race_parts {
    const char *function;
    std::function<std::vector<argument>()> arguments;
    std::function<std::vector<std::span<std::byte>>(std::mt19937_64 &)> change;
    std::function<void()> check;
    double bytes = 0;
    bool in_kernels = true;
};

class one_race : public workload {
public:
    explicit one_race(race_parts parts) : parts_(std::move(parts)) {}
    const char *function() const override { return parts_.function; }
    std::vector<argument> arguments() override { return parts_.arguments(); }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return parts_.change(random);
    }
    void check() override { parts_.check(); }
    double bytes() const override { return parts_.bytes; }
    bool in_kernels() const override { return parts_.in_kernels; }

private:
    race_parts parts_;
};

} // namespace

// New values for a stretch of `values` somewhere.
template <class T>
static std::span<std::byte> renew(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<T> stretch = std::span(values).subspan(first, count);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}

// The number of floats, limited by the speed of the host and its link.
constexpr std::size_t linked_floats = (1 << 23) - 35;

static make_workload upload_race()
{
    return [](std::mt19937_64 &random) {
        struct parts {
            floats in;
            output<float> out;
        };
        std::size_t n = simulated() ? 20001 : linked_floats;
        auto p = std::make_shared<parts>(parts{floats(n), output<float>(n)});
        fill_random(p->in, random);
        race_parts copied{
            "upload",
            [=] { return remote<decltype(upload)>::arguments(acquired(p->in), p->out, n); },
            [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
            [p] { expect_equal(p->out, p->in); }};
        copied.in_kernels = false;
        return std::make_unique<one_race>(copied);
    };
}

static make_workload sum_race(int passes)
{
    return [passes](std::mt19937_64 &random) {
        struct parts {
            floats in;
            output<double> out;
        };
        auto p = std::make_shared<parts>(parts{floats(simulated() ? 20001 : linked_floats),
                                               output<double>(std::size_t(passes))});
        fill_random(p->in, random);
        return std::make_unique<one_race>(
            race_parts{"sum_mapped",
                       [=] {
                           return remote<decltype(sum_mapped)>::arguments(
                               mapped(p->in), int(p->in.size()), passes, p->out, scratch);
                       },
                       [p](std::mt19937_64 &r) { return std::vector{renew(p->in, r)}; },
                       [p] { expect_sums(p->out, p->in); }});
    };
}

static make_workload managed_race(int rounds)
{
    constexpr float factor = 1.25f;
    return [=](std::mt19937_64 &random) {
        struct parts {
            floats before;
            output<float> data;
        };
        floats before(simulated() ? 40001 : linked_floats);
        fill_random(before, random);
        auto p = std::make_shared<parts>(parts{before, changed_in_place(before)});
        return std::make_unique<one_race>(race_parts{
            "scale_managed",
            [=] {
                return remote<decltype(scale_managed)>::arguments(
                    managed(p->data), int(p->before.size()), factor, rounds);
            },
            [p](std::mt19937_64 &r) {
                std::span<std::byte> changed = renew(p->before, r);
                p->data.values = p->before;
                auto at = changed.data() - reinterpret_cast<std::byte *>(p->before.data());
                return std::vector{std::as_writable_bytes(std::span(p->data.values))
                                       .subspan(std::size_t(at), changed.size())};
            },
            [=] { expect_scaled(p->data, p->before, factor, rounds); }});
    };
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// A function that returns a time counts as written if it has copied.
CORRECTNESS_CASE("time_copy_ms: by events", 5)
{
    if (!simulated()) return try_timing(linked_floats, 10);
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
    const std::uint64_t more = leaked_handles([] { try_timing(3001, 4); });
    expect(more == 0, verdict::RESOURCE_LIMIT,
           "After each call of time_copy_ms there are " + std::to_string(more) +
               " streams and events more than before it, which were never destroyed.",
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
    constexpr int known_to_the_device = 1; // cudaMemoryTypeHost
    int type = grading::call<int(const float *)>("yardstick_memory_type", acquired(some));
    expect(type == known_to_the_device, verdict::TOO_SLOW,
           type == 0 ? "acquire returned ordinary, pageable memory: the device cannot read it "
                       "directly, so every upload must first be copied to a pinned buffer."
                     : "acquire returned device memory, which the caller cannot fill.",
           "Pin the memory when it is acquired, not when it is uploaded: cudaMallocHost.");
}

SPEED_CASE("upload: speed", 6.5, 4)
{
    speed_gates gates;
    gates.speedup = 1.3;
    gates.counted = {
        at_least("uploaded from pinned memory", {1}, "%",
                 "The copy engine reads physical addresses, so pages must not move meanwhile, and "
                 "those of pinned memory do not. Other memory is copied to a pinned buffer first.",
                 [](const counted &c) {
                     return share(double(c.host_link_bytes - c.pageable_bytes), 4.0 * 20001);
                 })};
    gates.too_slow = "Which kind of memory does acquire return, and does upload copy once?";
    results_are_copied();
    race(upload_race(), gates);
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
                    [=](const counted &c) { return double(c.multiplications) / elements; });
}

SPEED_CASE("sum_mapped: speed", 5.5, 3)
{
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {
        at_most(
            "host-link bytes per element", {4.1}, "",
            "Mapped memory stays on the host: each time a kernel reads it, it crosses the link. "
            "Let it cross once: into scratch, or into a kernel that does all passes at once.",
            [](const counted &c) { return double(c.host_link_bytes) / 20001; }),
        multiplied_by_kernels(20001, 6.5), lanes_at_work()};
    gates.too_slow = "How often does each element cross the link to the host?";
    race(sum_race(8), gates);
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
    speed_gates gates;
    gates.speedup = 1.5;
    gates.counted = {
        at_least("pages on the device before a kernel needed them", {1}, "%",
                 "A kernel that accesses a page of managed memory on the host waits until it has "
                 "been moved, page by page. cudaMemPrefetchAsync moves all of them beforehand, in "
                 "large pieces.",
                 [](const counted &c) {
                     return std::max(0.0, 1 - share(double(c.managed_pages) * 4096, 4.0 * 40001));
                 }),
        multiplied_by_kernels(40001, 3.5),
        at_least("compulsory bytes per element", {7.5}, "bytes",
                 "Every element is read and written, 4 bytes each way: let kernels do both.",
                 [](const counted &c) { return double(c.compulsory_bytes) / 40001; }),
        lanes_at_work()};
    gates.too_slow = "What does the first kernel wait for?";
    race(managed_race(4), gates);
}
