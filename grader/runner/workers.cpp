// Starts the workers of a run, and asks trusted ones for the device and the sandbox.
#include "workers.hpp"

#include "api/inputs.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "process/clock_lock.hpp"
#include "text/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace grading {

extern const int contract_devices; // number of devices that the lab's functions may use

namespace {

struct processes {
    std::unique_ptr<shared_memory> inputs;
    std::uint64_t claims = 0;
    worker submission, naive, library;
    worker ranks;                    // the submission's, of Open MPI
    int number_of_ranks = 0;         // of `ranks`
    std::vector<worker> steps;       // of a ladder, but for the current step, which is `submission`
    std::optional<std::size_t> step; // nothing: `submission` is options().worker's
    std::optional<device_facts> facts;
};
processes of_run;

std::size_t physical_memory()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// /proc shows a process its own memory, including what the simulator hides from host code.
bool sees_proc(int ranks) { return !options().simulated || ranks > 0; }

worker &started(worker &w, const std::string &program, bool sandbox = options().sandbox,
                int ranks = 0, bool is_library = false)
{
    require_turn();
    if (w.alive()) return w;
    worker_options o;
    o.program = program;
    o.starts_threads = is_library;
    o.lazy_loading = is_library; // cuBLAS has thousands of kernels, which take seconds
    o.sandbox = sandbox;
    o.proc = sees_proc(ranks);
    o.ranks = ranks;
    if (options().simulated) {
        o.device = options().device_program;
        o.devices = contract_devices;
    }
    o.mpirun = options().mpirun;
    o.output_bytes = options().simulated ? std::size_t{1} << 30
                                         : std::min(std::size_t{8} << 30, physical_memory() / 4);
    o.memory_limit = (std::size_t{options().simulated ? 2u : 4u} << 30) *
                     static_cast<unsigned>(std::max(1, ranks));
    w = worker(o, inputs());
    return w;
}

// A context takes half a GiB of the device's memory, and a benchmark up to 16 GiB.
bool steps_live_on() { return device().memory_bytes >= std::uint64_t{40} << 30; }

worker &started_step(worker &w, std::size_t step)
{
    const ladder_step &s = options().steps[step];
    return started(w, s.worker, options().sandbox && s.sandbox);
}

} // namespace

shared_memory &inputs()
{
    if (!of_run.inputs)
        of_run.inputs = std::make_unique<shared_memory>(
            options().simulated ? std::size_t{1} << 30
                                : std::min(std::size_t{24} << 30, physical_memory() / 2),
            false);
    return *of_run.inputs;
}

std::uint64_t claim_inputs() { return ++of_run.claims; }
bool holds_inputs(std::uint64_t claim) { return claim == of_run.claims; }

bool submission_is_built() { return is_released(options().worker_lock); }

