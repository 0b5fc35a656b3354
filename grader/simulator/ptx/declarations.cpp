// Reads declarations of variables with their initial values.
#include "declarations.hpp"

#include <algorithm>
#include <bit>

namespace simulator::ptx {
namespace {

constexpr std::uint64_t max_alignment = 1 << 16;
constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 40;

std::uint32_t take_alignment(lexer &in)
{
    const int line = in.line();
    const std::uint64_t n = take_number(in);
    if (!std::has_single_bit(n) || n > max_alignment)
        refuse(line, "an alignment of " + std::to_string(n) +
                         " bytes: it must be a power of two of at most " +
                         std::to_string(max_alignment));
    return static_cast<std::uint32_t>(n);
}

initial_value take_initial_value(lexer &in)
{
    initial_value v;
    if (starts_number(in) || in.at("(") || in.done()) {
        char real = 0;
        v.bits = take_number(in, &real);
        return v;
    }
    std::string_view name = in.take();
    if (name == "generic" && in.accept("(")) {
        v.generic = true;
        name = in.take();
        in.expect(")");
    } else if (in.at("(")) {
        fail(in.line(), "initialiser `" + std::string(name) + "(...)` is not known here");
    }
    v.symbol = name;
    if (in.accept("+")) v.bits = take_number(in);
    return v;
}

void take_initialisers(lexer &in, variable &v)
{
    if (!in.accept("{")) {
        v.values.push_back(take_initial_value(in));
        return;
    }
    int depth = 1; // nested braces, in arrays of arrays, only group
    while (depth > 0) {
        if (in.accept("{")) {
            ++depth;
        } else if (in.accept("}")) {
            --depth;
        } else if (!in.accept(",")) {
            v.values.push_back(take_initial_value(in));
        }
    }
}

} // namespace

space space_named(std::string_view t)
{
    if (t == ".shared") return space::shared;
    if (t == ".const") return space::constant;
    if (t == ".local") return space::local;
    if (t == ".param") return space::param;
    return space::global;
}

variable take_variable_type(lexer &in, ptx::space state_space)
{
    variable v;
    v.space = state_space;
    v.text_line = in.line();
    std::uint32_t count = 1;
    while (in.token().starts_with(".")) {
        auto t = in.take_directive();
        if (t == ".align") {
            v.align = take_alignment(in);
        } else if (t == ".v2" || t == ".v4") {
            count = t == ".v2" ? 2 : 4;
        } else if (t.starts_with(".attribute")) {
            in.expect("(");
            while (!in.accept(")")) v.managed |= in.take() == ".managed";
        } else if (t == ".ptr" || t == ".global" || t == ".const" || t == ".shared" ||
                   t == ".local") { // attributes of a pointer parameter: no effect
        } else if (v.type = type_named(t.substr(1)); v.type == type::none) {
            fail(v.text_line, "`" + std::string(t) + "` is not a type known here");
        }
    }
    v.bytes = std::uint64_t{size_of(v.type)} * count;
    v.align = std::max(v.align, static_cast<std::uint32_t>(v.bytes));
    if (v.bytes > 16) v.align = 16;
    return v;
}

variable take_declarator(lexer &in, variable v)
{
    v.name = in.take();
    while (in.accept("[")) {
        const std::uint64_t count = in.at("]") ? 0 : take_number(in);
        if (__builtin_mul_overflow(v.bytes, count, &v.bytes) || v.bytes > max_variable_bytes)
            refuse(v.text_line, v.name + " is larger than any memory");
        in.expect("]");
    }
    return v;
}

void take_variables(lexer &in, const variable &type, std::vector<variable> &all)
{
    do {
        all.push_back(take_declarator(in, type));
        if (in.accept("=")) take_initialisers(in, all.back());
    } while (in.accept(","));
    in.expect(";");
}

void skip_to_semicolon(lexer &in)
{
    while (!in.accept(";")) in.take();
}

} // namespace simulator::ptx
