// Turns findings of the simulator into verdicts and hints.
#include "finding_hints.hpp"

#include "argument_images.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "index_hints.hpp"
#include "source_facts.hpp"
#include "worker_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace grading {

namespace {

using simulator::location;

bool in_shared(const simulator_finding &f)
{
    const location place = place_of(f);
    return place == location::shared || place == location::shared_below ||
           place == location::shared_past_end || place == location::past_dynamic_shared;
}

bool past_end(const simulator_finding &f)
{
    return place_of(f) == location::just_past_end || place_of(f) == location::past_end;
}

// Returns the call's int or size_t argument of this name.
std::uint64_t number_given(const std::vector<argument> &arguments, std::string_view name,
                           std::uint64_t otherwise)
{
    for (const argument &a : arguments) {
        if (a.wire.where != argument_memory::value || a.wire.name != name) continue;
        std::uint64_t value = 0;
        std::memcpy(&value, a.value, std::min<std::size_t>(a.wire.bytes, sizeof value));
        return value;
    }
    return otherwise;
}

// True if a thread whose number is a valid index of an array reaches past that array's end: its
// index is then not simply its thread number.
bool index_is_not_thread_number(const simulator_finding &f, const std::vector<argument> &arguments)
{
    if (f.bytes == 0 || !f.array[0] || !past_end(f)) return false;
    const bool first_block = f.block[0] + f.block[1] + f.block[2] == 0;
    std::uint64_t count = f.array_bytes / f.bytes;
    // An array can have more elements than there is work: columns, or all from an offset on.
    const std::uint64_t n = number_given(arguments, "n", count);
    count = std::min(count, n - std::min(n, number_given(arguments, "offset", 0)));
    return first_block && f.thread[1] + f.thread[2] == 0 && f.thread[0] < count;
}

// True if the access is just behind the used bytes of a shared array.
bool just_past_used_part(const simulator_finding &f)
{
    const std::size_t in_use = current_case().past_the_end.in_use;
    return in_use > 0 && has_own_hint(f.array, in_shared(f)) && place_of(f) == location::shared &&
           f.distance == in_use;
}

// True if one of the two accesses of a race is a read.
bool one_reads(const simulator_finding &f) { return !f.write || !f.earlier_wrote; }

// Hint for an access past the end of scratch: the submission may have asked for too little.
std::string scratch_hint(const simulator_finding &f, const std::vector<argument> &arguments)
{
    if (verdict_of(f) != verdict::OUT_OF_BOUNDS ||
        (!past_end(f) && place_of(f) != location::across_end))
        return {};
    const std::string otherwise = has_own_hint(f.array, in_shared(f))
                                      ? current_case().past_the_end.hint
                                      : "an index is too large here.";
    for (const argument &a : arguments)
        if (a.wire.scratch && is_in(f, a))
            return fmt::format("{}_scratch asked for {} bytes in this call: are they enough for "
                               "all that is kept there, elements times sizeof of one, and is "
                               "a number of blocks rounded up? If they are: {}",
                               current_case().function, a.scratch_bytes, otherwise);
    return {};
}

bool in_scratch(const simulator_finding &f, const std::vector<argument> &arguments)
{
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const argument &a) { return a.wire.scratch && is_in(f, a); });
}

// Hint for a finding that only the second of two equal calls shows: there, scratch and outputs
// hold other bytes.
std::string second_call_hint(const simulator_finding &f, const std::vector<argument> &arguments)
{
    const verdict v = verdict_of(f);
    if (!current_case().repeating || kind_of(f) == simulator::finding_kind::use_after_free ||
        (v != verdict::UNINITIALISED && v != verdict::OUT_OF_BOUNDS && v != verdict::CUDA_ERROR))
        return {};
    if (v == verdict::UNINITIALISED && in_scratch(f, arguments))
        return "Which line gives these bytes of scratch a value before the kernel begins? Their "
               "contents are undefined in every call. Is that line left out because of what is "
               "kept from call to call (static, __device__)?";
    return "A first, equal call was right. In the second, scratch and outputs hold other bytes, "
           "and blocks run in another order: what is kept from call to call (static, __device__), "
           "or depends on that order?";
}

// True if two threads of a grid wrote the same location in device memory.
bool both_wrote(const simulator_finding &f)
{
    return f.write && f.earlier_wrote && !f.other_grid && !in_shared(f);
}

