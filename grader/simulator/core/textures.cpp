// Handlers of texture fetches, and of the address computation of surface accesses.
#include "textures.hpp"
#include "grid.hpp"
#include "simulator/lanes/handler_table.hpp"
#include "simulator/lanes/lanes.hpp"
#include "simulator/machine/texture.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace simulator::core {
namespace {

using namespace baseline;

// Describes the error in a lane's fetch; nullptr: none.
const char *misuse(const texture *t, std::int64_t mode)
{
    const int dimensions = static_cast<int>(mode & texture_dimensions);
    if (t == nullptr || t->surface)
        return "a fetch from an object that is no texture, or was destroyed";
    if (t->dimensions != dimensions || (t->layers != 0) != ((mode & texture_layered) != 0))
        return "a fetch whose dimensions are not those of the texture";
    if (t->buffer && (mode & texture_by_index) == 0)
        return "a fetch by coordinate from linear memory, which only tex1Dfetch reads";
    return nullptr;
}

texels texels_of(context &c, const instruction &i, const texture &t, int lane)
{
    u32 in[3] = {lanes_of<u32>(c, i.b)[lane], lanes_of<u32>(c, i.c)[lane],
                 lanes_of<u32>(c, i.d)[lane]};
    const bool layered = (i.offset & texture_layered) != 0;
    const u32 layer = layered ? in[0] : 0;
    std::array<float, 3> at = {};
    std::array<std::int32_t, 3> index = {};
    for (std::size_t d = 0; d + layered < 3; ++d) {
        at[d] = std::bit_cast<float>(in[d + layered]);
        index[d] = static_cast<std::int32_t>(in[d + layered]);
    }
    return (i.offset & texture_by_index) != 0 ? texels_at(t, index, layer)
                                              : texels_at(t, at, layer);
}

// Returns false if the grid was stopped.
bool check_texel(context &c, const instruction &i, int lane, address at, u32 bytes)
{
    const std::uint8_t need = c.check_memory ? u8{addressable} : u8{0};
    bool there = true, written = true;
    for (u32 k = 0; k < bytes; ++k) {
        const std::uint8_t s = c.shadow[at + k - c.base];
        there = there && (s & need) == need && (s & c.closed) == 0;
        written = written && (s & initialised) != 0;
    }
    if (there && (written || !c.check_initialised)) return true;
    const auto problem = there ? access_problem::uninitialised : access_problem::outside;
    report(c, i, problem, lane, at, bytes, ptx::space::global, false, 1);
    return !c.stop;
}

struct fetched {
    texels from[32];
    u32 bytes[32];
};

// Checks the texels of a fetch as loads. The texture cache is not coherent with writes of the same
// kernel, but only writes that nothing orders before the fetch are reported.
void check_texel_races(context &c, const instruction &i, lane_mask mask, const fetched &f)
{
    if (c.races == nullptr) return;
    for (std::size_t k = 0; k < 8; ++k) {
        u64 address[32] = {};
        lane_mask lanes = 0;
        u32 bytes = 0;
        active(mask, [&](int l) {
            if (static_cast<int>(k) >= f.from[l].count || f.from[l].all[k].at == 0) return;
            address[l] = f.from[l].all[k].at;
            lanes |= bit_of[l];
            bytes = f.bytes[l];
        });
        if (lanes != 0)
            check_races(c, i, lanes, address, ptx::space::global, bytes, access_use::read, false);
    }
}

// a: the texture object. b, c and d: up to three coordinates, a layer first. The list:
// destinations of the four channels.
void fetch(context &c, const instruction &i, lane_mask mask)
{
    fetched f;
    u64 bytes = 0;
    bool reads_host = false; // reads pinned memory
    std::array<u64, 32 * 8>
        sectors; // of up to 8 texels per lane; a texel counts in the sector of its first byte
    auto end = sectors.begin();
    auto handle = lanes_of<u64>(c, i.a);
    for (lane_mask left = mask; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        const texture *t = find_texture(handle[l]);
        if (const char *wrong = misuse(t, i.offset); wrong != nullptr)
            return stop_grid(c, i, finding_kind::trap, cudaErrorLaunchFailure, l, wrong);
        f.from[l] = texels_of(c, i, *t, l);
        f.bytes[l] = t->texel_bytes();
        for (int k = 0; k < f.from[l].count; ++k) {
            const address at = f.from[l].all[static_cast<std::size_t>(k)].at;
            if (at == 0) continue;
            if (!check_texel(c, i, l, at, f.bytes[l])) return;
            if (c.count) c.read->add((at - c.base) >> 5);
            reads_host |= (c.shadow[at - c.base] & on_host) != 0;
            *end++ = at >> 5;
            bytes += f.bytes[l];
        }
    }
    check_texel_races(c, i, mask, f);
    active(mask, [&](int l) {
        const auto value = value_of(*find_texture(handle[l]), f.from[l]);
        for (std::size_t k = 0; k < 4; ++k)
            if (operand o = c.lists[i.extra][k]; o != no_operand) lanes_of<u32>(c, o)[l] = value[k];
    });
    if (!c.count) return;
    c.counted[i.statement].texture_requests += 1;
    c.counted[i.statement].texture_bytes += bytes;
    std::sort(sectors.begin(), end);
    const auto distinct = static_cast<u64>(std::unique(sectors.begin(), end) - sectors.begin());
    c.counted[i.statement].texture_sectors += distinct;
    if (reads_host) c.counted[i.statement].host_sectors += distinct;
}

// Clamps an index if the mode is .clamp; returns false if it is outside then. `last`: the largest
// index of an access that is inside.
bool bring_inside(std::int64_t &i, std::int64_t last, outside_surface mode)
{
    if (mode == outside_surface::clamp)
        i = std::clamp<std::int64_t>(i, 0, std::max<std::int64_t>(last, 0));
    return i >= 0 && i <= last;
}

// The coordinates of a surface access: x in bytes, y (row), z (slice), and the layer.
struct surface_coordinates {
    std::int64_t at[3] = {}, layer = 0;
};

surface_coordinates coordinates_of(context &c, const instruction &i, int lane)
{
    const u32 in[3] = {lanes_of<u32>(c, i.b)[lane], lanes_of<u32>(c, i.c)[lane],
                       lanes_of<u32>(c, i.extra)[lane]};
    const bool layered = (i.count & texture_layered) != 0;
    surface_coordinates p;
    if (layered) p.layer = in[0];
    for (int d = 0; d + layered < 3; ++d) p.at[d] = static_cast<std::int32_t>(in[d + layered]);
    return p;
}

std::string outside_text(const texture &t, const surface_coordinates &p, u32 bytes)
{
    static const char *const names[] = {"byte ", ", row ", ", slice "};
    std::string text = "an access to a surface outside of it: " + std::to_string(bytes) +
                       (bytes == 1 ? " byte at " : " bytes at ");
    for (int d = 0; d < t.dimensions; ++d) text += names[d] + std::to_string(p.at[d]);
    if (t.layers != 0) text += ", layer " + std::to_string(p.layer);
    text += ", where a row has " + std::to_string(t.size[0] * t.texel_bytes()) + " bytes";
    if (t.dimensions > 1) text += ", a slice " + std::to_string(t.size[1]) + " rows";
    if (t.dimensions > 2) text += ", and there are " + std::to_string(t.size[2]) + " slices";
    if (t.layers != 0) text += ", and there are " + std::to_string(t.layers) + " layers";
    return text + "; x counts bytes, not elements";
}

// a: the surface object. b, c and extra: up to three coordinates, a layer first, then x in bytes.
// d: receives the address in device memory for the load or store that follows; offset: a predicate
// that receives the lanes inside the surface.
void surface_address(context &c, const instruction &i, lane_mask mask)
{
    const auto mode = static_cast<outside_surface>(i.flags);
    lane_mask inside = 0;
    for (lane_mask left = mask; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        const texture *t = find_texture(lanes_of<u64>(c, i.a)[l]);
        if (t == nullptr || !t->surface)
            return stop_grid(c, i, finding_kind::trap, cudaErrorLaunchFailure, l,
                             "an access to what is no surface object, or was destroyed");
        if (t->dimensions != (i.count & texture_dimensions) ||
            (t->layers != 0) != ((i.count & texture_layered) != 0))
            return stop_grid(c, i, finding_kind::trap, cudaErrorLaunchFailure, l,
                             "an access whose dimensions are not those of the surface");
        const surface_coordinates given = coordinates_of(c, i, l);
        surface_coordinates p = given;
        bool there =
            t->layers == 0 || bring_inside(p.layer, static_cast<std::int64_t>(t->layers) - 1, mode);
        const std::uint64_t row = t->size[0] * t->texel_bytes();
        there &= bring_inside(p.at[0], static_cast<std::int64_t>(row) - i.bytes, mode);
        for (int d = 1; d < t->dimensions; ++d)
            there &= bring_inside(p.at[d], static_cast<std::int64_t>(t->size[d]) - 1, mode);
        if (!there && mode != outside_surface::zero)
            return stop_grid(c, i, finding_kind::trap, cudaErrorIllegalAddress, l,
                             outside_text(*t, given, i.bytes));
        if (!there) continue;
        inside |= bit_of[l];
        lanes_of<u64>(c, i.d)[l] = t->start + static_cast<u64>(p.at[0]) +
                                   static_cast<u64>(p.at[1]) * t->pitch +
                                   static_cast<u64>(p.at[2] + p.layer) * t->slice;
    }
    set_predicate(c, static_cast<operand>(i.offset), mask, inside);
}

} // namespace

void list_texture_handlers(handler_sink &out)
{
    out.add("core", "texture", fetch);
    out.add("core", "surface_address", surface_address);
}

} // namespace simulator::core
