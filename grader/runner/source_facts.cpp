// Finds facts in the text of a submission, without parsing all of C++.
#include "source_facts.hpp"

#include "run_options.hpp"
#include "text/source_view.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace grading {

namespace {

// Files that people write are smaller. Beyond, a message does without: a file could keep the grader
// busy, for each function is searched for the names of all, and one line can have thousands.
constexpr std::size_t max_source_bytes = std::size_t{256} << 10;
constexpr std::size_t max_functions = 200, max_body_bytes = std::size_t{1} << 20;
constexpr std::ptrdiff_t max_declaration = 200; // tokens

// The words, numbers and single other characters of C++ code.
std::vector<std::string_view> tokens_of(std::string_view code)
{
    std::vector<std::string_view> tokens;
    for (std::size_t i = 0; i < code.size();) {
        std::size_t end = i + 1;
        if (is_name_char(code[i]))
            while (end < code.size() && is_name_char(code[end])) ++end;
        if (!std::isspace(static_cast<unsigned char>(code[i])))
            tokens.push_back(code.substr(i, end - i));
        i = end;
    }
    return tokens;
}

// The size of a number's type, or of a vector such as float4; 0: the type is another one.
std::size_t size_of(std::string_view type)
{
    constexpr struct {
        std::string_view name;
        std::size_t bytes;
    } scalars[] = {{"bool", 1},
                   {"char", 1},
                   {"uchar", 1},
                   {"short", 2},
                   {"ushort", 2},
                   {"int", 4},
                   {"uint", 4},
                   {"unsigned", 4},
                   {"float", 4},
                   {"double", 8},
                   {"longlong", 8},
                   {"ulonglong", 8},
                   {"uint8_t", 1},
                   {"uint16_t", 2},
                   {"uint32_t", 4},
                   {"uint64_t", 8},
                   {"unsignedlonglong", 8}};
    // A vector's name is that of its elements with their number behind.
    const bool vector = type.ends_with('2') || type.ends_with('4');
    const std::string_view element = type.substr(0, type.size() - (vector ? 1 : 0));
    for (const auto &scalar : scalars)
        if (element == scalar.name)
            return scalar.bytes * (vector ? static_cast<std::size_t>(type.back() - '0') : 1);
    return 0;
}

using token = std::vector<std::string_view>::const_iterator;

// Evaluates integer constants: numbers, + - * /, parentheses and the names of constants.
class constants {
public:
    explicit constants(const std::vector<std::string_view> &tokens) : tokens_(tokens) {}

    // Returns the value of all tokens from `at` to `end`; nothing if it is not known.
    std::optional<long long> value(token at, token end)
    {
        const auto v = sum(at, end);
        return at == end ? v : std::nullopt;
    }

private:
    std::optional<long long> sum(token &at, token end)
    {
        auto v = product(at, end);
        while (v && at != end && (*at == "+" || *at == "-")) {
            const bool plus = *at++ == "+";
            const auto other = product(at, end);
            if (!other) return {};
            v = plus ? *v + *other : *v - *other;
        }
        return v;
    }
    std::optional<long long> product(token &at, token end)
    {
        auto v = factor(at, end);
        while (v && at != end && (*at == "*" || *at == "/")) {
            const bool times = *at++ == "*";
            const auto other = factor(at, end);
            if (!other || *other <= 0 || *v < 0 || *v > max_extent || *other > max_extent)
                return {};
            v = times ? *v * *other : *v / *other;
        }
        return v;
    }
    std::optional<long long> factor(token &at, token end)
    {
        if (at == end) return {};
        const std::string_view word = *at++;
        if (word == "(") {
            const auto v = sum(at, end);
            return at != end && *at++ == ")" ? v : std::nullopt;
        }
        long long number = 0;
        const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error == std::errc() && stop == word.data() + word.size() && number <= max_extent)
            return number;
        return is_name_char(word[0]) ? constant(word) : std::nullopt;
    }

    // The value that all definitions of a name agree on: `constexpr int NAME = 32` or `#define NAME
    // 32`.
    std::optional<long long> constant(std::string_view name)
    {
        constexpr int max_searches = 40; // each goes through the source, and they nest
        if (++searches_ > max_searches) return {};
        std::optional<long long> found;
        bool is_constant = false; // in the current statement
        for (token at = tokens_.begin(); at != tokens_.end(); ++at) {
            if (*at == ";" || *at == "{" || *at == "}") is_constant = false;
            if (*at == "constexpr" || *at == "const") is_constant = true;
            const bool macro = at - tokens_.begin() >= 2 && at[-1] == "define" && at[-2] == "#";
            const token next = at + 1;
            if (*at != name || next == tokens_.end() || !(macro || (is_constant && *next == "=")))
                continue;
            constexpr std::ptrdiff_t max_length = 40;
            constexpr std::string_view ends[] = {",", ";"};
            token from = macro ? next : next + 1;
            const token last = from + std::min(max_length, tokens_.end() - from);
            const auto v =
                macro
                    ? factor(from, last)
                    : value(from, std::find_first_of(from, last, std::begin(ends), std::end(ends)));
            if (!v || (found && *found != *v)) return {};
            found = v;
        }
        return found;
    }

    static constexpr long long max_extent = 1 << 20;
    const std::vector<std::string_view> &tokens_;
    int searches_ = 0;
};

// An array as one declaration behind __shared__ states it.
struct declared {
    bool there = false;
    array_shape shape;
};

