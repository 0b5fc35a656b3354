// Forks processes that take groups of cases, and collects their results.
#include "parallel_cases.hpp"

#include "process/descriptor.hpp"
#include "run_options.hpp"
#include "text/todo.hpp"
#include "workers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <future>
#include <new>
#include <utility>

namespace grading {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(speed_result, median, low, high, pairs, discarded, required,
                                   naive_ms, ms, parent_ratio, gbps, fraction, required_fraction,
                                   of, library_ratio, measured_again, by_median, naive_may_pass,
                                   counters, naive_counters, units, more_is_better, device_s,
                                   prepare_s, verify_s, reached, offered, needs, cause)

// All members except `speed` and `endless`, which are optional.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(case_result, name, test, what, points, max_points, held_back,
                                   started, ended, tried, unsupported, result, message, hint, about,
                                   lacking, line, function, unwatched, text, text_cut, counts,
                                   replay, duration_ms)

namespace {

using nlohmann::json;

json with_all(const case_result &r)
{
    json j = r;
    if (r.speed) j["speed"] = *r.speed;
    if (r.endless) j["endless"] = *r.endless;
    return j;
}

case_result result_in(const json &j)
{
    case_result r = j;
    if (j.contains("speed")) r.speed = j["speed"].get<speed_result>();
    if (j.contains("endless")) r.endless = j["endless"].get<std::string>();
    return r;
}

using counter = std::atomic<unsigned>;
static_assert(counter::is_always_lock_free);

// Makes counters that processes forked from this one share. Their pages are never unmapped.
counter *shared_counters(std::size_t count)
{
    void *memory = mmap(nullptr, count * sizeof(counter), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw_errno("mapping memory for several processes");
    auto *counters = static_cast<counter *>(memory);
    for (std::size_t i = 0; i < count; ++i) new (counters + i) counter(0);
    return counters;
}

// By record: set by the process that found a correctness case wrong.
counter *found_wrong = nullptr;

bool is_wrong(const case_record &r)
{
    return r.what == kind::correctness && r.ended && r.result != verdict::PASS &&
           r.result != verdict::SKIPPED;
}

struct forked {
    pid_t process;
    owned_fd results;
    std::future<std::vector<std::uint8_t>> read; // all of them, once their reader has begun
};

void write_all(int to, const std::vector<std::uint8_t> &bytes)
{
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(to, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) throw_errno("writing to a pipe");
        done += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
}

std::vector<std::uint8_t> read_all(int from)
{
    std::vector<std::uint8_t> bytes;
    std::uint8_t chunk[1 << 14];
    for (ssize_t n; (n = read(from, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno != EINTR) throw_errno("reading from a pipe");
        bytes.insert(bytes.end(), chunk, chunk + std::max<ssize_t>(n, 0));
    }
    return bytes;
}

// Ends by abort if an exception escapes: the process must not go on where its parent does.
[[noreturn]] void run_child(const std::function<json()> &work, const std::function<void()> &leave,
                            owned_fd results) noexcept
{
    try {
        forget_workers();
        write_all(results.get(), json::to_cbor(work()));
        results.close(); // who reads them need not wait until a driver has ended the workers
        leave();
        _exit(0);
    } catch (const std::exception &e) { // cases without a result count as a fault
        fmt::print(stderr, "A process of the grader ended: {}\n", e.what());
        leave();
        _exit(1);
    }
}

forked fork_to(const std::function<json()> &work, const std::function<void()> &leave)
{
    pipe_ends pipe = make_pipe();
    const pid_t parent = getpid(), child = fork();
    if (child < 0) throw_errno("starting a process for cases");
    if (child > 0) return {child, std::move(pipe.out), {}};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); // the parent ended before prctl
    run_child(work, leave, std::move(pipe.in));
}

std::vector<pid_t> leaving; // forked processes that may still end their workers

void take_results(forked &other)
{
    const json results = json::from_cbor(other.read.get(), true, false);
    leaving.push_back(other.process);
    if (results.is_discarded()) return; // the process ended before it had written all
    for (const json &result : results)
        static_cast<case_result &>(records().at(result[0].get<std::size_t>())) =
            result_in(result[1]);
}

// Marks cases as not tried whose function did not end in an earlier case: a serial run would not
// have tried them.
void mark_not_tried()
{
    for (case_record &r : records()) {
        const case_result *earlier = r.started ? endless_before(r, r.function) : nullptr;
        if (!earlier || !r.tried || r.function.empty()) continue;
        case_result left;
        left.name = r.name, left.test = r.test, left.what = r.what, left.max_points = r.max_points;
        left.held_back = r.held_back;
        left.started = left.ended = true;
        left.tried = false;
        left.result = verdict::TIMEOUT;
        left.function = r.function;
        left.message = not_tried(r.function, *earlier);
        static_cast<case_result &>(r) = left;
    }
}

void require_results(const std::vector<case_group> &groups)
{
    for (const case_group &group : groups)
        for (std::size_t i : group) {
            case_record &r = records()[i];
            if (r.started) continue;
            r.started = r.ended = true;
            r.result = verdict::INFRA_ERROR;
            r.message = "The grader's process for this case ended before it had a result.";
        }
}

} // namespace

bool is_known_wrong(const std::string &function)
{
    for (std::size_t i = 0; i < records().size(); ++i) {
        const case_record &r = records()[i];
        const bool elsewhere = found_wrong && found_wrong[i] > 0;
        if (function_of(r.name) == function && (elsewhere || is_wrong(r))) return true;
    }
    return false;
}

std::vector<case_group> groups_of(const std::vector<std::size_t> &chosen)
{
    auto together = [](const case_record &a, const case_record &b) {
        return a.what == kind::correctness && b.what == kind::correctness &&
               a.held_back == b.held_back && function_of(a.name) == function_of(b.name);
    };
    std::vector<case_group> groups;
    for (std::size_t i : chosen) {
        if (groups.empty() || !together(records()[groups.back().back()], records()[i]))
            groups.emplace_back();
        groups.back().push_back(i);
    }
    return groups;
}

void wait_for_forked()
{
    for (const pid_t process : std::exchange(leaving, {}))
        while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
}

void run_groups(std::vector<case_group> groups, int others,
                const std::function<void(const case_group &)> &run,
                const std::function<void()> &leave, const std::function<void()> &pause,
                const std::vector<case_group> &own)
{
    wait_for_forked();
    if (others > 0)
        std::stable_sort(groups.begin(), groups.end(),
                         [](const auto &a, const auto &b) { return a.size() > b.size(); });
    counter &next = *shared_counters(1);
    found_wrong = shared_counters(records().size());
    // Runs groups until none is left. Returns their results, each with its index in records().
    const auto work = [&] {
        json done = json::array();
        for (unsigned k; (k = next++) < groups.size();) {
            run(groups[k]);
            for (std::size_t i : groups[k]) {
                if (is_wrong(records()[i])) found_wrong[i] = 1;
                done.push_back({i, with_all(records()[i])});
            }
        }
        return done;
    };
    std::vector<forked> forks;
    for (int k = 0; k < others; ++k) forks.push_back(fork_to(work, leave));
    // A forked process releases the clock's lock once its results are read, and `own` may wait for
    // that lock.
    for (forked &other : forks)
        other.read = std::async(std::launch::async, read_all, other.results.get());
    for (const case_group &group : own) run(group);
    work();
    if (others > 0) pause();
    for (forked &other : forks) take_results(other);
    require_results(groups);
    require_results(own);
    // On a GPU a process leaves out only what ran endlessly in itself.
    if (others > 0 && options().simulated) mark_not_tried();
}

} // namespace grading
