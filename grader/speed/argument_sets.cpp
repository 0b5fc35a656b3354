// Builds the images and requests of a benchmark's sets of arguments, and checks their outputs.
#include "argument_sets.hpp"

#include "api/call.hpp"
#include "api/compare.hpp"
#include "api/probes.hpp"
#include "api/workload.hpp"
#include "process/cores.hpp"
#include "runner/argument_images.hpp"
#include "runner/bytes.hpp"
#include "runner/call_requests.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "text/verdict.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace grading {

namespace {

constexpr std::uint64_t guard_bytes = 4096;

bool in_place(const argument_descriptor &s)
{
    return s.where != argument_memory::value && !s.read_only && !s.output;
}

std::byte *data_of(const argument &a) { return static_cast<std::byte *>(a.data); }

// Bytes of an in-place argument that a call may write.
std::span<std::byte> written_in_place(const argument &a)
{
    const argument_descriptor &s = a.wire;
    if (!in_place(s)) return {};
    if (a.written_count == 0) return {data_of(a), s.bytes}; // a plain buffer
    return {data_of(a) + a.written_first * s.element, a.written_count * s.element};
}

bool lies_in(std::span<std::byte> part, std::span<std::byte> whole)
{
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

bool holds_only(const std::byte *from, std::uint64_t bytes, std::uint32_t word)
{
    for (std::uint64_t i = 0; i + 4 <= bytes; i += 4)
        if (std::memcmp(from + i, &word, 4) != 0) return false;
    return bytes >= 4;
}

} // namespace

std::uint32_t poison_word(std::uint64_t random_bits)
{
    return 0xffc0fe01u | static_cast<std::uint32_t>(random_bits);
}

request request_to_wake()
{
    // The machine decides, not options().beside_clock, which a test may set: on few cores, who does
    // not sleep keeps the other from running.
    static const bool many_cores = cores_beside_clock(usable_cores()) > 0;
    request r;
    r.what = command::wake;
    if (many_cores) r.flags = stay_awake;
    return r;
}

request request_of_run(const char *function, const std::vector<std::uint32_t> &sets,
                       std::uint32_t flags)
{
    request r{.what = command::run, .flags = flags};
    std::strncpy(r.function, function, sizeof r.function - 1);
    r.calls = static_cast<std::uint32_t>(sets.size());
    std::ranges::copy(sets, r.sets);
    return r;
}

benchmark_set::benchmark_set(std::unique_ptr<workload> work, shared_memory &in, std::uint64_t at,
                             std::uint32_t number)
    : work_(std::move(work)), arguments_(work_->arguments()), in_(in), at_(at), number_(number)
{
    name_arguments(work_->function(), arguments_);
    for (argument &a : arguments_) {
        argument_descriptor &s = a.wire;
        if (s.repeated_to)
            end_case(verdict::INFRA_ERROR, fmt::format("`{}` repeats a piece.", s.name),
                     "change() needs inputs that are whole.");
        s.guard = s.where == argument_memory::value ? 0 : guard_bytes;
        s.input = at;
        at += image_size(s);
        if (s.where != argument_memory::value && !s.read_only) {
            s.output_at = output_bytes_;
            output_bytes_ += image_size(s);
        }
        // Managed pages must begin on the host, and workers poison only device and pinned memory.
        reload_ |= s.where == argument_memory::managed || s.where == argument_memory::per_device ||
                   (s.output && !poisoned(s.where));
    }
    end_ = at;
    if (end_ > in_.size())
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The inputs of {}'s benchmark need more than {} MiB of shared memory.",
                             work_->function(), in_.size() >> 20),
                 "The lab's sizes are too large for this machine.");
}

void benchmark_set::fill_image()
{
    std::uint64_t random = unforeseen();
    for (const argument &a : arguments_) {
        const argument_descriptor &s = a.wire;
        std::byte *to = in_.data() + s.input;
        if (s.where == argument_memory::value) {
            std::memcpy(to, a.value, s.bytes);
            continue;
        }
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k, to += each + 2 * s.guard) {
            fill_bytes(to, s.guard, random);
            fill_bytes(to + s.guard + each, s.guard, random);
            if (!s.output) copy_bytes(to + s.guard, data_of(a) + k * each, each);
            if (s.output && !poisoned(s.where)) // poison_outputs() does not reach it
                fill_words(to + s.guard, each, poison_word(splitmix64(random)));
        }
    }
}

bool benchmark_set::uses_host_memory() const
{
    constexpr std::uint64_t large = 1 << 20; // a filter, say, is small
    return std::ranges::any_of(arguments_, [](const argument &a) {
        return a.wire.where != argument_memory::value && a.wire.where != argument_memory::device &&
               a.wire.bytes > large;
    });
}

request benchmark_set::load() const
{
    request r = load_request(arguments_, work_->function());
    r.set = number_;
    return r;
}

request benchmark_set::part(std::uint32_t index, std::uint64_t at, std::uint64_t bytes) const
{
    const argument_descriptor &s = arguments_[index].wire;
    return request{.what = command::patch,
                   .set = number_,
                   .index = index,
                   .offset = s.input + s.guard + at,
                   .at = at,
                   .bytes = bytes};
}

benchmark_set::changes benchmark_set::change(std::mt19937_64 &random, bool restored)
{
    const std::vector<std::span<std::byte>> spans = work_->change(random);
    find_arguments();
    if (reload_) {
        fill_image();
        return {.refresh = {load()}, .restore = {}};
    }
    if (spans.empty()) expect_unchanged(); // inputs that are only read are not sent again
    changes result;
    add_changes(spans, result.refresh);
    for (std::uint32_t i = 0; i < arguments_.size(); ++i) {
        const argument &a = arguments_[i];
        if (!restored || !in_place(a.wire)) continue;
        const std::span<std::byte> e = written_in_place(a);
        request r = part(i, static_cast<std::uint64_t>(e.data() - data_of(a)), e.size());
        copy_bytes(in_.data() + r.offset, e.data(), e.size());
        result.restore.push_back(r);
    }
    return result;
}

