// Reads PTX constants and constant expressions.
#include "ptx_lexer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace simulator::ptx {
namespace {

// The only predefined constant of PTX: nvcc writes it for warpSize.
constexpr std::string_view warp_size_name = "WARP_SZ";
constexpr std::uint64_t warp_size = 32;

std::uint64_t parse_number(std::string_view t, int line, char *real = nullptr)
{
    auto digits = t;
    if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
        char c = digits[1];
        bool is_real = c == 'f' || c == 'F' || c == 'd' || c == 'D';
        if (is_real || c == 'x' || c == 'X') {
            base = 16;
            digits.remove_prefix(2);
            if (is_real && real) *real = (c == 'f' || c == 'F') ? 'f' : 'd';
        } else if (c == 'b' || c == 'B') {
            base = 2;
            digits.remove_prefix(2);
        } else {
            base = 8;
        }
    }
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error == std::errc{} && end == digits.data() + digits.size()) return value;
    if (base == 10 && t.find('.') != t.npos) {
        std::string text(t);
        char *stop = nullptr;
        double d = std::strtod(text.c_str(), &stop);
        if (*stop == 0) {
            if (real) *real = 'd';
            return std::bit_cast<std::uint64_t>(d);
        }
    }
    fail(line, "`" + std::string(t) + "` is not a number");
}

// Evaluates constant expressions by the rules of C. Integers have 64 bits; an unsigned operand
// makes the operation unsigned.
class constant_reader {
public:
    explicit constant_reader(lexer &in) : in_(in) {}

    std::uint64_t read(char *real)
    {
        const value v = conditional();
        if (v.real != 0 && real == nullptr)
            fail(in_.line(), "a floating-point constant where an integer is needed");
        if (real != nullptr) *real = v.real;
        return v.bits;
    }

private:
    struct value {
        std::uint64_t bits = 0;
        bool is_unsigned = false;
        char real = 0; // 'f' or 'd' for a floating constant
    };

    value integer(const value &v) const
    {
        if (v.real != 0) fail(in_.line(), "arithmetic on a floating constant");
        return v;
    }

    value conditional()
    {
        const value condition = binary(0);
        if (!in_.accept("?")) return condition;
        const value yes = integer(conditional());
        in_.expect(":");
        const value no = integer(conditional());
        return integer(condition).bits != 0 ? yes : no;
    }

    // By rising precedence, longer operators first. Each character of an operator is a token.
    static constexpr std::string_view operators[][5] = {{"||"},
                                                        {"&&"},
                                                        {"|"},
                                                        {"^"},
                                                        {"&"},
                                                        {"==", "!="},
                                                        {"<=", ">=", "<", ">"},
                                                        {"<<", ">>"},
                                                        {"+", "-"},
                                                        {"*", "/", "%"}};
    static constexpr std::size_t levels = std::size(operators);

    value binary(std::size_t level)
    {
        if (level == levels) return unary();
        value left = binary(level + 1);
        for (std::string_view op; !(op = take_operator(level)).empty();) {
            const value right = integer(binary(level + 1));
            left = apply(op, integer(left), right);
        }
        return left;
    }

    std::string_view take_operator(std::size_t level)
    {
        for (const auto op : operators[level]) {
            if (op.empty()) break;
            if (!in_.rest().starts_with(op) || is_part_of_longer(op)) continue;
            for (std::size_t k = 0; k < op.size(); ++k) in_.take();
            return op;
        }
        return {};
    }
    // True for `<` of `<<`, `&` of `&&` or `%` of `%r1`.
    bool is_part_of_longer(std::string_view op) const
    {
        const std::string_view rest = in_.rest();
        if (op == "%") return !in_.at(op);
        return op.size() == 1 && rest.size() > 1 && rest[0] == rest[1] &&
               std::string_view("<>&|").find(rest[0]) != std::string_view::npos;
    }

