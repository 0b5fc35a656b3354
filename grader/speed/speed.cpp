// A speed case: on a GPU a timed benchmark, on the simulator one call, or two equal ones, counted.
#include "speed.hpp"

#include "argument_sets.hpp"
#include "counted.hpp"
#include "device_clocks.hpp"
#include "paired_benchmark.hpp"
#include "runner/call_counters.hpp"
#include "runner/case_run.hpp"
#include "runner/host_work.hpp"
#include "runner/replay.hpp"
#include "runner/report.hpp"
#include "runner/worker_verdict.hpp"
#include "statistics.hpp"
#include "worker/yardstick_work.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <thread>

namespace grading {

namespace {

using std::chrono::seconds;

constexpr double min_run_ms = 0.3;
constexpr std::size_t graded_sets = 5;
constexpr std::uint64_t device_budget = std::uint64_t{16} << 30; // for all sets in all workers
constexpr std::uint64_t images_start = 1 << 20;
constexpr double min_moved_share = 0.9; // fraction of the required bytes that kernels must move
constexpr std::uint64_t max_carried_bytes = 16 << 10;  // bytes by parameters and memset, in total
constexpr std::uint64_t max_read_back_bytes = 1 << 10; // counts on which launches depend
constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max() / 2;

// Adds its lifetime in seconds to `sum`.
class stopwatch {
public:
    explicit stopwatch(double &sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
    ~stopwatch()
    {
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
        sum_ += took.count();
    }
    stopwatch(const stopwatch &) = delete;
    stopwatch &operator=(const stopwatch &) = delete;

private:
    double &sum_;
    std::chrono::steady_clock::time_point start_;
};

// Calls f(i) for i < n, on one thread per core. Rethrows the failure with the lowest index once
// all running calls are done.
template <class F> void in_parallel(std::size_t n, F f)
{
    std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
    std::exception_ptr failure;
    for (std::size_t first = 0; first < n && !failure; first += threads) {
        std::vector<std::future<void>> running;
        for (std::size_t i = first; i < std::min(n, first + threads); ++i)
            running.push_back(std::async(std::launch::async, f, i));
        for (auto &r : running) {
            try {
                r.get();
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

// Bytes that this machine can allocate without swapping; 0 if it does not say.
std::uint64_t available_memory()
{
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    for (std::uint64_t kib; file >> key >> kib && std::getline(file, unit);)
        if (key == "MemAvailable:") return kib << 10;
    return 0;
}

// Runs the grader's own copy and multiply-add kernels in naive's worker.
class roofline_kernels {
public:
    // Places their arguments in the input memory from byte `at`.
    explicit roofline_kernels(std::uint64_t at) : at_(at)
    {
        copy_bytes_ = std::max<std::uint64_t>(std::uint64_t{128} << 20, 2 * device().l2_bytes);
        copy_bytes_ = std::min(copy_bytes_, device().memory_bytes / 32) / 256 * 256;
        blocks_ = 8 * device().multiprocessors;
        if (end() > inputs().size())
            end_case(verdict::INFRA_ERROR, "The copy kernel's data do not fit the shared memory.");
        std::mt19937_64 random(at);
        for (std::uint64_t i = 0; i < copy_bytes_; i += 8) {
            std::uint64_t bits = random();
            std::memcpy(inputs().data() + at_ + i, &bits, 8);
        }
    }

    std::uint64_t end() const { return at_ + copy_bytes_ + values_bytes; }
    std::uint64_t device_bytes() const { return 4 * copy_bytes_; }
    double device_seconds() const { return device_s_; } // spent so far

    void load()
    {
        // Two pairs of buffers alternate, so that no call finds its data in the L2.
        for (std::uint32_t set : copy_sets) {
            request r = frame(command::load, set);
            r.argument_count = 3;
            r.arguments[0] = buffer(copy_bytes_, false);
            r.arguments[1] = buffer(copy_bytes_, true);
            r.arguments[2] = value(0, copy_bytes_ / 16);
            ask(r);
        }
        request r = frame(command::load, fma_set);
        r.argument_count = 3;
        r.arguments[0] =
            buffer(4 * static_cast<std::uint64_t>(yardstick::fma_floats(blocks_)), true);
        r.arguments[1] = value(1, blocks_);
        r.arguments[2] = value(2, iterations);
        ask(r);
        r = frame(command::load, null_set);
        ask(r);
    }

    void drop()
    {
        for (std::uint32_t set : {copy_sets[0], copy_sets[1], fma_set, null_set})
            naive_worker().ask(frame(command::drop, set), seconds(10));
    }

    // Returns bytes read and written per millisecond.
    double copy_rate()
    {
        constexpr int calls = 16; // runs about as long as the implementations, and as cold
        request r = run("yardstick_copy", calls);
        r.flags = flush_l2;
        for (int i = 0; i < calls; ++i) r.sets[i] = copy_sets[i % 2];
        return 2.0 * calls * static_cast<double>(copy_bytes_) / timed(r);
    }

    // Returns multiply-adds per millisecond.
    double fma_rate(int calls)
    {
        request r = run("yardstick_fma", calls);
        std::fill_n(r.sets, calls, fma_set);
        return calls * yardstick::multiply_adds(blocks_, iterations) / timed(r);
    }

    // Returns the cost of a run on the parent's clock beyond its calls, in milliseconds.
    double overhead()
    {
        std::vector<double> beyond;
        for (int i = 0; i < 9; ++i) {
            request r = run("yardstick_null", 1);
            r.sets[0] = null_set;
            r.flags = flush_l2;
            ask(frame(command::wake, 0));
            answer a = naive_worker().ask(r, seconds(10));
            require_trusted(a, "timing an empty run");
            beyond.push_back(a.parent_ms - a.value.event_ms);
        }
        return median(beyond);
    }

private:
    static constexpr std::uint32_t copy_sets[] = {4000, 4001}, fma_set = 4002, null_set = 4003;
    static constexpr std::uint64_t values_bytes = 4096;
    static constexpr int iterations = 512; // about a millisecond on any device

    static request frame(command what, std::uint32_t set)
    {
        request r;
        r.what = what;
        r.set = set;
        return r;
    }
    static request run(const char *function, int calls)
    {
        request r;
        r.what = command::run;
        r.calls = static_cast<std::uint32_t>(calls);
        std::strncpy(r.function, function, sizeof r.function - 1);
        return r;
    }
    static void ask(const request &r)
    {
        require_trusted(naive_worker().ask(r, seconds(60)), "preparing the grader's own kernels");
    }
    double timed(const request &r)
    {
        answer a = naive_worker().ask(r, seconds(10));
        require_trusted(a, "timing the grader's own kernels");
        if (!(a.value.event_ms > 0))
            end_case(verdict::INFRA_ERROR, "The grader's own kernels took no time.",
                     "Run ./workbook doctor.");
        device_s_ += a.parent_ms / 1e3;
        return a.value.event_ms;
    }

    argument_descriptor buffer(std::uint64_t bytes, bool output) const
    {
        argument_descriptor s;
        s.where = argument_memory::device;
        s.read_only = !output;
        s.output = output;
        s.element = 16;
        s.bytes = bytes;
        s.input = at_; // any bytes will do
        return s;
    }
    argument_descriptor value(std::uint64_t index, std::uint64_t v) const
    {
        argument_descriptor s;
        s.where = argument_memory::value;
        s.read_only = 1;
        s.bytes = 8; // an int is its first four
        s.input = at_ + copy_bytes_ + 8 * index;
        std::memcpy(inputs().data() + s.input, &v, 8);
        return s;
    }

    std::uint64_t at_, copy_bytes_ = 0;
    int blocks_ = 0;
    double device_s_ = 0;
};

// Events cover the default stream and streams that it waits for. If the worker's host clock shows
// that work went on in other streams, that clock counts.
double own_time(const reply &r)
{
    bool elsewhere = r.host_ms - r.event_ms > 0.2 * r.host_ms + 0.05;
    return elsewhere ? r.host_ms : r.event_ms;
}

// True if no correctness case of the function has failed so far.
bool nothing_wrong_with(const std::string &function)
{
    return std::none_of(records().begin(), records().end(), [&](const case_record &r) {
        return r.what == kind::correctness && r.function == function && r.result != verdict::PASS &&
               r.result != verdict::SKIPPED;
    });
}

// Benchmarks on a GPU, for the rule in paired_benchmark.hpp.
class gpu_benchmark : public benchmark_device {
public:
    gpu_benchmark(const make_workload &make, const make_workload &make_for_naive,
                  const speed_gates &gates)
        : make_(make),
          make_for_naive_(make_for_naive),
          gates_(gates),
          shown_(!gates_time(gates)),
          min_sets_(shown_ ? 2 : graded_sets),
          clocks_(device().name),
          random_(case_seed()),
          roofline_(images_start)
    {
        stopwatch watch(prepare_s_);
        forget_call();
        image_end_ = roofline_.end();
        add_sets(min_sets_);
    }

    bool has_library() const override { return have_library(); }
    double bytes() const override { return sets_[0].work().bytes(); }
    double multiply_adds() const override { return sets_[0].work().multiply_adds(); }
    std::string function() const override { return sets_[0].work().function(); }

    // Keeps workers and inputs for another benchmark, which only calibrates: for the submission,
    // too, only the first sample is verified.
    void keep_warm()
    {
        warm_ = true;
        timed_only_ = true;
    }

    void prepare() override
    {
        verified_[0] = verified_[1] = false;
        if (std::exchange(warm_, false)) return;
        stopwatch watch(prepare_s_);
        if (prepared_++ > 0) restart_workers();
        for (implementation who : implementations()) {
            request r; // the submission's worker learns the size of the L2
            r.what = command::facts;
            require(who, ask(who, r), "asking for the device's properties");
        }
        roofline_.load();
        // Warms up the clocks; a shorter warm-up is enough for times that are only shown.
        for (int i = 0; i < (shown_ ? 1 : 4); ++i) roofline_.fma_rate(max_calls);
        overhead_ms_ = roofline_.overhead();
        load(0, sets_.size());
        if (prepared_ == 1) choose_calls();
    }

    void next_round() override
    {
        word_ = poison_word(unforeseen());
        first_ = (first_ + 1) % sets_.size();
        std::mt19937_64 same = random_;
        change_inputs(implementation::submission, random_);
        if (make_for_naive_) change_inputs(implementation::naive, same);
        roofline_.fma_rate(16); // the device may have idled while outputs were checked
    }

    timed_run run(implementation who) override { return run(who, calls_[index(who)]); }

    void verify(implementation who) override
    {
        if (std::exchange(verified_[index(who)], true) && timed_only_) return;
        verify(who, static_cast<std::size_t>(calls_[index(who)]));
    }

    device_state read_state() override
    {
        clock_sample c = clocks_.sample();
        return {c.sm_mhz, c.throttled, roofline_.fma_rate(2)};
    }

    double copy_rate() override { return roofline_.copy_rate(); }

    void add_costs(speed_result &r) const
    {
        r.device_s = device_s_ + roofline_.device_seconds();
        r.prepare_s = prepare_s_;
        r.verify_s = verify_s_;
    }

    // Frees the sets in workers that still answer: they stay warm for the next case.
    void leave()
    {
        for (implementation who : implementations()) {
            request r;
            r.what = command::drop;
            for (const race_set &s : sets_of(who)) {
                r.set = s.number();
                if (answers_[index(who)]) ask(who, r);
            }
        }
        if (answers_[index(implementation::naive)]) roofline_.drop();
    }

private:
    static std::size_t index(implementation who) { return static_cast<std::size_t>(who); }
    static std::vector<implementation> implementations()
    {
        using enum implementation;
        if (have_library()) return {naive, submission, library};
        return {naive, submission};
    }
    static worker &of(implementation who)
    {
        if (who == implementation::naive) return naive_worker();
        return who == implementation::submission ? submission_worker() : library_worker();
    }
    answer ask(implementation who, const request &r, seconds limit = seconds(60))
    {
        answer a = of(who).ask(r, limit);
        answers_[index(who)] = a.how == worker_exit::answered;
        return a;
    }
    static void require(implementation who, const answer &a, const std::string &doing)
    {
        if (who == implementation::submission)
            require_answer(a, doing);
        else
            require_trusted(a, doing);
    }

    // Changes the inputs of this round's sets in the form that `who` takes, in every worker that
    // takes it.
    void change_inputs(implementation who, std::mt19937_64 &random)
    {
        std::vector<implementation> takers = implementations();
        std::erase_if(takers, [&](implementation c) { return &sets_of(c) != &sets_of(who); });
        int calls = 0;
        for (implementation c : takers) calls = std::max(calls, calls_[index(c)]);
        for (int i = 0; i < calls; ++i) {
            race_set &s = in_round(static_cast<std::size_t>(i), who);
            auto needs = [&](implementation c) {
                return i < calls_[index(c)] && to_be_restored(c, s);
            };
            s.change(random, std::any_of(takers.begin(), takers.end(), needs));
            for (implementation c : takers) {
                for (const request &r : s.refresh()) require(c, ask(c, r), "changing the inputs");
                for (const request &r : s.restore())
                    if (needs(c)) require(c, ask(c, r), "restoring what is changed in place");
                require(c, ask(c, s.spoil(word_)), "spoiling the outputs");
            }
        }
    }

    bool to_be_restored(implementation who, const race_set &s) const
    {
        return who != implementation::naive || !verified_[index(who)] ||
               s.work().restored_for_naive();
    }

    // With two forms, naive takes its own, and so does the library, unless naive's is only
    // smaller.
    std::deque<race_set> &sets_of(implementation who)
    {
        bool naive_alone = gates_.naive_share < 1;
        bool own = who == implementation::naive || (who == implementation::library && !naive_alone);
        return make_for_naive_ && own ? for_naive_ : sets_;
    }
    race_set &in_round(std::size_t i, implementation who = implementation::submission)
    {
        return sets_of(who)[(first_ + i) % sets_.size()];
    }
    std::size_t longest_run() const
    {
        return static_cast<std::size_t>(*std::max_element(std::begin(calls_), std::end(calls_)));
    }

    // Makes sets until there are `count`.
    void add_sets(std::size_t count)
    {
        add_sets(sets_, make_, count);
        if (make_for_naive_) add_sets(for_naive_, make_for_naive_, count);
    }
    void add_sets(std::deque<race_set> &sets, const make_workload &make, std::size_t count)
    {
        std::size_t old_size = sets.size();
        if (count <= old_size) return;
        std::vector<std::unique_ptr<workload>> made(count - old_size);
        in_parallel(made.size(), [&](std::size_t i) {
            std::mt19937_64 random(case_seed() + old_size + i + 1);
            made[i] = make(random);
        });
        for (auto &work : made) {
            sets.emplace_back(std::move(work), inputs(), image_end_,
                              static_cast<std::uint32_t>(1 + sets.size()));
            image_end_ = sets.back().end();
        }
        in_parallel(made.size(), [&](std::size_t i) { sets[old_size + i].fill_image(); });
    }

    // Loads sets into the workers. Stores go side by side in the output memory, as many as fit.
    void load(std::size_t from, std::size_t to)
    {
        std::uint64_t room = of(implementation::submission).output().size();
        std::uint64_t each = 0;
        for (const std::deque<race_set> *form : {&sets_, &for_naive_})
            for (const race_set &s : *form) each = std::max(each, s.output_bytes());
        if (each > room)
            end_case(verdict::INFRA_ERROR,
                     fmt::format("The output of {} does not fit the shared memory of {} MiB.",
                                 function(), room >> 20),
                     "The lab's sizes are too large for this machine.");
        for (std::deque<race_set> *form : {&sets_, &for_naive_})
            for (std::size_t i = from; i < std::min(to, form->size()); ++i)
                (*form)[i].store_at(each ? i % (room / each) * each : 0);
        // Trusted workers load in parallel, the submission after them: if it allocates memory
        // while it computes its scratch size, only its own load can fail. Answers are judged in
        // order.
        std::vector<implementation> all = implementations();
        std::vector<answer> last(all.size());
        in_parallel(all.size(), [&](std::size_t k) {
            if (all[k] != implementation::submission) last[k] = load(all[k], from, to);
        });
        for (std::size_t k = 0; k < all.size() && from < to; ++k) {
            if (all[k] == implementation::submission) last[k] = load(all[k], from, to);
            if (all[k] == implementation::submission && lacks_device_memory(last[k])) {
                submission_worker() = worker();
                if (!lacks_device_memory(load(all[k], 0, to))) end_for_leak(function());
                std::vector<request> same;
                for (std::size_t i = 0; i < to; ++i) same.push_back(sets_of(all[k])[i].load());
                require_memory_in_naive(std::move(same));
            }
            require(all[k], last[k], "handing over the arguments");
        }
    }
    // Returns the last answer, or the first failure. All sets together have the time limit of one.
    answer load(implementation who, std::size_t from, std::size_t to)
    {
        constexpr seconds limit{60};
        double waited_ms = 0;
        answer a;
        for (std::size_t i = from; i < to; ++i) {
            a = ask(who, sets_of(who)[i].load(), limit);
            if (a.how != worker_exit::answered || a.value.status != reply_status::done) break;
            waited_ms += a.waited_ms;
            if (who != implementation::submission || waited_ms <= 1e3 * limit.count()) continue;
            a.how = worker_exit::timed_out;
            a.parent_ms = waited_ms;
            break;
        }
        return a;
    }

    // Returns how many sets fit the workers' devices and this machine's memory.
    std::size_t max_sets() const
    {
        const race_set &s = sets_[0];
        std::uint64_t free = device().memory_free / 10 * 9;
        free -= std::min(free, roofline_.device_bytes());
        std::uint64_t device_bytes = std::min(device_budget, free);
        std::uint64_t by_device = device_bytes / (implementations().size() * s.image_bytes());
        std::uint64_t forms = make_for_naive_ ? 2 : 1;
        std::uint64_t by_region = (inputs().size() - roofline_.end()) / (forms * s.image_bytes());
        // The workload's vectors and the image, in each form, and the stores of two workers.
        std::uint64_t by_host =
            available_memory() / 2 / ((2 * forms + 2) * s.image_bytes()) + sets_.size();
        return std::min({by_device, by_region, by_host, std::uint64_t{max_calls}});
    }

    // Makes and checks a first call of each implementation, then chooses the calls per run, so
    // that a run lasts long enough for the parent's clock.
    void choose_calls()
    {
        std::size_t fitting = max_sets();
        if (shown_) fitting = std::min(fitting, min_sets_);
        if (fitting < min_sets_)
            end_case(verdict::INFRA_ERROR,
                     fmt::format("{} sets of {}'s arguments, {} MiB each, do not fit this device "
                                 "for {} workers.",
                                 min_sets_, function(), sets_[0].image_bytes() >> 20,
                                 implementations().size()),
                     "The lab's sizes are too large for this device.");
        word_ = poison_word(unforeseen());
        for (implementation who : implementations()) {
            require(who, ask(who, sets_of(who)[0].spoil(word_)), "spoiling the outputs");
            run(who, 1);
            verify(who, 1);
            double ms = run(who, 1).own_ms;
            for (int i = 0; i < 2; ++i) ms = std::min(ms, run(who, 1).own_ms);
            if (who == implementation::naive) naive_ms_ = ms;
            // At least as many calls as at the passing speed: a submission that is slow only now
            // gains nothing.
            if (who == implementation::submission && gates_.speedup > 0)
                ms = std::min(ms, naive_ms_ / gates_.naive_share / gates_.speedup);
            double wanted = ms > 0 ? std::ceil(min_run_ms / ms) : static_cast<double>(fitting);
            calls_[index(who)] =
                static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(fitting)));
        }
        std::size_t old_size = sets_.size();
        add_sets(longest_run());
        load(old_size, sets_.size());
    }

    timed_run run(implementation who, int calls)
    {
        request r;
        r.what = command::wake;
        require(who, ask(who, r), "waking the worker");
        r.what = command::run;
        r.flags = flush_l2;
        r.calls = static_cast<std::uint32_t>(calls);
        for (int i = 0; i < calls; ++i)
            r.sets[i] = in_round(static_cast<std::size_t>(i), who).number();
        std::strncpy(r.function, sets_[0].work().function(), sizeof r.function - 1);
        answer a = ask(who, r, seconds(10));
        if (who == implementation::submission && a.how == worker_exit::timed_out && calls == 1 &&
            nothing_wrong_with(function()))
            throw run_timeout{a.parent_ms, naive_ms_};
        require(who, a, fmt::format("timing {}", function()));
        device_s_ += a.parent_ms / 1e3;
        return {own_time(a.value), std::max(a.parent_ms - overhead_ms_, 1e-3), calls,
                a.value.threads_left > 0};
    }

    // Checks outputs in parallel with reading the next ones, as many as fit side by side in the
    // output memory.
    void verify(implementation who, std::size_t calls)
    {
        stopwatch watch(verify_s_);
        const shared_memory &out = of(who).output();
        std::map<std::uint64_t, std::future<void>> running; // by offset
        for (std::size_t i = 0; i < calls; ++i) {
            race_set &s = in_round(i, who);
            auto &check = running[s.stored_at()];
            if (check.valid()) check.get();
            require(who, ask(who, s.store()), "reading the results");
            check = std::async(std::launch::async, [&s, &out, word = word_] {
                s.take(out, word);
                s.work().check();
            });
        }
        for (auto &[at, checked] : running) checked.get();
    }

    const make_workload &make_, &make_for_naive_;
    const speed_gates &gates_;
    bool shown_; // these times are not graded, so fewer inputs will do
    std::size_t min_sets_;
    bool warm_ = false, timed_only_ = false, verified_[2] = {};
    device_clocks clocks_;
    std::mt19937_64 random_;
    roofline_kernels roofline_;
    std::deque<race_set> sets_, for_naive_; // the second, if naive takes another form
    std::uint64_t image_end_ = 0;
    std::size_t first_ = 0; // set of the round
    std::uint32_t word_ = 0;
    double device_s_ = 0, prepare_s_ = 0, verify_s_ = 0;
    int calls_[3] = {1, 1, 1}, prepared_ = 0;
    bool answers_[3] = {};
    double overhead_ms_ = 0, naive_ms_ = 0; // the second: one call, measured at the start
};

// Prints one line per verdict on standard error, for calibration.
void print_verdict(const judgement &j)
{
    fmt::print(stderr, "verdict {} ratio {:.3f} fraction {:.3f} pairs {}\n", name(j.what),
               j.result.median, j.result.fraction, j.result.pairs);
}

// `counters`: those taken before, which are recorded with the times.
void timed_benchmark(const make_workload &make, const make_workload &make_for_naive,
                     const speed_gates &gates, const speed_result *counters)
{
    gpu_benchmark benchmark(make, make_for_naive, gates);
    try {
        judgement j = judge(benchmark, gates);
        for (int more = 1; more < options().verdicts && gates_time(gates); ++more) {
            print_verdict(j);
            benchmark.keep_warm();
            j = judge(benchmark, gates);
        }
        if (options().verdicts > 1) print_verdict(j);
        benchmark.add_costs(j.result);
        if (counters) {
            j.result.counters = counters->counters;
            j.result.naive_counters = counters->naive_counters;
            j.result.units = counters->units;
            j.result.more_is_better = counters->more_is_better;
            j.result.offered = counters->offered;
            j.result.reached = counters->reached;
            j.result.needs = counters->needs;
        }
        record_speed(j.result);
        if (j.what != verdict::PASS) end_case(j.what, j.message, j.hint);
    } catch (...) {
        benchmark.leave();
        throw;
    }
    benchmark.leave();
}

counted counters_of_naive()
{
    worker &w = naive_worker();
    constexpr std::uint64_t room = 8 << 20;
    request r;
    r.what = command::report;
    if (w.output().size() < room)
        end_case(verdict::INFRA_ERROR, "The simulator's report does not fit the shared memory.");
    r.offset = (w.output().size() - room) / 256 * 256;
    r.bytes = room;
    answer a = w.ask(r, seconds(30));
    require_trusted(a, "reading naive's counters");
    try {
        return parse_counters(report_counters({w.output().data() + r.offset, room}));
    } catch (const std::exception &e) {
        end_case(verdict::INFRA_ERROR,
                 fmt::format("Naive's counters cannot be read: {}.", printable(e.what())));
    }
}

// Returns the counters of each call made for the last CALL. All of them count, because one call
// may prepare work that it saves another with the same arguments.
std::vector<counted> counters_of_submission()
{
    std::vector<counted> all;
    try {
        for (const std::string &text : counters().of_each_call) all.push_back(parse_counters(text));
    } catch (const std::exception &e) {
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The simulator's counters cannot be read: {}.", printable(e.what())),
                 "A submission must leave the memory that it was not given alone.");
    }
    return all;
}

// Returns the same for blocks that take turns of varying lengths in another order. The default
// order runs each block as far as it gets, so that the first one draws all tickets of a counter.
std::vector<counted> counters_in_another_order(const make_workload &make)
{
    const struct random_order {
        bool usual = std::exchange(options().random_schedule, true);
        ~random_order() { options().random_schedule = usual; }
    } meanwhile;
    std::mt19937_64 random(case_seed());
    const std::unique_ptr<workload> work = make(random); // inputs of the first may be its outputs
    make_call(work->function(), work->arguments(), nullptr, 0);
    work->check();
    return counters_of_submission();
}

const counted &worst_by(const counted_gate &gate, const std::vector<counted> &calls)
{
    auto worse = [&](const counted &a, const counted &b) {
        return gate.at_least ? gate.value(a) < gate.value(b) : gate.value(a) > gate.value(b);
    };
    return *std::min_element(calls.begin(), calls.end(), worse);
}

// One set of arguments in naive's worker, for calls outside a benchmark.
class naive_call {
public:
    explicit naive_call(const make_workload &make)
        : random_(case_seed()), set_(make(random_), inputs(), images_start, 1)
    {
        forget_call();
        set_.fill_image();
        ask(set_.load(), "handing over naive's arguments");
    }
    reply run(std::uint32_t flags)
    {
        request r;
        r.what = command::run;
        r.flags = flags;
        r.calls = 1;
        r.sets[0] = set_.number();
        std::strncpy(r.function, set_.work().function(), sizeof r.function - 1);
        return ask(r, "calling naive");
    }
    void leave()
    {
        request r;
        r.what = command::drop;
        r.set = set_.number();
        ask(r, "freeing naive's arguments");
    }

private:
    static reply ask(const request &r, const char *doing)
    {
        answer a = naive_worker().ask(r, seconds(60));
        require_trusted(a, doing);
        return a.value;
    }
    std::mt19937_64 random_;
    race_set set_;
};

counted count_naive(const make_workload &make)
{
    naive_call naive(make);
    naive.run(begin_counting);
    counted c = counters_of_naive();
    c.naive_serial_ticks = c.serial_ticks;
    naive.leave();
    return c;
}

// Worst counter of each gate over the submission's calls, and the gates that it missed.
struct counted_result {
    speed_result result;
    std::string missed, hint;
};

// Bytes that may come from the host: unbounded if kernels can reach arguments there.
std::uint64_t bytes_from_host(const argument_places &p)
{
    return p.shared_with_host ? unbounded : p.on_host;
}

// Useless but coalesced traffic raises the efficiency ratio. So also require no more than twice
// naive's sectors.
void check_useful_traffic(const workload &work, const counted &submission, const counted &naive)
{
    constexpr std::uint64_t slack = 2; // an array may be read twice
    const std::uint64_t moved = submission.load_sectors + submission.store_sectors,
                        by_naive = naive.load_sectors + naive.store_sectors;
    if (moved > slack * by_naive)
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("The loads and stores of {} moved {} sectors, and naive's {}: most "
                             "were moved for nothing.",
                             work.function(), moved, by_naive),
                 "Load each input and store each output as seldom as can be.");
}

// Efficiency counters only see loads and stores of kernels, so these must have moved the data.
void check_where_work_was_done(const workload &work, std::uint64_t from_host,
                               const counted &submission)
{
    auto end = [&](const char *did, std::uint64_t bytes, const char *how, const char *next) {
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("{} of {} {} {} bytes, and any version must move {:.0f}: {}.", did,
                             work.function(), how[0] ? "moved" : "touched", bytes, work.bytes(),
                             how[0] ? how : "the work was done elsewhere"),
                 next);
    };
    if (!work.in_kernels()) return;
    double required = min_moved_share * work.bytes();
    std::uint64_t moved = submission.load_bytes + submission.texture_bytes + submission.store_bytes;
    if (submission.launches == 0)
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("No kernel of {} ran: the work was done elsewhere.", work.function()),
                 "Do the work in kernels: what this lab counts is how they use the memory.");
    if (static_cast<double>(submission.compulsory_bytes) < required)
        end("The kernels", submission.compulsory_bytes, "",
            "Do the work in kernels: what this lab counts is how they use the memory.");
    if (static_cast<double>(moved) < required)
        end("The loads and stores", moved, "atomics, which are not counted here, did the rest",
            "Read with plain loads and write with plain stores.");
    if (static_cast<double>(submission.host_link_bytes) >
        static_cast<double>(from_host + max_read_back_bytes) + required)
        end("The link to the host", submission.host_link_bytes, "the host worked on them",
            "Let kernels do all of the work, on the device.");
    if (static_cast<double>(submission.brought_bytes) > work.bytes() - required && work.bytes() > 0)
        end("The copies", submission.brought_bytes, "what cudaMemcpy brought, no kernel computed",
            "Let kernels read the inputs and write the outputs where they are.");
    const std::uint64_t passed = submission.brought_bytes + submission.carried_bytes;
    if (submission.carried_bytes > max_carried_bytes && work.bytes() > 0 &&
        static_cast<double>(passed - max_carried_bytes) > work.bytes() - required)
        end("Copies, memset and the parameters of launches", passed,
            "what they brought, no kernel computed",
            "Pass pointers and sizes, and let kernels read the inputs where they are.");
    // Arguments that the host reaches without a copy have no bound here.
    const std::uint64_t seen = bytes_seen_by_host(submission);
    if (from_host < unbounded && work.bytes() > 0 &&
        static_cast<double>(seen) >
            static_cast<double>(from_host + max_read_back_bytes) + work.bytes() - required)
        end("Copies to the host, memory that it shares, and printf", seen,
            "the host may work on them",
            "Let kernels do all of the work, and bring no more to the host than a few counts.");
}

counted_result count_calls(const make_workload &make, const make_workload &make_for_naive,
                           const speed_gates &gates)
{
    // Naive runs first, because the submission's call must be the one that a replay repeats.
    const counted naive = count_naive(make_for_naive ? make_for_naive : make);
    std::mt19937_64 random(case_seed());
    std::unique_ptr<workload> work = make(random);
    std::vector<argument> arguments = work->arguments();
    const argument_places places = places_of(arguments);
    make_call(work->function(), std::move(arguments), nullptr, 0);
    work->check();
    std::vector<counted> calls = counters_of_submission();
    for (counted &c : calls) {
        c.naive_serial_ticks = naive.naive_serial_ticks;
        check_where_work_was_done(*work, bytes_from_host(places), c);
        check_host_stayed_out(work->function(), places, c);
    }
    speed_result result;
    result.required = gates.speedup;
    result.naive_may_pass = gates.naive_may_pass;
    step_tally tally;
    std::string missed, hint;
    std::vector<counted> in_another_order;
    for (const counted_gate &gate : gates.counted) {
        const counted &submission = worst_by(gate, calls);
        double value = gate.value(submission);
        if (gate.of_any_order && !passes(gate, value)) {
            if (in_another_order.empty()) in_another_order = counters_in_another_order(make);
            value = std::max(value, gate.value(worst_by(gate, in_another_order)));
        }
        result.counters[gate.name] = value;
        result.naive_counters[gate.name] = gate.value(naive);
        result.units[gate.name] = gate.unit;
        result.more_is_better[gate.name] = gate.at_least;
        tally.add(gate.required, value, gate.at_least, [&](double required) {
            return fmt::format("{} {} {}", gate.name, gate.at_least ? "at least" : "at most",
                               show_counted(required, gate.unit));
        });
        if (passes(gate, value)) continue;
        missed += (missed.empty() ? "" : " ") + missed_message(gate, submission, naive);
        if (!hint.empty()) continue;
        hint = gate.cause ? gate.cause(submission) : std::string();
        bool cause_known = !hint.empty();
        if (!cause_known) hint = gate.meaning;
        if (!cause_known && (gate.general || hint.empty()) && !gates.too_slow.empty())
            hint += (hint.empty() ? "" : " ") + gates.too_slow;
        current_case().about = gate.about;
    }
    result.offered = tally.offered();
    result.needs = tally.needs();
    if (missed.empty() && std::any_of(gates.counted.begin(), gates.counted.end(),
                                      [](const counted_gate &g) { return g.of_what_is_moved; }))
        for (const counted &c : calls) check_useful_traffic(*work, c, naive);
    result.reached = missed.empty() ? tally.reached() : 0;
    return {result, missed, hint};
}

void counted_benchmark(const make_workload &make, const make_workload &make_for_naive,
                       const speed_gates &gates)
{
    counted_result counted = count_calls(make, make_for_naive, gates);
    record_speed(counted.result);
    if (gates.counted.empty())
        end_case(verdict::SKIPPED, "This case is graded by its time, which only a GPU can tell.",
                 "On a machine with a GPU, --backend gpu can judge it.");
    if (!counted.missed.empty()) end_case(verdict::TOO_SLOW, counted.missed, counted.hint);
}

// If time no longer shows the lesson, the counters are graded on any backend, and the time is only
// shown.
void counted_then_shown(const make_workload &make, const make_workload &make_for_naive,
                        const speed_gates &gates)
{
    if (!can_count())
        end_case(verdict::SKIPPED, "This case is graded by counting, and no simulator was given.");
    counted_result counted = [&] {
        on_simulator scope;
        return count_calls(make, make_for_naive, gates);
    }();
    timed_benchmark(make, make_for_naive, gates, &counted.result);
    if (!counted.missed.empty()) end_case(verdict::TOO_SLOW, counted.missed, counted.hint);
}

} // namespace

