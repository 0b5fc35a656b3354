// Judges guards, inputs and untouched elements after a call, and takes the outputs over.
#include "output_checks.hpp"

#include "argument_images.hpp"
#include "bytes.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "index_hints.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace grading {

namespace {

// Returns the case's misconception that yields exactly these surplus elements of an output.
std::optional<misconception<float>> known_too_many(const argument &a)
{
    if (a.wire.element != sizeof(float)) return {};
    const std::byte *before = payload_before(a), *after = payload_after(a);
    for (const misconception<float> &k : current_case().too_many) {
        const std::vector<float> values = k.looks_like();
        const std::size_t bytes = values.size() * sizeof(float);
        if (values.size() > a.written_first + a.written_count && bytes <= a.wire.bytes &&
            std::memcmp(after, values.data(), bytes) == 0 &&
            std::memcmp(before + bytes, after + bytes, a.wire.bytes - bytes) == 0)
            return k;
    }
    return {};
}

// The changed bytes of a guard, by their distance from the first byte of the payload.
struct guard_changes {
    std::int64_t count = 0, first = 0, last = 0;
};

guard_changes changes_between(std::int64_t from, std::int64_t to, const std::byte *before,
                              const std::byte *after)
{
    guard_changes changed;
    for (std::int64_t i = from; i < to; ++i) {
        if (before[i] == after[i]) continue;
        if (changed.count++ == 0) changed.first = i;
        changed.last = i;
    }
    return changed;
}

} // namespace

void check_guards(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value) continue;
        std::uint64_t each = s.bytes / parts_of(s), whole = s.buffer_bytes() / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k) {
            const std::byte *before = payload_before(a, k), *after = payload_after(a, k);
            const auto g = static_cast<std::int64_t>(s.guard), n = static_cast<std::int64_t>(each),
                       e = static_cast<std::int64_t>(s.element);
            const guard_changes past = changes_between(n, n + g, before, after);
            const guard_changes ahead = changes_between(-g, 0, before, after);
            const std::string name = argument_name(a, k);
            if (past.count && s.scratch)
                end_case(verdict::OUT_OF_BOUNDS,
                         fmt::format("The call wrote past the end of {}, which has the {} bytes "
                                     "that {}_scratch asked for: the first write is at byte {}.",
                                     name, a.scratch_bytes, current_case().function,
                                     a.scratch_bytes + static_cast<std::uint64_t>(past.first)),
                         "Ask for more, or look for an index, or a copy's number of bytes, that "
                         "can be too large.");
            if (past.count)
                end_case(
                    verdict::OUT_OF_BOUNDS,
                    fmt::format(
                        "The call wrote past the end of {}, which has {}: the first write is at "
                        "index {}.",
                        name, elements(whole / s.element),
                        (past.first + static_cast<std::int64_t>(whole - each)) / e),
                    large_index_hint(past.first < n + e && past.count <= e, true,
                                     std::string_view(name).substr(1, name.size() - 2), false,
                                     current_case().results_are_copied));
            if (ahead.count)
                end_case(verdict::OUT_OF_BOUNDS,
                         fmt::format("The call wrote before the start of {}: at index {}.", name,
                                     -((-ahead.last + e - 1) / e)),
                         negative_index_hint(ahead.last + e >= 0 && ahead.count <= e,
                                             current_case().results_are_copied));
        }
    }
}

void check_inputs_unchanged(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || !s.read_only) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k) {
            const std::byte *before = payload_before(a, k), *after = payload_after(a, k);
            if (equal_bytes(before, after, each)) continue;
            std::uint64_t i = 0;
            // Bounded: on a GPU the submission's process can change `after` meanwhile.
            while (i + 1 < each / s.element &&
                   std::memcmp(before + i * s.element, after + i * s.element, s.element) == 0)
                ++i;
            end_case(
                verdict::INPUT_MODIFIED,
                fmt::format(
                    "{}[{}] was {} before the call and is {} after it; the contract says const.",
                    argument_name(a, k), i, a.show(before + i * s.element),
                    a.show(after + i * s.element)),
                "Write only to the outputs; keep intermediate values in registers or shared "
                "memory.");
        }
    }
}

void check_untouched(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        if (!a.wire.output) continue;
        const std::byte *before = payload_before(a), *after = payload_after(a);
        std::uint64_t n = a.wire.bytes / a.wire.element;
        const std::uint64_t written = a.written_first * a.wire.element;
        const std::uint64_t written_end = written + a.written_count * a.wire.element;
        if (equal_bytes(before, after, written) &&
            equal_bytes(before + written_end, after + written_end, a.wire.bytes - written_end))
            continue;
        for (std::uint64_t i = 0; i < n; ++i) {
            if (i == a.written_first) i += a.written_count;
            if (i >= n) break;
            if (std::memcmp(before + i * a.wire.element, after + i * a.wire.element,
                            a.wire.element) == 0)
                continue;
            const std::string asked = a.written_count == 0
                                          ? "none of its elements"
                                          : fmt::format("elements {} to {}", a.written_first,
                                                        a.written_first + a.written_count - 1);
            const std::string message = fmt::format(
                "{}[{}] was overwritten with {}; the contract asks for {} and leaves the rest as "
                "it was.",
                argument_name(a, 0), i, a.show(after + i * a.wire.element), asked);
            if (const auto known = known_too_many(a))
                end_case(verdict::WRONG_ANSWER, message + " " + known->cause, known->next);
            end_case(verdict::WRONG_ANSWER, message,
                     "Is an element stored that should not be, or one at a place too far on? Or "
                     "does a guard let more through than the range that lab.hpp states?");
        }
    }
}

void copy_back(std::vector<argument> &arguments)
{
    for (argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || s.read_only) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s) && each; ++k)
            copy_bytes(static_cast<std::byte *>(a.data) + k * each, payload_after(a, k), each);
        current_case().outputs.push_back({a.data, s.name, parts_of(s) > 1 ? each / s.element : 0});
    }
}

void keep_differing(std::vector<argument> &arguments)
{
    for (argument &a : arguments) {
        if (!a.keep_second) continue;
        const std::uint64_t each = a.wire.bytes / parts_of(a.wire);
        if (parts_of(a.wire) == 1 &&
            equal_bytes(static_cast<const std::byte *>(a.data), payload_after(a), each))
            continue;
        std::vector<std::byte> all; // the parts, without the guards between them
        for (unsigned k = 0; k < parts_of(a.wire); ++k)
            all.insert(all.end(), payload_after(a, k), payload_after(a, k) + each);
        const std::uint64_t first = a.written_first * a.wire.element;
        if (std::memcmp(static_cast<const std::byte *>(a.data) + first, all.data() + first,
                        a.written_count * a.wire.element) != 0)
            a.keep_second(a.second, all.data(), a.wire.bytes / a.wire.element);
    }
}

} // namespace grading
