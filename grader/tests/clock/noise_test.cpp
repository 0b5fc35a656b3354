// Tests that noise decides no verdict: pairs that a GPU gave are drawn again thousands of times,
// and the rule of the benchmark is applied to each draw.
//
// CUDA_WORKBOOK_RESAMPLES sets the draws per recording and block length; the slow suite asks for
// ten thousand.
#include "replayed_pairs.hpp"
#include "speed/statistics.hpp"
#include "tests/contains.hpp"

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

using namespace grading;

namespace {

constexpr std::size_t block_lengths[] = {1, 10, last_look};

int resamples()
{
    const char *wanted = std::getenv("CUDA_WORKBOOK_RESAMPLES");
    return wanted ? std::max(1, std::atoi(wanted)) : 1000;
}

// An invented recording of a lab that requires twice naive's speed: naive takes 3 ms, and
// `ratio(i)` times as long as the submission in pair i.
recorded_case invented(const std::string &submission, const std::function<double(int)> &ratio,
                       int pairs = 300)
{
    recorded_case c;
    c.about = {{"lab", "02_scaling"},
               {"case", "scale: speed, 9 x 9"},
               {"submission", submission},
               {"function", "scale"}};
    c.gates.speedup = 2;
    for (int i = 0; i < pairs; ++i) {
        recorded_pair p;
        p.naive = {3, 3, 1};
        p.submission.worker_ms = p.submission.parent_ms = 3 / ratio(i);
        p.before = p.after = {1980, false, 3e10};
        p.copy_rate = 4e9;
        c.pairs.push_back(p);
    }
    return c;
}

std::function<double(int)> noisy(double ratio)
{
    return [ratio, random = std::mt19937_64(7)](int) mutable {
        return ratio * std::exp(0.02 * std::normal_distribution<double>()(random));
    };
}

replay_tally replayed(const recorded_case &c, std::size_t block, int times = 500)
{
    replay_tally t;
    replay(c, block, times, t);
    return t;
}

std::string problem_of_recording(const std::string &text)
{
    std::istringstream from(text);
    try {
        read_recording(from);
    } catch (const bad_recording &e) {
        return e.what();
    }
    return {};
}

std::string written(const recorded_case &c)
{
    std::ostringstream to;
    write_recording(to, c);
    return to.str();
}

// One line for people: "02_coalescing solution: 30000 of 30000 PASS, ...".
std::string summary(const recorded_case &c, const replay_tally &t)
{
    std::string text = fmt::format("{} {}, {} pairs:", c.about.at("lab"), c.about.at("submission"),
                                   c.pairs.size());
    for (const auto &[what, times] : t.verdicts) text += fmt::format(" {} {}", name(what), times);
    return text + fmt::format("; median {:.3g} to {:.3g}, required {:.3g}; {} measured again, {} "
                              "by the median, {} with other points",
                              t.lowest, t.highest, c.gates.speedup, t.measured_again, t.by_median,
                              t.other_points());
}

} // namespace

TEST_CASE("a recording is read as it was written")
{
    recorded_case c = invented("solution", noisy(3), 5);
    c.gates.copy = {0.65, 0.9, 0};
    c.gates.fma_needed = 0.5;
    c.gates.naive_share = 1.0 / 64;
    c.gates.naive_may_pass = true;
    c.bytes = 1e9;
    c.pairs[1].submission.threads_left = true;
    c.pairs[2].before = {std::nan(""), true, 3.25e10};
    c.pairs[3].naive.calls = 7;
    std::istringstream from(written(c));
    const recorded_case same = read_recording(from);
    CHECK(same.about == c.about);
    CHECK(same.gates.copy.good == 0.9);
    CHECK(same.gates.naive_share == doctest::Approx(1.0 / 64).epsilon(1e-9));
    CHECK(same.gates.fma_needed == 0.5);
    CHECK(same.gates.naive_may_pass);
    CHECK(same.bytes == 1e9);
    REQUIRE(same.pairs.size() == 5);
    CHECK(same.pairs[0].submission.worker_ms ==
          doctest::Approx(c.pairs[0].submission.worker_ms).epsilon(1e-4));
    CHECK(same.pairs[1].submission.threads_left);
    CHECK(std::isnan(same.pairs[2].before.sm_mhz));
    CHECK(same.pairs[2].before.throttled);
    CHECK_FALSE(same.pairs[2].after.throttled);
    CHECK(same.pairs[2].before.fma_rate == 3.25e10);
    CHECK(same.pairs[3].naive.calls == 7);
    CHECK(written(same) == written(c));
}

TEST_CASE("a recording that is none is refused, with the line")
{
    const std::string whole = written(invented("solution", noisy(3), 2));
    CHECK(problem_of_recording(whole).empty());
    CHECK(contains(problem_of_recording(""), "should be \"naive_ms,naive_parent_ms"));
    CHECK(contains(problem_of_recording(whole + "1,2,3\n"), "has 3 numbers instead of 14"));
    CHECK(contains(problem_of_recording(whole + "much\n"), "\"much\" is no number"));
    std::string without = whole;
    without.erase(without.find("# speedup"), std::string("# speedup: 2\n").size());
    CHECK(contains(problem_of_recording(without), "there is no line \"# speedup: number\""));
    CHECK(contains(problem_of_recording(whole.substr(0, whole.find("\n3,") + 1)),
                   "there are no pairs"));
}

