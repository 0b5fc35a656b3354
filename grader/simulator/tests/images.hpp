// Hand-made fat binaries for tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulator::tests {

struct entry {
    std::uint16_t kind; // 1: PTX, 2: machine code
    std::uint32_t architecture;
    std::string payload;
    std::uint32_t compressed_size = 0;
    std::uint64_t flags = 0x11;
};

inline std::vector<std::byte> image(const std::vector<entry> &entries)
{
    std::vector<std::byte> out;
    const auto put = [&out](auto value) {
        const auto *p = reinterpret_cast<const std::byte *>(&value);
        out.insert(out.end(), p, p + sizeof value);
    };
    std::uint64_t size = 0;
    for (const entry &e : entries) size += 64 + e.payload.size();
    put(std::uint32_t{0xBA55ED50});
    put(std::uint16_t{1});
    put(std::uint16_t{16});
    put(size);
    for (const entry &e : entries) {
        put(e.kind);
        put(std::uint16_t{0x101});
        put(std::uint32_t{64});
        put(std::uint64_t{e.payload.size()});
        put(e.compressed_size);
        put(std::uint32_t{0});
        put(std::uint32_t{0});
        put(e.architecture);
        put(std::uint64_t{0});
        put(e.flags);
        put(std::uint64_t{0});
        put(std::uint64_t{0});
        const auto *p = reinterpret_cast<const std::byte *>(e.payload.data());
        out.insert(out.end(), p, p + e.payload.size());
    }
    return out;
}

// The same in static storage, which registration requires.
template <int distinct> const unsigned long long *static_image(const std::vector<entry> &entries)
{
    static std::array<unsigned long long, 512> storage;
    const auto bytes = image(entries);
    if (bytes.size() > sizeof storage) throw std::length_error("the image is too large");
    std::memcpy(storage.data(), bytes.data(), bytes.size());
    return storage.data();
}

} // namespace simulator::tests