void right_in_any_order(const make_workload &make)
{
    std::optional<on_simulator> scope;
    if (!simulated() && !can_count()) return;
    if (!simulated()) scope.emplace();
    // Each call has new inputs, so that results kept from one cannot answer the next, or the
    // counted one.
    std::mt19937_64 seeds(case_seed());
    for (stream_work when : {stream_work::late, stream_work::shuffled}) {
        run_streams(when);
        std::mt19937_64 random(seeds());
        std::unique_ptr<workload> work = make(random);
        make_call(work->function(), work->arguments(), nullptr, 0);
        work->check();
    }
    run_streams(stream_work::as_queued);
}

double naive_cost(const make_workload &make)
{
    if (simulated()) return static_cast<double>(count_naive(make).ticks);
    constexpr int calls = 5; // the first warms up
    naive_call naive(make);
    double shortest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < calls; ++k) shortest = std::min(shortest, own_time(naive.run(0)));
    naive.leave();
    return shortest;
}

void race(const make_workload &make, const speed_gates &gates, const make_workload &make_for_naive)
{
    if (simulated())
        counted_benchmark(make, make_for_naive, gates);
    else if (!gates_time(gates) && !gates.counted.empty())
        counted_then_shown(make, make_for_naive, gates);
    else
        timed_benchmark(make, make_for_naive, gates, nullptr);
}

} // namespace grading
