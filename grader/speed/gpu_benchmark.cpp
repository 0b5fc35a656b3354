// Drives the workers of a benchmark: inputs, number of calls per run, timed runs, checks.
#include "gpu_benchmark.hpp"
#include "api/inputs.hpp"
#include "speed.hpp"

#include "alone_at_clock.hpp"
#include "argument_sets.hpp"
#include "device_clocks.hpp"
#include "paired_benchmark.hpp"
#include "roofline_kernels.hpp"
#include "runner/argument_images.hpp"
#include "runner/bytes.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/in_parallel.hpp"
#include "runner/inputs_in_advance.hpp"
#include "runner/parallel_cases.hpp"
#include "runner/replay.hpp"
#include "runner/resources.hpp"
#include "runner/run_options.hpp"
#include "runner/worker_verdict.hpp"
#include "stopwatch.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace grading {

namespace {

using std::chrono::seconds;

constexpr const char *loading = "handing over the arguments";
constexpr std::uint64_t device_budget = std::uint64_t{16} << 30; // for all sets in all workers

// Drives the workers of naive, the submission and the library.
class benchmark_of_workers : public gpu_benchmark {
public:
    benchmark_of_workers(const make_workload &make, const make_workload &make_for_naive,
                         const speed_gates &gates)
        : make_(make),
          make_for_naive_(make_for_naive),
          gates_(gates),
          shown_(!gates_time(gates)),
          min_sets_(grading::min_sets(gates)),
          clocks_(device().name),
          random_(case_seed()),
          roofline_(image_start)
    {
        stopwatch watch(prepare_s_);
        be_alone_if_free();
        places_ = alone_ ? 1 : options().side_by_side;
        forget_call();
        image_end_ = roofline_.end();
        // Workers take a while to start, as inputs do to be made.
        std::future<void> started = std::async(std::launch::async, [this] {
            start_built();
            roofline_.load();
        });
        inputs_in_advance::made_sets made = inputs_in_advance::take(gates_.form);
        spare_ = std::move(made.submission);
        spare_for_naive_ = std::move(made.naive);
        add_sets(sets_, make_, spare_, min_sets_);
        // Naive has nothing to gain from an input that it has seen.
        if (make_for_naive_) add_sets(for_naive_, make_for_naive_, spare_for_naive_, 1);
        started.get();
    }

    bool has_library() const override { return have_library(); }
    double bytes() const override { return sets_[0].work().bytes(); }
    double multiply_adds() const override { return sets_[0].work().multiply_adds(); }
    std::string function() const override { return sets_[0].work().function(); }

    void prepare() override
    {
        const bool others_stay = std::exchange(others_stay_, false);
        finish_all_checks();
        require_inputs();
        if (!others_stay) verified_[index(implementation::naive)] = false;
        verified_[index(implementation::submission)] = false;
        stopwatch watch(prepare_s_);
        if (prepared_ > 0 && !others_stay) restart_workers();
        be_alone_if_free();
        if (!others_stay) {
            start_built();
            const std::future<void> populated = populate_output(implementation::naive);
            roofline_.load();
            load_trusted(0, 0);
            be_alone_if_free();
            for (implementation who : trusted())
                if (prepared_ == 0) call_first(who); // a library's takes seconds
            populated.wait();
            measure_overhead();
        }
        prepare_s_ -= wait_for_submission();
        if (prepared_ == 0 && gates_.form_is_right) {
            answers_[index(implementation::submission)] = false; // has no sets, and may end
            if (!gates_.form_is_right()) throw other_form{};
            require_inputs();
        }
        static bool warm = false;
        std::future<answer> warming;
        if (!others_stay && !std::exchange(warm, true)) warming = warm_up();
        const std::future<void> populated = populate_output(implementation::submission);
        start({implementation::submission});
        const answer loaded = load(implementation::submission, 0);
        populated.wait(); // what is required next may end its worker
        if (warming.valid()) require_warm(warming.get());
        require_loaded(loaded);
        // All that takes long before the first time is done: the rest wants the device alone.
        wait_for_quiet();
        constexpr std::chrono::seconds cools_after(1);
        if (roofline_.idle() > cools_after) require_warm(warm_up().get());
        measure_overhead();
        if (others_stay)
            choose_calls({implementation::submission});
        else if (prepared_ == 0)
            choose_calls(implementations());
        ++prepared_;
        restarted_ = times_restarted();
    }

    const speed_gates &gates() const override { return gates_; }

