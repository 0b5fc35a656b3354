// Finds facts in the text of a submission, without parsing all of C++.
#include "source_facts.hpp"

#include "run_options.hpp"
#include "text/source_view.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>

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

// An array as one declaration behind __shared__ states it.
struct declared {
    bool there = false;
    std::size_t element_bytes = 0; // 0: not known, or not of one dimension
};

// `tokens`: those behind __shared__.
declared declaration_of(const std::vector<std::string_view> &tokens, std::string_view array)
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
    if (at + 1 == end || *(at + 1) != "[") return {true, 0};
    const auto close = std::find(at, end, "]");
    const bool ends = close != end && (close + 1 == end || *(close + 1) == ",");
    return {true, ends ? size_of(type) : 0};
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

std::size_t shared_element_bytes(std::string_view source, std::string_view array)
{
    const std::string code = without_comments(source);
    const std::vector<std::string_view> tokens = tokens_of(code);
    std::set<std::size_t> sizes;
    for (auto at = tokens.begin(); at != tokens.end(); ++at) {
        if (*at != "__shared__") continue;
        const auto left = std::min<std::ptrdiff_t>(tokens.end() - (at + 1), max_declaration);
        const declared d = declaration_of({at + 1, at + 1 + left}, array);
        if (d.there) sizes.insert(d.element_bytes);
    }
    return sizes.size() == 1 ? *sizes.begin() : 0;
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
