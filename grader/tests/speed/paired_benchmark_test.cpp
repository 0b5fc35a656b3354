// Tests the benchmark rule with simulated times of honest, slow, lying and cheating submissions.
#include "speed/paired_benchmark.hpp"
#include "speed/statistics.hpp"
#include "tests/contains.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <functional>
#include <random>

using namespace grading;

namespace {

struct wrong_output {
    int round;
};

// The input is one number, the right output its square. Times are per call; a run makes as many
// calls as fill 2 ms.
class simulated_device : public benchmark_device {
public:
    double naive_ms = 3, submission_ms = 1, library_ms = 0; // library_ms 0: no library
    double work_bytes = 0, work_fma = 0, device_copy = 4e9, device_fma = 3e10; // per millisecond
    // The effects of the machine and of the submission's worker on a time, output and condition.
    std::function<double()> noise = [] { return 1.0; };
    std::function<double(double)> claimed = [](double ms) { return ms; };
    std::function<double(double)> naive_claimed = [](double ms) { return ms; };
    std::function<long(simulated_device &)> submitted = [](simulated_device &t) {
        return t.input * t.input;
    };
    bool leaves_threads = false;
    bool checks_late = false; // an output is found wrong only in finish_checks()
    std::function<device_state(int reading)> now = [](int) {
        return device_state{1980, false, 3e10};
    };

    long input = 0;
    int round = 0, prepared = 0, readings = 0, naive_first = 0, verified_naive = 0;

    bool has_library() const override { return library_ms > 0; }
    void prepare() override { ++prepared; }
    void next_round() override
    {
        input = 1000 + ++round;
        output_[0] = output_[1] = -1; // invalidate
        order_.clear();
    }
    timed_run run(implementation who) override
    {
        order_ += who == implementation::naive        ? 'n'
                  : who == implementation::submission ? 's'
                                                      : 'l';
        naive_first += order_ == "n";
        if (who == implementation::naive) {
            output_[0] = input * input;
            return timed(naive_ms, naive_claimed);
        }
        if (who == implementation::library) return timed(library_ms, [](double ms) { return ms; });
        output_[1] = submitted(*this);
        timed_run l = timed(submission_ms, claimed);
        l.threads_left = leaves_threads && round % 3 != 0;
        return l;
    }
    void verify(implementation who) override
    {
        verified_naive += who == implementation::naive;
        const bool wrong = output_[who == implementation::submission] != input * input;
        if (wrong && first_wrong_ == 0) first_wrong_ = round;
        if (!checks_late) finish_checks();
    }
    void finish_checks() override
    {
        if (first_wrong_ > 0) throw wrong_output{first_wrong_};
    }
    device_state read_state() override { return now(readings++); }
    double copy_rate() override { return device_copy * noise(); }
    double bytes() const override { return work_bytes; }
    double multiply_adds() const override { return work_fma; }
    std::string function() const override { return "square"; }

private:
    timed_run timed(double ms, const std::function<double(double)> &claim)
    {
        int calls = static_cast<int>(std::ceil(2 / ms));
        double took = ms * noise();
        return {calls * claim(took), calls * took + 0.02, calls};
    }
    long output_[2] = {};
    int first_wrong_ = 0; // round
    std::string order_;
};

speed_gates at_least(double s)
{
    speed_gates g;
    g.speedup = s;
    g.too_slow = "try harder";
    return g;
}

// Returns a noise source with jitter and rare long spikes.
std::function<double()> noisy_times(std::mt19937_64 &random, double jitter, double spikes)
{
    return [&random, jitter, spikes] {
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> uniform;
        double t = std::exp(jitter * normal(random));
        return uniform(random) < spikes ? t * (1 - std::log(1 - uniform(random))) : t;
    };
}

} // namespace

TEST_CASE("code as slow as naive is TOO_SLOW after ten pairs, with the lab's hint")
{
    simulated_device t;
    t.submission_ms = 3.1;
    judgement j = judge(t, at_least(2));
    CHECK(j.what == verdict::TOO_SLOW);
    CHECK(j.result.pairs == 10);
    CHECK(j.result.median == doctest::Approx(3 / 3.1));
    CHECK(j.result.required == 2);
    CHECK(j.result.reached == 0);
    CHECK(j.hint == "try harder");
    CHECK(contains(j.message, "3.1 ms"));
    CHECK(contains(j.message, "at least 2 times"));
}

