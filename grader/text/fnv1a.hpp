// The hash FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo).
#pragma once

#include <cstdint>
#include <string_view>

namespace grading {

constexpr std::uint64_t fnv1a_basis = 0xcbf29ce484222325;

inline std::uint64_t fnv1a(std::string_view text, std::uint64_t begin = fnv1a_basis)
{
    for (unsigned char c : text) begin = (begin ^ c) * 0x100000001b3;
    return begin;
}

} // namespace grading