// Hint for a race of two blocks of a grid.
std::string race_of_blocks_hint(const simulator_finding &f)
{
    const std::string index = "an index is wrong: does a block begin where the one before it ends, "
                              "at blockIdx times all that a block owns, and is a row as long as "
                              "the whole array's? ",
                      barrier = without_comments(submission_source()).find("this_grid") !=
                                        std::string::npos
                                    ? "grid.sync() orders them, __syncthreads() does not; "
                                    : "no barrier reaches across blocks; ";
    if (!one_reads(f))
        return "Are both blocks meant to reach this element? If not, " + index +
               "If they are: " + barrier +
               "atomicAdd adds atomically, or another kernel can follow.";
    std::string hint;
    if (f.earlier_line == f.line && f.line > 0)
        hint = "Does each of the two load, change and store this same element, as ++ and += do? "
               "No barrier helps there, but atomicAdd adds atomically. If not: ";
    if (f.write)
        return hint +
               "Is this element meant to be used by one block and changed by another? If not, an "
               "index is wrong: is blockIdx in it, and is a row as long as the whole array's? If "
               "it is: " +
               barrier +
               "read from one array and write to another, or let a kernel of its own do the second "
               "part.";
    return hint + "Should this block use what the other one has stored? If not, " + index +
           "If it should: " + barrier +
           "a kernel of its own can do the second part. Where a flag tells that a value is there, "
           "__threadfence() must come between the value's store and the flag's, and between the "
           "flag's load and the value's. Is this the flag itself? Ordinary loads and stores do not "
           "do for it: make it volatile, or use atomics.";
}

std::string race_hint(const simulator_finding &f)
{
    const auto &of_blocks = current_case().race_of_blocks;
    if (f.other_block && !of_blocks.hint.empty() &&
        has_unqualified_name(f.kernel, of_blocks.kernel))
        return of_blocks.hint;
    if (f.other_grid) {
        if (!current_case().race_of_grids_hint.empty()) return current_case().race_of_grids_hint;
        return "Should both kernels reach this element? If not, one of them begins at a wrong "
               "place or goes on too far. If they should, something must order the two grids: one "
               "stream, an event that the later one waits for, or, in a kernel, "
               "cudaStreamTailLaunch. What a block did before one of its threads launched is "
               "ordered by a barrier before that launch.";
    }
    if (both_wrote(f) && !current_case().one_location_hint.empty())
        return current_case().one_location_hint;
    if (!current_case().race_hint.empty()) return current_case().race_hint;
    if (f.other_block && misses(f, simulator::missing_order::fence)) return out_of_order_hint;
    if (f.other_block) return race_of_blocks_hint(f);
    if (one_reads(f) && !in_shared(f))
        return "Something must order the two accesses: which barrier stands between them? Where "
               "other blocks use or change these elements, too, none helps: read from one array "
               "and write to another, or let a kernel of its own do the second part.";
    if (is_write_after_read(f))
        return fmt::format(
            "Here the next turn of the loop, or the next call of this function, overwrites what "
            "other threads still read at line {}: __syncthreads() is missing behind that read, at "
            "the end of the loop. If the two threads should not use the same element, print both "
            "indices.",
            f.earlier_line);
    // The Programming Guide, too, says that votes and shuffles imply no memory barrier.
    const bool in_one_warp = misses(f, simulator::missing_order::warp_barrier);
    if (f.write && one_reads(f) && in_one_warp) {
        if (f.earlier_line == f.line && f.line > 0)
            return "Does one thread store here what another loads, as in a scan? Load first, keep "
                   "the value, and store behind a barrier. Does each of them load, change and "
                   "store this same element, as ++ and += do? No barrier helps there, but "
                   "atomicAdd adds atomically. If the two should not use the same element, print "
                   "both indices.";
        return std::string("Which barrier stands between the read and the write? ") +
               (warps_are_taught()
                    ? "Where all warps of a block share these elements, as they do a tile, it is "
                      "__syncthreads(), also before a loop's next turn writes them again; where "
                      "each warp has its own, __syncwarp(), for all of its lanes. A shuffle or a "
                      "vote does not do: they exchange registers, and order no memory."
                    : "It is __syncthreads(), also before a loop's next turn writes them again.") +
               " If the two should not use the same element, print both indices.";
    }
    const bool lines_known = in_shared(f) && f.line > 0 && f.earlier_line > 0;
    if (lines_known && f.write && one_reads(f) && !f.overwrites)
        return fmt::format("A thread reads at line {} what another one stores only afterwards, "
                           "here: __syncthreads() is missing between the store and that read. If "
                           "the two should not use the same element, print both indices.",
                           f.earlier_line);
    if (both_wrote(f))
        return fmt::format(
            "Does each of these two threads have an element of its own to store? "
            "Then one of their indices is wrong: print both.{} If they have one in "
            "common, let one thread store it; if both add to it, atomicAdd does so "
            "atomically.",
            f.thread[1] > 0 ? " Is a row's number multiplied by the number of columns?" : "");
    const bool reads_what_was_stored =
        lines_known && !f.write && f.earlier_wrote && f.earlier_line != f.line;
    std::string hint =
        reads_what_was_stored
            ? fmt::format("If this line should read what line {} stored, __syncthreads() is "
                          "missing between the two. If each thread should read an element that it "
                          "stored itself, one of the two indices is wrong: print both.",
                          f.earlier_line)
            : "Should one of these threads use what the other one has here? If not, an index is "
              "wrong, or where a loop begins or ends. If it should, something must order the two "
              "accesses: which barrier stands between them? If both load, add and store, none "
              "helps, but atomicAdd adds atomically.";
    if (f.write && f.earlier_wrote)
        hint += " If both only write: which of the threads should, and do two elements get one "
                "place?";
    if (in_one_warp && warps_are_taught())
        hint += " A vote or a shuffle is no barrier: it orders no memory, __syncwarp() does.";
    return hint;
}

