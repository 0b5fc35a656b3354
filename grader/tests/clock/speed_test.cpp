// Tests whole benchmarks between processes without a GPU. This program also plays the workers.
//
// Each benchmark below is a speed case of the grader; the tests then read its records.
#define DOCTEST_CONFIG_IMPLEMENT
#include "imitation.hpp"
#include "process/contract.hpp"
#include "process/worker_process.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/doctest_run.hpp"
#include "runner/inputs_in_advance.hpp"
#include "runner/ladder_steps.hpp"
#include "speed/argument_sets.hpp"
#include "speed/calibration.hpp"
#include "speed/paired_benchmark.hpp"
#include "speed/recorded_pairs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <initializer_list>
#include <map>
#include <random>

#include <nlohmann/json.hpp>

namespace grading {

// The contract of these benchmarks, as in the parent's table of names.
extern const entry contract[] = {{"add_one", "in,out,n", nullptr, 0},
                                 {"add_one_in_place", "data,n", nullptr, 0},
                                 {"which_form", "", nullptr, 0}};
extern const int contract_size = 3, contract_devices = 2;

} // namespace grading

using namespace grading;

void add_one(const int *in, int *out, int n);
void add_one_in_place(int *data, int n);

namespace {

// The benchmarked function is add_one, or the same in place.
constexpr int elements = 5000;

std::span<std::byte> renew(std::vector<int> &values, std::mt19937_64 &random)
{
    for (int i = 0; i < 16; ++i) values[100 + i] = static_cast<int>(random() % 1000000);
    return std::as_writable_bytes(std::span(values).subspan(100, 16));
}

class adding : public workload {
public:
    explicit adding(std::mt19937_64 &random, double bytes, bool mark = false,
                    argument_memory of_output = argument_memory::device)
        : in_(elements), out_(elements), bytes_(bytes), of_output_(of_output)
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
        if (mark) in_[0] = marked_form;
    }
    const char *function() const override { return "add_one"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one)>::arguments(in_, placed<output<int>>{out_, of_output_},
                                                    int(elements));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        std::vector<int> want(in_);
        for (int &x : want) ++x;
        expect_equal(out_, want);
    }
    double bytes() const override { return bytes_; }

protected:
    std::vector<int> in_;
    output<int> out_;

private:
    double bytes_;
    argument_memory of_output_;
};

// Uses new vectors in each round.
class adding_anew : public adding {
public:
    explicit adding_anew(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        in_ = std::vector<int>(in_);
        out_ = output<int>(elements);
        return adding::change(random);
    }
};

class adding_more : public adding {
public:
    explicit adding_more(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        in_.push_back(1);
        return adding::change(random);
    }
};

class silently_adding : public adding {
public:
    explicit silently_adding(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        adding::change(random);
        return {};
    }
};

// Lets `n` of the elements change; the others change only between rounds.
class adding_in_place : public workload {
public:
    explicit adding_in_place(std::mt19937_64 &random, int n = elements) : n_(n), in_(elements)
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
        data_ = changed_in_place(in_);
        data_.count = static_cast<std::size_t>(n);
    }
    const char *function() const override { return "add_one_in_place"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one_in_place)>::arguments(data_, n_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(in_, random);
        in_.back() = static_cast<int>(random() % 1000000);
        data_.values = in_;
        std::span all(data_.values);
        return {std::as_writable_bytes(all.first(116)), std::as_writable_bytes(all.last(1))};
    }
    void check() override
    {
        for (int i = 0; i < elements; ++i)
            expect(data_[i] == in_[i] + (i < n_), verdict::WRONG_ANSWER,
                   "element " + std::to_string(i) + " is wrong");
    }

private:
    int n_;
    std::vector<int> in_;
    output<int> data_{0};
};

// So many elements that several cores copy and compare them.
class adding_many : public workload {
public:
    explicit adding_many(std::mt19937_64 &random) : in_((4 << 20) + 7), out_(in_.size())
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
    }
    const char *function() const override { return "add_one"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one)>::arguments(in_, out_, int(in_.size()));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        expect(for_all(in_.size(), [this](std::size_t i) { return out_[i] == in_[i] + 1; }),
               verdict::WRONG_ANSWER, "an element of many is wrong");
    }

private:
    std::vector<int> in_;
    output<int> out_;
};

std::filesystem::path folder; // holds one link to this program per kind of worker

void race_against(const std::string &kind, const make_workload &make, double speedup = 3,
                  const make_workload &make_for_naive = {}, double naive_share = 1)
{
    restart_workers();
    options().worker = folder / kind;
    speed_gates gates;
    gates.naive_share = naive_share;
    gates.speedup = speedup;
    gates.too_slow = "try harder";
    race(make, gates, make_for_naive);
}

recorded_case recorded; // by "race: recorded"

