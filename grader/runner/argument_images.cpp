// Fills the images of a call's arguments.
#include "argument_images.hpp"

#include "bytes.hpp"
#include "case_record.hpp"
#include "case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace grading {

namespace {

// Fills 4-byte elements with a NaN with a random payload, and all others with random bytes.
// Arithmetic without that NaN never yields it: a GPU's is 0x7fffffff (Programming Guide), x86's is
// 0xffc00000.
void poison(std::byte *to, std::uint64_t bytes, std::uint32_t element, std::uint64_t &random)
{
    if (element != 4) return fill_bytes(to, bytes, random);
    fill_words(to, bytes,
               0xffc00001u | (static_cast<std::uint32_t>(splitmix64(random)) & 0x3fffffu));
}

// Fills `to` with random bytes, each different from that of `from`.
void fill_different(std::byte *to, const std::byte *from, std::uint64_t bytes,
                    std::uint64_t &random)
{
    fill_bytes(to, bytes, random);
    for (std::uint64_t i = 0; i < bytes; ++i)
        to[i] = from[i] ^ (to[i] == std::byte{0} ? std::byte{0x5a} : to[i]);
}

} // namespace

std::uint64_t image_size(const argument_descriptor &s)
{
    constexpr std::uint64_t unit = 256;
    return (s.bytes + 2 * s.guard * parts_of(s) + unit - 1) / unit * unit;
}

const std::byte *payload_before(const argument &a, unsigned part)
{
    std::uint64_t each = a.wire.bytes / parts_of(a.wire);
    return inputs().data() + a.wire.input + part * (each + 2 * a.wire.guard) + a.wire.guard;
}
const std::byte *payload_after(const argument &a, unsigned part)
{
    std::uint64_t each = a.wire.bytes / parts_of(a.wire);
    return submission_worker().output().data() + a.wire.output_at +
           part * (each + 2 * a.wire.guard) + a.wire.guard;
}

std::string argument_name(const argument &a, unsigned part)
{
    std::string n = a.wire.name[0] ? a.wire.name : "an argument";
    return parts_of(a.wire) > 1 ? fmt::format("`{}[{}]`", n, part) : fmt::format("`{}`", n);
}

std::string elements(std::uint64_t n) { return fmt::format("{} element{}", n, n == 1 ? "" : "s"); }

argument_images::argument_images(std::vector<argument> &arguments) : arguments_(arguments)
{
    const std::uint64_t guard = options().simulated ? 4096 : 65536;
    if (!arguments_.empty()) claim_inputs(); // else nothing is written there
    for (argument &a : arguments_) {
        argument_descriptor &s = a.wire;
        s.guard = s.where == argument_memory::value ? 0 : guard;
        if (s.output && parts_of(s) > 1)
            end_case(verdict::INFRA_ERROR,
                     fmt::format("`{}` is several buffers, which hold no poison.", s.name),
                     "In grade.cpp: pass changed_in_place values.");
        s.input = end_;
        s.output_at = end_ - image_start;
        end_ += image_size(s);
    }
    std::uint64_t reports = report_bytes * static_cast<unsigned>(std::max(1, current_case().ranks));
    if (end_ > inputs().size() || report_at() + reports > submission_worker().output().size())
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The case's arguments take {} MiB and do not fit the shared memory.",
                             end_ >> 20));
}

void argument_images::fill(bool second)
{
    std::uint64_t random = unforeseen();
    for (const argument &a : arguments_) {
        const argument_descriptor &s = a.wire;
        std::byte *at = inputs().data() + s.input;
        if (s.where == argument_memory::value) {
            std::memcpy(at, a.value, s.bytes);
            continue;
        }
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k, at += each + 2 * s.guard) {
            fill_bytes(at, s.guard, random);
            fill_bytes(at + s.guard + each, s.guard, random);
            if (s.output && second && s.element != 4)
                fill_different(at + s.guard, payload_after(a, k), each, random);
            else if (s.output)
                poison(at + s.guard, each, s.element, random);
            else if (each && !second)
                copy_bytes(at + s.guard, static_cast<std::byte *>(a.data) + k * each, each);
        }
    }
}

} // namespace grading