// `tokens`: those behind __shared__. `named`: of the whole source.
declared declaration_of(const std::vector<std::string_view> &tokens, std::string_view array,
                        constants &named)
{
    const auto end = std::find(tokens.begin(), tokens.end(), ";");
    const auto at = std::find(tokens.begin(), end, array);
    if (at == end || at == tokens.begin()) return {};
    std::string type;
    auto next = tokens.begin();
    for (;
         next != end && is_name_char((*next)[0]) && (next + 1 == end || (next + 1)->front() != '[');
         ++next) {
        const bool sign = *next == "unsigned" || *next == "signed";
        if (*next == "const" || *next == "volatile" || *next == "signed") continue;
        type += sign && next + 1 != end && size_of(*(next + 1)) ? "u" : std::string(*next);
    }
    array_shape shape{size_of(type), {}};
    token dimension = at + 1;
    for (; dimension != end && *dimension == "["; ++dimension) {
        const token first = dimension + 1;
        dimension = std::find(first, end, "]");
        if (dimension == end) return {true, {}};
        if (first == at + 2) continue;
        const auto extent = named.value(first, dimension);
        if (!extent || *extent <= 0) return {true, {}};
        shape.inner_extents.push_back(static_cast<std::size_t>(*extent));
    }
    const bool ends = dimension != at + 1 && (dimension == end || *dimension == ",");
    return {true, ends && shape.element_bytes ? shape : array_shape()};
}

} // namespace

std::string submission_source()
{
    std::ifstream file(options().source);
    std::string text(max_source_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text.size() > max_source_bytes ? std::string() : text;
}

std::string without_comments(std::string_view source)
{
    std::string code(source);
    enum { in_code, in_line, in_block, in_text } now = in_code;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const std::string_view two = source.substr(i, 2);
        if (now == in_code && source[i] == '"')
            now = in_text;
        else if (now == in_text && source[i] == '\\')
            ++i;
        else if (now == in_text && (source[i] == '"' || source[i] == '\n'))
            now = in_code;
        else if (now == in_code && (two == "//" || two == "/*"))
            now = two == "//" ? in_line : in_block;
        else if (now == in_line && source[i] == '\n')
            now = in_code;
        else if (now == in_block && two == "*/") {
            code[i] = code[i + 1] = ' ';
            ++i;
            now = in_code;
            continue;
        }
        if ((now == in_line || now == in_block) && code[i] != '\n') code[i] = ' ';
    }
    return code;
}

array_shape shared_array_shape(std::string_view source, std::string_view array)
{
    const std::string code = without_comments(source);
    const std::vector<std::string_view> tokens = tokens_of(code);
    constants named(tokens);
    std::optional<array_shape> found;
    for (auto at = tokens.begin(); at != tokens.end(); ++at) {
        if (*at != "__shared__") continue;
        const auto left = std::min<std::ptrdiff_t>(tokens.end() - (at + 1), max_declaration);
        const declared d = declaration_of({at + 1, at + 1 + left}, array, named);
        if (!d.there) continue;
        if (found && *found != d.shape) return {};
        found = d.shape;
    }
    return found.value_or(array_shape());
}

bool no_branch_before(std::string_view source, int line)
{
    const std::string code = without_comments(source);
    const std::vector<std::string> all = lines(code);
    for (const line_range &f : functions_of(code)) {
        if (line < f.first || line > f.last) continue;
        std::string before;
        for (int n = f.first; n <= line; ++n) before += all.at(std::size_t(n - 1)) + "\n";
        const std::vector<std::string_view> tokens = tokens_of(before);
        return std::ranges::none_of(
                   tokens,
                   [](std::string_view word) {
                       constexpr std::string_view branches[] = {
                           "if", "for", "while", "do", "switch", "?", "|", "goto", "break"};
                       return std::ranges::find(branches, word) != std::end(branches);
                   }) &&
               before.find("&&") == before.npos;
    }
    return false;
}

std::vector<std::string> dividing_functions(std::string_view source, std::string_view function)
{
    const std::vector<std::string> code = lines(without_comments(source));
    const std::vector<line_range> functions = functions_of(source);
    if (functions.size() > max_functions) return {};
    std::vector<std::string> bodies;
    std::size_t body_bytes = 0;
    for (const line_range &f : functions) {
        std::string body;
        for (int line = f.first; line <= f.last && line <= static_cast<int>(code.size()); ++line)
            body += code[static_cast<std::size_t>(line) - 1] + "\n";
        if ((body_bytes += body.size()) > max_body_bytes) return {};
        bodies.push_back(body);
    }
    std::vector<bool> reached(functions.size());
    const auto reach = [&](const auto &again, std::string_view name) -> void {
        for (std::size_t k = 0; k < functions.size(); ++k) {
            if (functions[k].name != name || reached[k]) continue;
            reached[k] = true;
            for (const line_range &other : functions)
                if (holds_word(bodies[k], other.name)) again(again, other.name);
        }
    };
    reach(reach, function);
    std::vector<std::string> dividing;
    for (std::size_t k = 0; k < functions.size(); ++k) {
        if (!reached[k]) continue;
        const std::vector<std::string_view> tokens = tokens_of(bodies[k]);
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const bool divides = tokens[i] == "/" || tokens[i] == "%";
            const std::string_view by =
                tokens[i + 1] == "=" && i + 2 < tokens.size() ? tokens[i + 2] : tokens[i + 1];
            if (!divides || std::isdigit(static_cast<unsigned char>(by[0]))) continue;
            dividing.push_back(functions[k].name);
            break;
        }
    }
    return dividing;
}

} // namespace grading
