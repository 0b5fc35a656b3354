// Decodes fetches of textures and accesses to surfaces.
#include "decoder.hpp"
#include "simulator/core/textures.hpp"

#include <map>

namespace simulator::core::decoding {
namespace {

// Returns the dimensions of a texture or surface, with texture_layered if it has layers.
std::int64_t shape_named(std::string_view name)
{
    static const std::map<std::string_view, std::int64_t> shapes = {{"1d", 1},
                                                                    {"2d", 2},
                                                                    {"3d", 3},
                                                                    {"a1d", 1 | texture_layered},
                                                                    {"a2d", 2 | texture_layered}};
    const auto found = shapes.find(name);
    if (found == shapes.end()) throw unknown_instruction{};
    return found->second;
}

outside_surface outside_named(std::string_view name)
{
    if (name == "trap") return outside_surface::trap;
    if (name == "clamp") return outside_surface::clamp;
    if (name == "zero") return outside_surface::zero;
    throw unknown_instruction{};
}

} // namespace

// True for `[object, {x, y}]`.
bool decoder::is_object_and_coordinates(const ptx::operand &o) const
{
    return o.id >= 0 && o.what == kind::address && o.elements.size() == 1 && o.bits == 0 &&
           o.elements[0].what == kind::vector &&
           classes_[static_cast<std::size_t>(o.id)] == register_class::wide;
}

// Returns three registers with the coordinates in `[object, {x, y}]`; missing ones are zero.
std::array<operand, 3> decoder::coordinates(const ptx::operand &texel, type first, type others)
{
    const auto &given = texel.elements[0].elements;
    std::array<operand, 3> all;
    for (std::size_t k = 0; k < all.size(); ++k)
        all[k] = k < given.size() ? source(given[k], k == 0 ? first : others)
                                  : constant(0, register_class::narrow);
    return all;
}

// tex.2d.v4.f32.f32 {r, g, b, a}, [object, {x, y}]. The lod of tex.level is ignored, because there
// are no mipmaps.
void decoder::decode_texture(const statement &s)
{
    const bool level = part(s, 1) == "level";
    const std::int64_t shape = shape_named(part(s, level ? 2 : 1));
    const std::size_t after = level ? 3 : 2;
    if (s.op.size() != after + 3 || part(s, after) != "v4") throw unknown_instruction{};
    const type value = ptx::type_named(part(s, after + 1)), at = last_type(s);
    const auto &texel = operand_at(s, 1);
    const auto &to = operand_at(s, 0);
    if (ptx::size_of(value) != 4 || ptx::size_of(at) != 4 || !is_object_and_coordinates(texel) ||
        to.what != kind::vector || to.elements.size() != 4)
        throw unknown_instruction{};
    draft d;
    d.ins.a = static_cast<operand>(texel.id);
    d.ins.offset = shape | (at == type::f32 ? 0 : texture_by_index);
    const bool layered = (shape & texture_layered) != 0;
    const auto [x, y, z] = coordinates(texel, layered ? type::u32 : at, at);
    d.ins.b = x;
    d.ins.c = y;
    d.ins.d = z;
    d.writes_d = false;
    std::vector<operand> channels;
    for (const auto &e : to.elements)
        channels.push_back(e.what == kind::discard ? no_operand : destination(e, value));
    d.ins.extra = add_list(channels);
    d.ins.count = 4;
    d.list = draft::list_role::writes;
    emit(d, "core.texture");
}

// suld.b.2d.v2.b32.trap {a, b}, [object, {x, y}] becomes core.surface_address and a load or store
// by the lanes whose access is inside the surface.
void decoder::decode_surface(const statement &s)
{
    if (part(s, 1) != "b" || s.op.size() < 5) throw unknown_instruction{};
    statement access = s; // with the modifiers of a load or store only: .v2.b32
    access.op.erase(access.op.begin() + 1, access.op.begin() + 3);
    access.op.pop_back();
    const access_parts p = parts_of(access);
    const bool store = s.op[0] == "sust";
    const std::int64_t shape = shape_named(part(s, 2));
    const auto how = outside_named(s.op.back());
    const auto &texel = operand_at(s, store ? 0 : 1), &given = operand_at(s, store ? 1 : 0);
    if (p.space != ptx::space::generic || !p.operation.empty() || !is_object_and_coordinates(texel))
        throw unknown_instruction{};
    const bool alone = given.what == kind::vector && given.elements.size() == 1;
    const ptx::operand &data = alone ? given.elements[0] : given;
    const auto [x, y, z] = coordinates(texel, type::u32, type::u32);
    const operand address = new_register(type::u64), inside = new_register(type::pred);
    draft d;
    d.ins.site = out_.sites++;
    // For a store this may emit instructions that resize the data registers: it comes first.
    set_data(d, data, p, store);
    const operand guard = guard_;
    const std::uint32_t flip = guard_flip_;
    guard_ = no_operand; // so that no lane whose guard is false counts as inside
    emit("mov.pred", inside, {constant(0, register_class::predicate)});
    guard_ = guard;
    draft &find = emit("core.surface_address", address, {static_cast<operand>(texel.id), x, y});
    find.ins.extra = z;
    find.extra_reads = true;
    find.ins.offset = inside;
    find.offset_writes = true;
    find.ins.count = static_cast<std::uint8_t>(shape);
    find.ins.flags = static_cast<std::uint8_t>(how);
    find.ins.bytes = static_cast<std::uint8_t>(d.ins.bytes * d.ins.count);
    if (!store && how == outside_surface::zero) set_to_zero(d);
    d.ins.a = address;
    d.ins.wide |= 2;
    guard_ = inside;
    guard_flip_ = 0;
    emit(d, (store ? "store.global." : "load.global.") + std::to_string(d.ins.bytes) +
                ((d.ins.wide & 1) != 0 ? "x8" : "x4"));
    guard_ = guard;
    guard_flip_ = flip;
}

// Sets the registers that a load would write to zero.
void decoder::set_to_zero(const draft &load)
{
    const bool wide = (load.ins.wide & 1) != 0;
    const operand zero = constant(0, wide ? register_class::wide : register_class::narrow);
    each_write(load, out_.lists, [&](operand o) { emit(wide ? "mov.b64" : "mov.b32", o, {zero}); });
}

} // namespace simulator::core::decoding