// While one lives, cases record pairs. The destructor reads them.
class recording_of_pairs {
public:
    explicit recording_of_pairs(int pairs, const std::string &file = folder / "pairs.csv")
    {
        options().record_pairs = pairs;
        options().pairs_file = file;
    }
    ~recording_of_pairs()
    {
        if (std::ifstream file(options().pairs_file); file) recorded = read_recording(file);
        options().record_pairs = 0;
    }
    recording_of_pairs(const recording_of_pairs &) = delete;
};

make_workload moving(double bytes = 0)
{
    return [bytes](std::mt19937_64 &random) { return std::make_unique<adding>(random, bytes); };
}
template <class W> std::unique_ptr<workload> any(std::mt19937_64 &random)
{
    return std::make_unique<W>(random);
}
std::unique_ptr<workload> in_place(std::mt19937_64 &random)
{
    return std::make_unique<adding_in_place>(random);
}
std::unique_ptr<workload> half_in_place(std::mt19937_64 &random)
{
    return std::make_unique<adding_in_place>(random, elements / 2);
}
std::unique_ptr<workload> marked(std::mt19937_64 &random)
{
    return std::make_unique<adding>(random, 0, true);
}
std::unique_ptr<workload> to_pinned(std::mt19937_64 &random)
{
    return std::make_unique<adding>(random, 0, false, argument_memory::pinned);
}

} // namespace

// The same with a worker that claims to be a simulator.
void count_against(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    speed_gates gates;
    gates.speedup = 3;
    gates.counted = {used_by_loads(0.95), used_by_stores(0.95)};
    gates.counted[0].required.excellent = 1;
    race(moving(), gates);
}

SPEED_CASE("race: fast", 4, 4) { race_against("fast", moving()); }
SPEED_CASE("race: fast in place", 4, 4) { race_against("fast", in_place); }
SPEED_CASE("race: half in place", 4, 4) { race_against("fast", half_in_place); }
SPEED_CASE("race: two forms", 4, 4) { race_against("takes its own form", marked, 3, moving()); }
// At the required speed a run has four calls, more than the sets that each form begins with.
SPEED_CASE("race: more sets of one form", 4, 4)
{
    race_against("takes its own form", marked, 100, moving());
}
SPEED_CASE("race: one form for both", 4, 4) { race_against("takes its own form", moving()); }
SPEED_CASE("race: vectors made anew", 4, 4) { race_against("fast", any<adding_anew>); }
SPEED_CASE("race: more elements", 4, 4) { race_against("fast", any<adding_more>); }
SPEED_CASE("race: a silent change", 4, 4) { race_against("fast", any<silently_adding>); }
// The same where only gates calibrated for the device count, of which `kept` tells.
void race_calibrated(const std::string &kind, const char *folder_of_gates)
{
    options().gates_folder = folder / folder_of_gates;
    options().contract = "0123";
    struct restore {
        ~restore() { options().gates_folder.clear(); }
    } at_the_end;
    race_against(kind, moving());
}
SPEED_CASE("race: not calibrated, fast", 4, 4) { race_calibrated("fast", "none"); }
SPEED_CASE("race: not calibrated, slow", 4, 4) { race_calibrated("slow", "none"); }
SPEED_CASE("race: not calibrated, wrong", 4, 4) { race_calibrated("lies", "none"); }
SPEED_CASE("race: calibrated, slow", 4, 4) { race_calibrated("slow", "gates"); }
SPEED_CASE("race: calibrated, fast", 4, 4) { race_calibrated("fast", "gates"); }
SPEED_CASE("race: on a shared device", 4, 4)
{
    std::ofstream(folder / "nvml") << "name an imitation\nmig\n";
    setenv("MOCK_NVML", (folder / "nvml").c_str(), 1);
    struct restore {
        ~restore() { unsetenv("MOCK_NVML"); }
    } at_the_end;
    race_against("slow", moving());
}
SPEED_CASE("race: slow", 4, 4) { race_against("slow", moving()); }
// Naive has a thousandth of the work, so its time implies 8 s for all of it.
SPEED_CASE("race: takes a minute", 4, 4) { race_against("takes a minute", moving(), 3, {}, 0.001); }
SPEED_CASE("race: lies", 4, 4) { race_against("lies", moving()); }
SPEED_CASE("race: replays", 4, 4) { race_against("replays", moving()); }
SPEED_CASE("race: replays in place", 4, 4) { race_against("replays", in_place); }
SPEED_CASE("race: writes nothing", 4, 4) { race_against("writes nothing", moving()); }
SPEED_CASE("race: to pinned memory", 4, 4) { race_against("fast", to_pinned); }
SPEED_CASE("race: nothing to pinned memory", 4, 4) { race_against("writes nothing", to_pinned); }
SPEED_CASE("race: writes past the end", 4, 4) { race_against("writes past the end", moving()); }
SPEED_CASE("race: goes wrong later", 4, 4) { race_against("goes wrong later", moving()); }
SPEED_CASE("race: spoils the first", 4, 4) { race_against("spoils the first", any<adding_many>); }
SPEED_CASE("race: spoils the last", 4, 4) { race_against("spoils the last", any<adding_many>); }
SPEED_CASE("race: spoils any", 4, 4) { race_against("spoils any", any<adding_many>); }
SPEED_CASE("race: many", 4, 4) { race_against("fast", any<adding_many>, 0.1); }
SPEED_CASE("race: spoils the rest", 4, 4) { race_against("writes past the end", half_in_place); }
SPEED_CASE("race: crashes", 4, 4) { race_against("crashes", moving()); }
SPEED_CASE("race: loses memory", 4, 4) { race_against("loses memory", moving()); }
SPEED_CASE("race: no memory", 4, 4) { race_against("says there is no memory", moving()); }
SPEED_CASE("race: all memory", 4, 4) { race_against("takes all memory", moving()); }
SPEED_CASE("race: recorded", 4, 4)
{
    recording_of_pairs here(65);
    race_against("fast", moving());
}
SPEED_CASE("race: recorded nowhere", 4, 4)
{
    recording_of_pairs here(1, "/no/such/folder/pairs.csv");
    race_against("fast", moving());
}
// A call takes 1 ms but should move 2 GB on a device of 10 GB/s. On a loaded machine a sleep of 1
// ms takes some more, but never 200 ms.
SPEED_CASE("race: implausible", 4, 4) { race_against("fast", moving(2e9)); }
// Two benchmarks in the same workers: the first must not affect the second.
SPEED_CASE("race: twice", 4, 4)
{
    race_against("fast", moving());
    speed_gates gates;
    gates.speedup = 3;
    race(moving(), gates);
}

