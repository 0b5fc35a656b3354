// Starts the workers of a run, and turns their answers into the case's verdict.
#include "case_run.hpp"
#include "report.hpp"
#include "whole_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace grading {

extern const int contract_devices; // number of devices that the lab's functions may use

namespace {

struct processes {
    std::unique_ptr<shared_memory> inputs;
    worker submission, naive, library;
    worker ranks;            // the submission's, of Open MPI
    int number_of_ranks = 0; // of `ranks`
    device_facts facts;
    bool have_facts = false;
};
processes of_backend[2];
processes &all() { return of_backend[options().simulated]; }

// Selects the program linked for the backend in use.
const std::string &program(const std::string &main, const std::string &counting)
{
    return options().counting ? counting : main;
}

std::size_t physical_memory()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// /proc shows a process its own memory, including what the simulator hides from host code.
bool sees_proc(int ranks) { return !options().simulated || ranks > 0; }

worker &started(worker &w, const std::string &program, bool sandbox = options().sandbox,
                int ranks = 0, bool starts_threads = false)
{
    if (w.alive()) return w;
    worker_options o;
    o.program = program;
    o.starts_threads = starts_threads;
    o.sandbox = sandbox;
    o.proc = sees_proc(ranks);
    o.ranks = ranks;
    if (options().simulated) {
        o.device = options().device;
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

bool is_launch_error(int error)
{
    // Errors for which a launch itself is refused: invalid value, invalid configuration, invalid
    // device function, no image for the device, no kernel image, too many resources.
    static const int codes[] = {1, 9, 98, 200, 209, 701, 720};
    return std::find(std::begin(codes), std::end(codes), error) != std::end(codes);
}

constexpr int cuda_invalid_value = 1;

// True if a text of the submission contains cudaGetErrorString of such an error.
bool names_launch_error(std::string_view text)
{
    return text.find("invalid argument") != text.npos ||
           text.find("invalid configuration argument") != text.npos;
}

// Hint for a refused launch, from the grid and block dimensions in the simulator's message.
std::string shape_hint(const std::string &refused)
{
    unsigned g[3], b[3];
    const std::size_t at = refused.find("grid of (");
    if (at == refused.npos ||
        std::sscanf(refused.c_str() + at, "grid of (%u, %u, %u) blocks of (%u, %u, %u)", &g[0],
                    &g[1], &g[2], &b[0], &b[1], &b[2]) != 6)
        return {};
    auto none = [](const unsigned *d) { return d[0] == 0 || d[1] == 0 || d[2] == 0; };
    if (none(g))
        return "A grid has at least one block: n / block_size is 0 for a small n, so round up; and "
               "where there is nothing to do, return before the launch.";
    if (std::uint64_t{b[0]} * b[1] * b[2] > 1024)
        return "A block has at most 1024 threads, all its dimensions multiplied: take fewer, and "
               "more blocks.";
    if (g[1] > 65535 || g[2] > 65535)
        return "A grid has at most 65535 blocks in y and in z. Are so many needed, or was the size "
               "not divided by what a block takes? If they are, let x count them, of which there "
               "may be 2147483647.";
    if (g[0] > 2147483647u)
        return "That many blocks come of a number below 0: what is subtracted, and can it be more "
               "than there is? Where there is nothing to do, return before the launch.";
    return {};
}

std::string launch_hint(int error)
{
    if (std::string hint = shape_hint(current_case().refused); !hint.empty()) return hint;
    if (error == 9 || error == 1)
        return "A grid has at least one block: n / block_size is 0 for a small n, so round up, and "
               "launch nothing where there is nothing to do. A block has at most 1024 threads, a "
               "grid at most 65535 blocks in y and in z.";
    if (error == 701) return "The block asks for more registers or shared memory than there are.";
    return "Check cudaGetLastError() after each launch.";
}

// Hint for an error that a kernel left behind.
std::string fault_hint(int error)
{
    constexpr int illegal_address = 700, misaligned_address = 716, launch_failure = 719;
    if (error != illegal_address && error != misaligned_address && error != launch_failure)
        return {};
    std::string hint = "Run the case on the simulator (--backend sim): it names the access.";
    if (error == launch_failure && contract_devices > 1)
        hint += " Or was memory freed while a copy between devices, or what follows one, was still "
                "queued? cudaFree need not wait for that. The simulator finds it in the cases in "
                "which work comes late.";
    return hint;
}

const char *const begin_with_failed_call =
    "Begin with the call that failed, and look at the error that every call returns: what fails "
    "unseen shows later, as something else.";

// Returns a sentence about the failed call, and forgets it; empty: none failed.
std::string take_failed_call()
{
    const failed_call f = std::exchange(current_case().failed, {});
    if (!f) return {};
    return sentence_of(f, file_text(options().source), current_case().function);
}

std::string with_capital(std::string sentence)
{
    if (!sentence.empty() && !sentence.starts_with("cuda"))
        sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    return sentence;
}

// Two errors only report something harmless. They stay the last error even if the code looked at
// them.
std::string unchecked_hint(int error)
{
    constexpr int not_ready = 600, already_enabled = 704;
    if (error == not_ready || error == already_enabled)
        return fmt::format("This one is harmless, but it stays the runtime's last error, even "
                           "where the code has looked at what {} returned: take it away with "
                           "cudaGetLastError() there.",
                           error == not_ready ? "cudaStreamQuery or cudaEventQuery"
                                              : "cudaDeviceEnablePeerAccess");
    return "Which call was it? Each returns its error: look at all of them.";
}

[[noreturn]] void end_for_error(const reply &r, const std::string &doing)
{
    std::string error =
        fmt::format("{} ({}): {}", printable(r.error_name), r.error, printable(r.text));
    const std::string &refused = current_case().refused;
    // Runtime calls return "invalid value", too; only the simulator knows if a launch was refused.
    bool a_call = refused.empty() && options().simulated &&
                  (r.error == cuda_invalid_value || current_case().failed);
    if (r.step == run_step::last_error && is_launch_error(r.error) && !a_call)
        end_case(verdict::LAUNCH_FAILED,
                 fmt::format("A kernel launch was refused and the error left unchecked: {}. {}",
                             error, refused),
                 launch_hint(r.error));
    if (std::string failed;
        r.step == run_step::last_error && !(failed = take_failed_call()).empty())
        end_case(
            verdict::CUDA_ERROR,
            fmt::format("{} The error was left unchecked while {}.", with_capital(failed), doing),
            begin_with_failed_call);
    if (r.step == run_step::last_error)
        end_case(verdict::CUDA_ERROR,
                 fmt::format("A CUDA call failed while {}, and the error was left unchecked: {}.",
                             doing, error),
                 unchecked_hint(r.error));
    if (r.error == 2)
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("Device memory ran out while {}: {}.", doing, error),
                 "Is memory freed that the call allocates?");
    constexpr int first_of_captures = 900, last_of_captures = 908; // as in cudaError_t
    if (r.step == run_step::synchronise && r.error >= first_of_captures &&
        r.error <= last_of_captures)
        end_case(verdict::CUDA_ERROR,
                 fmt::format("A stream was still capturing when the call returned, {}: {}.", doing,
                             error),
                 "Between cudaStreamBeginCapture and cudaStreamEndCapture nothing is done, only "
                 "recorded: end the capture on every way through the function.");
    const char *when =
        r.step == run_step::synchronise ? "A kernel failed while it ran" : "A CUDA call failed";
    end_case(verdict::CUDA_ERROR, fmt::format("{}, {}: {}.", when, doing, error),
             fault_hint(r.error));
}

} // namespace

run_options &options()
{
    static run_options o;
    return o;
}

shared_memory &inputs()
{
    if (!all().inputs)
        all().inputs = std::make_unique<shared_memory>(
            options().simulated ? std::size_t{1} << 30
                                : std::min(std::size_t{24} << 30, physical_memory() / 2),
            false);
    return *all().inputs;
}

worker &submission_worker()
{
    processes &p = all();
    int ranks = current_case().ranks;
    const std::string &graded = program(options().worker, options().counting_worker);
    if (ranks == 0) return started(p.submission, graded);
    if (std::exchange(p.number_of_ranks, ranks) != ranks) p.ranks = worker();
    return started(p.ranks, graded, options().sandbox, ranks);
}
worker &naive_worker()
{
    return started(all().naive, program(options().naive, options().counting_naive));
}
bool have_library() { return !options().library.empty(); }
// It is trusted, and its libraries may lie anywhere.
worker &library_worker() { return started(all().library, options().library, false, 0, true); }

void restart_workers()
{
    for (processes &p : of_backend) {
        p.submission = worker();
        p.ranks = worker();
        p.naive = worker();
        p.library = worker();
    }
}

void end_workers()
{
    restart_workers();
    for (processes &p : of_backend) p.inputs.reset();
}

void take_submission_text(case_record &r)
{
    worker &w = r.ranks ? all().ranks : all().submission;
    if (!w.started()) return;
    worker::printed said = w.take_text();
    if (r.repeating) return; // the first call printed the same
    r.text = std::move(said.text);
    r.text_cut = said.cut;
}

on_simulator::on_simulator() : was_(options().simulated)
{
    options().counting = !was_;
    options().simulated = true;
}

on_simulator::~on_simulator()
{
    options().counting = false;
    options().simulated = was_;
}

bool can_count()
{
    return options().simulated ||
           (!options().counting_worker.empty() && !options().counting_naive.empty());
}

bool simulated() { return options().simulated; }

std::string find_device()
{
    processes &p = all();
    if (p.have_facts) return {};
    request r;
    r.what = command::facts;
    answer a = naive_worker().ask(r, std::chrono::seconds(60));
    if (a.how != worker_exit::answered || a.value.status != reply_status::done)
        return "the worker of the naive reference does not answer";
    std::memcpy(&p.facts, naive_worker().output().data(), sizeof p.facts);
    if (!p.facts.present) return p.facts.error_text;
    p.have_facts = true;
    return {};
}

namespace {

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
    if (a.how != worker_exit::answered || a.value.status != reply_status::done)
        return {confinement::none, "the worker of the naive reference did not answer in it"};
    const std::string escapes = describe(a.value.result[0]);
    if (escapes.empty()) return {how, {}};
    return {confinement::none, "a process in it could still " + escapes};
}

} // namespace

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
    return all().facts;
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
    // FNV-1a over the name, mixed with the run's seed.
    std::uint64_t h = 14695981039346656037ull ^ options().seed;
    for (unsigned char c : lab_name() + "/" + current_case().name) h = (h ^ c) * 1099511628211ull;
    return h ^ (h >> 29);
}