// Looks the arguments up again: a workload may have reallocated its vectors.
void benchmark_set::find_arguments()
{
    const std::vector<argument> now = work_->arguments();
    bool same = now.size() == arguments_.size();
    for (std::size_t i = 0; same && i < now.size(); ++i) {
        argument &a = arguments_[i];
        same = now[i].wire.bytes == a.wire.bytes && now[i].wire.where == a.wire.where &&
               std::equal(std::begin(a.value), std::end(a.value), now[i].value);
        a.data = now[i].data;
    }
    if (!same)
        end_case(
            verdict::INFRA_ERROR,
            fmt::format("The workload of {} changed a size, or another value.", work_->function()),
            "change() may put other elements into the arguments, and only as many as before.");
}

void benchmark_set::expect_unchanged() const
{
    for (const argument &a : arguments_) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || s.output || in_place(s)) continue;
        if (!equal_bytes(in_.data() + s.input + s.guard, data_of(a), s.bytes))
            end_case(verdict::INFRA_ERROR,
                     fmt::format("The workload of {} changed `{}` and did not say so.",
                                 work_->function(), s.name),
                     "change() must return the bytes that it changed.");
    }
}

void benchmark_set::add_changes(const std::vector<std::span<std::byte>> &spans,
                                std::vector<request> &to)
{
    for (std::span<std::byte> c : spans) {
        const auto a = std::ranges::find_if(arguments_, [&](const argument &a) {
            return a.data && !a.wire.output && lies_in(c, {data_of(a), a.wire.bytes});
        });
        if (a == arguments_.end())
            end_case(verdict::INFRA_ERROR,
                     fmt::format("The workload of {} changed bytes that are in none of its inputs.",
                                 work_->function()),
                     "change() must return spans inside the vectors that arguments() named.");
        if (lies_in(c, written_in_place(*a))) continue; // `restore` covers it
        auto at = static_cast<std::uint64_t>(c.data() - data_of(*a));
        request r = part(static_cast<std::uint32_t>(a - arguments_.begin()), at, c.size());
        std::memcpy(in_.data() + r.offset, c.data(), c.size());
        to.push_back(r);
    }
}

request benchmark_set::poison_outputs(std::uint32_t word) const
{
    return request{.what = command::poison, .set = number_, .pattern = word};
}

// Copies what a call may write. The rest of an argument that is changed in place must be as in the
// image: the workload's own copy already is.
void benchmark_set::take_payload(const argument &a, std::byte *to, const std::byte *before,
                                 const std::byte *after, std::uint64_t bytes) const
{
    const std::span<std::byte> written = written_in_place(a);
    if (written.empty() || parts_of(a.wire) > 1) return copy_bytes(to, after, bytes);
    const auto first = static_cast<std::uint64_t>(written.data() - data_of(a));
    const std::uint64_t end = first + written.size();
    if (!equal_bytes(before, after, first) ||
        !equal_bytes(before + end, after + end, bytes - end)) {
        std::uint64_t i = 0;
        const std::uint64_t e = a.wire.element;
        // Bounded: the submission's process can change `after` meanwhile.
        while (i + 1 < bytes / e && ((i * e >= first && i * e < end) ||
                                     std::memcmp(before + i * e, after + i * e, e) == 0))
            ++i;
        end_case(verdict::WRONG_ANSWER,
                 fmt::format("{} changed `{}`[{}] from {} to {} while its speed was measured; the "
                             "contract asks for elements {} to {} and leaves the rest as it was.",
                             work_->function(), a.wire.name, i, a.show(before + i * e),
                             a.show(after + i * e), first / e, end / e - 1),
                 "The smaller cases are right, so look for what only many elements have: many "
                 "blocks, and indices beyond some hundred thousand.");
    }
    copy_bytes(to + first, after + first, written.size());
}

request benchmark_set::store() const
{
    return request{.what = command::store, .set = number_, .flags = writable_only};
}

void benchmark_set::take(const shared_memory &out, std::uint32_t word) const
{
    bool asked = false, written = false;
    for (const argument &a : arguments_) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || s.read_only) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        const std::byte *before = in_.data() + s.input, *after = out.data() + s.output_at;
        for (unsigned k = 0; k < parts_of(s); ++k) {
            std::uint64_t far = s.guard + each;
            if (std::memcmp(before, after, s.guard) != 0 ||
                std::memcmp(before + far, after + far, s.guard) != 0)
                end_case(verdict::OUT_OF_BOUNDS,
                         fmt::format("{} wrote outside `{}`, which has {} elements, while its "
                                     "speed was measured.",
                                     work_->function(), s.name, each / s.element),
                         "Compare the index with the number of elements before the write: the last "
                         "block usually has threads to spare.");
            take_payload(a, data_of(a) + k * each, before + s.guard, after + s.guard, each);
            before += each + 2 * s.guard;
            after += each + 2 * s.guard;
        }
        if (!s.output || s.scratch || !poisoned(s.where)) continue;
        asked = true;
        written |= !holds_only(data_of(a) + a.written_first * s.element,
                               a.written_count * s.element, word);
    }
    if (asked && !written)
        end_case(verdict::NOT_WRITTEN,
                 fmt::format("{} returned, and no element of its output was written.",
                             work_->function()),
                 does_a_kernel_write);
}

} // namespace grading
