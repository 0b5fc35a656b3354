// Records the pairs of a benchmark, and writes and reads their files.
#include "recorded_pairs.hpp"

#include "api/inputs.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/whole_file.hpp"
#include "statistics.hpp"
#include "text/unwritable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <istream>
#include <ostream>
#include <type_traits>
#include <utility>

namespace grading {

namespace {

const std::vector<std::string> columns = {
    "naive_ms",         "naive_parent_ms", "naive_calls",  "ms",
    "parent_ms",        "calls",           "threads_left", "before_mhz",
    "before_throttled", "before_fma_rate", "after_mhz",    "after_throttled",
    "after_fma_rate",   "copy_rate"};

std::vector<double> row_of(const recorded_pair &p)
{
    return {p.naive.worker_ms,
            p.naive.parent_ms,
            double(p.naive.calls),
            p.submission.worker_ms,
            p.submission.parent_ms,
            double(p.submission.calls),
            double(p.submission.threads_left),
            p.before.sm_mhz,
            double(p.before.throttled),
            p.before.fma_rate,
            p.after.sm_mhz,
            double(p.after.throttled),
            p.after.fma_rate,
            p.copy_rate};
}

recorded_pair pair_of(const std::vector<double> &row)
{
    recorded_pair p;
    p.naive = {row[0], row[1], int(row[2])};
    p.submission = {row[3], row[4], int(row[5]), row[6] != 0};
    p.before = {row[7], row[8] != 0, row[9]};
    p.after = {row[10], row[11] != 0, row[12]};
    p.copy_rate = row[13];
    return p;
}

// Calls f(name, number) for each number of a case that judge() asks for.
template <class Case, class F> void for_each_number(Case &c, F f)
{
    f("bytes", c.bytes);
    f("multiply_adds", c.multiply_adds);
    f("speedup", c.gates.speedup);
    f("max_speedup", c.gates.max_speedup);
    f("copy_pass", c.gates.copy.pass);
    f("copy_good", c.gates.copy.good);
    f("copy_excellent", c.gates.copy.excellent);
    f("fma_pass", c.gates.fma.pass);
    f("fma_good", c.gates.fma.good);
    f("fma_excellent", c.gates.fma.excellent);
    f("fma_needed", c.gates.fma_needed);
    f("naive_share", c.gates.naive_share);
    f("naive_may_pass", c.gates.naive_may_pass);
}

double number_in(const std::string &word, int line)
{
    char *end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0')
        throw bad_recording(fmt::format("line {}: \"{}\" is no number", line, word));
    return value;
}

std::vector<std::string> between_commas(const std::string &line)
{
    std::vector<std::string> words(1);
    for (char c : line)
        if (c == ',')
            words.emplace_back();
        else
            words.back() += c;
    return words;
}

// Reads the lines "# name: value" and the header below them.
std::map<std::string, std::string> read_head(std::istream &from, int &line)
{
    std::map<std::string, std::string> head;
    std::string text;
    while (++line, std::getline(from, text) && text.starts_with("# ")) {
        const std::size_t colon = text.find(": ");
        if (colon == text.npos)
            throw bad_recording(fmt::format("line {} is not \"# name: value\"", line));
        head[text.substr(2, colon - 2)] = text.substr(colon + 2);
    }
    if (const std::string header = fmt::format("{}", fmt::join(columns, ",")); text != header)
        throw bad_recording(fmt::format("line {} should be \"{}\"", line, header));
    return head;
}

} // namespace

void write_recording(std::ostream &to, const recorded_case &c)
{
    for (const auto &[name, value] : c.about) to << fmt::format("# {}: {}\n", name, value);
    for_each_number(c, [&](const char *name, double value) {
        to << fmt::format("# {}: {:.12g}\n", name, value);
    });
    to << fmt::format("{}\n", fmt::join(columns, ","));
    for (const recorded_pair &p : c.pairs) {
        const char *comma = "";
        for (double value : row_of(p))
            to << fmt::format("{}{:.5g}", std::exchange(comma, ","), value);
        to << "\n";
    }
}

recorded_case read_recording(std::istream &from)
{
    recorded_case c;
    int line = 0;
    c.about = read_head(from, line);
    for_each_number(c, [&](const char *name, auto &value) {
        const auto at = c.about.find(name);
        if (at == c.about.end())
            throw bad_recording(fmt::format("there is no line \"# {}: number\"", name));
        value = static_cast<std::remove_reference_t<decltype(value)>>(number_in(at->second, line));
        c.about.erase(at);
    });
    for (std::string text; ++line, std::getline(from, text);) {
        std::vector<double> row;
        for (const std::string &word : between_commas(text)) row.push_back(number_in(word, line));
        if (row.size() != columns.size())
            throw bad_recording(fmt::format("line {} has {} numbers instead of {}", line,
                                            row.size(), columns.size()));
        c.pairs.push_back(pair_of(row));
    }
    if (c.pairs.empty()) throw bad_recording("there are no pairs in it");
    return c;
}

std::vector<recorded_pair> record_pairs(benchmark_device &device, int count)
{
    // The benchmark itself verifies every run of the submission. Here the implementations are our
    // own, whose outputs the correctness cases check, and reading hundreds of outputs back would
    // take most of the time: a few show that what is timed is the work.
    constexpr int verified_every = 10;
    std::vector<recorded_pair> pairs;
    for (int i = 0; i < count; ++i) {
        const bool fresh = i % last_look == 0;
        if (fresh) device.prepare();
        device.next_round();
        recorded_pair p;
        const bool naive_first = i % 2 == 0;
        p.before = device.read_state();
        if (naive_first) p.naive = device.run(implementation::naive);
        p.submission = device.run(implementation::submission);
        if (!naive_first) p.naive = device.run(implementation::naive);
        p.after = device.read_state();
        p.copy_rate = device.copy_rate();
        if (fresh) device.verify(implementation::naive);
        if (i % verified_every == 0) device.verify(implementation::submission);
        pairs.push_back(p);
    }
    device.finish_checks();
    return pairs;
}

void record_case(benchmark_device &bench, const speed_gates &gates)
{
    if (!gates_time(gates))
        end_case(verdict::SKIPPED, "No pairs were recorded: this case is not graded by its time.");
    const device_facts &d = device();
    recorded_case c{
        {{"lab", lab_name()},
         {"case", current_case().name},
         {"submission", options().submission},
         {"function", bench.function()},
         {"gpu", printable(d.name)},
         {"cuda_of_driver", fmt::format("{}.{}", d.driver / 1000, d.driver % 1000 / 10)}},
        gates,
        bench.bytes(),
        bench.multiply_adds(),
        {}};
    try {
        c.pairs = record_pairs(bench, options().record_pairs);
    } catch (const run_timeout &o) {
        end_case(verdict::TOO_SLOW,
                 fmt::format("No pairs were recorded: {} did not finish in {:.0f} s, and naive "
                             "took {:.0f} ms.",
                             bench.function(), o.limit_ms / 1e3, o.naive_ms));
    }
    const int problem =
        write_whole(options().pairs_file, [&](std::ostream &file) { write_recording(file, c); });
    if (problem != 0) end_case(verdict::INFRA_ERROR, cannot_write(options().pairs_file, problem));
    end_case(verdict::SKIPPED,
             fmt::format("{} pairs were recorded, and nothing was judged.", c.pairs.size()));
}

} // namespace grading