std::atomic<int> made_for_ladder = 0; // several sets are made at a time
// All versions of a ladder, in one run, with a benchmark per form of the inputs.
SPEED_CASE("ladder: add", 4, 4)
{
    speed_gates gates;
    gates.speedup = 3;
    if (step_taken() > std::size_t{3}) gates.form = "another";
    race(
        [](std::mt19937_64 &random) {
            ++made_for_ladder;
            return std::make_unique<adding>(random, 0);
        },
        gates);
}

// A call between two steps writes over the inputs that they share.
SPEED_CASE("ladder: another call", 4, 4)
{
    naive_cost(moving());
    speed_gates gates;
    gates.speedup = 3;
    race(moving(), gates);
}

std::atomic<int> other_work = -1; // a lock on the clock's file, while more of the grade goes on
std::atomic<int> made_for_second = 0, made_for_third = 0;
std::atomic<int> made_in_right_form = 0, made_in_each_form = 0; // the latter in the last case
std::atomic<int> made_in_likely_form = 0, made_in_both_forms = 0;
std::promise<void> all_are_made;
std::atomic<bool> made_meanwhile = true;
bool untouched_by_rehearsal = true;

// The first case has its own inputs only when all of the others' are there: made by a thread.
std::unique_ptr<workload> made_late(std::mt19937_64 &random)
{
    [[maybe_unused]] static const bool once = (inputs_in_advance::begin(), true);
    static const std::shared_future<void> made(all_are_made.get_future());
    if (made.wait_for(std::chrono::seconds(60)) != std::future_status::ready)
        made_meanwhile = false;
    if (const int lock = other_work.exchange(-1); lock >= 0) close(lock); // now take times
    return std::make_unique<adding>(random, 0);
}

SPEED_CASE("advance: first", 4, 4) { race_against("fast", made_late); }
SPEED_CASE("advance: second", 4, 4)
{
    auto make = [](std::mt19937_64 &random) {
        ++made_for_second;
        return std::make_unique<adding>(random, 0);
    };
    race_against("fast", make);
}
// A call decides what it makes, so that waits for its turn.
SPEED_CASE("advance: asks a worker", 4, 4)
{
    naive_cost(moving());
    auto make = [](std::mt19937_64 &random) {
        ++made_for_third;
        return std::make_unique<adding>(random, 0);
    };
    race_against("fast", make);
}
// Only a submission can say the form, which this one says to be "right".
void race_in_form(const std::string &foreseen, std::atomic<int> &made)
{
    speed_gates gates;
    gates.speedup = 3;
    gates.form = foreseen;
    if (!must_guess()) {
        naive_cost(moving());
        gates.form = "right";
    }
    options().worker = folder / "fast";
    auto make = [&made](std::mt19937_64 &random) {
        if (++made == 3 && &made == &made_in_each_form) all_are_made.set_value();
        return std::make_unique<adding>(random, 0);
    };
    race(make, gates);
}
SPEED_CASE("advance: foresees the form", 4, 4) { race_in_form("right", made_in_right_form); }
SPEED_CASE("advance: foresees another", 4, 4) { race_in_form("wrong", made_in_each_form); }
SPEED_CASE("advance: ends before", 4, 4) { end_case(verdict::SKIPPED, "not here"); }

// The compiler is at work until the first of three sets is loaded, for which function() is asked:
// once by each set when it is made, and once when it is loaded.
int compiler = -1;
std::atomic<int> asked_for_function = 0;
class adding_while_compiled : public adding {
public:
    explicit adding_while_compiled(std::mt19937_64 &random) : adding(random, 0) {}
    const char *function() const override
    {
        if (++asked_for_function == 4) close(compiler);
        return adding::function();
    }
};

