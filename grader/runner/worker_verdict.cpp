// Turns an answer of the submission's worker into the case's verdict.
#include "worker_verdict.hpp"

#include "case_record.hpp"
#include "case_run.hpp"
#include "source_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

namespace grading {

extern const int contract_devices; // number of devices that the lab's functions may use

namespace {

namespace cuda_error { // values of cudaError_t: cudaErrorInvalidValue and so on
constexpr int invalid_value = 1, memory_allocation = 2, invalid_configuration = 9,
              invalid_device_function = 98, invalid_kernel_image = 200,
              no_kernel_image_for_device = 209, not_ready = 600, illegal_address = 700,
              launch_out_of_resources = 701, peer_access_already_enabled = 704,
              misaligned_address = 716, launch_failure = 719, cooperative_launch_too_large = 720,
              stream_capture_unsupported = 900, stream_capture_wrong_thread = 908;
} // namespace cuda_error

// True for the errors with which a launch itself is refused.
bool is_launch_error(int error)
{
    using namespace cuda_error;
    constexpr int codes[] = {invalid_value,
                             invalid_configuration,
                             invalid_device_function,
                             invalid_kernel_image,
                             no_kernel_image_for_device,
                             launch_out_of_resources,
                             cooperative_launch_too_large};
    return std::find(std::begin(codes), std::end(codes), error) != std::end(codes);
}

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
        return g[0] > 1 && std::uint64_t{g[0]} * g[1] * g[2] <= 1024
                   ? "A block has at most 1024 threads, all its dimensions multiplied. Are the two "
                     "numbers exchanged? That of the blocks comes first: <<<blocks, threads>>>. If "
                     "not: take fewer threads, and more blocks."
                   : "A block has at most 1024 threads, all its dimensions multiplied: take fewer, "
                     "and more blocks.";
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
    if (!current_case().refused_launch_hint.empty()) return current_case().refused_launch_hint;
    if (std::string hint = shape_hint(current_case().refused_launch); !hint.empty()) return hint;
    if (error == cuda_error::invalid_configuration || error == cuda_error::invalid_value)
        return "A grid has at least one block: n / block_size is 0 for a small n, so round up, and "
               "launch nothing where there is nothing to do. A block has at most 1024 threads, a "
               "grid at most 65535 blocks in y and in z.";
    if (error == cuda_error::launch_out_of_resources)
        return "The block asks for more registers or shared memory than there are.";
    return "Check cudaGetLastError() after each launch.";
}

// Hint for a sticky error, which a kernel left behind.
std::string fault_hint(int error)
{
    using namespace cuda_error;
    if (error != illegal_address && error != misaligned_address && error != launch_failure)
        return {};
    std::string hint = "Run the case on the simulator (--backend sim): it names the access.";
    if (error == launch_failure && contract_devices > 1)
        hint += " Or was memory freed while a copy between devices, or what follows one, was still "
                "queued? cudaFree need not wait for that. The simulator finds it in the cases in "
                "which work comes late.";
    return hint;
}

std::string with_capital(std::string sentence)
{
    if (!sentence.empty() && !sentence.starts_with("cuda"))
        sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    return sentence;
}

// Two errors only report a state. They stay the runtime's last error even if the code looked at the
// call's result.
std::string unchecked_hint(int error)
{
    using namespace cuda_error;
    if (error == not_ready || error == peer_access_already_enabled)
        return fmt::format("This one is harmless, but it stays the runtime's last error, even "
                           "where the code has looked at what {} returned: clear it with "
                           "cudaGetLastError() there.",
                           error == not_ready ? "cudaStreamQuery or cudaEventQuery"
                                              : "cudaDeviceEnablePeerAccess");
    return "Which call was it? Each returns its error: look at all of them.";
}

[[noreturn]] void end_for_error(const reply &r, const std::string &doing)
{
    std::string error =
        fmt::format("{} ({}): {}", printable(r.error_name), r.error, printable(r.text));
    const std::string &refused = current_case().refused_launch;
    // Other runtime calls fail with cudaErrorInvalidValue, too; only the simulator knows if a
    // launch was refused.
    bool of_other_call = refused.empty() && options().simulated &&
                         (r.error == cuda_error::invalid_value || current_case().failed);
    if (r.step == run_step::last_error && is_launch_error(r.error) && !of_other_call)
        end_case(verdict::LAUNCH_FAILED,
                 fmt::format("A kernel launch was refused and the error left unchecked: {}. {}",
                             error, refused),
                 launch_hint(r.error));
    if (const auto failed = r.step == run_step::last_error ? take_failed_call() : told_failure())
        end_case(verdict::CUDA_ERROR,
                 fmt::format("{} The error was left unchecked while {}.",
                             with_capital(failed.sentence), doing),
                 failed.hint);
    if (r.step == run_step::last_error)
        end_case(verdict::CUDA_ERROR,
                 fmt::format("A CUDA call failed while {}, and the error was left unchecked: {}.",
                             doing, error),
                 unchecked_hint(r.error));
    if (r.error == cuda_error::memory_allocation)
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("Device memory ran out while {}: {}.", doing, error),
                 "Is memory freed that the call allocates?");
    if (r.step == run_step::synchronise && r.error >= cuda_error::stream_capture_unsupported &&
        r.error <= cuda_error::stream_capture_wrong_thread)
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

// Hint for an exception thrown by a function that checks its calls.
std::string exception_hint(const std::string &what)
{
    if (what.find("invalid device symbol") != what.npos)
        return "A call that takes a symbol is given the variable itself, `x`, not its address.";
    return "It is the function's own report: look at the call that it names, and at what that was "
           "given.";
}

// Hint for SIGFPE in host code. A kernel that divides by 0 goes on.
std::string division_hint()
{
    const std::vector<std::string> dividing =
        dividing_functions(submission_source(), current_case().function);
    return fmt::format("Host code divided an integer by 0, or the smallest int by -1{}. Which "
                       "divisor can be 0 for these numbers? Test it before the division.",
                       dividing.empty() ? ""
                                        : fmt::format("; in this call {} can divide by a number "
                                                      "that was computed or given",
                                                      fmt::join(dividing, ", ")));
}

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
                 "cudaFreeHost gives back what cudaMallocHost gave. What cudaHostRegister pinned, "
                 "cudaHostUnregister unpins, before free.");
    }
    end_case(verdict::PROTOCOL_ERROR, "The worker gave an unknown answer about acquire.");
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
    if (!current_case().without_end_hint.empty()) return current_case().without_end_hint;
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
        end_case(
            verdict::CRASH,
            fmt::format("{} was ended by {} ({}) while {}.{}", process_name(a),
                        sigabbrev_np(a.status) ? "SIG" + std::string(sigabbrev_np(a.status))
                                               : "signal " + std::to_string(a.status),
                        strsignal(a.status), doing, current_case().before_crash.message),
            !current_case().before_crash.message.empty() ? current_case().before_crash.hint
            : a.status == SIGFPE                         ? division_hint()
            : a.status != SIGSEGV                        ? ""
            : current_case().ranks
                ? "Does host code follow a device pointer, or a null one? MPI is host code, "
                  "too: what it sends from, and receives into, is memory of the host, unless "
                  "device_buffers_work()."
                : "Does host code follow a device pointer, or a null one? Host code cannot reach "
                  "device memory: a kernel can, or copy the array first.");
    case worker_exit::exited:
        if (a.value.text[0])
            end_case(verdict::CRASH,
                     fmt::format("MPI ended rank {} while {}: {}.", a.rank, doing,
                                 printable(a.value.text)),
                     "Does every rank make every call, in the same order, and do the calls agree "
                     "about rank, tag, count and type?");
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
                        "and for what the checks keep about it.",
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
        if (names_launch_error(r.text) && !current_case().refused_launch.empty())
            end_case(verdict::LAUNCH_FAILED,
                     fmt::format("A kernel launch was refused: {}. {}", printable(r.text),
                                 current_case().refused_launch),
                     launch_hint(cuda_error::invalid_value));
        if (const auto failed = take_failed_call())
            end_case(verdict::CUDA_ERROR,
                     fmt::format("{} The function threw an exception about it while {}: {}.",
                                 with_capital(failed.sentence), on, printable(r.text)),
                     failed.hint);
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
    case reply_status::acquire_failed:
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
    case reply_status::counters_too_large:
        end_case(verdict::RESOURCE_LIMIT,
                 fmt::format("The simulator's counters became too large while {}.", on),
                 "They cover each source line of each kernel and each step in a stream. Which of "
                 "them do macros, templates or loops make in thousands?");
    case reply_status::rank_ended: // reported as exits above
    case reply_status::ranks_waiting:
    case reply_status::protocol_broken:
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

} // namespace grading
