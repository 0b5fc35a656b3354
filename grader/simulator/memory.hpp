// Device memory: one reserved range of addresses a process, with a shadow byte beside each data byte.
//
// Three views of the same range, `reserved` bytes long:
//   - `base()`, the addresses that programs see. Device allocations are not accessible there, so host
//     code that reads device memory faults as it does on hardware; pinned and managed ones are.
//   - `data()`, the simulator's own window on the bytes.
//   - `shadow()`, one byte for each data byte: a set of `shadow_bits`.
// Allocations never reuse addresses, start at 256-byte boundaries and have red zones between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simulator {

using address = std::uint64_t;

enum shadow_bits : std::uint8_t {
    addressable = 1, // inside a live allocation
    initialised = 2, // written since it was allocated
    read_only = 4,   // constant memory: a kernel may not write it
};

enum class memory_kind : std::uint8_t { device, pinned, managed, variable, constant };

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
    static constexpr std::uint64_t reserved = std::uint64_t{1} << 38;

    static memory &instance(); // created at first use; lives until the process ends

    address base() const { return base_; }
    std::byte *data() const { return data_; }
    std::uint8_t *shadow() const { return shadow_; }

    bool contains(address a) const { return a - base_ < reserved; }
    std::byte *at(address a) const { return data_ + (a - base_); }
    std::uint8_t *shadow_at(address a) const { return shadow_ + (a - base_); }

    // Zero bytes yield a distinct address with nothing addressable. nullopt: the device's memory is used up.
    std::optional<address> allocate(std::uint64_t bytes, memory_kind kind, int device);
    bool release(address start); // false: not the start of a live allocation

    // The allocation that holds `a`, live or freed; else the nearest one within its red zone; else null.
    const allocation *find(address a) const;

    // For runtimes and test harnesses; ranges are clipped to the reserved range.
    void mark(address a, std::uint64_t bytes, std::uint8_t set, std::uint8_t clear);
    void label(address a, std::uint64_t bytes, std::string name); // names a part of an allocation
    std::string describe(address a, std::uint64_t bytes) const;   // "`out`, 4 bytes past its end (4000 bytes)"

    std::uint64_t used(int device) const;
    std::uint64_t capacity(int device) const;

private:
    memory();
    address base_ = 0;
    std::byte *data_ = nullptr;
    std::uint8_t *shadow_ = nullptr;
    struct state;
    state *state_ = nullptr;
};

} // namespace simulator
