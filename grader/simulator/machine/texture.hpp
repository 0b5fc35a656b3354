// Textures as kernels see them: the texels of a fetch, and the value computed from them.
#pragma once

#include "memory.hpp"

#include <array>
#include <cstdint>

namespace simulator {

enum class address_mode : std::uint8_t { wrap, clamp, mirror, border };
enum class channel_kind : std::uint8_t { signed_integer, unsigned_integer, floating_point };

struct texture {
    address start = 0;
    // Distance in bytes between rows, and between slices or layers.
    std::uint64_t pitch = 0, slice = 0;
    std::uint64_t size[3] = {1, 1, 1}; // texels
    std::uint64_t layers = 0;          // 0: not layered
    int dimensions = 1;
    bool buffer = false;  // linear memory, fetched only by index
    bool surface = false; // not a texture: byte-addressed loads and stores, never filtered
    int channels = 1;
    std::uint32_t channel_bytes = 4;
    channel_kind kind = channel_kind::floating_point;
    address_mode address_modes[3] = {};
    bool linear_filtering = false;       // cudaFilterModeLinear; else the nearest texel
    bool normalised_coordinates = false; // coordinates range from 0 to 1
    bool normalised_float = false;       // integers of 8 and 16 bits are read as [0, 1] or [-1, 1]
    std::array<float, 4> border = {};

    std::uint32_t texel_bytes() const
    {
        return static_cast<std::uint32_t>(channels) * channel_bytes;
    }
};

// Handles are never reused. Requires the runtime's lock, which is held while kernels run.
std::uint64_t add_texture(const texture &);
bool remove_texture(std::uint64_t handle);
const texture *find_texture(std::uint64_t handle); // null if it never existed or was removed

// One texel of a fetch and its weight; address 0 means the border colour.
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

// Returns the four channels as bits: floats, or stored integers extended to 32 bits. Every texel
// must be readable.
std::array<std::uint32_t, 4> value_of(const texture &, const texels &);

} // namespace simulator