namespace {

// Hint for an exception thrown by a function that checks its calls.
std::string exception_hint(const std::string &what)
{
    if (what.find("invalid device symbol") != what.npos)
        return "A call that takes a symbol is given the variable itself, `x`, not its address.";
    return "It is the function's own report: look at the call that it names, and at what that was "
           "given.";
}

bool waits_may_lack(verdict v)
{
    using enum verdict;
    return v == WRONG_ANSWER || v == UNINITIALISED || v == PARTIALLY_WRITTEN || v == NOT_WRITTEN ||
           v == NONDETERMINISTIC;
}

// A result that is right as queued and wrong when late most likely lacks a wait.
std::string late_streams_hint(verdict v)
{
    const bool differed = v == verdict::NONDETERMINISTIC && current_case().was_late;
    const stream_work when = differed ? stream_work::late : streams_of_case();
    if (when == stream_work::as_queued || !waits_may_lack(v)) return {};
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

// Hint if a launch by a kernel was refused and no kernel made up for it.
std::string refused_launch_hint(verdict v)
{
    bool wrong = v == verdict::WRONG_ANSWER || v == verdict::NOT_WRITTEN ||
                 v == verdict::PARTIALLY_WRITTEN || v == verdict::NONDETERMINISTIC;
    if (!wrong || current_case().refused.empty()) return {};
    return current_case().refused + " Do what was refused in another way.";
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
    const std::string failed = take_failed_call();
    if (failed.empty()) return;
    message += " Before that, " + failed;
    hint = begin_with_failed_call;
}

} // namespace

const char *const out_of_order_hint =
    "Stores of one block may reach another in any order, and so may loads. Put __threadfence() "
    "between the store of the value and that of the flag, and between the load of the flag and "
    "that of the value; or pack both into one word.";

namespace {

// Adds to the message that the simulator let a block see two stores of another out of order, as
// devices may, if that explains the verdict.
void add_older_value(verdict v, std::string &message, std::string &hint)
{
    const std::string older = std::exchange(current_case().older, {});
    const bool may_follow = v == verdict::WRONG_ANSWER || v == verdict::NONDETERMINISTIC ||
                            v == verdict::PARTIALLY_WRITTEN || v == verdict::NOT_WRITTEN ||
                            v == verdict::OUT_OF_BOUNDS || v == verdict::TIMEOUT;
    if (older.empty() || !may_follow) return;
    message += " " + older;
    hint = out_of_order_hint;
}

} // namespace

void end_case(verdict v, std::string message, std::string hint)
{
    const bool for_the_grader = v == verdict::INFRA_ERROR || v == verdict::SKIPPED;
    if (current_case().only_launches && v != verdict::LAUNCH_FAILED && !for_the_grader)
        throw accepted_end{};
    add_failed_call(message, hint);
    add_older_value(v, message, hint);
    if (const std::string &numbers = current_case().numbers;
        depends_on_arguments(v) && !numbers.empty())
        message += fmt::format(" In the call with {}.", numbers);
    if (std::string late = late_streams_hint(v); !late.empty()) hint = late;
    if (waits_may_lack(v))
        if (std::string alone = default_stream_hint(); !alone.empty()) hint = alone;
    if (std::string refused = refused_launch_hint(v); !refused.empty()) {
        if (v == verdict::NONDETERMINISTIC) // other launches are refused each time
            hint = "If you do, try that way alone, as if every launch were refused.";
        else if (!hint.empty())
            hint = "If you do: " + hint;
        hint = refused + (hint.empty() ? "" : " ") + hint;
    }
    static std::mutex record_mutex;
    std::unique_lock lock(record_mutex);
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

namespace {

// Ends the case for a fault of the contract's acquire or release.
[[noreturn]] void end_for_acquire(acquire_fault what)
{
    switch (what) {
    case acquire_fault::nothing:
        end_case(verdict::NOT_WRITTEN, "acquire returned no memory.",
                 "Which call of the runtime allocates host memory?");
    case acquire_fault::too_little:
        end_case(verdict::OUT_OF_BOUNDS,
                 "acquire returned less memory than the elements asked for take.",
                 "The runtime counts bytes, the contract counts floats.");
    case acquire_fault::not_released:
        end_case(verdict::WRONG_ANSWER,
                 "release returned, and the memory is still pinned: nobody can use it any more.",
                 "cudaFreeHost gives back what cudaMallocHost gave.");
    }
    end_case(verdict::PROTOCOL_ERROR, "The worker gave an unknown answer about acquire.");
}

// True if Open MPI starts as many ranks of the grader's own program as the case needs.
bool ranks_of_naive_start()
{
    worker ranks;
    request r;
    r.what = command::drop; // no set is dropped: the ranks only have to answer
    answer a = started(ranks, program(options().naive, options().counting_naive), options().sandbox,
                       current_case().ranks)
                   .ask(r, std::chrono::seconds(30));
    return a.how == worker_exit::answered && a.value.status == reply_status::done;
}

std::string process_name(const answer &a)
{
    return a.rank < 0 ? "The process" : fmt::format("Rank {}", a.rank);
}

// Ends the case with the ranks that have returned and those that have not.
[[noreturn]] void end_for_waiting(const answer &a, const std::string &doing)
{
    std::string waiting, returned;
    for (int k = 0; k < current_case().ranks; ++k) {
        std::string &to = a.value.waiting >> k & 1 ? waiting : returned;
        to += (to.empty() ? "" : ", ") + std::to_string(k);
    }
    std::string message =
        fmt::format("No result after {:.0f} s while {} on {} ranks: ", a.parent_ms / 1e3, doing,
                    current_case().ranks);
    if (returned.empty())
        end_case(verdict::TIMEOUT, message + "none of them has returned.",
                 "Is each waiting for another? Every receive needs its send, with the same rank "
                 "and tag, and every rank must make the same collective calls in the same order.");
    end_case(verdict::TIMEOUT,
             fmt::format("{}rank {} did not return, rank {} did.", message, waiting, returned),
             "It waits for a message that no rank sends, or for a collective call that the others "
             "have left out: do rank, tag, count and order agree?");
}

} // namespace

std::string endless_hint(bool in_kernel)
{
    if (streams_of_case() == stream_work::late && !in_kernel)
        return "Here the work in streams runs only while the program waits for it in a call of the "
               "runtime, such as cudaStreamSynchronize. Does the host wait in another way, for a "
               "flag or a latch that a function in a stream sets? Make such a call first.";
    if (current_case().any_blocks_first)
        return "Does a block that takes its place from blockIdx wait for one that has not begun? "
               "Let each take a ticket as it begins, by atomicAdd on a counter, and that be its "
               "place: then all blocks before it have begun.";
    if (!current_case().without_end.empty()) return current_case().without_end;
    if (in_kernel)
        return "Which number of that loop's condition should change each time round, and who "
               "changes it? Print it for this thread. Or is there more to do than need be: how "
               "often does one thread go round its loops in this call?";
    return std::string(options().simulated
                           ? "A kernel that goes on for ever would be named, so begin with the "
                             "host's code: look"
                           : "Look") +
           " for a loop that cannot end, or threads that wait for each other. Or is there more to "
           "do than need be: how often does one thread go round its loops in this call?";
}

void require_answer(const answer &a, const std::string &doing)
{
    switch (a.how) {
    case worker_exit::answered:
        break;
    case worker_exit::crashed:
        end_case(verdict::CRASH,
                 fmt::format("{} was ended by {} ({}) while {}.{}", process_name(a),
                             sigabbrev_np(a.status) ? "SIG" + std::string(sigabbrev_np(a.status))
                                                    : "signal " + std::to_string(a.status),
                             strsignal(a.status), doing, current_case().before_crash.words),
                 !current_case().before_crash.words.empty() ? current_case().before_crash.hint
                 : a.status != SIGSEGV                      ? ""
                 : current_case().ranks
                     ? "Does host code follow a device pointer, or a null one? MPI is host code, "
                       "too: what it sends from, and receives into, is memory of the host, unless "
                       "device_buffers_work()."
                     : "Does host code follow a device pointer, or a null one?");
    case worker_exit::exited:
        if (a.value.text[0])
            end_case(verdict::CRASH,
                     fmt::format("MPI ended rank {} while {}: {}.", a.rank, doing,
                                 printable(a.value.text)),
                     "Does every rank make every call, in the same order, and do the calls agree "
                     "about rank, "
                     "tag, count and type?");
        end_case(verdict::EARLY_EXIT,
                 fmt::format("{} ended with status {} while {}.", process_name(a), a.status, doing),
                 "A contract function returns to its caller; it must not call exit.");
    case worker_exit::timed_out:
        if (a.value.waiting) end_for_waiting(a, doing);
        end_case(
            verdict::TIMEOUT,
            fmt::format("No result after {:.0f} s while {}{}.", a.parent_ms / 1e3, doing,
                        a.stands_still ? ", and neither host code nor a kernel is at work" : ""),
            a.stands_still && streams_of_case() != stream_work::late
                ? "What does the host wait for there: a lock that is taken already, a thread, "
                  "a latch? Who should end that wait, and does it come to do so?"
                : endless_hint(false));
    case worker_exit::too_much_output:
        end_case(verdict::OUTPUT_LIMIT, fmt::format("It printed more than 8 MiB while {}.", doing),
                 "Print from one thread, or not at all.");
    case worker_exit::protocol_error:
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The worker's channel was disturbed{} while {}.",
                             a.rank < 0 ? "" : fmt::format(" by rank {}", a.rank), doing),
                 "A submission must leave the process's open files alone.");
    case worker_exit::out_of_host_memory:
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("It took too much host memory while {}.", doing),
                 "What grows with each call or each element?");
    case worker_exit::out_of_device_memory:
        end_case(
            verdict::RESOURCE_LIMIT,
            fmt::format("The simulated device needed more than {} GiB while {}, for its memory "
                        "and to watch who touches what.",
                        worker_options{}.device_memory_limit >> 30, doing),
            "Does the scratch memory, or what kernels allocate, fit the problem? Where a warp's "
            "lanes touch words that lie apart, watching takes more memory.");
    case worker_exit::device_lost:
        end_case(verdict::INFRA_ERROR, fmt::format("The simulated device ended while {}.", doing),
                 "That is a fault of the workbook: please report it, with the submission.");
    case worker_exit::not_started:
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The worker could not be started for {}.", doing),
                 "Run ./workbook doctor: is there memory, and does the sandbox work?");
    case worker_exit::too_many_threads:
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("It had {} threads while {}; it may have {}.", a.status, doing,
                             worker_options().thread_limit),
                 "Threads of the GPU are started by a launch; the host needs few.");
    case worker_exit::started_threads:
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("It had {} threads before any of its functions was called.", a.status),
                 "A constructor started them. Start threads in the functions of lab.hpp, and wait "
                 "for them there.");
    }
    const reply &r = a.value;
    const std::string on = a.rank < 0 ? doing : fmt::format("{}, on rank {}", doing, a.rank);
    switch (r.status) {
    case reply_status::done:
        return;
    case reply_status::cuda_error:
        end_for_error(r, on);
    case reply_status::exception:
        // The function checks its launches itself. The simulator knows which was refused, and why.
        if (names_launch_error(r.text) && !current_case().refused.empty())
            end_case(verdict::LAUNCH_FAILED,
                     fmt::format("A kernel launch was refused: {}. {}", printable(r.text),
                                 current_case().refused),
                     launch_hint(cuda_invalid_value));
        if (std::string failed = take_failed_call(); !failed.empty())
            end_case(verdict::CUDA_ERROR,
                     fmt::format("{} The function threw an exception about it while {}: {}.",
                                 with_capital(failed), on, printable(r.text)),
                     begin_with_failed_call);
        end_case(
            verdict::CRASH,
            fmt::format("The function threw an exception while {}: {}.", on, printable(r.text)),
            exception_hint(r.text));
    case reply_status::out_of_memory:
        if (r.what != command::load) break;
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The device has no memory for the case's arguments: {}.",
                             printable(r.text)));
    case reply_status::unknown_function:
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The worker says, while {}, that it has no such function.", on),
                 "A submission must leave the process's open files alone. Else the worker was "
                 "built from another lab.hpp: build again.");
    case reply_status::left_work:
        end_case(
            verdict::LATE_WRITE,
            fmt::format("Work was left in streams while {}: when the function had returned, it "
                        "still needed the host's memory.",
                        on),
            "Wait for every stream before returning, also in other threads: "
            "cudaStreamSynchronize or cudaDeviceSynchronize.");
    case reply_status::misacquired:
        end_for_acquire(static_cast<acquire_fault>(r.error));
    case reply_status::no_ranks:
        if (current_case().ranks == 0) break;
        if (ranks_of_naive_start())
            end_case(verdict::PROTOCOL_ERROR,
                     fmt::format("The submission's process says that Open MPI did not start {} "
                                 "ranks, and naive's has them.",
                                 current_case().ranks),
                     "A submission must leave the process's open files alone.");
        end_case(verdict::INFRA_ERROR,
                 fmt::format("Open MPI did not start {} ranks: {}.", current_case().ranks,
                             printable(r.text)),
                 "Run ./workbook doctor.");
    case reply_status::overcounted:
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("What the simulator counted is too much to be told, while {}.", on),
                 "It tells of each source line of each kernel and of each step in a stream. Which "
                 "of them do macros, templates or loops make in thousands?");
    case reply_status::rank_ended: // reported as exits above
    case reply_status::ranks_waiting:
    case reply_status::disturbed:
        break;
    case reply_status::malformed:
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The worker refused a request while {}: {}.", on, printable(r.text)),
                 "A submission must leave the process's open files alone.");
    }
    end_case(verdict::PROTOCOL_ERROR,
             fmt::format("The worker gave an unknown answer while {}.", doing));
}

