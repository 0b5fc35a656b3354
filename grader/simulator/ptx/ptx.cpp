// Looks up types and functions by name, and splits opcodes into their parts.
#include "ptx.hpp"

#include <algorithm>

namespace simulator::ptx {
namespace {

struct type_row {
    std::string_view name;
    ptx::type type;
    std::uint32_t bytes;
};
constexpr type_row type_rows[] = {
    {"pred", type::pred, 1},   {"b8", type::b8, 1},     {"b16", type::b16, 2},
    {"b32", type::b32, 4},     {"b64", type::b64, 8},   {"b128", type::b128, 16},
    {"u8", type::u8, 1},       {"u16", type::u16, 2},   {"u32", type::u32, 4},
    {"u64", type::u64, 8},     {"s8", type::s8, 1},     {"s16", type::s16, 2},
    {"s32", type::s32, 4},     {"s64", type::s64, 8},   {"f16", type::f16, 2},
    {"f16x2", type::f16x2, 4}, {"bf16", type::bf16, 2}, {"bf16x2", type::bf16x2, 4},
    {"f32", type::f32, 4},     {"f64", type::f64, 8},
};

} // namespace

type type_named(std::string_view name)
{
    for (const auto &row : type_rows)
        if (row.name == name) return row.type;
    return type::none;
}

std::uint32_t size_of(ptx::type t)
{
    for (const auto &row : type_rows)
        if (row.type == t) return row.bytes;
    return 0;
}

const function *module_text::find(std::string_view name) const
{
    if (auto a = aliases.find(std::string(name)); a != aliases.end()) name = a->second;
    const function *declared = nullptr;
    for (const auto &f : functions)
        if (f.name == name) {
            if (f.defined) return &f;
            declared = &f;
        }
    return declared;
}

std::string statement::opcode() const
{
    std::string s;
    for (auto part : op) {
        if (!s.empty()) s += '.';
        s += part;
    }
    return s;
}

std::vector<std::string_view> opcode_parts(std::string_view opcode)
{
    std::vector<std::string_view> parts;
    while (!opcode.empty()) {
        const auto dot = opcode.find('.');
        parts.push_back(opcode.substr(0, dot));
        opcode.remove_prefix(std::min(opcode.size(), parts.back().size() + 1));
    }
    return parts;
}

bool has_part(const statement &s, std::string_view part)
{
    return std::ranges::find(s.op, part) != s.op.end();
}

} // namespace simulator::ptx
