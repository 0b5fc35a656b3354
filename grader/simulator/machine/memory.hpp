// Device memory: one reserved address range per process, with a shadow byte for each data byte.
//
// There are three views of the same range, each `reserved()` bytes long:
//   - `base()`: the addresses that programs see. They are inaccessible, so that host code that
//     reads device memory faults as on hardware. Pinned and managed memory is the exception: it
//     lies in the upper half, a file that device and host share.
//   - `data()`: the simulator's own mapping of the bytes.
//   - `shadow()`: one byte per data byte, a set of `shadow_bits`.
// Allocations never reuse addresses, occupy whole pages and are separated by red zones.
#pragma once

#include "finding.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simulator {

using address = std::uint64_t;
inline address as_address(const void *p) { return reinterpret_cast<address>(p); }

enum shadow_bits : std::uint8_t {
    addressable = 1, // inside a live allocation
    initialised = 2, // written since it was allocated
    read_only = 4,   // constant memory: a kernel may not write it
    in_flight = 8,   // shared memory that a pending cp.async will write
    on_host = 8,     // pinned memory, at its device addresses
};

// The bit of the owning device, set only if there are several: devices map to four bits by index
// modulo 4, so the shadow distinguishes at most four devices.
inline std::uint8_t device_bit(int device) { return static_cast<std::uint8_t>(16 << (device & 3)); }

enum class memory_kind : std::uint8_t {
    device,
    pinned,
    managed,
    variable,
    constant,
    heap,     // allocated by malloc in device code
    internal, // the runtime's own; not charged to any device
};

struct allocation {
    address start;
    std::uint64_t bytes;
    memory_kind kind;
    int device;       // the device that owns it
    bool live;        // false once freed; kept so that use after free can be named
    std::string name; // a variable's name, or a label set by `label`; else empty
};

class memory {
public:
    // The instance is created at first use and lives until the process ends. Throws
    // std::runtime_error if the system refuses to reserve even 64 GiB of addresses.
    static memory &instance();

    // 256 GiB, or less in a process with limited addresses.
    std::uint64_t reserved() const { return reserved_; }

    address base() const { return base_; }
    std::byte *data() const { return data_; }
    std::uint8_t *shadow() const { return shadow_; }

    bool contains(address a) const { return a - base_ < reserved_; }
    std::byte *at(address a) const { return data_ + (a - base_); }
    std::uint8_t *shadow_at(address a) const { return shadow_ + (a - base_); }

    // Zero bytes yield a distinct address with nothing addressable. Returns nullopt if the device
    // is out of memory.
    std::optional<address> allocate(std::uint64_t bytes, memory_kind kind, int device);
    bool release(address start); // false if `start` is not the start of a live allocation

    // Returns the live or freed allocation that holds `a`, else the nearest one whose red zone
    // holds it, else null.
    const allocation *find(address a) const;
    // True only for a live allocation.
    bool in_one_allocation(address a, std::uint64_t bytes) const;

    // The upper half, shared by device and host, and the file that backs it.
    address shared() const { return base_ + reserved_ / 2; }
    int shared_file() const { return shared_file_; }

    // Managed memory is resident on the host until a kernel accesses it or a prefetch migrates it,
    // page by page. Host accesses are not observed, so they migrate nothing back.
    static constexpr std::uint64_t page_bytes = 4096;
    bool has_managed() const;
    bool migrate(address page); // true if the page is managed and was not on a device
    void set_residency(address page, std::uint64_t bytes, bool on_device);

    // Functions for runtimes and test harnesses; ranges are clipped to the reserved range.
    void mark(address a, std::uint64_t bytes, std::uint8_t set, std::uint8_t clear);
    void label(address a, std::uint64_t bytes, std::string name); // names a part of an allocation
    // Returns for example "4 bytes past the end of `out` (4000 bytes)".
    std::string describe(address a, std::uint64_t bytes) const;
    // Sets `where` and the fields about the location of an access of `bytes` bytes.
    void locate(finding &f, address a, std::uint64_t bytes) const;

    std::uint64_t used(int device) const;      // bytes, without the heap
    std::uint64_t heap_used(int device) const; // bytes allocated by malloc in device code
    std::uint64_t used_on_all_devices() const; // with the heaps
    // True if host code can change memory that kernels see without a runtime call.
    bool shared_with_host() const;

private:
    memory();
    address base_ = 0;
    std::byte *data_ = nullptr;
    std::uint8_t *shadow_ = nullptr;
    std::uint64_t reserved_ = 0;
    int shared_file_ = -1;
    struct state;
    state *state_ = nullptr;
};

} // namespace simulator