TEST_CASE("recording takes as many pairs as asked for, in fresh processes every sixty")
{
    struct counting : replayed_device {
        using replayed_device::replayed_device;
        int prepared = 0, verified = 0;
        void prepare() override { ++prepared; }
        void verify(implementation who) override { verified += who == implementation::submission; }
    };
    const recorded_case c = invented("solution", noisy(3));
    counting device(c, 300, 1);
    const std::vector<recorded_pair> pairs = record_pairs(device, 130);
    CHECK(pairs.size() == 130);
    CHECK(pairs[4].submission.worker_ms > 0);
    CHECK(pairs[4].after.fma_rate == 3e10);
    CHECK(pairs[4].copy_rate == 4e9);
    CHECK(device.prepared == 3);
    CHECK(device.verified == 13);
}

TEST_CASE("far from what is required, no resample is decided wrongly")
{
    for (std::size_t block : block_lengths) {
        const recorded_case fast = invented("solution", noisy(2.2)),
                            slow = invented("naive", noisy(1));
        const replay_tally of_fast = replayed(fast, block), of_slow = replayed(slow, block);
        CHECK(wrong_verdicts(fast, of_fast) == 0);
        CHECK(of_fast.count(verdict::PASS) == 500);
        CHECK(of_fast.lowest > 2);
        CHECK(wrong_verdicts(slow, of_slow) == 0);
        CHECK(of_slow.count(verdict::TOO_SLOW) == 500);
    }
}

TEST_CASE("at what is required, wrong verdicts are found and counted")
{
    const recorded_case solution = invented("solution", noisy(2)),
                        naive = invented("naive", noisy(2));
    const replay_tally t = replayed(solution, 1);
    CHECK(wrong_verdicts(solution, t) > 100);
    CHECK(wrong_verdicts(naive, t) > 50);
    CHECK(t.by_median > 100);
    recorded_case allowed = naive;
    allowed.gates.naive_may_pass = true;
    CHECK(wrong_verdicts(allowed, t) == 0);
}

TEST_CASE("neighbours that are slow together are found by long blocks alone")
{
    // A fifth of the pairs, one after the other, are below what is required.
    const recorded_case c = invented(
        "solution", [](int i) { return i >= 100 && i < 160 ? 1.8 : 2.2 + 0.001 * (i % 7); });
    CHECK(wrong_verdicts(c, replayed(c, 1)) == 0);
    CHECK(wrong_verdicts(c, replayed(c, last_look)) > 25);
}

TEST_CASE("a machine that disturbs the pairs decides a verdict, and is counted")
{
    recorded_case c = invented("solution", noisy(2.4));
    for (std::size_t i = 0; i < c.pairs.size(); ++i) c.pairs[i].after.throttled = i % 5 != 0;
    const replay_tally restless = replayed(c, 1);
    CHECK(restless.count(verdict::INFRA_ERROR) > 400);
    CHECK(wrong_verdicts(c, restless) > 400);
    c.about["submission"] = "naive";
    c.gates.naive_may_pass = true; // does not excuse the machine
    CHECK(wrong_verdicts(c, restless) > 400);
}

TEST_CASE("points that noise decides are counted")
{
    recorded_case c = invented("solution", noisy(3));
    c.gates.copy = {0.5, 0.9, 0};
    c.bytes = 0.9 * 1 * 4e9; // 90 % of the copy bandwidth in 1 ms, which is the median
    const replay_tally t = replayed(c, 1);
    CHECK(wrong_verdicts(c, t) == 0);
    CHECK(t.other_points() > 50);
}

TEST_CASE("of the pairs that GPUs gave, none is decided by noise")
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(WORKBOOK_DATA) / "measured" / "pairs";
    std::map<std::string, std::set<std::string>> found; // implementations by folder and lab
    if (fs::exists(folder))
        for (const fs::directory_entry &e : fs::recursive_directory_iterator(folder)) {
            if (e.path().extension() != ".csv") continue;
            CAPTURE(e.path().string());
            std::ifstream file(e.path());
            const recorded_case c = read_recording(file);
            found[e.path().parent_path() / c.about.at("lab")].insert(c.about.at("submission"));
            replay_tally t;
            for (std::size_t block : block_lengths) replay(c, block, resamples(), t);
            CHECK(t.all == 3 * resamples());
            CHECK(wrong_verdicts(c, t) == 0);
            fmt::print("{}\n", summary(c, t));
        }
    for (const auto &of_lab : found) {
        const auto &lab = of_lab.first;
        const auto &versions = of_lab.second;
        CAPTURE(lab);
        CHECK(versions.contains("solution"));
        CHECK(versions.size() == 2);
    }
    // Students' edition has none, because the recordings are of the solutions.
    CHECK(found.empty() != fs::exists(fs::path(WORKBOOK_DATA) / ".." / "solutions"));
}