// `order` is the result of lacks_order.
std::string hint_of(const simulator_finding &f, const std::vector<argument> &arguments, bool order)
{
    using enum simulator::finding_kind;
    if (kind_of(f) == unsupported)
        return current_case().what == kind::speed
                   ? "Only the simulator counts: do it in another way."
                   : "A machine with a GPU judges this case there. Without one, do it in another "
                     "way.";
    const bool freed = kind_of(f) == use_after_free;
    if (f.host_call && freed && std::string_view(f.kernel).starts_with("cudaMem"))
        return "Is it freed only after this use? A copy that a stream still has to do is a use, "
               "too: wait for the stream before you free. Or is the address kept from an earlier "
               "call?";
    if (f.host_call && place_of(f) == location::across_end)
        return f.array_bytes == sizeof(void *) && !f.array[0]
                   ? "8 bytes are the size of a pointer: sizeof(x) of a pointer x. cudaMalloc "
                     "needs "
                     "the number of elements times the size of one, n * sizeof(float)."
                   : "Is the size that of this call's array, in bytes? The last piece may be "
                     "shorter than the others.";
    if (f.host_call && f.where[0])
        return "Does the pointer belong to the array that is meant, is it freed only once and "
               "after its last use, and does the size count bytes?";
    switch (kind_of(f)) {
    case out_of_bounds: {
        if (f.inaccessible_peer)
            return "Is the device current that is meant? If so, give it access to the other's "
                   "memory first, where cudaDeviceCanAccessPeer says that it can have it: asked "
                   "for each pair that the kernel needs. Copies work without.";
        if (place_of(f) == location::wrapped_index)
            return "A number below 0 was kept as unsigned, and came out 2^32 too large: which "
                   "difference can be negative? Keep it in an int, or compare before subtracting.";
        if (place_of(f) == location::before_start)
            return !current_case().before_start_hint.empty()
                       ? current_case().before_start_hint
                       : negative_index_hint(f.distance == f.bytes, false);
        if (place_of(f) == location::past_dynamic_shared)
            return "That parameter, between <<< and >>>, is the size of the dynamic shared memory, "
                   "in bytes: is it given, and is it the number of elements times sizeof?";
        if (place_of(f) == location::shared_below)
            return "An index is below 0 here: does it come of a signed char, of an int shifted to "
                   "the right, or of a difference?";
        if (in_shared(f) && !has_own_hint(f.array, true))
            return "How many elements has the array, and what is the largest index that a thread "
                   "computes for it, with all that is added to it, and in a loop's last turn?";
        if (place_of(f) == location::never_allocated)
            return "That is far from any array: print, on this line and for this thread, the index "
                   "or the offset and the numbers that it is made of. Which one is too large: a "
                   "count, a shift, a value that was never set?";
        const bool one_element = f.threads == 1 && place_of(f) == location::just_past_end;
        const bool nothing_known = !one_element && !has_own_hint(f.array, in_shared(f));
        if (nothing_known && index_is_not_thread_number(f, arguments))
            return fmt::format("Thread {} is none of those to spare at the end: how is the index "
                               "computed that it uses here, and is that index itself compared "
                               "with the number of elements of this array?",
                               f.thread[0]);
        if (nothing_known && f.write && number_given(arguments, "offset", 0) > 0)
            return "Guard the write: is it the index of the store itself, with the offset, that is "
                   "compared with the number of elements?";
        return large_index_hint(one_element, f.write, f.array, in_shared(f), false);
    }
    case uninitialised:
        if (order && !current_case().unwritten_hint.empty()) return current_case().unwritten_hint;
        if (order)
            return "Which kernel or copy should have written it before? Is it missing, does it "
                   "write too little, or elsewhere, or does it come later?";
        if (just_past_used_part(f)) return current_case().past_the_end.hint;
        if (in_shared(f) && !current_case().unwritten_shared_hint.empty())
            return current_case().unwritten_shared_hint;
        if (in_shared(f))
            return "Which thread should have written these bytes before? Either none does: look at "
                   "how far the loop or the test lets it go, and store 0 where there is no input, "
                   "beyond an edge, if zeros are meant. Or nobody should read them: look at the "
                   "index here.";
        if (place_of(f) == location::local)
            return "This array is the thread's own, and the thread has not stored what it reads. "
                   "If all threads of the block should use one array, __shared__ is missing before "
                   "its type; else store the element first.";
        return "Give it a value first, or do not read it: outputs start out with arbitrary "
               "contents, and so does shared memory.";
    case use_after_free:
        return "Is that address kept from an earlier call, in a static variable? Each call gets "
               "arrays of its own, scratch too. Or is memory freed before the last use has ended?";
    case misaligned:
        if (!current_case().misaligned_hint.empty()) return current_case().misaligned_hint;
        return fmt::format("An access of {0} bytes at once{1} needs an address that is a multiple "
                           "of {0}, and an array of smaller elements may begin anywhere: check the "
                           "pointer, or peel.",
                           f.bytes, f.bytes == 16 ? ", as by float4 or uint4," : "");
    case race:
        return race_hint(f);
    case barrier:
        if (!current_case().barrier_hint.empty()) return current_case().barrier_hint;
        return "Every thread that it is for must come to it: none may return, break or branch "
               "around it before.";
    case endless:
        return endless_hint(true) +
               (f.over_limit ? " The limit is the same on every machine, and more than twice what "
                               "any version of the workbook's own needs."
                             : "");
    case host_pointer:
        return "Copy the data to the device, or pass it by value.";
    case null_pointer:
        return "Was memory allocated for this pointer, or an address stored in it, before the "
               "kernel was launched?";
    default:
        return {};
    }
}

} // namespace