    void change_submission() override
    {
        others_stay_ = prepared_ > 0 && answers_[index(implementation::naive)] &&
                       restarted_ == times_restarted();
        first_ = 0;
        if (others_stay_ || prepared_ == 0) return;
        // A fault in an earlier step has ended the workers: all begins anew, the number of calls,
        // too, which was that step's.
        restart_workers();
        prepared_ = 0;
    }
    void drop_submission() override
    {
        checks_.clear(); // its worker may end
        drop(implementation::submission);
    }

    void next_round() override
    {
        word_ = poison_word(unforeseen());
        ++first_;
        std::mt19937_64 same = random_;
        change_inputs(implementation::submission, random_);
        if (make_for_naive_) change_inputs(implementation::naive, same);
        roofline_.fma_rate(16); // the device may have idled while outputs were checked
    }

    timed_run run(implementation who) override { return run(who, calls_[index(who)]); }

    void verify(implementation who) override
    {
        if (std::exchange(verified_[index(who)], true) && who == implementation::naive) return;
        verify(who, static_cast<std::size_t>(calls_[index(who)]));
    }
    void finish_checks() override
    {
        stopwatch watch(verify_s_);
        finish_all_checks();
    }

    device_state read_state() override
    {
        device_state s = clocks_.sample();
        s.fma_rate = roofline_.fma_rate(2);
        return s;
    }

    double copy_rate() override { return roofline_.copy_rate(); }

    void add_costs(speed_result &r) const override
    {
        r.device_s = device_s_ + roofline_.device_seconds();
        r.prepare_s = prepare_s_;
        r.verify_s = verify_s_;
    }

    void leave() override
    {
        checks_.clear();
        alone_.reset();
        for (implementation who : implementations()) drop(who);
    }

private:
    void require_inputs() const
    {
        if (!holds_inputs(claim_))
            end_case(verdict::INFRA_ERROR,
                     fmt::format("Between two measurements of {}, a call of the case's own wrote "
                                 "over their inputs.",
                                 function()),
                     "The steps of a ladder share the inputs of the first: make the call once, and "
                     "keep in a static variable what it found. What asks for the form of the "
                     "inputs has no arguments.");
    }

    // Works on a thread; until that is over nobody may ask naive's worker. The clocks stay high
    // from then on, since each round begins with some work.
    std::future<answer> warm_up()
    {
        return std::async(std::launch::async, [this] {
            answer last;
            for (int i = 0; i < 4; ++i) last = roofline_.work(max_calls);
            return last;
        });
    }
    static void require_warm(const answer &last) { require_trusted(last, "warming the device up"); }

    void wait_for_quiet()
    {
        double waited_s = 0;
        if (sets_[0].uses_host_memory()) {
            if (is_released(options().simulator_lock)) {
                inputs_in_advance::stop();
            } else {
                alone_.reset();
                waited_s += wait_for_simulator();
            }
        }
        if (!alone_) waited_s += alone_.emplace().waited_s;
        prepare_s_ -= waited_s;
    }

    // Alone, it makes and checks inputs on all cores.
    void be_alone_if_free() { alone_at_clock::begin_if_free(alone_); }

    // The least is taken: it was also measured before any call of the submission, which might wish
    // for a long one, since runs are shorter by it.
    void measure_overhead()
    {
        static double least = std::numeric_limits<double>::infinity();
        overhead_ms_ = least = std::min(least, roofline_.overhead());
    }

    static std::size_t index(implementation who) { return static_cast<std::size_t>(who); }
    static std::vector<implementation> implementations()
    {
        using enum implementation;
        if (have_library()) return {naive, submission, library};
        return {naive, submission};
    }
    static worker &worker_of(implementation who)
    {
        if (who == implementation::naive) return naive_worker();
        return who == implementation::submission ? submission_worker() : library_worker();
    }
    answer ask(implementation who, const request &r, seconds limit = seconds(60))
    {
        answer a = worker_of(who).ask(r, limit);
        answers_[index(who)] = a.how == worker_exit::answered;
        return a;
    }
    void drop(implementation who)
    {
        for (const benchmark_set &s : sets_of(who))
            if (answers_[index(who)]) ask(who, request{.what = command::drop, .set = s.number()});
    }
    void require(implementation who, const answer &a, const std::string &doing)
    {
        finish_checks_before(a);
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
            benchmark_set &s = in_round(static_cast<std::size_t>(i), who);
            {
                stopwatch watch(verify_s_);
                finish_check_of(s);
            }
            auto needs = [&](implementation c) {
                return i < calls_[index(c)] && must_restore(c, s);
            };
            const auto [refresh, restore] = s.change(random, std::ranges::any_of(takers, needs));
            for (implementation c : takers) {
                for (const request &r : refresh) require(c, ask(c, r), "changing the inputs");
                for (const request &r : restore)
                    if (needs(c)) require(c, ask(c, r), "restoring what is changed in place");
                require(c, ask(c, s.poison_outputs(word_)), "poisoning the outputs");
            }
        }
    }