void race_before_compiled(bool right, std::atomic<int> &made)
{
    restart_workers();
    options().worker = folder / "fast";
    options().worker_lock = folder / "compiling";
    compiler = open(options().worker_lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    flock(compiler, LOCK_EX);
    asked_for_function = 0;
    auto make = [&made](std::mt19937_64 &random) {
        ++made;
        return std::make_unique<adding_while_compiled>(random);
    };
    speed_gates gates;
    gates.speedup = 3;
    gates.form = "likely";
    gates.form_is_right = [right] {
        expect(asked_for_function >= 6, verdict::INFRA_ERROR, "Naive's worker has no inputs yet.");
        make_call("which_form", {}, nullptr, 0);
        return right;
    };
    if (must_guess() && race(make, gates)) return;
    gates.form = "chosen";
    gates.form_is_right = nullptr;
    race(make, gates);
}
SPEED_CASE("race: the likely form", 4, 4) { race_before_compiled(true, made_in_likely_form); }
SPEED_CASE("race: the other form", 4, 4) { race_before_compiled(false, made_in_both_forms); }

// Asking for naive's cost must not affect the benchmark.
SPEED_CASE("race: naive's cost", 4, 4)
{
    double ms = naive_cost(moving());
    expect(ms >= naive_ms && ms < 20 * naive_ms, verdict::WRONG_ANSWER, std::to_string(ms));
    race_against("fast", moving());
}

namespace {

void call_apart(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    output<int> out(3000);
    CALL(add_one, std::vector<int>(3000, 41), out, 3000);
    expect_equal(out, std::vector<int>(3000, 42));
}

void call_in_place(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    output<int> data = changed_in_place(std::vector<int>(3000, 41));
    CALL(add_one_in_place, data, 3000);
    expect_equal(data, std::vector<int>(3000, 42));
}

void judge_where_reading_is_explained(const std::vector<float> &got)
{
    reading_an_output_means("It was read.", "Only write it.", "another");
    output<float> out(got.size());
    out.values = got;
    std::vector<float> zero(got.size());
    expect_equal(out, zero, {}, {{"It is as before.", "Write it.", [=] {
                                      return std::vector<float>(zero.size(), NAN);
                                  }}});
}

} // namespace

// The last three of eight elements are 9, which three mistakes explain.
CORRECTNESS_CASE("call: explained by several", 1)
{
    output<int> out(8);
    out.values = {1, 2, 3, 4, 5, 9, 9, 9};
    auto made = [](const std::vector<int> &values) { return [=] { return values; }; };
    expect_equal(out, {1, 2, 3, 4, 5, 6, 7, 8}, {},
                 {{"All are 9.", "", made({9, 9, 9, 9, 9, 9, 9, 9}), true},
                  {"Some are 9.", "", made({9, 2, 3, 4, 5, 9, 9, 9})},
                  {"The last three are 9.", "", made({1, 2, 3, 4, 5, 9, 9, 9})}});
}
CORRECTNESS_CASE("call: explained in part", 1)
{
    output<int> out(4);
    out.values = {1, 2, 9, 9};
    auto made = [](const std::vector<int> &values) { return [=] { return values; }; };
    expect_equal(
        out, {1, 2, 3, 4}, {},
        {{"All are 9.", "", made({9, 9, 9, 9}), true}, {"They are 9.", "", made({9, 9, 9, 9})}});
}
// Two of eighteen elements have a counterpart 16 places on, and equal it by chance.
CORRECTNESS_CASE("call: moved, by chance", 1)
{
    output<int> out(18);
    std::vector<int> want;
    for (int i = 0; i < 18; ++i) want.push_back(i), out.values[std::size_t(i)] = 50 + i * i;
    out.values[0] = 16, out.values[1] = 17;
    expect_equal(out, want);
}

CORRECTNESS_CASE("call: fast", 1) { call_apart("fast"); }
CORRECTNESS_CASE("call: fast in place", 1) { call_in_place("fast"); }
CORRECTNESS_CASE("call: right but once", 1) { call_apart("right but once"); }
CORRECTNESS_CASE("call: right but once, in place", 1) { call_in_place("right but once"); }

CORRECTNESS_CASE("call: one too many", 1) { call_apart("writes past the end"); }
CORRECTNESS_CASE("call: one too many, with a hint of the lab's", 1)
{
    hint_past_the_end("It has n elements.");
    call_in_place("writes past the end");
}
CORRECTNESS_CASE("call: misuses a vote", 1) { call_apart("misuses a vote"); }
CORRECTNESS_CASE("call: all NaN", 1) { judge_where_reading_is_explained({NAN, NAN, NAN}); }
CORRECTNESS_CASE("call: some NaN", 1) { judge_where_reading_is_explained({NAN, 0, NAN}); }
CORRECTNESS_CASE("call: NaN and wrong", 1) { judge_where_reading_is_explained({NAN, 1, NAN}); }

SPEED_CASE("count: fast", 4, 1) { count_against("fast"); }
SPEED_CASE("count: naive", 4, 1) { count_against("naive"); }
SPEED_CASE("count: garbled", 4, 1) { count_against("garbled"); }
SPEED_CASE("count: writes nothing", 4, 1) { count_against("writes nothing"); }

namespace {

const case_record &record(const std::string &name)
{
    auto at = std::find_if(records().begin(), records().end(),
                           [&](const case_record &r) { return r.test == name && r.started; });
    REQUIRE(at != records().end());
    return *at;
}

void check_verdict(const std::string &name, verdict expected, const std::string &words = {})
{
    const case_record &r = record(name);
    CAPTURE(name);
    CAPTURE(r.message);
    CHECK(std::string(grading::name(r.result)) == std::string(grading::name(expected)));
    CHECK(r.message.find(words) != std::string::npos);
}

} // namespace

TEST_CASE("verdict: a fast submission passes, in place or not, and leaves its figures")
{
    for (const char *name : {"race: fast", "race: fast in place", "race: half in place",
                             "race: two forms", "race: twice", "race: to pinned memory",
                             "race: naive's cost", "race: vectors made anew"}) {
        check_verdict(name, verdict::PASS);
        const case_record &r = record(name);
        REQUIRE(r.speed);
        CHECK(r.points == 4);
        CHECK(r.speed->pairs >= shown_pairs);
        CHECK(r.speed->median > 3);
        CHECK(r.speed->ms >= 1);
        CHECK(r.speed->naive_ms >= naive_ms);
    }
}

TEST_CASE("verdict: a form is guessed while the submission is compiled, and asked for then")
{
    for (const char *name : {"race: the likely form", "race: the other form"})
        check_verdict(name, verdict::PASS);
    CHECK(made_in_likely_form == 3);
    CHECK(made_in_both_forms == 6);
}

TEST_CASE("verdict: none is given while pairs are recorded, as the clocks say")
{
    check_verdict("race: recorded", verdict::SKIPPED, "65 pairs were recorded");
    CHECK(recorded.about["case"] == "race: recorded, timed");
    CHECK(recorded.about["gpu"] == "an imitation");
    CHECK(recorded.about["function"] == "add_one");
    CHECK(recorded.gates.speedup == 3);
    REQUIRE(recorded.pairs.size() == 65);
    for (const recorded_pair &p : recorded.pairs) {
        CHECK(p.naive.worker_per_call() >= naive_ms);
        CHECK(p.submission.worker_per_call() >= 1);
        CHECK(p.submission.parent_ms > 0);
        CHECK(p.copy_rate > 0);
        CHECK(p.before.fma_rate > 0);
    }
    check_verdict("race: recorded nowhere", verdict::INFRA_ERROR, "cannot write /no/such/folder");
}

TEST_CASE(
    "verdict: a gate that is not calibrated for the device leaves the points open, timed or not")
{
    for (const char *name : {"race: not calibrated, fast", "race: not calibrated, slow"}) {
        check_verdict(name, verdict::SKIPPED, "not calibrated for an imitation");
        CHECK(record(name).open_points() == 4);
        REQUIRE(record(name).speed);
        CHECK(record(name).speed->pairs == shown_pairs);
        CHECK(record(name).speed->median > 0);
    }
    check_verdict("race: not calibrated, wrong", record("race: lies").result);
    CHECK_FALSE(record("race: lies").skipped());
}

TEST_CASE("verdict: a gate that is kept for the device is judged")
{
    check_verdict("race: calibrated, slow", verdict::TOO_SLOW, "at least 3 times is required");
    check_verdict("race: calibrated, fast", verdict::PASS);
}

TEST_CASE("verdict: a device that is shared judges no time")
{
    check_verdict("race: on a shared device", verdict::INFRA_ERROR, "MIG mode");
}

TEST_CASE("verdict: what lies in pinned memory must be written too")
{
    check_verdict("race: nothing to pinned memory", verdict::NOT_WRITTEN);
}

TEST_CASE("verdict: a workload that changes what no worker is told of is the lab's fault")
{
    check_verdict("race: more elements", verdict::INFRA_ERROR, "changed a size");
    check_verdict("race: a silent change", verdict::INFRA_ERROR, "changed `in` and did not say so");
}

TEST_CASE("verdict: a slow one does not")
{
    check_verdict("race: slow", verdict::TOO_SLOW, "at least 3 times");
    check_verdict("race: more sets of one form", verdict::TOO_SLOW, "at least 100 times");
    CHECK(record("race: slow").hint == "try harder");
    CHECK(record("race: slow").points == 0);
}

TEST_CASE("verdict: nor does one that does not end in time, and what it was to reach is known")
{
    check_verdict("race: takes a minute", verdict::TOO_SLOW, "did not finish in 10 s");
    CHECK(record("race: takes a minute").hint == "try harder");
    nlohmann::json cases = nlohmann::json::parse(result_json())["labs"][0]["cases"];
    auto c = std::find_if(cases.begin(), cases.end(), [](const auto &one) {
        return one["name"] == "race: takes a minute, timed";
    });
    REQUIRE(c != cases.end());
    CHECK((*c)["speedup"]["required"] == 3);
    CHECK((*c)["speedup"]["median"].is_null());
    CHECK((*c)["measured"]["naive_ms"] >= 1000 * naive_ms);
}

TEST_CASE("verdict: naive's form of the arguments is not the submission's")
{
    check_verdict("race: one form for both", verdict::NOT_WRITTEN);
}

TEST_CASE("verdict: clocks and rooflines")
{
    check_verdict("race: lies", verdict::CLOCK_MISMATCH);
    check_verdict("race: implausible", verdict::IMPLAUSIBLE, "copy bandwidth");
}

TEST_CASE("verdict: every timed output is verified")
{
    check_verdict("race: replays", verdict::WRONG_ANSWER);
    check_verdict("race: replays in place", verdict::WRONG_ANSWER);
    check_verdict("race: goes wrong later", verdict::WRONG_ANSWER, "7");
    for (const char *name : {"race: spoils the first", "race: spoils the last", "race: spoils any"})
        check_verdict(name, verdict::WRONG_ANSWER, "an element of many");
    check_verdict("race: many", verdict::PASS);
    check_verdict("race: spoils the rest", verdict::WRONG_ANSWER, "leaves the rest as it was");
    check_verdict("race: writes nothing", verdict::NOT_WRITTEN, "add_one");
    check_verdict("race: writes past the end", verdict::OUT_OF_BOUNDS, "`out`");
}

TEST_CASE("verdict: a second, equal call must be right too, in place or not")
{
    for (const char *name : {"call: fast", "call: fast in place"})
        check_verdict(name, verdict::PASS);
    for (const char *name : {"call: right but once", "call: right but once, in place"})
        check_verdict(name, verdict::NONDETERMINISTIC, "[7]: expected 42, got 0");
}

TEST_CASE("verdict: one element past the end is told from a missing guard")
{
    check_verdict("call: one too many", verdict::OUT_OF_BOUNDS, "first write is at index 3000");
    CHECK(record("call: one too many").hint.find("one place too late") != std::string::npos);
    CHECK(record("call: one too many, with a hint of the lab's").hint == "It has n elements.");
}

TEST_CASE("verdict: what the simulator finds is a sentence")
{
    check_verdict("call: misuses a vote", verdict::BARRIER_MISUSE,
                  "Kernel add misused a vote at stub.cu:4. 20 threads wait at it. Block (0, 0, 0), "
                  "thread (0, 0, 0) and 19 more.");
}

TEST_CASE("verdict: an output that is NaN all over was read; the failure belongs to another TODO")
{
    check_verdict("call: all NaN", verdict::WRONG_ANSWER, "It is NaN, no number. It was read.");
    CHECK(record("call: all NaN").about == "another");
    check_verdict("call: some NaN", verdict::WRONG_ANSWER, "no number. It is as before.");
    CHECK(record("call: some NaN").about.empty());
    check_verdict("call: NaN and wrong", verdict::WRONG_ANSWER, "got nan. It is NaN, no number.");
    CHECK(record("call: NaN and wrong").hint.find("Where does the NaN come from") == 0);
}

TEST_CASE("verdict: a mistake that explains every element is said before one that does not")
{
    check_verdict("call: explained by several", verdict::WRONG_ANSWER, "The last three are 9.");
    check_verdict("call: explained in part", verdict::WRONG_ANSWER, "They are 9.");
}

TEST_CASE("verdict: what a few elements show by chance is not said of all")
{
    check_verdict("call: moved, by chance", verdict::WRONG_ANSWER, "18 of 18 elements");
    CHECK(record("call: moved, by chance").message.find("holds what belongs") == std::string::npos);
}

TEST_CASE("verdict: a crash in a timed run is a crash")
{
    check_verdict("race: crashes", verdict::CRASH, "timing add_one");
}

TEST_CASE("verdict: where devices send to each other, memory may have been freed too early")
{
    check_verdict("race: loses memory", verdict::CUDA_ERROR, "cudaErrorLaunchFailure (719)");
    const std::string hint = record("race: loses memory").hint;
    CHECK(hint.find("it names the access") != hint.npos);
    CHECK(hint.find("cudaFree need not wait") != hint.npos);
}

TEST_CASE("verdict: that the device has no memory is not the submission's to say or to bring about")
{
    check_verdict("race: no memory", verdict::RESOURCE_LIMIT, "and naive's has it");
    check_verdict("race: all memory", verdict::RESOURCE_LIMIT, "held most of the device's memory");
}

TEST_CASE("verdict: on the simulator counters decide, and nothing is called a time")
{
    check_verdict("count: fast", verdict::PASS);
    check_verdict("count: naive", verdict::TOO_SLOW, "12.5 %, at least 95 % is required");
    check_verdict("count: garbled", verdict::PROTOCOL_ERROR, "cannot be read");
    check_verdict("count: writes nothing", verdict::NOT_WRITTEN);
    REQUIRE(record("count: fast").speed);
    REQUIRE(record("count: naive").speed);
    const speed_result &fast = *record("count: fast").speed, &naive = *record("count: naive").speed;
    CHECK(fast.counters.at("sector bytes used by loads") == 1);
    CHECK(fast.naive_counters.at("sector bytes used by loads") == 0.125);
    CHECK(fast.reached == 2);
    CHECK(fast.offered == 2);
    CHECK(naive.reached == 0);
    CHECK(std::isnan(fast.median));
    CHECK(std::isnan(fast.ms));
    CHECK(fast.pairs == 0);
}

TEST_CASE("verdict: what a case needs is made once, before its turn if it asks no worker for it")
{
    for (const char *name : {"advance: first", "advance: second", "advance: asks a worker",
                             "advance: foresees the form", "advance: foresees another"})
        check_verdict(name, verdict::PASS);
    check_verdict("advance: ends before", verdict::SKIPPED, "not here");
    CHECK(untouched_by_rehearsal);
    CHECK(made_meanwhile);
    CHECK(made_for_second == 3);
    CHECK(made_for_third == 3);
    CHECK(made_in_right_form == 3);
    CHECK(made_in_each_form == 6);
}

namespace {

// By case: the verdict where outputs are checked beside later rounds, as on many cores.
std::map<std::string, verdict> found_beside;

void run_with_checks_beside()
{
    const unsigned few = std::exchange(options().beside_clock, 12u);
    for (std::size_t i = 0; i < records().size(); ++i) {
        const case_record alone = records()[i];
        for (const char *what :
             {"fast", "replays", "replays in place", "writes nothing", "writes past the end",
              "goes wrong later", "spoils the rest", "crashes", "to pinned memory"})
            if (alone.what == kind::clock && alone.test == std::string("race: ") + what) {
                run_cases({i});
                found_beside[alone.test] = records()[i].result;
                records()[i] = alone;
            }
    }
    options().beside_clock = few;
}

// The verdicts of a counted case: with naive's worker, and without it with the same seed and with
// another.
std::vector<verdict> found_with_kept_counters;

void count_with_kept_counters()
{
    options().simulated = true;
    options().naive_counters_folder = folder / "counters";
    std::filesystem::create_directory(options().naive_counters_folder);
    const std::string naive = options().naive, absent = folder / "absent";
    const std::uint64_t usual = options().seed;
    for (const auto &[program, seed] :
         {std::pair(naive, usual), std::pair(absent, usual), std::pair(absent, usual + 1)}) {
        options().naive = program;
        options().seed = seed;
        for (std::size_t i = 0; i < records().size(); ++i) {
            const case_record before = records()[i];
            if (before.name != "count: fast") continue;
            run_cases({i});
            found_with_kept_counters.push_back(records()[i].result);
            records()[i] = before;
        }
    }
    options().naive = naive;
    options().seed = usual;
    options().naive_counters_folder.clear();
    options().simulated = false;
}

answer awake_and_fast, awake_and_endless; // to a run that follows a wake

answer ask_awake(const char *kind, const char *function)
{
    options().worker = folder / kind;
    worker_options o;
    o.program = options().worker;
    o.sandbox = false;
    worker w(o, inputs());
    request wake;
    wake.what = command::wake;
    wake.flags = stay_awake;
    if (!succeeded(w.ask(wake, std::chrono::seconds(10)))) return {};
    return w.ask(request_of_run(function, {1}, 0), std::chrono::seconds(1));
}

} // namespace

TEST_CASE("verdict: naive's counters are kept for the same inputs, not for others")
{
    CHECK(found_with_kept_counters ==
          std::vector<verdict>{verdict::PASS, verdict::PASS, verdict::INFRA_ERROR});
}

TEST_CASE("verdict: a worker that is told to stay awake answers, or runs out of time, as others do")
{
    CHECK(succeeded(awake_and_fast));
    CHECK(awake_and_endless.how == worker_exit::timed_out);
}

TEST_CASE("verdict: outputs that are checked beside later rounds are judged as others are")
{
    CHECK(found_beside.size() == 9);
    for (const auto &[name, found] : found_beside) {
        CAPTURE(name);
        CHECK(std::string(grading::name(found)) == grading::name(record(name).result));
    }
}

namespace {

// Grades the cases "advance: ..." as a grade does beside whose first one others still work.
void run_with_inputs_in_advance()
{
    std::vector<case_group> timed;
    for (std::size_t i = 0; i < records().size(); ++i)
        if (records()[i].what == kind::clock && records()[i].test.starts_with("advance: "))
            timed.push_back({i});
    const inputs_in_advance ahead(timed);
    for (const case_group &group : timed) untouched_by_rehearsal &= !records()[group[0]].started;
    options().clock_lock = folder / "clock";
    std::ofstream(options().clock_lock).flush();
    other_work = open(options().clock_lock.c_str(), O_RDWR | O_CLOEXEC);
    flock(other_work, LOCK_SH);
    for (const case_group &group : timed) run_cases(group);
    options().clock_lock.clear();
}

constexpr const char *ladder_kinds[] = {"naive",   "fast", "writes nothing",
                                        "crashes", "slow", "fast"};
using step_cases = std::vector<nlohmann::json>; // a timed case of each version's result
step_cases ladder, ladder_with_calls;

step_cases climb_ladder(const std::string &case_name)
{
    std::vector<ladder_step> &steps = options().steps;
    for (const char *kind : ladder_kinds) {
        const std::string number = std::to_string(steps.size());
        steps.push_back({folder / kind, number, folder / (number + ".json"), true, number != "0"});
    }
    for (std::size_t i = 0; i < records().size(); ++i)
        if (records()[i].name == case_name) run_cases({i});
    step_cases found;
    const bool written = write_step_results();
    for (const ladder_step &step : std::exchange(steps, {})) {
        if (!written) continue;
        std::ifstream file(step.result_file);
        const auto document = nlohmann::json::parse(file);
        for (const auto &c : document["labs"][0]["cases"])
            if (c["name"] == case_name) found.push_back(c);
    }
    return found;
}

} // namespace

TEST_CASE("verdict: each version of a ladder has its own, of inputs that are made once")
{
    const char *const expected[] = {"SKIPPED", "PASS", "NOT_WRITTEN", "CRASH", "TOO_SLOW", "PASS"};
    REQUIRE(ladder.size() == std::size(ladder_kinds));
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        CAPTURE(i);
        CAPTURE(ladder[i].dump());
        CHECK(ladder[i]["verdict"] == expected[i]);
        if (i != 2 && i != 3) CHECK(ladder[i]["measured"]["naive_ms"] >= naive_ms);
    }
    CHECK(ladder[0]["message"] == "The time is shown, not judged.");
    CHECK(ladder[1]["points"] == 4);
    CHECK(ladder[1]["speedup"]["median"] > 3);
    CHECK(ladder[4]["speedup"]["median"] < 3);
    CHECK(made_for_ladder == 2 * 3); // forms, and sets of each
}