TEST_CASE("what does not end in time is too slow where naive takes long too, and else hangs")
{
    simulated_device t;
    t.submitted = [](simulated_device &) -> long { throw run_timeout{10000, 500}; };
    speed_gates g = at_least(20);
    g.naive_share = 1 / 64.0;
    judgement j = judge(t, g);
    CHECK(j.what == verdict::TOO_SLOW);
    CHECK(contains(j.message, "square did not finish in 10 s; naive would need 32 s"));
    CHECK(j.hint == "try harder");
    CHECK(j.result.required == 20);
    CHECK(j.result.naive_ms == 32000);
    CHECK(std::isnan(j.result.median));
    CHECK(j.result.reached == 0);

    j = judge(t, at_least(20));
    CHECK(j.what == verdict::TIMEOUT);
    CHECK(contains(j.message, "naive would need 0.5 s"));
    CHECK(contains(j.hint, "wait for each other"));
}

TEST_CASE("a solution passes after ten pairs in full, after two where nothing is close")
{
    simulated_device t;
    t.submission_ms = 0.25;
    judgement early = judge(t, at_least(3));
    CHECK(early.what == verdict::PASS);
    CHECK(early.result.pairs == 2);
    CHECK(early.result.median == doctest::Approx(12));
    CHECK(std::isnan(early.result.low)); // two samples have no interval
    CHECK(contains(early.message, "12.00 times its speed (2 pairs)."));
    t.prepared = 0;
    judgement j = judge(t, at_least(3), scrutiny::in_full);
    CHECK(j.what == verdict::PASS);
    CHECK(j.result.pairs == 10);
    CHECK(j.result.median == doctest::Approx(12));
    CHECK(j.result.low == doctest::Approx(12));
    CHECK(j.result.ms == doctest::Approx(0.25));
    CHECK(j.result.naive_ms == doctest::Approx(3));
    CHECK(j.result.parent_ratio == doctest::Approx(12).epsilon(0.02));
    CHECK(j.result.reached == 1);
    CHECK(j.result.offered == 1);
    CHECK_FALSE(j.result.measured_again);
    CHECK(t.prepared == 1);
}

TEST_CASE("few pairs are enough only if each is clear, on both clocks and for every step")
{
    auto pairs_of = [](simulated_device t, speed_gates g) { return judge(t, g).result.pairs; };
    simulated_device t;
    CHECK(pairs_of(t, at_least(0.95)) == 2); // 3 is 3.16 times the requirement
    CHECK(pairs_of(t, at_least(1.05)) == 3); // and 2.86 times this one
    CHECK(pairs_of(t, at_least(1.4)) == 3);  // and 2.14 times this one
    CHECK(pairs_of(t, at_least(1.6)) == 5);  // and 1.88 times this one
    CHECK(pairs_of(t, at_least(2.2)) == 5);
    CHECK(pairs_of(t, at_least(2.4)) == first_look); // and 1.25 times this one
    CHECK(pairs_of(t, at_least(6)) == first_look);   // nothing is missed early
    t.naive_ms = 3000, t.submission_ms = 2500;
    CHECK(pairs_of(t, at_least(2.5)) == 3); // but where each run takes seconds
    CHECK(judge(t, at_least(2.5)).what == verdict::TOO_SLOW);
    CHECK(pairs_of(t, at_least(2.3)) == first_look); // and the ratio is less than half of it
    simulated_device short_run = t;                  // one of three took no seconds
    short_run.naive_ms = 2500;
    short_run.noise = [n = 0]() mutable { return ++n == 4 ? 0.5 : 1.0; };
    CHECK(pairs_of(short_run, at_least(4.1)) == first_look);
    short_run.noise = [] { return 1.0; };
    CHECK(pairs_of(short_run, at_least(4.1)) == 3);
    t.naive_ms = 3, t.submission_ms = 1;

    simulated_device first_spike; // one of the two is close
    first_spike.claimed = [&first_spike](double ms) {
        return ms * (first_spike.round == 2 ? 1.1 : 1);
    };
    CHECK(judge(first_spike, at_least(0.95)).result.pairs == 3);
    simulated_device spike; // one of the three is close
    spike.claimed = [&spike](double ms) { return ms * (spike.round == 2 ? 1.1 : 1); };
    CHECK(judge(spike, at_least(1.45)).result.pairs == 5);
    simulated_device late_spike; // one of the five is
    late_spike.claimed = [&late_spike](double ms) {
        return ms * (late_spike.round == 5 ? 1.1 : 1);
    };
    CHECK(judge(late_spike, at_least(2.2)).result.pairs == 7);
    simulated_device spikes; // two of the seven are
    spikes.claimed = [&spikes](double ms) {
        return ms * (spikes.round == 2 || spikes.round == 5 ? 1.1 : 1);
    };
    CHECK(judge(spikes, at_least(2.2)).result.pairs == first_look);
    simulated_device apart; // two are, one on the worker's clock, and one on the parent's
    apart.submitted = [](simulated_device &t) {
        t.submission_ms = t.round == 5 ? 1.2 : 1;
        return t.input * t.input;
    };
    apart.claimed = [&apart](double ms) {
        return apart.round == 5 ? ms / 1.2 : apart.round == 2 ? ms * 1.1 : ms;
    };
    CHECK(judge(apart, at_least(2.2)).result.pairs == 7);
    simulated_device liar;        // fast on its own clock alone, by less than is a mismatch
    liar.submission_ms = 3 / 2.6; // 1.93 and 1.27 times what is required of it
    liar.claimed = [](double ms) { return 0.83 * ms; };
    CHECK(judge(liar, at_least(1.5)).result.pairs == 5);
    CHECK(judge(liar, at_least(2.1)).result.pairs == 5); // 1.37 times
    CHECK(judge(liar, at_least(2.28)).result.pairs == first_look);

    speed_gates steps = at_least(1.4);
    steps.copy = {0.4, 0.6, 0.9};
    t.work_bytes = 0.93 * t.device_copy; // within 5 % of the last step
    CHECK(pairs_of(t, steps) == first_look);
    t.work_bytes = 0.96 * t.device_copy;
    CHECK(pairs_of(t, steps) == 3);
    steps.speedup = 0.9;
    CHECK(pairs_of(t, steps) == 3); // within 10 %, but 5 % above
    t.work_bytes = 0.995 * t.device_copy;
    CHECK(pairs_of(t, steps) == 2);
}