    bool must_restore(implementation who, const benchmark_set &s) const
    {
        return who != implementation::naive || !verified_[index(who)] ||
               s.work().restored_for_naive();
    }

    // With two forms of the arguments, naive and the library take naive's form; if that is only a
    // smaller input, naive alone does.
    std::deque<benchmark_set> &sets_of(implementation who)
    {
        bool naive_alone = gates_.naive_share < 1;
        bool as_naive =
            who == implementation::naive || (who == implementation::library && !naive_alone);
        return make_for_naive_ && as_naive ? for_naive_ : sets_;
    }
    benchmark_set &in_round(std::size_t i, implementation who = implementation::submission)
    {
        std::deque<benchmark_set> &sets = sets_of(who);
        return sets[(first_ + i) % sets.size()];
    }

    // The most calls per run of those who take this form of the arguments.
    std::size_t calls_in(const std::deque<benchmark_set> &form)
    {
        int most = 0;
        for (implementation who : implementations())
            if (&sets_of(who) == &form) most = std::max(most, calls_[index(who)]);
        return static_cast<std::size_t>(most);
    }

    // Takes `spare` workloads, then makes others, until there are `count` sets.
    void add_sets(std::deque<benchmark_set> &sets, const make_workload &make, workloads &spare,
                  std::size_t count)
    {
        std::size_t old_size = sets.size();
        if (count <= old_size) return;
        workloads made(count - old_size);
        const auto ready = static_cast<std::ptrdiff_t>(std::min(made.size(), spare.size()));
        std::move(spare.begin(), spare.begin() + ready, made.begin());
        spare.erase(spare.begin(), spare.begin() + ready);
        in_parallel(made.size(), [&](std::size_t i) {
            if (!made[i]) made[i] = make_numbered(make, case_seed(), old_size + i + 1);
        });
        for (auto &work : made) {
            sets.emplace_back(std::move(work), inputs(), image_end_,
                              static_cast<std::uint32_t>(1 + sets.size()));
            image_end_ = sets.back().end();
        }
        in_parallel(made.size(), [&](std::size_t i) { sets[old_size + i].fill_image(); });
    }

    static std::vector<implementation> trusted()
    {
        std::vector<implementation> all = implementations();
        std::erase(all, implementation::submission);
        return all;
    }
    // Asks these workers beside each other. Answers are judged in order.
    template <class F>
    void ask_each(const std::vector<implementation> &all, const char *doing, F question)
    {
        std::vector<answer> answers(all.size());
        in_parallel(all.size(), [&](std::size_t k) { answers[k] = question(all[k]); });
        for (std::size_t k = 0; k < all.size(); ++k) require(all[k], answers[k], doing);
    }
    // Workers start beside each other, and learn the size of the L2. The submission's is one of
    // them if it can be: then nothing of it runs while trusted workers load, since its constructors
    // are over. Else it is still compiled.
    void start_built() { start(submission_is_built() ? implementations() : trusted()); }
    void start(const std::vector<implementation> &all)
    {
        ask_each(all, "asking for the device's properties",
                 [this](implementation who) { return ask(who, request{.what = command::facts}); });
    }