bool lacks_device_memory(const answer &a)
{
    return a.how == worker_exit::answered && a.value.status == reply_status::out_of_memory;
}

void end_for_leak(const std::string &function)
{
    end_case(verdict::RESOURCE_LIMIT,
             fmt::format("The device had no memory left for the arguments of {}, and in a fresh "
                         "process it has: memory of earlier calls was not freed.",
                         function),
             "Free what a call allocates before it returns, on every way out of it.");
}

void require_memory_in_naive(std::vector<request> loads)
{
    constexpr std::uint32_t first = 3000; // no benchmark has so many sets
    submission_worker() = worker();
    std::vector<answer> answers;
    for (request &load : loads) {
        load.set = first + static_cast<std::uint32_t>(answers.size());
        answers.push_back(naive_worker().ask(load, std::chrono::seconds(30)));
    }
    for (const request &load : loads) {
        request drop;
        drop.what = command::drop;
        drop.set = load.set;
        require_trusted(naive_worker().ask(drop, std::chrono::seconds(30)), "dropping them again");
    }
    if (std::any_of(answers.begin(), answers.end(), lacks_device_memory)) return;
    for (const answer &a : answers) require_trusted(a, "handing naive the arguments");
    end_case(verdict::RESOURCE_LIMIT,
             "The submission's process, a fresh one, says that the device has no memory for the "
             "arguments, and naive's has it.",
             "What does the file take before any of its functions is called? Large __device__ "
             "arrays lie in device memory, too.");
}

namespace {

// Free memory as naive's worker reports it; 0 if it does not answer.
std::uint64_t free_device_memory()
{
    request r;
    r.what = command::facts;
    answer a = naive_worker().ask(r, std::chrono::seconds(60));
    device_facts f;
    if (a.how == worker_exit::answered && a.value.status == reply_status::done)
        std::memcpy(&f, naive_worker().output().data(), sizeof f);
    return f.memory_free;
}

// True if the submission held most of the device's memory, more than any lab gives it. Ends its
// worker to find out.
bool submission_held_the_device()
{
    if (!all().submission.alive()) return false;
    const std::uint64_t before = free_device_memory();
    all().submission = worker();
    const std::uint64_t after = free_device_memory();
    return after > before && after - before > all().facts.memory_bytes / 2;
}

} // namespace

void require_trusted(const answer &a, const std::string &doing)
{
    if (a.how == worker_exit::answered && a.value.status == reply_status::done) return;
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