TEST_CASE("verdict: steps of a ladder whose inputs another call wrote over are the lab's fault")
{
    REQUIRE(ladder_with_calls.size() == std::size(ladder_kinds));
    CHECK(ladder_with_calls[0]["verdict"] == "SKIPPED");
    for (std::size_t i = 1; i < std::size(ladder_kinds); ++i) {
        CAPTURE(i);
        CHECK(ladder_with_calls[i]["verdict"] == "INFRA_ERROR");
        const std::string message = ladder_with_calls[i]["message"];
        CHECK(message.find("a call of the case's own wrote over their inputs") != message.npos);
    }
}

// Writes a calibration of the imitated device that keeps the cases' gates.
static void keep_gates_of(std::initializer_list<const char *> cases)
{
    calibrated_case c;
    c.required = 3;
    c.naive = {"TOO_SLOW", 1, 0.9, 1.1};
    c.solution = {"PASS", 8, 7.9, 8.1, 0, 1};
    calibration all{"an imitation", "9.0", {}};
    calibrated_lab &l = all.labs[lab_name()];
    l.contract = "0123";
    for (const char *name : cases) l.cases[name] = c;
    std::filesystem::create_directory(folder / "gates");
    std::ofstream(calibration_file((folder / "gates").string(), all.model))
        << calibration_text(all);
}