double wait_for_submission()
{
    require_turn();
    if (options().worker_lock.empty()) return 0;
    const auto start = std::chrono::steady_clock::now();
    wait_for_release(options().worker_lock);
    if (!std::filesystem::exists(options().worker)) {
        fmt::print(stderr, "There is no submission: {} was not built.\n", options().worker);
        std::_Exit(no_submission);
    }
    options().worker_lock.clear();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

worker &submission_worker()
{
    wait_for_submission();
    const int ranks = current_case().ranks;
    if (ranks == 0 && of_run.step) return started_step(of_run.submission, *of_run.step);
    if (ranks == 0) return started(of_run.submission, options().worker);
    if (std::exchange(of_run.number_of_ranks, ranks) != ranks) of_run.ranks = worker();
    return started(of_run.ranks, options().worker, options().sandbox, ranks);
}

static unsigned starts_of_naive = 0;

unsigned naive_starts() { return starts_of_naive; }

worker &naive_worker()
{
    const bool starts = !of_run.naive.alive();
    worker &w = started(of_run.naive, options().naive);
    starts_of_naive += starts;
    return w;
}
bool have_library() { return !options().library.empty(); }
// It is trusted, and its libraries may lie anywhere.
worker &library_worker() { return started(of_run.library, options().library, false, 0, true); }

static unsigned restarted = 0;

unsigned times_restarted() { return restarted; }

void restart_workers()
{
    ++restarted;
    std::vector<std::jthread> ending; // a driver takes a while to end a process
    for (worker *w : {&of_run.submission, &of_run.ranks, &of_run.naive, &of_run.library})
        if (w->started()) ending.emplace_back([ended = std::move(*w)] {});
}

void start_steps()
{
    std::vector<worker> &all = of_run.steps;
    if (!all.empty() || !steps_live_on()) return;
    all.resize(options().steps.size());
    inputs();
    std::vector<std::jthread> starting;
    for (std::size_t i = 0; i < all.size(); ++i) // who does not answer is asked again when needed
        starting.emplace_back([&w = all[i], i] {
            request r;
            r.what = command::facts;
            try {
                started_step(w, i).ask(r, std::chrono::seconds(60));
            } catch (const std::system_error &) { // told when its case starts it again
            }
        });
}

void take_step(std::optional<std::size_t> step)
{
    std::vector<worker> &others = of_run.steps;
    others.resize(options().steps.size());
    worker last = std::exchange(of_run.submission, worker());
    if (of_run.step && steps_live_on()) others[*of_run.step] = std::move(last);
    of_run.step = step;
    if (step) of_run.submission = std::exchange(others[*step], worker());
}

std::optional<std::size_t> step_taken() { return of_run.step; }

void end_submission() { of_run.submission = worker(); }

void end_workers()
{
    restart_workers();
    of_run.steps.clear();
    of_run.step.reset();
    of_run.inputs.reset();
}

void forget_workers()
{
    for (worker *w : {&of_run.submission, &of_run.ranks, &of_run.naive, &of_run.library})
        w->forget();
    for (worker &w : of_run.steps) w.forget();
    of_run.steps.clear();
    of_run.step.reset();
    of_run.inputs.reset();
}

bool ranks_of_naive_start()
{
    worker ranks;
    request r;
    r.what = command::drop; // no set is dropped: the ranks only have to answer
    return succeeded(started(ranks, options().naive, options().sandbox, current_case().ranks)
                         .ask(r, std::chrono::seconds(30)));
}

void take_submission_text(case_record &r)
{
    worker &w = r.ranks ? of_run.ranks : of_run.submission;
    if (!w.started()) return;
    worker::printed said = w.take_text();
    if (r.repeating) return; // the first call printed the same
    r.text = std::move(said.text);
    r.text_cut = said.cut;
}

bool simulated() { return options().simulated; }

namespace {

// Asks naive's worker for the device's properties, of which the free memory changes. Returns
// nothing if the worker does not answer.
std::optional<device_facts> ask_facts()
{
    request r;
    r.what = command::facts;
    if (!succeeded(naive_worker().ask(r, std::chrono::seconds(60)))) return {};
    device_facts facts;
    std::memcpy(&facts, naive_worker().output().data(), sizeof facts);
    return facts;
}

std::string describe(std::uint64_t escapes)
{
    constexpr std::pair<escape, const char *> words[] = {
        {escape::reads_files, "read files"},
        {escape::writes_files, "write files"},
        {escape::starts_processes, "start processes"},
        {escape::opens_sockets, "open sockets"},
        {escape::signals_processes, "signal processes"},
    };
    std::string result;
    for (const auto &[bit, what] : words)
        if (escapes & bit) result += fmt::format("{}{}", result.empty() ? "" : ", ", what);
    return result;
}

found_sandbox try_sandbox()
{
    if (!options().sandbox) return {confinement::none, "it was started without one"};
    const confinement how = available_confinement(sees_proc(0));
    if (how == confinement::none) return {how, no_confinement};
    const std::string file = std::filesystem::read_symlink("/proc/self/exe").string();
    request r;
    r.what = command::try_sandbox;
    r.bytes = file.size();
    r.at = static_cast<std::uint64_t>(getpid());
    std::copy(file.begin(), file.end(), reinterpret_cast<char *>(inputs().data()));
    const answer a = naive_worker().ask(r, std::chrono::seconds(60));
    std::fill_n(inputs().data(), file.size(), std::byte{});
    if (!succeeded(a))
        return {confinement::none, "the worker of the naive reference did not answer in it"};
    const std::string escapes = describe(a.value.result[0]);
    if (escapes.empty()) return {how, {}};
    return {confinement::none, "a process in it could still " + escapes};
}

// True if the submission held most of the device's memory, more than any lab gives it. Ends its
// worker to find out.
bool submission_held_the_device()
{
    if (!of_run.submission.alive()) return false;
    auto free_memory = [] { return ask_facts().value_or(device_facts{}).memory_free; };
    const std::uint64_t before = free_memory();
    of_run.submission = worker();
    const std::uint64_t after = free_memory();
    const std::uint64_t half = of_run.facts.value_or(device_facts{}).memory_bytes / 2;
    return after > before && after - before > half;
}

} // namespace

std::string find_device()
{
    if (of_run.facts) return {};
    const std::optional<device_facts> facts = ask_facts();
    if (!facts) return "the worker of the naive reference does not answer";
    if (!facts->present) return facts->error_text;
    of_run.facts = facts;
    return {};
}

const found_sandbox &sandbox_found()
{
    static const found_sandbox found = try_sandbox();
    return found;
}

const device_facts &device()
{
    std::string problem = find_device();
    if (!problem.empty())
        end_case(verdict::INFRA_ERROR, fmt::format("No device can be used: {}.", problem));
    return *of_run.facts;
}

void require_trusted(const answer &a, const std::string &doing)
{
    if (succeeded(a)) return;
    if (submission_held_the_device())
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("The submission's process held most of the device's memory, and a "
                             "worker of the grader's own failed while {}.",
                             doing),
                 "What does the file take before any of its functions is called?");
    std::string why =
        a.how == worker_exit::answered
            ? fmt::format("{} {}", printable(a.value.error_name), printable(a.value.text))
            : fmt::format("it ended ({}, {})", static_cast<int>(a.how), a.status);
    end_case(verdict::INFRA_ERROR,
             fmt::format("A worker of the grader's own failed while {}: {}.", doing, why),
             "Run ./workbook doctor.");
}

} // namespace grading
