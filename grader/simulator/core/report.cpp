// Describes the findings of a kernel: the problem, the source line, the thread and the memory.
#include "async_copies.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>

namespace simulator::core {
namespace {

// Units of work (machine/work_meter.hpp): a grid may find the same fault again and again.
constexpr std::uint64_t work_of_finding = 10'000;

std::string hexadecimal(std::uint64_t v)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
    return text;
}

std::string bytes_text(std::uint64_t n)
{
    return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

void describe_global(finding &f, std::uint64_t address, std::uint32_t bytes, access_problem p,
                     std::uint8_t closed)
{
    auto &device = memory::instance();
    f.address = address;
    if (!device.contains(address)) {
        bool null = address < 4096;
        f.where =
            null ? "a null pointer" : "address " + hexadecimal(address) + ", no device memory";
        if (p == access_problem::outside)
            f.kind = null                 ? finding_kind::null_pointer
                     : address >> 47 == 0 ? finding_kind::host_pointer
                                          : finding_kind::out_of_bounds;
        return;
    }
    device.locate(f, address, bytes);
    const allocation *a = device.find(address);
    if (p != access_problem::outside || a == nullptr) return;
    f.inaccessible_peer = (*device.shadow_at(address) & closed) != 0;
    if (f.inaccessible_peer)
        f.where += " on device " + std::to_string(a->device) +
                   ", which the kernel's device has no access to: cudaDeviceEnablePeerAccess";
    if (!a->live && address - a->start < a->bytes) f.kind = finding_kind::use_after_free;
}

const char *reason(finding_kind k)
{
    switch (k) {
    case finding_kind::null_pointer:
        return "through a null pointer";
    case finding_kind::host_pointer:
        return "through a pointer that is no device pointer: is it host memory?";
    case finding_kind::use_after_free:
        return "of memory that has been freed";
    case finding_kind::misaligned:
        return "at an address that is no multiple of its size";
    case finding_kind::uninitialised:
        return "of memory that nobody has written";
    case finding_kind::read_only:
        return "to memory that a kernel may only read";
    default:
        return "outside its memory";
    }
}

// The demangled name of a variable, without the function in which it is declared.
std::string variable_name(const std::string &mangled)
{
    int status = 0;
    char *text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string s = text == nullptr ? mangled : text;
    std::free(text);
    std::size_t last = s.rfind("::");
    return last == s.npos ? s : s.substr(last + 2);
}

// If only the first bytes of an array in shared memory are written, adds their number.
void append_written_size(const context &c, finding &f)
{
    const program &p = *c.g->kernel;
    std::uint32_t start = 0, end = c.shared_bytes;
    for (const auto &[name, at] : p.shared_offsets)
        if (at <= f.address)
            start = std::max(start, at);
        else
            end = std::min(end, at);
    const auto written = [&](std::uint32_t k) { return (c.shared_shadow[k] & initialised) != 0; };
    std::uint32_t first = start;
    while (first < end && written(first)) ++first;
    if (first == start) return;
    for (std::uint32_t k = first; k < end; ++k)
        if (written(k)) return;
    f.where += ", of which only the first " + std::to_string(first - start) + " are written";
}

// Turns a read of bytes that a pending cp.async will write into a race that names the copy.
void blame_pending_copy(const context &c, finding &f)
{
    if ((c.shared_shadow[f.address] & in_flight) == 0) return;
    f.kind = finding_kind::race;
    f.detail = "a read of " + bytes_text(f.bytes) + " while the cp.async at " +
               pending_copy_location(*c.b, f.address) +
               " is under way to them: before it, wait for the copy and meet at a barrier; or " +
               "start the copy only when nobody reads any more";
}

finding of_access(context &c, const instruction &i, access_problem p, int lane,
                  std::uint64_t address, std::uint32_t bytes, ptx::space s, bool write,
                  std::uint64_t lanes)
{
    const auto kind = p == access_problem::outside      ? finding_kind::out_of_bounds
                      : p == access_problem::misaligned ? finding_kind::misaligned
                      : p == access_problem::read_only  ? finding_kind::read_only
                                                        : finding_kind::uninitialised;
    finding f = at_lane(c, i, lane, kind);
    f.write = write;
    f.bytes = bytes;
    f.threads = lanes;
    f.address = address;
    if (s == ptx::space::shared) {
        describe_shared(c, f, address);
        if (p == access_problem::uninitialised) append_written_size(c, f);
    } else if (s == ptx::space::local) {
        f.place = location::local;
        f.where = "local memory, byte " + std::to_string(address) + " of " +
                  std::to_string(c.local_bytes);
    } else if (s == ptx::space::param)
        f.where = "the kernel's parameters";
    else
        describe_global(f, address, bytes, p, c.closed);
    // A write of uninitialised memory is the read-modify-write of an atomic.
    const bool atomic = write && f.kind == finding_kind::uninitialised;
    f.detail = std::string(atomic  ? "an atomic"
                           : write ? "a write"
                                   : "a read") +
               " of " + bytes_text(bytes) + " " + reason(f.kind);
    return f;
}

} // namespace

void end_grid(context &c, const instruction &i, int error, finding f)
{
    c.halt();
    c.g->result = {error,
                   f.kernel + ", " + location_text(*c.running, i.statement) + ": " + f.detail};
    findings::instance().add(std::move(f));
}

finding at_lane(context &c, const instruction &i, int lane, finding_kind kind, std::string detail)
{
    c.work += work_of_finding;
    finding f;
    f.kind = kind;
    f.detail = std::move(detail);
    const code &k = *c.running;
    const source_line &p = k.locations[k.location_of_statement[i.statement]];
    f.kernel = c.g->kernel->display_name;
    f.file = p.file;
    f.line = p.line;
    f.block = c.b->index;
    f.thread = thread_of(*c.g, *c.w, lane);
    f.grid_size = c.g->config->grid;
    f.block_size = c.g->config->block;
    return f;
}

void describe_shared(const context &c, finding &f, std::uint64_t address)
{
    std::uint64_t at = address >= shared_window ? address - shared_window : address;
    const program &p = *c.g->kernel;
    f.address = at;
    // Shared addresses have 32 bits: those in the upper half come from a negative index.
    const bool below = at >= (std::uint64_t{1} << 31) && at < (std::uint64_t{1} << 32);
    f.where = "shared memory, byte " +
              std::to_string(below ? static_cast<std::int64_t>(at) - (std::int64_t{1} << 32)
                                   : static_cast<std::int64_t>(at)) +
              " of " + std::to_string(c.shared_bytes);
    f.place = at < c.shared_bytes    ? location::shared
              : p.has_dynamic_shared ? location::past_dynamic_shared
              : below                ? location::shared_below
                                     : location::shared_past_end;
    if (at >= c.shared_bytes) {
        if (f.place == location::shared_past_end && p.shared_offsets.size() == 1) {
            f.array = variable_name(p.shared_offsets.begin()->first);
            f.distance = at - p.shared_offsets.begin()->second;
        }
        if (p.has_dynamic_shared)
            f.where += ": the launch's third parameter asks for " +
                       bytes_text(c.shared_bytes - std::min(c.shared_bytes, p.dynamic_offset));
        return;
    }
    if (at >= p.dynamic_offset && c.shared_bytes > p.dynamic_offset) {
        f.distance = at - p.dynamic_offset;
        f.where += " (byte " + std::to_string(f.distance) + " of the dynamic part)";
        return;
    }
    const std::pair<const std::string, std::uint32_t> *last = nullptr; // the variable at this byte
    for (const auto &v : p.shared_offsets)
        if (v.second <= at && (last == nullptr || v.second >= last->second)) last = &v;
    if (last == nullptr) return;
    f.array = variable_name(last->first);
    f.distance = at - last->second;
    f.where += " (byte " + std::to_string(f.distance) + " of `" + f.array + "`)";
}

dim thread_of(const grid &g, const warp &w, int lane)
{
    std::size_t t = 32 * w.index + static_cast<std::size_t>(lane);
    return {g.thread_ids[0][t], g.thread_ids[1][t], g.thread_ids[2][t]};
}

std::string sync_name(const code &k, std::uint32_t statement)
{
    const auto &op = k.body.statements[statement].op;
    if (op[0] == "bar" || op[0] == "barrier")
        return op.size() > 1 && op[1] == "warp" ? "warp barrier" : "barrier";
    if (op[0] == "shfl") return "shuffle";
    return op[0] == "redux" ? "warp reduction" : std::string(op[0]);
}

std::string location_text(const code &k, std::uint32_t statement)
{
    const source_line &p = k.locations[k.location_of_statement[statement]];
    if (p.line == 0) return "PTX line " + std::to_string(k.body.statements[statement].text_line);
    return p.file.substr(p.file.rfind('/') + 1) + ":" + std::to_string(p.line);
}

void report(context &c, const instruction &i, access_problem p, int lane, std::uint64_t address,
            std::uint32_t bytes, ptx::space s, bool write, std::uint64_t lanes)
{
    finding f = of_access(c, i, p, lane, address, bytes, s, write, lanes);
    if (s == ptx::space::shared && p == access_problem::uninitialised) blame_pending_copy(c, f);
    if (p == access_problem::uninitialised)
        findings::instance().add(std::move(f));
    else
        end_grid(c, i,
                 p == access_problem::misaligned ? cudaErrorMisalignedAddress
                                                 : cudaErrorIllegalAddress,
                 std::move(f));
}

void report_undefined(context &c, const instruction &i, int lane, std::uint64_t address,
                      std::uint32_t bytes, ptx::space s, std::uint64_t times)
{
    findings::instance().add(
        of_access(c, i, access_problem::uninitialised, lane, address, bytes, s, false, times));
}

void stop_grid(context &c, const instruction &i, finding_kind kind, int error, int lane,
               std::string detail)
{
    finding f = at_lane(c, i, lane, kind, std::move(detail));
    if (kind == finding_kind::barrier) f.where = "a " + sync_name(*c.running, i.statement);
    end_grid(c, i, error, std::move(f));
}

} // namespace simulator::core