TEST_CASE("faster than any version can be is implausible after few pairs, too")
{
    simulated_device t;
    speed_gates g = at_least(1.2);
    g.max_speedup = 2;
    judgement j = judge(t, g);
    CHECK(j.what == verdict::IMPLAUSIBLE);
    CHECK(j.result.pairs == 3);
    g.speedup = 0.9;
    j = judge(t, g);
    CHECK(j.what == verdict::IMPLAUSIBLE);
    CHECK(j.result.pairs == 2);
}

TEST_CASE("every pair changes the inputs, takes the other order, and verifies")
{
    simulated_device t;
    judge(t, at_least(2), scrutiny::in_full);
    CHECK(t.round == 10);
    CHECK(t.naive_first == 5);
    CHECK(t.verified_naive == 1);
}

TEST_CASE("noise neither fails a solution nor passes naive code")
{
    std::mt19937_64 random(5);
    int wrong = 0;
    for (int i = 0; i < 300; ++i) {
        simulated_device fast, slow;
        fast.noise = slow.noise = noisy_times(random, 0.03, 0.1);
        fast.submission_ms = 1 / 1.25;
        slow.submission_ms = 3;
        wrong += judge(fast, at_least(3)).what != verdict::PASS;
        wrong += judge(slow, at_least(3)).what == verdict::PASS;
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "a ratio at the required one is measured again in fresh processes, then the median decides")
{
    // The ratio alternates around the requirement, so that no interval ever clears it.
    simulated_device t;
    t.naive_claimed = [&t](double ms) { return ms * (t.round % 2 ? 1.02 : 0.99); };
    judgement j = judge(t, at_least(3));
    CHECK(t.prepared == 2);
    CHECK(t.round == 2 * last_look);
    CHECK(j.result.measured_again);
    CHECK(j.result.by_median);
    CHECK(j.result.pairs == last_look);
    CHECK(j.what == verdict::PASS); // the median, 3.015, decides
    CHECK(contains(j.message, "the median decided"));
}

TEST_CASE("what a noisy_times machine leaves open is not the submission's fail")
{
    simulated_device t;
    // Naive's time has two values, so that every ratio is far above or far below.
    t.naive_ms = 10;
    t.submission_ms = 10 / 3.0;
    t.naive_claimed = [&t](double ms) { return ms * (t.round % 2 ? 0.9 : 1.05); };
    judgement j = judge(t, at_least(3));
    CHECK(j.what == verdict::INFRA_ERROR);
    CHECK(contains(j.message, "restless"));
}

TEST_CASE("pairs spoilt by a fallen clock are thrown away")
{
    simulated_device t;
    // The clock drops in every third pair and makes the compute-bound submission four times slower.
    t.now = [](int look) {
        bool fell = look / 2 % 3 == 2 && look % 2 == 1;
        return device_state{fell ? 900.0 : 1980.0, false, 3e10};
    };
    t.claimed = [&t](double ms) { return t.round % 3 == 0 ? 4 * ms : ms; };
    judgement j = judge(t, at_least(2.4));
    CHECK(j.what == verdict::PASS);
    CHECK(j.result.pairs == 10);
    CHECK(j.result.discarded == 4);
    CHECK(j.result.low == doctest::Approx(3)); // no disturbed pair counts
}

TEST_CASE("without the driver's word the multiply-add rate tells that the clock fell")
{
    simulated_device t;
    t.now = [](int reading) {
        bool fell = reading / 2 % 3 == 2;
        return device_state{std::nan(""), false, fell ? 1.5e10 : 3e10};
    };
    t.claimed = [&t](double ms) { return t.round % 3 == 0 ? 4 * ms : ms; };
    judgement j = judge(t, at_least(2.4));
    CHECK(j.what == verdict::PASS);
    CHECK(j.result.discarded == 4);
    CHECK(j.result.low == doctest::Approx(3));
}

TEST_CASE("a throttled or shared machine is an infrastructure error, not a fail")
{
    simulated_device t;
    t.submission_ms = 2.9;
    SUBCASE("the driver says so")
    {
        t.now = [](int) { return device_state{1980, true, 3e10}; };
    }
    SUBCASE("the clock never holds still")
    {
        t.now = [](int reading) {
            return device_state{reading % 2 ? 1000.0 : 1980.0, false, 3e10};
        };
    }
    SUBCASE("somebody else takes half of the device, now and then")
    {
        t.now = [](int reading) {
            return device_state{std::nan(""), false, reading % 2 ? 1.5e10 : 3e10};
        };
    }
    SUBCASE("the clocks of naive's own worker disagree")
    {
        t.naive_claimed = [](double ms) { return ms / 2; };
    }
    judgement j = judge(t, at_least(2));
    CHECK(j.what == verdict::INFRA_ERROR);
    CHECK(j.result.pairs == 0);
    CHECK(t.round < 20); // it gives up
    CHECK(contains(j.hint, "Grade again"));
}

TEST_CASE("what no clock explains is too slow though the clock moved in every pair")
{
    simulated_device t;
    t.now = [](int reading) { return device_state{reading % 2 ? 1500.0 : 1980.0, false, 3e10}; };
    t.submission_ms = 3 / 0.5;
    judgement j = judge(t, at_least(2)); // 1.32 * 2 * 0.5 falls short of 2
    CHECK(j.what == verdict::TOO_SLOW);
    CHECK(contains(j.message, "at most 0.5 times naive's speed in 15 runs; at least 2 times"));
    CHECK(contains(j.message, "moved by 32 %"));
    CHECK(j.hint == "try harder");
    CHECK(j.result.reached == 0);

    t.submission_ms = 3 / 0.8; // the clock may have moved more than two samples show
    CHECK(judge(t, at_least(2)).what == verdict::INFRA_ERROR);

    t.submission_ms = 3 / 0.5;
    t.now = [](int look) { return device_state{std::nan(""), false, look % 2 ? 1e10 : 3e10}; };
    CHECK(judge(t, at_least(2)).what ==
          verdict::INFRA_ERROR); // a third of the clock rate could explain it
}

TEST_CASE("a worker whose events lie is a clock mismatch")
{
    simulated_device t;
    t.submission_ms = 3;
    SUBCASE("ten times faster")
    {
        t.claimed = [](double ms) { return ms / 10; };
    }
    SUBCASE("no time at all")
    {
        t.claimed = [](double) { return 0.0; };
    }
    SUBCASE("not a number")
    {
        t.claimed = [](double) { return std::nan(""); };
    }
    SUBCASE("infinite")
    {
        t.claimed = [](double) { return std::numeric_limits<double>::infinity(); };
    }
    SUBCASE("negative")
    {
        t.claimed = [](double ms) { return -ms; };
    }
    CHECK(judge(t, at_least(2)).what == verdict::CLOCK_MISMATCH);
}

TEST_CASE("threads left behind in most runs end the race, however fast it was")
{
    simulated_device t;
    t.leaves_threads = true;
    judgement j = judge(t, at_least(2));
    CHECK(j.what == verdict::LATE_WRITE);
    CHECK(contains(j.message, "left threads behind in 7 of 10 runs"));
}

TEST_CASE("a lie too small to see in one run does not help across the requirement")
{
    simulated_device t;
    t.submission_ms = 3 / 2.4; // a speedup of 2.4; 3 is required
    t.claimed = [](double ms) { return ms * 2.4 / 3.1; };
    judgement j = judge(t, at_least(3));
    CHECK(j.what == verdict::CLOCK_MISMATCH);
    CHECK(contains(j.message, "grader's own"));
}

TEST_CASE("calls that last long do not keep a race open for long")
{
    simulated_device t;
    t.submission_ms = t.naive_ms = 9000;
    judgement j = judge(t, at_least(1));
    CHECK(j.what == verdict::TOO_SLOW);
    CHECK(contains(j.message, "63 s in 7 timed runs, and its speed is still open"));
    CHECK(j.hint == "try harder");
    CHECK(t.round == 7);
}

TEST_CASE("a wrong output in round 7 ends the race in round 7")
{
    simulated_device t;
    t.submitted = [](simulated_device &s) { return s.input * s.input + (s.round == 7); };
    try {
        judge(t, at_least(2.4));
        FAIL("the wrong output went unseen");
    } catch (const wrong_output &w) {
        CHECK(w.round == 7);
    }
}

TEST_CASE("a wrong output that is found late outranks the verdict about the times")
{
    simulated_device t;
    t.checks_late = true;
    t.submitted = [](simulated_device &s) { return s.input * s.input + (s.round == 2); };
    SUBCASE("fast") { CHECK(t.submission_ms < t.naive_ms); }
    SUBCASE("slow") { t.submission_ms = 9 * t.naive_ms; }
    SUBCASE("never done")
    {
        t.submitted = [](simulated_device &s) -> long {
            if (s.round == 3) throw run_timeout{1e4, s.naive_ms};
            return 0;
        };
    }
    CHECK_THROWS_AS(judge(t, at_least(2)), wrong_output);
}

TEST_CASE("a wrong output counts although the pair does not")
{
    simulated_device t;
    t.now = [](int) { return device_state{1980, true, 3e10}; };
    t.submitted = [](simulated_device &s) { return s.input * s.input + (s.round == 3); };
    CHECK_THROWS_AS(judge(t, at_least(2)), wrong_output);
}

TEST_CASE("an output replayed from an earlier round, or left as it is, is wrong")
{
    simulated_device t;
    long first = 0;
    SUBCASE("replayed")
    {
        t.submitted = [&first](simulated_device &s) {
            if (s.round == 1) first = s.input * s.input;
            return first;
        };
    }
    SUBCASE("left")
    {
        t.submitted = [](simulated_device &) { return -1L; };
    }
    CHECK_THROWS_AS(judge(t, at_least(2)), wrong_output);
}

TEST_CASE("of a version of ours only the first outputs are checked, and those are")
{
    simulated_device t;
    t.submitted = [](simulated_device &d) { return d.round == 1 ? d.input * d.input : 0; };
    CHECK(judge(t, {}, scrutiny::trusted).result.pairs == shown_pairs);
    simulated_device wrong;
    wrong.submitted = [](simulated_device &) { return 0L; };
    CHECK_THROWS_AS(judge(wrong, {}, scrutiny::trusted), wrong_output);
    simulated_device student;
    student.submitted = t.submitted;
    CHECK_THROWS_AS(judge(student, {}), wrong_output);
}

TEST_CASE("faster than any version can be is implausible")
{
    simulated_device t;
    t.submission_ms = 1;
    speed_gates g = at_least(1.35);
    CHECK(judge(t, g).what == verdict::PASS); // no upper limit is known
    g.max_speedup = 2.9;
    judgement j = judge(t, g);
    CHECK(j.what == verdict::IMPLAUSIBLE);
    CHECK(contains(j.message, "3.00 times naive's speed; 2.9 times is more than any"));
    g.max_speedup = 3.1;
    CHECK(judge(t, g).what == verdict::PASS);
}

TEST_CASE("faster than the device can move or compute is implausible")
{
    simulated_device t;
    t.submission_ms = 0.25;
    SUBCASE("copy bandwidth") { t.work_bytes = 1.1 * 0.25 * t.device_copy; }
    SUBCASE("multiply-add rate") { t.work_fma = 1.1 * 0.25 * t.device_fma; }
    judgement j = judge(t, at_least(3));
    CHECK(j.what == verdict::IMPLAUSIBLE);
    CHECK(contains(j.message, "1.10 times"));
}

TEST_CASE("what a clever version need not do is plausible to be left out")
{
    simulated_device t;
    t.submission_ms = 0.25;
    t.work_fma = 1.1 * 0.25 * t.device_fma;
    speed_gates g = at_least(3);
    g.fma_needed = 0.5;
    CHECK(judge(t, g).what == verdict::PASS);
    t.work_fma *= 2;
    CHECK(judge(t, g).what == verdict::IMPLAUSIBLE);
}

TEST_CASE("a fraction of the device's own rate is required beside the speedup")
{
    simulated_device t;
    t.submission_ms = 0.25;
    speed_gates g = at_least(3);
    g.copy = {0.65, 0, 0.90};
    auto at_fraction = [&](double f) {
        t.work_bytes = f * 0.25 * t.device_copy;
        return judge(t, g);
    };
    judgement low = at_fraction(0.6), middle = at_fraction(0.7), high = at_fraction(0.95);
    CHECK(low.what == verdict::TOO_SLOW);
    CHECK(contains(low.message, "60 % of this device's copy bandwidth, at least 65 %"));
    CHECK(low.result.reached == 0);
    CHECK(middle.what == verdict::PASS);
    CHECK(middle.result.reached == 1);
    CHECK(middle.result.offered == 2);
    CHECK(middle.result.of == "copy bandwidth");
    CHECK(middle.result.fraction == doctest::Approx(0.7));
    CHECK(middle.result.required_fraction == 0.65);
    CHECK(middle.result.gbps == doctest::Approx(0.7 * 4000));
    CHECK(high.result.reached == 2);
}

TEST_CASE("the fraction of the multiply-add rate is judged likewise")
{
    simulated_device t;
    t.submission_ms = 0.25;
    t.work_fma = 0.5 * 0.25 * t.device_fma;
    speed_gates g = at_least(3);
    g.fma = {0.55, 0, 0};
    judgement j = judge(t, g);
    CHECK(j.what == verdict::TOO_SLOW);
    CHECK(j.result.of == "multiply-add rate");
    CHECK(j.result.fraction == doctest::Approx(0.5));
    g.fma.pass = 0.45;
    CHECK(judge(t, g).what == verdict::PASS);
}

TEST_CASE("a ratio that is only shown fails nobody, and the library's is shown beside it")
{
    simulated_device t;
    t.submission_ms = 6;
    t.library_ms = 3;
    judgement j = judge(t, at_least(0));
    CHECK(j.what == verdict::PASS);
    CHECK(j.result.pairs == shown_pairs);
    CHECK(j.result.median == doctest::Approx(0.5));
    CHECK(j.result.library_ratio == doctest::Approx(0.5));
    t.submission_ms = 1.1 * shown_ms; // one is enough
    j = judge(t, at_least(0));
    CHECK(j.result.pairs == 1);
    CHECK(j.result.ms == doctest::Approx(t.submission_ms));
}

TEST_CASE("a naive that does a part of the work is taken to go on at its speed")
{
    simulated_device t;
    t.naive_ms = 1.5;
    t.submission_ms = 10;
    t.library_ms = 5;
    speed_gates gates;
    gates.speedup = 2;
    gates.naive_share = 1.0 / 16;
    judgement j = judge(t, gates);
    CHECK(j.what == verdict::PASS);
    CHECK(j.result.median == doctest::Approx(2.4));
    CHECK(j.result.naive_ms == doctest::Approx(24));
    CHECK(j.result.library_ratio == doctest::Approx(0.5));
    CHECK(contains(j.message, "naive 24 ms by a smaller input: 2.40 times"));
}

TEST_CASE("steps are counted where they are offered")
{
    step_tally t;
    auto needs = [](const char *how) {
        return [how](double value) { return fmt::format("{} {}", how, value); };
    };
    CHECK(t.offered() == 1);
    CHECK(t.reached() == 1);
    t.add({0.6, 0.8, 0}, 0.85, true, needs("at least"));
    CHECK(t.offered() == 2);
    CHECK(t.reached() == 2);
    t.add({2, 1, 0.5}, 0.7, false, needs("at most"));
    CHECK(t.offered() == 3);
    CHECK(t.reached() == 2);
    CHECK(t.needs() == std::vector<std::string>{"at least 0.6 and at most 2",
                                                "at least 0.8 and at most 1", "at most 0.5"});
    t.add({0.9, 0, 0}, 0.5, true, needs("at least")); // without pass no step counts
    CHECK(t.reached() == 0);
}
