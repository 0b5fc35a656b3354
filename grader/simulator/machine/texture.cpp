// Texture fetches: coordinates, addressing modes, filters and channels.
#include "texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

namespace simulator {

namespace {

std::map<std::uint64_t, texture> &textures()
{
    static auto *const one = new std::map<std::uint64_t, texture>;
    return *one;
}

// Maps an index outside the texture to one inside; -1 stands for the border colour.
std::int64_t apply_address_mode(std::int64_t i, std::int64_t size, address_mode mode)
{
    if (i >= 0 && i < size) return i;
    switch (mode) {
    case address_mode::clamp:
        return std::clamp<std::int64_t>(i, 0, size - 1);
    case address_mode::wrap:
        return (i % size + size) % size;
    case address_mode::mirror: {
        const std::int64_t m = (i % (2 * size) + 2 * size) % (2 * size);
        return m < size ? m : 2 * size - 1 - m;
    }
    default:
        return -1;
    }
}

// Wrapping and mirroring need normalised coordinates; otherwise they act as clamping.
address_mode effective_address_mode(const texture &t, int dimension)
{
    const auto mode = t.address_modes[dimension];
    const bool repeats = mode == address_mode::wrap || mode == address_mode::mirror;
    return repeats && !t.normalised_coordinates ? address_mode::clamp : mode;
}

struct axis_texels {
    std::int64_t index[2] = {};
    float weight[2] = {1, 0};
    int count = 1;
};

std::int64_t floor_to_integer(float x)
{
    // Clamp before the conversion to an integer; every texture is much smaller than the limit.
    return static_cast<std::int64_t>(std::clamp(std::floor(x), -1e9f, 1e9f));
}

// Returns the texels along one dimension: the nearest, or the two neighbours weighted by an 8-bit
// fraction.
axis_texels texels_along(const texture &t, int dimension, float x)
{
    const auto size = static_cast<std::int64_t>(t.size[dimension]);
    const auto mode = effective_address_mode(t, dimension);
    if (std::isnan(x)) x = 0;
    if (t.normalised_coordinates) x *= static_cast<float>(size);
    if (!t.linear_filtering) return {{apply_address_mode(floor_to_integer(x), size, mode)}};
    x -= 0.5f;
    const std::int64_t i = floor_to_integer(x);
    const float exact = std::clamp(x - static_cast<float>(i), 0.0f, 1.0f);
    const float fraction = std::nearbyint(exact * 256) / 256;
    return {{apply_address_mode(i, size, mode), apply_address_mode(i + 1, size, mode)},
            {1 - fraction, fraction},
            2};
}

texels combine(const texture &t, const axis_texels (&p)[3], std::uint32_t layer)
{
    texels out;
    const std::uint64_t layers =
        t.layers ? std::min<std::uint64_t>(layer, t.layers - 1) * t.slice : 0;
    for (int z = 0; z < p[2].count; ++z)
        for (int y = 0; y < p[1].count; ++y)
            for (int x = 0; x < p[0].count; ++x) {
                texel &one = out.all[static_cast<std::size_t>(out.count++)];
                one.weight = p[0].weight[x] * p[1].weight[y] * p[2].weight[z];
                const std::int64_t at[3] = {p[0].index[x], p[1].index[y], p[2].index[z]};
                const bool border = at[0] < 0 || at[1] < 0 || at[2] < 0;
                one.at = border ? 0
                                : t.start + layers +
                                      static_cast<std::uint64_t>(at[0]) * t.texel_bytes() +
                                      static_cast<std::uint64_t>(at[1]) * t.pitch +
                                      static_cast<std::uint64_t>(at[2]) * t.slice;
            }
    return out;
}

float half_to_float(std::uint16_t h)
{
    const std::uint32_t sign = std::uint32_t{h} >> 15;
    const std::uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
    float v = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
              : exponent == 31 ? (fraction ? NAN : INFINITY)
                               : std::ldexp(static_cast<float>(fraction + 1024),
                                            static_cast<int>(exponent) - 25);
    return sign ? -v : v;
}

std::uint32_t raw(const texture &t, const std::byte *at)
{
    std::uint32_t v = 0;
    std::memcpy(&v, at, t.channel_bytes);
    if (t.kind != channel_kind::signed_integer || t.channel_bytes == 4) return v;
    return t.channel_bytes == 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(v))
                                : static_cast<std::uint32_t>(static_cast<std::int16_t>(v));
}

float number(const texture &t, const std::byte *at)
{
    const std::uint32_t v = raw(t, at);
    if (t.kind == channel_kind::floating_point)
        return t.channel_bytes == 2 ? half_to_float(static_cast<std::uint16_t>(v))
                                    : std::bit_cast<float>(v);
    if (t.kind == channel_kind::unsigned_integer)
        return static_cast<float>(v) / (t.channel_bytes == 1 ? 255.0f : 65535.0f);
    const auto s = static_cast<float>(static_cast<std::int32_t>(v));
    return std::max(s / (t.channel_bytes == 1 ? 127.0f : 32767.0f), -1.0f);
}

} // namespace

std::uint64_t add_texture(const texture &t)
{
    static std::uint64_t next = 1;
    textures()[next] = t;
    return next++;
}

bool remove_texture(std::uint64_t handle) { return textures().erase(handle) != 0; }

const texture *find_texture(std::uint64_t handle)
{
    auto it = textures().find(handle);
    return it == textures().end() ? nullptr : &it->second;
}

texels texels_at(const texture &t, const std::array<float, 3> &coordinates, std::uint32_t layer)
{
    axis_texels p[3];
    for (int d = 0; d < t.dimensions; ++d)
        p[d] = texels_along(t, d, coordinates[static_cast<std::size_t>(d)]);
    return combine(t, p, layer);
}

texels texels_at(const texture &t, const std::array<std::int32_t, 3> &index, std::uint32_t layer)
{
    axis_texels p[3];
    for (int d = 0; d < t.dimensions; ++d) {
        // Reads past the end of a buffer return zero.
        const auto mode = t.buffer ? address_mode::border : effective_address_mode(t, d);
        p[d].index[0] = apply_address_mode(index[static_cast<std::size_t>(d)],
                                           static_cast<std::int64_t>(t.size[d]), mode);
    }
    return combine(t, p, layer);
}

std::array<std::uint32_t, 4> value_of(const texture &t, const texels &from)
{
    const bool reals = t.kind == channel_kind::floating_point || t.normalised_float;
    std::array<std::uint32_t, 4> out = {};
    for (int c = 0; c < t.channels; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        float sum = 0;
        for (int k = 0; k < from.count; ++k) {
            const texel &one = from.all[static_cast<std::size_t>(k)];
            const std::byte *at =
                one.at ? memory::instance().at(one.at + channel * t.channel_bytes) : nullptr;
            if (!reals && at)
                out[channel] = raw(t, at);
            else if (reals)
                sum += one.weight * (at ? number(t, at) : t.buffer ? 0 : t.border[channel]);
        }
        if (reals) out[channel] = std::bit_cast<std::uint32_t>(sum);
    }
    return out;
}

} // namespace simulator