    // Makes the pages of the output memory for a set, beside what follows.
    std::future<void> populate_output(implementation who)
    {
        const shared_memory &out = worker_of(who).output();
        const std::uint64_t bytes = sets_of(who)[0].output_bytes();
        if (bytes > out.size())
            end_case(verdict::INFRA_ERROR,
                     fmt::format("The output of {} does not fit the shared memory of {} MiB.",
                                 function(), out.size() >> 20),
                     "The lab's sizes are too large for this machine.");
        return std::async(std::launch::async, [&out, bytes] { populate(out, 0, bytes); });
    }
    // Loads the sets from these numbers on, the second where naive takes another form.
    void load_trusted(std::size_t from, std::size_t from_for_naive)
    {
        ask_each(trusted(), loading, [&](implementation who) {
            return load(who, &sets_of(who) == &sets_ ? from : from_for_naive);
        });
    }
    // Judges the submission's load(), which comes after load_trusted(): if it allocates memory
    // while it computes its scratch size, only its own load can fail.
    void require_loaded(const answer &last)
    {
        constexpr implementation who = implementation::submission;
        if (lacks_device_memory(last)) {
            submission_worker() = worker();
            if (!lacks_device_memory(load(who, 0))) end_for_leak(function());
            std::vector<request> same;
            for (const benchmark_set &s : sets_) same.push_back(s.load());
            require_memory_in_naive(std::move(same));
        }
        require(who, last, loading);
    }
    // Returns the last answer, or the first failure. All sets together have the time limit of one.
    answer load(implementation who, std::size_t from)
    {
        constexpr seconds limit{60};
        double waited_ms = 0;
        answer a;
        a.how = worker_exit::answered, a.value.status = reply_status::done;
        for (std::size_t i = from; i < sets_of(who).size(); ++i) {
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

    // Returns how many sets fit devices and this machine's memory.
    std::size_t max_sets() const
    {
        const benchmark_set &s = sets_[0];
        const auto places = static_cast<std::uint64_t>(places_);
        std::uint64_t free = device().memory_free / 10 * 9 / places;
        free -= std::min(free, roofline_.device_bytes());
        std::uint64_t device_bytes = std::min(device_budget, free);
        std::uint64_t by_device = device_bytes / (implementations().size() * s.image_bytes());
        std::uint64_t forms = make_for_naive_ ? 2 : 1;
        std::uint64_t by_region = (inputs().size() - roofline_.end()) / (forms * s.image_bytes());
        // The workload's vectors and the image, in each form, beside the stores of two workers.
        std::uint64_t memory = available_memory() / 2 / places;
        memory -= std::min(memory, 2 * s.output_bytes());
        const std::uint64_t by_host =
            memory / (2 * forms * s.image_bytes()) + sets_.size() + spare_.size();
        return std::min({by_device, by_region, by_host, std::uint64_t{max_calls}});
    }
    // Returns how many sets there are, or as many as `enough_for_more` bytes hold if that is more.
    std::size_t max_sets_by_time(implementation who)
    {
        const std::deque<benchmark_set> &sets = sets_of(who);
        return std::max<std::uint64_t>(sets.size(), enough_for_more / sets[0].image_bytes());
    }

    // The rounds check the outputs of naive and the submission.
    void call_first(implementation who)
    {
        word_ = poison_word(unforeseen());
        require(who, ask(who, sets_of(who)[0].poison_outputs(word_)), "poisoning the outputs");
        const double ms = run(who, 1).worker_ms;
        if (who == implementation::naive) first_naive_ms_ = ms;
        if (who == implementation::library) verify(who, 1);
    }

    // Chooses the calls per run of these, so that a run lasts long enough for the parent's clock.
    void choose_calls(const std::vector<implementation> &all)
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
        for (implementation who : all) {
            if (who == implementation::submission) call_first(who);
            // Naive's first call may take longer, which does not matter if it is so long.
            const bool is_long = who == implementation::naive && first_naive_ms_ > 20 * min_run_ms;
            double ms = is_long ? first_naive_ms_ : run(who, 1).worker_ms;
            for (int i = 0; i < 2 && ms < 2 * min_run_ms; ++i)
                ms = std::min(ms, run(who, 1).worker_ms);
            if (who == implementation::naive) naive_ms_ = ms;
            // At least as many calls as at the passing speed: a submission that is slow only now
            // gains nothing.
            if (who == implementation::submission && gates_.speedup > 0)
                ms = std::min(ms, naive_ms_ / gates_.naive_share / gates_.speedup);
            const auto most = static_cast<double>(std::min(fitting, max_sets_by_time(who)));
            double needed = ms > 0 ? std::ceil(min_run_ms / ms) : most;
            calls_[index(who)] = static_cast<int>(std::clamp(needed, 1.0, most));
        }
        const std::size_t old = sets_.size(), old_for_naive = for_naive_.size();
        add_sets(sets_, make_, spare_, calls_in(sets_));
        add_sets(for_naive_, make_for_naive_, spare_for_naive_, calls_in(for_naive_));
        spare_.clear();
        spare_for_naive_.clear();
        load_trusted(old, old_for_naive);
        require_loaded(load(implementation::submission, old));
    }

    timed_run run(implementation who, int calls)
    {
        require(who, ask(who, request_to_wake()), "waking the worker");
        std::vector<std::uint32_t> numbers;
        for (int i = 0; i < calls; ++i)
            numbers.push_back(in_round(static_cast<std::size_t>(i), who).number());
        answer a = ask(who, request_of_run(sets_[0].work().function(), numbers, flush_l2),
                       seconds(alone_ ? 10 : 60));
        finish_checks_before(a);
        if (who == implementation::submission && a.how == worker_exit::timed_out && calls == 1 &&
            !is_known_wrong(function()))
            throw run_timeout{a.parent_ms, naive_ms_};
        require(who, a, fmt::format("timing {}", function()));
        device_s_ += a.parent_ms / 1e3;
        return {worker_time_ms(a.value), std::max(a.parent_ms - overhead_ms_, 1e-3), calls,
                a.value.threads_left > 0};
    }

    // True if checks may go on beside the next round, which takes other sets.
    bool checks_beside(std::size_t calls) const
    {
        return calls == 1 && sets_.size() > 1 && options().beside_clock > 0 &&
               !sets_[0].uses_host_memory();
    }

    // Copies outputs before anything else of the submission's runs, which could change them, and
    // checks the copies while the next ones are read.
    void verify(implementation who, std::size_t calls)
    {
        stopwatch watch(verify_s_);
        const bool beside = checks_beside(calls);
        for (std::size_t i = 0; i < calls; ++i) {
            benchmark_set &s = in_round(i, who);
            finish_check_of(s);
            require(who, ask(who, s.store()), "reading the results");
            s.take(worker_of(who).output(), word_);
            checks_.emplace_back(&s, std::async(std::launch::async, [&s, beside] {
                if (beside) nice(10); // what is timed comes first
                s.work().check();
            }));
        }
        if (!beside) finish_all_checks();
    }

    void finish_check_of(const benchmark_set &s)
    {
        const auto check = std::ranges::find(checks_, &s, &check_of_set::first);
        if (check == checks_.end()) return;
        std::future<void> done = std::move(check->second);
        checks_.erase(check);
        done.get(); // a failure ends the case
    }
    void finish_all_checks()
    {
        while (!checks_.empty()) finish_check_of(*checks_.front().first);
    }
    // If an output was wrong before this failure, that ends the case, and the worker with it.
    void finish_checks_before(const answer &failure)
    {
        if (succeeded(failure) || checks_.empty()) return;
        try {
            finish_all_checks();
        } catch (...) {
            end_submission();
            throw;
        }
    }

    const make_workload make_, make_for_naive_;
    const speed_gates gates_;
    int places_ = 1; // processes that share the device and this machine's memory
    const std::uint64_t claim_ = claim_inputs();
    bool shown_; // the times are shown, not graded, so fewer sets of inputs will do
    std::size_t min_sets_;
    bool verified_[2] = {};               // since prepare()
    std::optional<alone_at_clock> alone_; // from the first time on at the latest
    device_clocks clocks_;
    std::mt19937_64 random_;
    roofline_kernels roofline_;
    std::deque<benchmark_set> sets_, for_naive_; // the second, if naive takes another form
    workloads spare_, spare_for_naive_;          // made in advance, not yet in a set
    using check_of_set = std::pair<const benchmark_set *, std::future<void>>; // waits at its end
    std::list<check_of_set> checks_; // of sets above: destroyed before them
    std::uint64_t image_end_ = 0;    // in the input memory
    std::size_t first_ = 0;          // set of the round
    std::uint32_t word_ = 0;
    double device_s_ = 0, prepare_s_ = 0, verify_s_ = 0;
    int calls_[3] = {1, 1, 1}, prepared_ = 0;
    bool others_stay_ = false; // only the submission's worker is new
    unsigned restarted_ = 0;   // times_restarted() when the workers were prepared
    bool answers_[3] = {};
    double first_naive_ms_ = 0;             // the first call
    double overhead_ms_ = 0, naive_ms_ = 0; // the second: one call, measured at the start
};

} // namespace

// The events cover the first device's default stream and the blocking streams, which it waits for.
// If the worker's host clock shows that work went on elsewhere, as in a non-blocking stream or on
// another device, that clock counts.
double worker_time_ms(const reply &r)
{
    bool went_on = r.host_ms - r.event_ms > 0.2 * r.host_ms + 0.05;
    return went_on ? r.host_ms : r.event_ms;
}

std::unique_ptr<gpu_benchmark> make_gpu_benchmark(const make_workload &make,
                                                  const make_workload &make_for_naive,
                                                  const speed_gates &gates)
{
    return std::make_unique<benchmark_of_workers>(make, make_for_naive, gates);
}

} // namespace grading
