// Finds the memory behind the pointers of a copy or fill.
#include "memory_side.hpp"

#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace simulator::runtime {

namespace {

cudaError_t refuse_host_pointer(const char *function, const void *p, bool write,
                                const std::string &its)
{
    if (is_symbol(p))
        return fail_because(cudaErrorInvalidValue,
                            its + "the host's name of a variable in device memory, which "
                                  "cudaMemcpyToSymbol and cudaMemcpyFromSymbol copy",
                            wrong_pointer::device_variable);
    if (!std::string_view(function).starts_with("cudaMemcpy"))
        return fail_because(cudaErrorInvalidValue,
                            its + "host memory, where device memory is needed");
    return fail_because(cudaErrorInvalidValue,
                        its + "host memory, and the direction it was given says device",
                        write ? wrong_pointer::destination_on_host : wrong_pointer::source_on_host);
}

struct host_array {
    std::uint64_t bytes = 0;
    std::string name;
};

std::map<address, host_array> &host_arrays() // by their first bytes
{
    static std::map<address, host_array> all;
    return all;
}

// Reports a read that begins in a named host array and ends past its end.
cudaError_t check_host_read(const char *function, address at, std::uint64_t bytes)
{
    auto it = host_arrays().upper_bound(at);
    if (it == host_arrays().begin()) return cudaSuccess;
    const auto &[start, array] = *--it;
    if (at - start >= array.bytes || bytes <= array.bytes - (at - start)) return cudaSuccess;
    finding f;
    f.kind = finding_kind::out_of_bounds;
    f.kernel = function;
    f.host_call = true;
    f.address = at;
    f.place = location::across_end;
    f.array = array.name;
    f.array_bytes = array.bytes;
    f.detail = std::string(function) + " reads " + std::to_string(bytes) + " bytes";
    f.where = "from there on `" + array.name + "` has only " +
              std::to_string(array.bytes - (at - start)) +
              ", however many the destination has room for";
    findings::instance().add(std::move(f));
    mark_failure_reported();
    return cudaErrorInvalidValue;
}

} // namespace

void name_host_array(const void *at, std::uint64_t bytes, const char *name)
{
    constexpr std::size_t max_arrays = 1000; // no call has as many arguments
    forget_host_arrays(at, bytes);
    if (host_arrays().size() < max_arrays) host_arrays()[as_address(at)] = {bytes, name};
}

void forget_host_arrays(const void *at, std::uint64_t bytes)
{
    std::erase_if(host_arrays(), [=](const auto &a) { return a.first - as_address(at) < bytes; });
}

cudaError_t look_up(const char *function, const void *p, std::uint64_t bytes,
                    expected_side expected, bool write, side &out)
{
    const std::string its = write ? "its destination is " : "its source is ";
    if (!p) return fail_because(cudaErrorInvalidValue, its + "a null pointer", wrong_pointer::null);
    memory &m = memory::instance();
    const address at = as_address(p);
    if (!m.contains(at)) {
        if (expected == expected_side::device) return refuse_host_pointer(function, p, write, its);
        out.bytes = static_cast<std::byte *>(const_cast<void *>(p));
        out.pageable = !is_registered(p);
        return write ? cudaSuccess : check_host_read(function, at, bytes);
    }
    const allocation *a = m.find(at);
    const auto misuse = [&](finding_kind kind, const char *how) {
        report_misuse(kind, function, p, bytes, write,
                      std::string(function) + (write ? " writes " : " reads ") +
                          std::to_string(bytes) + " bytes " + how);
        return cudaErrorInvalidValue;
    };
    if (a && !a->live) return misuse(finding_kind::use_after_free, "of memory that was freed");
    if (!a || at < a->start || at >= a->start + a->bytes)
        return misuse(finding_kind::out_of_bounds, "outside every allocation");
    if (bytes > a->start + a->bytes - at)
        return misuse(finding_kind::out_of_bounds, "and runs past the end of the allocation");
    if (a->kind == memory_kind::heap) return cudaErrorInvalidValue; // accessible only to kernels
    const bool both = a->kind == memory_kind::pinned || a->kind == memory_kind::managed;
    if (expected == expected_side::host && !both)
        return fail_because(
            cudaErrorInvalidValue, its + "device memory, and the direction it was given says host",
            write ? wrong_pointer::destination_on_device : wrong_pointer::source_on_device);
    out = {m.at(at), at, m.shadow_at(at), a->kind == memory_kind::pinned, a->device};
    out.managed = a->kind == memory_kind::managed;
    return cudaSuccess;
}

bool extent_of(const box &b, const layout &l, std::uint64_t &bytes)
{
    std::uint64_t rows = 0, slices = 0, plane = 0, all = 0;
    return !__builtin_mul_overflow(b.width, b.height, &plane) &&
           !__builtin_mul_overflow(plane, b.depth, &all) &&
           !__builtin_mul_overflow(l.pitch, b.height - 1, &rows) &&
           !__builtin_mul_overflow(l.slice, b.depth - 1, &slices) &&
           !__builtin_add_overflow(rows, slices, &bytes) &&
           !__builtin_add_overflow(bytes, b.width, &bytes);
}

// Slices may overlap in part, because the bounds check gives a better message for a box with a row
// too many. Larger overlaps are refused, since such a copy could take very long on little memory.
bool rows_overlap(const box &b, const layout &l)
{
    std::uint64_t slice = 0;
    return (b.height > 1 && b.width > l.pitch) ||
           (b.depth > 1 &&
            (!extent_of({b.width, b.height, 1}, l, slice) || l.slice < slice - slice / 2));
}

cudaError_t place_of(const cudaPitchedPtr &p, const cudaPos &from, std::byte *&at, layout &rows)
{
    rows.pitch = p.pitch;
    std::uint64_t y = 0, z = 0;
    if (__builtin_mul_overflow(p.pitch, p.ysize, &rows.slice) ||
        __builtin_mul_overflow(rows.pitch, from.y, &y) ||
        __builtin_mul_overflow(rows.slice, from.z, &z))
        return cudaErrorInvalidValue;
    at = static_cast<std::byte *>(p.ptr) + from.x + y + z;
    return cudaSuccess;
}

void report_misuse(finding_kind kind, const char *function, const void *at, std::uint64_t bytes,
                   bool write, std::string detail)
{
    finding f;
    f.kind = kind;
    f.kernel = function;
    f.host_call = true;
    f.write = write;
    f.address = as_address(at);
    f.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffffff));
    memory::instance().locate(f, f.address, bytes);
    f.detail = std::move(detail);
    findings::instance().add(std::move(f));
    mark_failure_reported();
}

} // namespace simulator::runtime