    value apply(std::string_view op, const value &a, const value &b) const
    {
        const bool either_unsigned = a.is_unsigned || b.is_unsigned;
        const auto x = static_cast<std::int64_t>(a.bits), y = static_cast<std::int64_t>(b.bits);
        const auto number = [&](std::uint64_t bits) { return value{bits, either_unsigned, 0}; };
        const auto truth = [](bool yes) { return value{yes, false, 0}; };
        const auto less = [&](const value &l, const value &r) {
            return either_unsigned
                       ? l.bits < r.bits
                       : static_cast<std::int64_t>(l.bits) < static_cast<std::int64_t>(r.bits);
        };
        if (op == "||") return truth(x != 0 || y != 0);
        if (op == "&&") return truth(x != 0 && y != 0);
        if (op == "|") return number(a.bits | b.bits);
        if (op == "^") return number(a.bits ^ b.bits);
        if (op == "&") return number(a.bits & b.bits);
        if (op == "==") return truth(x == y);
        if (op == "!=") return truth(x != y);
        if (op == "<") return truth(less(a, b));
        if (op == ">") return truth(less(b, a));
        if (op == "<=") return truth(!less(b, a));
        if (op == ">=") return truth(!less(a, b));
        if (op == "+") return number(a.bits + b.bits);
        if (op == "-") return number(a.bits - b.bits);
        if (op == "*") return number(a.bits * b.bits);
        if (op == "<<" || op == ">>") return shift(op == "<<", a, b);
        if (y == 0) fail(in_.line(), "a division by zero in a constant");
        if (either_unsigned) return number(op == "/" ? a.bits / b.bits : a.bits % b.bits);
        if (y == -1) return number(op == "/" ? 0 - a.bits : 0);
        return number(static_cast<std::uint64_t>(op == "/" ? x / y : x % y));
    }

    static value shift(bool left, const value &a, const value &b)
    {
        if (left) return {b.bits > 63 ? 0 : a.bits << b.bits, a.is_unsigned, 0};
        if (a.is_unsigned) return {b.bits > 63 ? 0 : a.bits >> b.bits, true, 0};
        const auto by = std::min<std::uint64_t>(b.bits, 63);
        return {static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> by), false, 0};
    }

    value unary()
    {
        // Every recursion passes here: without this limit, damaged PTX could overflow the stack.
        if (++terms_ > 1000) fail(in_.line(), "a constant of more than 1000 parts");
        if (in_.accept("+")) return unary();
        if (in_.accept("-")) {
            value v = unary();
            v.bits = v.real == 'f'   ? v.bits ^ 0x80000000u
                     : v.real == 'd' ? v.bits ^ (std::uint64_t{1} << 63)
                                     : 0 - v.bits;
            return v;
        }
        if (in_.accept("~")) {
            value v = integer(unary());
            v.bits = ~v.bits;
            return v;
        }
        if (in_.accept("!")) return {integer(unary()).bits == 0, false, 0};
        if (in_.accept("(")) return parenthesised();
        if (in_.accept(warp_size_name)) return {warp_size, false, 0};
        const int line = in_.line();
        const std::string_view text = in_.take();
        value v;
        v.bits = parse_number(text, line, &v.real);
        v.is_unsigned = v.real == 0 && (text.ends_with('U') || v.bits >> 63 != 0);
        return v;
    }

    value parenthesised()
    {
        const bool to_unsigned = in_.at(".u64");
        if (to_unsigned || in_.at(".s64")) { // a cast
            in_.take();
            in_.expect(")");
            return {integer(unary()).bits, to_unsigned, 0};
        }
        const value v = conditional();
        in_.expect(")");
        return v;
    }

    lexer &in_;
    int terms_ = 0;
};

} // namespace

bool starts_number(const lexer &in)
{
    return in.at("-") || in.at("+") || in.at("~") || in.at(warp_size_name) ||
           (!in.done() && is_digit(in.token()[0]));
}

std::uint64_t take_number(lexer &in, char *real) { return constant_reader(in).read(real); }

std::uint64_t take_count(lexer &in)
{
    const int line = in.line();
    return in.accept(warp_size_name) ? warp_size : parse_number(in.take(), line);
}

} // namespace simulator::ptx