int main(int count, char **arguments)
{
    std::filesystem::path self = arguments[0];
    int type = 0;
    socklen_t length = sizeof type;
    if (count == 1 && getsockopt(socket_fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
        type == SOCK_SEQPACKET)
        return play_worker(self);

    char name[] = "/tmp/race-XXXXXX";
    if (!mkdtemp(name)) return 2;
    folder = name;
    link_workers(std::filesystem::canonical("/proc/self/exe"), folder);
    options().simulated = false;
    options().sandbox = false;
    options().naive = folder / "naive";
    options().device_program = folder / "device";
    options().seed = 1;
    keep_gates_of({"race: calibrated, slow, timed", "race: calibrated, fast, timed"});

    for (const char *which : {"race:*", "count:*", "call:*"}) {
        options().simulated = which[0] == 'c';
        doctest::Context races;
        races.setOption("reporters", "records");
        races.setOption("order-by", "file");
        races.addFilter("test-case", which);
        races.run(); // the tests check these failures
    }
    options().simulated = false;
    run_with_checks_beside();
    run_with_inputs_in_advance();
    count_with_kept_counters();
    awake_and_fast = ask_awake("fast", "yardstick_null");
    awake_and_endless = ask_awake("takes a minute", "add_one");
    ladder = climb_ladder("ladder: add, timed");
    ladder_with_calls = climb_ladder("ladder: another call, timed");
    end_workers();
    std::filesystem::remove_all(folder);

    doctest::Context tests(count, arguments);
    tests.setOption("reporters", "console");
    tests.addFilter("test-case", "verdict:*");
    return tests.run();
}
