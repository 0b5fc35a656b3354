// Textures as kernels see them: what a fetch reads, and what it makes of it.
#pragma once

#include "memory.hpp"

#include <array>
#include <cstdint>

namespace simulator {

enum class outside_texture : std::uint8_t { wrap, clamp, mirror, border };
enum class channel_kind : std::uint8_t { signed_integer, unsigned_integer, real };

struct texture {
    address start = 0;
    std::uint64_t pitch = 0, slice = 0; // bytes from row to row, from slice or layer to the next
    std::uint64_t size[3] = {1, 1, 1};  // texels
    std::uint64_t layers = 0;           // 0: not layered
    int dimensions = 1;
    bool buffer = false;  // linear memory, fetched by index only
    bool surface = false; // no texture: read and written by the byte, never filtered
    int channels = 1;
    std::uint32_t channel_bytes = 4;
    channel_kind kind = channel_kind::real;
    outside_texture outside[3] = {};
    bool filtered = false;    // linearly; else the nearest texel
    bool normalised = false;  // coordinates from 0 to 1
    bool as_fraction = false; // integers of 8 and 16 bits become numbers from 0, or -1, to 1
    std::array<float, 4> border = {};

    std::uint32_t texel_bytes() const
    {
        return static_cast<std::uint32_t>(channels) * channel_bytes;
    }
};

// Handles are never used twice. Under the runtime's lock, as kernels run.
std::uint64_t add_texture(const texture &);
bool remove_texture(std::uint64_t handle);
const texture *find_texture(std::uint64_t handle); // null: no such, or removed

// One texel that a fetch takes, and its part in the result; address 0: the border's colour.
struct texel {
    address at;
    float weight;
};
struct texels {
    std::array<texel, 8> all;
    int count = 0;
};
texels texels_at(const texture &, const std::array<float, 3> &coordinates, std::uint32_t layer);
texels texels_at(const texture &, const std::array<std::int32_t, 3> &index, std::uint32_t layer);

// The four channels as bits: floats, or what the memory holds, extended to 32 bits. Each texel must
// be readable.
std::array<std::uint32_t, 4> value_of(const texture &, const texels &);

} // namespace simulator
