// Ends a case with its verdict, and with what else is known about the call.
#include "case_run.hpp"

#include "api/call.hpp"
#include "api/call_options.hpp"
#include "api/cases.hpp"
#include "call_counters.hpp"
#include "case_record.hpp"
#include "source_facts.hpp"
#include "text/fnv1a.hpp"
#include "text/splitmix64.hpp"
#include "text/verdict.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <utility>

namespace grading {

namespace {

bool is_wrong_output(verdict v)
{
    using enum verdict;
    return v == WRONG_ANSWER || v == PARTIALLY_WRITTEN || v == NOT_WRITTEN || v == NONDETERMINISTIC;
}

bool may_lack_synchronisation(verdict v)
{
    return is_wrong_output(v) || v == verdict::UNINITIALISED;
}

// Hint if the last call launched a kernel in the default stream while other, non-blocking streams
// had work.
std::string default_stream_hint()
{
    if (!counts_of_last_call().default_stream_alone) return {};
    return "A kernel went to the default stream, which your non-blocking streams do not wait for, "
           "nor it for them: is the stream named in every launch, fourth between <<< and >>>?";
}

// Hint if a stream waited for an event in which nothing had been recorded.
std::string idle_wait_hint()
{
    if (counts_of_last_call().idle_waits == 0) return {};
    return "A stream was told to wait for an event in which this call had recorded nothing yet: "
           "such a wait is over at once. Does cudaEventRecord come before cudaStreamWaitEvent?";
}

// Hint for a result that is right if work runs as queued and wrong if it runs late: most likely an
// event or a synchronisation is missing.
std::string late_streams_hint(verdict v)
{
    const bool differed = v == verdict::NONDETERMINISTIC && current_case().was_late;
    const stream_work when = differed ? stream_work::late : streams_of_case();
    if (when == stream_work::as_queued || !may_lack_synchronisation(v)) return {};
    std::string hint = idle_wait_hint();
    if (hint.empty() && when == stream_work::shuffled)
        hint = "Here the work of different streams runs in any order that your events and waits "
               "allow: is an event missing, is it recorded in front of the work that it should "
               "stand for, and not behind it, or does one stream use what another still needs, a "
               "slot of scratch for instance?";
    else if (hint.empty())
        hint =
            "Here the work in streams runs as late as your waits allow: is an event or a "
            "synchronisation missing? An event stands for what its own stream was given before it "
            "was recorded: is it recorded behind the work that it stands for, and in that stream? "
            "And is memory that is used again, a slot for instance, waited for as well?";
    if (v == verdict::PARTIALLY_WRITTEN)
        hint += " Or does what was not written belong to no piece, as the rest of a division?";
    return hint;
}

// Hint if a launch by a kernel was refused and the output is wrong.
std::string refused_launch_hint(verdict v)
{
    const case_record &r = current_case();
    if (!is_wrong_output(v) || r.refused_launch.empty() || !r.refused_launch_hint.empty())
        return {};
    return r.refused_launch + " Do what was refused in another way.";
}

// True if the verdict is about a call, whose numbers may explain it.
bool depends_on_arguments(verdict v)
{
    using enum verdict;
    constexpr verdict all[] = {WRONG_ANSWER,   NOT_WRITTEN,      PARTIALLY_WRITTEN, OUT_OF_BOUNDS,
                               INPUT_MODIFIED, NONDETERMINISTIC, LATE_WRITE,        RACE,
                               UNINITIALISED,  BARRIER_MISUSE,   LAUNCH_FAILED,     CUDA_ERROR,
                               CRASH,          TIMEOUT};
    return std::find(std::begin(all), std::end(all), v) != std::end(all);
}

// Any verdict may follow from a failed call, so the message names that call, and the hint begins
// there.
void add_failed_call(std::string &message, std::string &hint)
{
    const told_failure failed = take_failed_call();
    if (!failed) return;
    message += " Before that, " + failed.sentence;
    hint = failed.hint;
}

// Adds to the message that the simulator let a block see two stores of another out of order, as
// CUDA's weak memory model allows, if that explains the verdict.
void add_older_value(verdict v, std::string &message, std::string &hint)
{
    const std::string older_value = std::exchange(current_case().older_value, {});
    const bool may_follow =
        is_wrong_output(v) || v == verdict::OUT_OF_BOUNDS || v == verdict::TIMEOUT;
    if (older_value.empty() || !may_follow) return;
    message += " " + older_value;
    hint = out_of_order_hint;
}

} // namespace

const char *const out_of_order_hint =
    "Stores of one block may reach another in any order, and so may loads. Put __threadfence() "
    "between the store of the value and that of the flag, and between the load of the flag and "
    "that of the value; or pack both into one word.";

told_failure take_failed_call()
{
    const failed_call f = std::exchange(current_case().failed, {});
    if (!f) return {};
    return {sentence_of(f, submission_source(), current_case().function), hint_of(f)};
}

stream_work streams_of_case()
{
    if (!options().simulated) return stream_work::as_queued;
    const case_record &r = current_case();
    const bool again = r.repeating && r.late_again && r.streams == stream_work::as_queued;
    return options().late_streams || again ? stream_work::late : r.streams;
}

std::uint64_t unforeseen()
{
    std::uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        end_case(verdict::INFRA_ERROR, "The system gives no random bits.");
    return bits;
}

std::uint64_t case_seed()
{
    // The name, mixed with the run's seed, and with the staff's for a held-back case.
    std::uint64_t begin = fnv1a_basis ^ options().seed;
    if (current_case().held_back) {
        std::uint64_t secret = options().held_back_seed.value_or(0);
        begin ^= splitmix64(secret);
    }
    const std::uint64_t h = fnv1a(lab_name() + "/" + current_case().name, begin);
    return h ^ (h >> 29);
}

static thread_local bool is_ahead = false;

ahead_of_case::ahead_of_case() { is_ahead = true; }
ahead_of_case::~ahead_of_case() { is_ahead = false; }

void require_turn()
{
    if (is_ahead) throw not_in_advance{};
}

void end_case(verdict v, std::string message, std::string hint)
{
    require_turn();
    const bool for_the_grader = v == verdict::INFRA_ERROR || v == verdict::SKIPPED;
    if (current_case().only_launches && v != verdict::LAUNCH_FAILED && !for_the_grader)
        throw accepted_end{};
    static std::mutex record_mutex; // outputs are checked on several threads
    std::unique_lock lock(record_mutex);
    add_failed_call(message, hint);
    add_older_value(v, message, hint);
    if (const std::string &numbers = current_case().numbers;
        depends_on_arguments(v) && !numbers.empty())
        message += fmt::format(" In the call with {}.", numbers);
    if (std::string late = late_streams_hint(v); !late.empty()) hint = late;
    if (may_lack_synchronisation(v))
        if (std::string alone = default_stream_hint(); !alone.empty()) hint = alone;
    if (std::string refused = refused_launch_hint(v); !refused.empty()) {
        if (v == verdict::NONDETERMINISTIC) // other launches are refused each time
            hint = "If you do, try that way alone, as if every launch were refused.";
        else if (!hint.empty())
            hint = "If you do: " + hint;
        hint = refused + (hint.empty() ? "" : " ") + hint;
    }
    case_record &r = current_case();
    if (!r.ended) {
        r.ended = true;
        r.result = v;
        r.message = printable(message); // a worker may have chosen the names it quotes
        r.hint = printable(hint);
    }
    lock.unlock();
    DOCTEST_FAIL(r.message);
    std::abort(); // DOCTEST_FAIL has thrown
}

} // namespace grading
