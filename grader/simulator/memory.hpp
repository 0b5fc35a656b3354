// Device memory: one reserved range of addresses a process, with a shadow byte beside each data
// byte.
//
// Three views of the same range, `reserved()` bytes long:
//   - `base()`, the addresses that programs see. Nothing is accessible there, so that host code
//     which reads device memory faults as it does on hardware, but pinned and managed memory, which
//     lies in the upper half: a file that device and host share.
//   - `data()`, the simulator's own window on the bytes.
//   - `shadow()`, one byte for each data byte: a set of `shadow_bits`.
// Allocations never reuse addresses, take whole pages and have red zones between them.
#pragma once

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
    in_flight = 8,   // shared memory that a cp.async has not reached yet
    on_host = 8,     // pinned memory, by its device addresses
};

// Which device's memory it is, when there are several: of each four devices, one bit. Four devices
// are told apart exactly.
inline std::uint8_t device_bit(int device) { return static_cast<std::uint8_t>(16 << (device & 3)); }

enum class memory_kind : std::uint8_t {
    device,
    pinned,
    managed,
    variable,
    constant,
    heap,     // what device code got from malloc
    internal, // the runtime's own, which no device's memory is charged for
};

struct allocation {
    address start;
    std::uint64_t bytes;
    memory_kind kind;
    int device;       // the device that owns it
    bool live;        // false once freed; kept so that use after free can be named
    std::string name; // a variable's name; a label given by `label`; else empty
};

class memory {
public:
    // Created at first use; lives until the process ends. Throws std::runtime_error when the
    // machine refuses even 64 GiB of addresses.
    static memory &instance();

    std::uint64_t reserved() const
    {
        return reserved_;
    } // 256 GiB, or what a limited process may have

    address base() const { return base_; }
    std::byte *data() const { return data_; }
    std::uint8_t *shadow() const { return shadow_; }

    bool contains(address a) const { return a - base_ < reserved_; }
    std::byte *at(address a) const { return data_ + (a - base_); }
    std::uint8_t *shadow_at(address a) const { return shadow_ + (a - base_); }

    // Zero bytes yield a distinct address with nothing addressable. nullopt: the device's memory is
    // used up.
    std::optional<address> allocate(std::uint64_t bytes, memory_kind kind, int device);
    bool release(address start); // false: not the start of a live allocation

    // The allocation that holds `a`, live or freed; else the nearest one within its red zone; else
    // null.
    const allocation *find(address a) const;
    bool in_one_allocation(address a, std::uint64_t bytes) const; // a live one

    // The upper half, which device and host share, and the file that it is.
    address shared() const { return base_ + reserved_ / 2; }
    int shared_file() const { return shared_file_; }

    // Managed memory is on the host until a kernel asks for it or a prefetch moves it, page by
    // page. What the host touches meanwhile is not seen.
    static constexpr std::uint64_t page_bytes = 4096;
    bool has_managed() const;
    bool bring(address page); // true: it is managed, was not on a device, and now is
    void place(address page, std::uint64_t bytes, bool on_device);

    // For runtimes and test harnesses; ranges are clipped to the reserved range.
    void mark(address a, std::uint64_t bytes, std::uint8_t set, std::uint8_t clear);
    void label(address a, std::uint64_t bytes, std::string name); // names a part of an allocation
    std::string describe(address a,
                         std::uint64_t bytes) const; // "4 bytes past the end of `out` (4000 bytes)"

    std::uint64_t used(int device) const;      // without the heap
    std::uint64_t heap_used(int device) const; // by device code's malloc
    std::uint64_t capacity(int device) const;
    // Whether host code can change memory that kernels see, without a call.
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
