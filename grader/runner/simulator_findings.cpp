// Reads the simulator's report, and ends the case with a sentence about the gravest finding.
#include "simulator_findings.hpp"

#include "argument_images.hpp"
#include "call_counters.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "finding_hints.hpp"
#include "source_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

namespace grading {

namespace {

const char *predicate_of(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    switch (kind_of(f)) {
    case out_of_bounds:
        return "reached outside its memory";
    case use_after_free:
        return "used memory that was freed";
    case host_pointer:
        return "followed a pointer to host memory";
    case null_pointer:
        return "followed a null pointer";
    case misaligned:
        return "made a misaligned access";
    case uninitialised:
        return "read a value that was never written";
    case read_only:
        return "wrote constant memory";
    case race:
        return "has a race";
    case barrier:
        return "misused";
    case endless:
        return f.blocks_not_begun ? "waits for ever" : "was still at work";
    case trap:
        return "stopped itself (trap or assert)";
    case unsupported:
        return "needs something the simulator does not offer";
    case refused_launch:
        return "was refused its launch";
    case non_global_argument:
        return "gave a kernel that it launched a pointer to memory of its own";
    case unwatched:
        return "was not watched to its end";
    case failed_call:
        return "failed";
    case older_value:
        return "was late to see a store";
    }
    return "did something unknown";
}

std::string as_sentence(std::string text)
{
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text.back() == '.' || text.back() == '?' ? text : text + ".";
}

// Where the access went: in shared memory the element, if the source tells how large it is.
std::string place_in_words(const simulator_finding &f)
{
    const bool past_end = place_of(f) == simulator::location::shared_past_end;
    // Where it goes on to say how many bytes are written, it stays in bytes.
    if (!f.array[0] || !(past_end || (place_of(f) == simulator::location::shared &&
                                      std::string_view(f.where).ends_with(')'))))
        return f.where;
    const array_shape shape = shared_array_shape(submission_source(), f.array);
    if (shape.element_bytes == 0) return f.where;
    auto rest = f.distance / shape.element_bytes;
    std::string indices;
    for (auto extent = shape.inner_extents.rbegin(); extent != shape.inner_extents.rend();
         ++extent) {
        indices.insert(0, fmt::format("[{}]", rest % *extent));
        rest /= *extent;
    }
    return fmt::format("`{}[{}]{}`{} shared memory", f.array, rest, indices,
                       past_end ? ", past the end of the array in" : " in");
}

// As a launch has it: 4, or (16, 8).
std::string extent_in_words(const std::uint32_t (&n)[3])
{
    if (n[2] > 1) return fmt::format("({}, {}, {})", n[0], n[1], n[2]);
    return n[1] > 1 ? fmt::format("({}, {})", n[0], n[1]) : fmt::format("{}", n[0]);
}

std::string sentence(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    const simulator::finding_kind kind = kind_of(f);
    if (f.host_call && f.detail[0]) // it has no kernel, line or thread
        return f.where[0] ? fmt::format("In a call by the host, {}: {}.", f.detail, f.where)
                          : as_sentence(f.detail);
    std::string s = f.kernel[0] ? fmt::format("Kernel {}", f.kernel) : "The code";
    s += fmt::format(" {}", predicate_of(f));
    if (kind == barrier) s += fmt::format(" {}", f.where);
    if (f.line > 0)
        s += fmt::format(" at {}:{}", std::filesystem::path(f.file).filename().string(), f.line);
    bool access = f.bytes > 0 && kind != barrier;
    // An uninitialised "write" can only be an atomic's read-modify-write.
    const char *operation = !f.write ? "a read" : kind == uninitialised ? "an atomic" : "a write";
    if (access) s += fmt::format(": {} of {} byte{}", operation, f.bytes, f.bytes == 1 ? "" : "s");
    if (f.where[0] && kind != barrier)
        s += fmt::format("{} {}", access ? "," : ":", place_in_words(f));
    s += ".";
    // An access by one thread has been described completely.
    if (f.detail[0] && (!access || kind == race || kind == older_value))
        s += " " + as_sentence(f.detail);
    if (misses(f, simulator::missing_order::warp_barrier) && warps_are_taught() &&
        !is_write_after_read(f))
        s += " Between lanes of a warp __syncwarp() would do.";
    s += fmt::format(" Block ({}, {}, {}), thread ({}, {}, {})", f.block[0], f.block[1], f.block[2],
                     f.thread[0], f.thread[1], f.thread[2]);
    if (f.threads > 1) s += fmt::format(" and {} more", f.threads - 1);
    if (f.grid_size[0] > 0 && kind != unsupported)
        s += fmt::format("; launched with <<<{}, {}>>>", extent_in_words(f.grid_size),
                         extent_in_words(f.block_size));
    s += ".";
    if (verdict_of(f) == verdict::CUDA_ERROR &&
        (kind == out_of_bounds || kind == null_pointer || kind == host_pointer))
        s += " A GPU answers with cudaErrorIllegalAddress (700).";
    return s;
}

void terminate_strings(simulator_finding &f)
{
    f.kernel[sizeof f.kernel - 1] = f.file[sizeof f.file - 1] = 0;
    f.where[sizeof f.where - 1] = f.detail[sizeof f.detail - 1] = f.array[sizeof f.array - 1] = 0;
}

bool reads_output(const simulator_finding &f, const std::vector<argument> &arguments)
{
    return verdict_of(f) == verdict::UNINITIALISED &&
           std::any_of(arguments.begin(), arguments.end(), [&](const argument &a) {
               return a.wire.output && !a.wire.scratch && is_in(f, a);
           });
}

// True if the access went past memory that the submission allocated itself: then the host, which
// said how large it is, may be to blame.
bool past_own_memory(const simulator_finding &f)
{
    using enum simulator::location;
    const simulator::location place = place_of(f);
    return kind_of(f) == simulator::finding_kind::out_of_bounds && !f.array[0] &&
           (place == just_past_end || place == past_end || place == across_end);
}

// True if the finding is a read past the end of `array`. `array` is allocated last, so nothing
// else can lie behind it.
bool reads_past_end(const simulator_finding &f, const std::string &array)
{
    return !array.empty() && kind_of(f) == simulator::finding_kind::out_of_bounds && !f.write &&
           !(f.place == std::uint8_t(simulator::location::before_start) && f.array == array);
}

// Returns the cause of a bad address: an uninitialised read that the same kernel made earlier, if
// there is one. `found` is in the order in which the findings were made.
using finding_iterator = std::vector<simulator_finding>::iterator;
finding_iterator cause_of(finding_iterator last, std::vector<simulator_finding> &found)
{
    using enum simulator::finding_kind;
    const simulator::finding_kind kind = kind_of(*last);
    if (kind != out_of_bounds && kind != host_pointer && kind != null_pointer && kind != misaligned)
        return last;
    return std::find_if(found.begin(), last, [&](const simulator_finding &f) {
        return verdict_of(f) == verdict::UNINITIALISED &&
               std::string_view(f.kernel) == last->kernel;
    });
}

// Returns the simulator's findings that are faults, in the order in which they were made. The
// others go into the case's record.
std::vector<simulator_finding> faults_in(const std::byte *from)
{
    std::uint64_t count = 0;
    std::memcpy(&count, from, 8);
    std::vector<simulator_finding> found(std::min<std::uint64_t>(count, 64));
    std::memcpy(found.data(), from + 8, found.size() * sizeof(simulator_finding));
    for (simulator_finding &f : found) terminate_strings(f);
    // The student's code may handle a refused launch or a failed call. It counts only if its error
    // is left unchecked.
    std::erase_if(found, [](const simulator_finding &f) {
        using enum simulator::finding_kind;
        const simulator::finding_kind kind = kind_of(f);
        case_record &r = current_case();
        if (kind == refused_launch) r.refused_launch = printable(f.detail);
        if (kind == older_value && r.older_value.empty()) r.older_value = printable(sentence(f));
        if (kind == unwatched) r.unwatched = printable(f.kernel);
        if (kind == failed_call && !r.failed)
            r.failed = {printable(f.kernel), printable(f.where), printable(f.detail),
                        static_cast<simulator::wrong_pointer>(f.pointer)};
        return !is_fault(kind);
    });
    return found;
}

simulator_finding gravest(std::vector<simulator_finding> &found)
{
    auto gravity = [](const simulator_finding &f) {
        // A fault that was seen stands, whatever the simulator could not run after it.
        static const verdict order[] = {
            verdict::TIMEOUT, verdict::BARRIER_MISUSE, verdict::OUT_OF_BOUNDS, verdict::CUDA_ERROR,
            verdict::RACE,    verdict::UNINITIALISED,  verdict::SKIPPED};
        return std::find(std::begin(order), std::end(order), verdict_of(f)) - std::begin(order);
    };
    const auto worst =
        std::min_element(found.begin(), found.end(),
                         [&](const auto &x, const auto &y) { return gravity(x) < gravity(y); });
    return *cause_of(worst, found);
}

} // namespace

void check_report(const std::byte *from, const std::vector<argument> &arguments, int rank)
{
    if (options().keep_counts && rank <= 0) keep_largest_counters(from);
    std::vector<simulator_finding> found = faults_in(from);
    if (found.empty()) return;
    const simulator_finding worst = gravest(found);
    case_record &r = current_case();
    if (reads_past_end(worst, r.may_read_on)) throw read_past_end{};
    r.unsupported = verdict_of(worst) == verdict::SKIPPED;
    if (worst.over_limit) r.endless = r.function;
    if (!r.output_read.cause.empty() && reads_output(worst, arguments)) {
        r.about = r.output_read.function;
        end_case(verdict_of(worst), printable(sentence(worst)) + " " + r.output_read.cause,
                 r.output_read.next);
    }
    using path = std::filesystem::path;
    std::string on_rank = rank < 0 ? std::string() : fmt::format("Rank {}: ", rank);
    const bool of_submission = path(worst.file).filename() == path(options().source).filename();
    // A kernel is not to blame for a pointer that the host gave it.
    const bool of_host = kind_of(worst) == simulator::finding_kind::host_pointer;
    if (of_submission && !of_host && !past_own_memory(worst) && !lacks_order(worst, arguments))
        // A helper without a branch is not to blame for a branch around its call.
        r.line = kind_of(worst) == simulator::finding_kind::barrier &&
                         no_branch_before(submission_source(), worst.line)
                     ? 0
                     : worst.line;
    end_case(verdict_of(worst), on_rank + printable(sentence(worst)), hint_for(worst, arguments));
}

void keep_before_crash(const answer &ran, const std::vector<argument> &arguments)
{
    current_case().before_crash = {};
    if (ran.report.size() < report_bytes) return;
    std::vector<simulator_finding> found = faults_in(ran.report.data());
    if (found.empty()) return;
    const simulator_finding worst = gravest(found);
    const bool kernel_went_on =
        verdict_of(worst) == verdict::RACE || verdict_of(worst) == verdict::UNINITIALISED;
    current_case().before_crash = {
        " Before that: " + printable(sentence(worst)),
        (kernel_went_on ? "" : "Begin with the kernel: after its fault every call fails. ") +
            hint_for(worst, arguments)};
}

} // namespace grading
