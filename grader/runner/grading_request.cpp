// Reads the request that starts a run of the grader.
#include "grading_request.hpp"

#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

namespace grading {

namespace {

using nlohmann::json;

// Hands out the fields of an object, each once, and finally those that nobody took.
class fields {
public:
    fields(json object, const char *is_what) : left_(std::move(object))
    {
        if (!left_.is_object()) throw bad_request(fmt::format("{} is a JSON object", is_what));
    }

    template <class T> void take(const char *name, T &to)
    {
        const auto at = left_.find(name);
        if (at == left_.end()) return;
        try {
            at->get_to(to);
        } catch (const json::type_error &) {
            throw bad_request(fmt::format("\"{}\" is of the wrong type: {}", name, at->dump()));
        }
        left_.erase(at);
    }
    bool has(const char *name) const { return left_.contains(name); }
    void take_program(const char *name, std::string &path)
    {
        take(name, path);
        if (!path.empty() && ::access(path.c_str(), X_OK) != 0)
            throw bad_request(fmt::format("\"{}\" is not an executable file: {}", name, path));
    }
    void take_number(const char *name, int &to, int max)
    {
        take(name, to);
        if (to < 1 || to > max)
            throw bad_request(fmt::format("\"{}\" is not between 1 and {}: {}", name, max, to));
    }
    // Takes one of the words, or nothing.
    std::string take_word(const char *name, const std::vector<std::string> &words)
    {
        std::string word;
        take(name, word);
        if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end())
            throw bad_request(
                fmt::format("\"{}\" is none of {}: {}", name, fmt::join(words, ", "), word));
        return word;
    }
    void require_none_left() const
    {
        if (!left_.empty())
            throw bad_request(fmt::format("there is no field \"{}\"", left_.begin().key()));
    }

private:
    json left_;
};

std::uint64_t parse_seed(const char *name, const std::string &digits)
{
    std::uint64_t seed = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), seed, 16);
    if (error != std::errc() || end != digits.data() + digits.size())
        throw bad_request(
            fmt::format("\"{}\" is no hexadecimal number of at most 16 digits: {}", name, digits));
    return seed;
}

std::vector<ladder_step> take_steps(fields &f)
{
    std::vector<json> objects;
    f.take("steps", objects);
    std::vector<ladder_step> steps;
    for (json &object : objects) {
        fields one(std::move(object), "each of \"steps\"");
        ladder_step s;
        one.take_program("worker", s.worker);
        one.take("submission", s.submission);
        one.take("result", s.result_file);
        one.take("sandbox", s.sandbox);
        one.take("judged", s.judged);
        one.require_none_left();
        if (s.worker.empty() || s.submission.empty() || s.result_file.empty())
            throw bad_request("each of \"steps\" needs \"worker\", \"submission\" and \"result\"");
        steps.push_back(std::move(s));
    }
    return steps;
}

} // namespace

grading_request parse_request(const std::string &text)
{
    fields f(json::parse(text, nullptr, false), "a request");
    grading_request r;
    run_options &o = r.options;
    const std::string backend = f.take_word("backend", {"sim", "gpu"});
    f.take("worker_lock", o.worker_lock);
    if (o.worker_lock.empty())
        f.take_program("worker", o.worker);
    else // it may not be there yet
        f.take("worker", o.worker);
    f.take_program("naive", o.naive);
    f.take_program("library", o.library);
    f.take_program("mpirun", o.mpirun);
    f.take("submission", o.submission);
    f.take("source", o.source);
    std::string seed, held_back_seed;
    f.take("seed", seed);
    f.take("held_back_seed", held_back_seed);
    const std::string schedule = f.take_word("schedule", {"index", "random", "late"});
    f.take("case", r.pattern);
    r.kind = f.take_word("kind", {"correctness", "speed"});
    f.take("result", r.result_file);
    f.take("counters", r.counters_file);
    f.take_number("processes", r.processes, 64);
    f.take("replays", o.replay_folder);
    f.take("pictures", o.picture_folder);
    f.take("naive_counters", o.naive_counters_folder);
    f.take("gates", o.gates_folder);
    f.take("contract", o.contract);
    f.take("clock_lock", o.clock_lock);
    f.take("simulator_lock", o.simulator_lock);
    f.take("keep_replays", o.keep_replays);
    f.take("sandbox", o.sandbox);
    f.take("require_sandbox", o.require_sandbox);
    f.take("pairs", o.pairs_file);
    if (!o.pairs_file.empty())
        f.take_number("record_pairs", o.record_pairs, 100000);
    else if (f.has("record_pairs"))
        throw bad_request("\"record_pairs\" needs \"pairs\", the file that they go to");
    o.steps = take_steps(f);
    f.take_number("work_percent", o.work_percent, 100);
    f.require_none_left();
    if (backend.empty() || o.worker.empty() || o.naive.empty())
        throw bad_request("\"backend\", \"worker\" and \"naive\" are required");
    if (!o.pairs_file.empty() && backend != "gpu")
        throw bad_request("\"pairs\" needs \"backend\": \"gpu\": the simulator has no clock");
    if (!o.steps.empty() && backend != "gpu")
        throw bad_request("\"steps\" needs \"backend\": \"gpu\": the simulator has no clock");
    if (o.gates_folder.empty() != o.contract.empty())
        throw bad_request("\"gates\" and \"contract\" need each other");
    o.simulated = backend == "sim";
    o.random_schedule = schedule == "random";
    o.late_streams = schedule == "late";
    o.keep_counts = !r.counters_file.empty();
    if (o.submission.empty()) o.submission = "submission";
    o.seed = seed.empty() ? std::random_device{}() : parse_seed("seed", seed);
    if (!held_back_seed.empty()) o.held_back_seed = parse_seed("held_back_seed", held_back_seed);
    return r;
}

} // namespace grading