bool is_write_after_read(const simulator_finding &f)
{
    return kind_of(f) == simulator::finding_kind::race && in_shared(f) && f.overwrites &&
           !f.other_block && !f.other_grid && f.line > 0 && f.earlier_line > f.line;
}

bool is_in(const simulator_finding &f, const argument &a)
{
    return argument_name(a, 0) == fmt::format("`{}`", f.array);
}

verdict verdict_of(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    switch (kind_of(f)) {
    // Near a named buffer it is the student's index arithmetic. Far from any buffer, or in the
    // memory of a device without peer access, a GPU reports cudaErrorIllegalAddress.
    case out_of_bounds:
        return f.array[0] && !f.inaccessible_peer ? verdict::OUT_OF_BOUNDS : verdict::CUDA_ERROR;
    case use_after_free:
        return verdict::OUT_OF_BOUNDS;
    case uninitialised:
        return verdict::UNINITIALISED;
    case race:
        return verdict::RACE;
    case barrier:
        return verdict::BARRIER_MISUSE;
    case endless:
        return verdict::TIMEOUT;
    case unsupported:
        return verdict::SKIPPED;
    default:
        return verdict::CUDA_ERROR;
    }
}

bool lacks_order(const simulator_finding &f, const std::vector<argument> &arguments)
{
    using enum simulator::finding_kind;
    const simulator::finding_kind kind = kind_of(f);
    if (kind == race && f.other_grid) return true;
    if (streams_of_case() != stream_work::as_queued &&
        (kind == uninitialised || kind == use_after_free))
        return true;
    if (kind != uninitialised || place_of(f) != location::inside) return false;
    return std::none_of(arguments.begin(), arguments.end(),
                        [&](const argument &a) { return !a.wire.scratch && is_in(f, a); });
}

std::string hint_for(const simulator_finding &f, const std::vector<argument> &arguments)
{
    std::string hint = scratch_hint(f, arguments);
    if (hint.empty()) hint = second_call_hint(f, arguments);
    if (hint.empty()) hint = hint_of(f, arguments, lacks_order(f, arguments));
    return hint;
}

} // namespace grading
