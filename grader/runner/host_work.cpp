// Bounds the host's work by a call's arguments and the simulator's counters.
#include "host_work.hpp"

#include "case_record.hpp"
#include "case_run.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace grading {

namespace {

// Which kernel a command launches, or which address and size it names, can carry information, too.
constexpr std::uint64_t command_bytes = 16;
// Allowance for ordinary code: a submission that prints from a kernel, or copies, to show its
// progress has seen its inputs, launches kernels, and may have a flag in pinned memory.
constexpr std::uint64_t usual_carried_bytes = 1 << 10, usual_shared_bytes = 32;

std::uint64_t beyond(std::uint64_t usual, std::uint64_t bytes)
{
    return bytes - std::min(bytes, usual);
}

std::uint64_t brought_by_host(const counted &c, bool steers)
{
    const std::uint64_t carried =
        steers ? c.parameter_bytes // beyond pointers and sizes
               : beyond(usual_carried_bytes, c.carried_bytes + command_bytes * c.host_commands);
    return c.copied_in_bytes + beyond(usual_shared_bytes, c.shared_with_host_bytes) + carried;
}

} // namespace

argument_bytes argument_bytes_of(const std::vector<argument> &arguments)
{
    argument_bytes p;
    for (const argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        switch (s.where) {
        case argument_memory::host:
            p.on_host += s.bytes;
            break;
        case argument_memory::device:
        case argument_memory::per_device:
            if (s.scratch) break;
            p.element = std::max<std::uint64_t>(p.element, s.element);
            if (!s.output) p.device_inputs += s.buffer_bytes();
            if (!s.read_only) p.device_outputs += s.bytes;
            break;
        case argument_memory::pinned:
        case argument_memory::mapped:
        case argument_memory::managed:
        case argument_memory::acquired:
            p.shared_with_host = true;
            break;
        case argument_memory::value:
        case argument_memory::absent:
            break;
        }
    }
    return p;
}

std::uint64_t bytes_seen_by_host(const counted &c)
{
    return c.copied_out_bytes + c.shared_with_host_bytes + c.printed_bytes;
}

void check_kernels_worked(const std::string &function, double bytes, double multiplications,
                          const counted &c)
{
    constexpr double nearly = 0.9;
    const auto moved = static_cast<double>(c.compulsory_bytes);
    const auto multiplied = static_cast<double>(c.multiplications);
    auto end = [&](double did, const char *what, double required) {
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("{} by kernels of {}: {:.0f}, and no version needs less than {:.0f}. "
                             "The host did the work.",
                             what, function, did, required),
                 "Let kernels do all of the work, on the device.");
    };
    if (moved < nearly * bytes) end(moved, "Bytes read and written", bytes);
    if (multiplied < nearly * multiplications) end(multiplied, "Multiplications", multiplications);
}

void check_host_stayed_out(const char *function, const argument_bytes &p, const counted &c)
{
    const auto &allowed = current_case().host;
    if (allowed.exempt || p.shared_with_host || p.device_outputs == 0) return;
    auto part_of = [&](std::uint64_t bytes) {
        const auto part = static_cast<std::uint64_t>(allowed.share * static_cast<double>(bytes));
        return p.element + allowed.bytes + part;
    };
    const std::uint64_t seen = bytes_seen_by_host(c), brought = brought_by_host(c, allowed.steers);
    if (seen <= part_of(p.device_inputs) || brought <= p.on_host + part_of(p.device_outputs))
        return;
    end_case(verdict::IMPLAUSIBLE,
             fmt::format("The host saw {} bytes of device memory during {} and brought {} to the "
                         "device, whose inputs have {} bytes and outputs {}: the host worked on "
                         "them.",
                         seen, function, brought, p.device_inputs, p.device_outputs),
             "Inputs and outputs lie on the device: let kernels do all of the work there, and "
             "bring no more to the host than a few counts.");
}

} // namespace grading
