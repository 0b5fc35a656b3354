// Locates and describes the first call of the CUDA runtime that failed.
#include "failed_call.hpp"

#include "text/source_view.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace grading {

namespace {

constexpr std::size_t max_lines_named = 3;

// Returns `source` with comments replaced by blanks.
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

bool calls(std::string_view line, std::string_view name)
{
    return holds_word(line, name) || (name == "cudaLaunchKernel" && line.find("<<<") != line.npos);
}

} // namespace

std::vector<int> lines_that_call(std::string_view name, std::string_view source,
                                 std::string_view within)
{
    std::vector<int> all, inside;
    const std::vector<line_range> functions = functions_of(source);
    int number = 0;
    for (const std::string &line : lines(without_comments(source))) {
        if (++number; !calls(line, name)) continue;
        all.push_back(number);
        if (std::any_of(functions.begin(), functions.end(), [&](const line_range &f) {
                return f.name == within && f.first <= number && number <= f.last;
            }))
            inside.push_back(number);
    }
    return inside.empty() ? all : inside;
}

std::string sentence_of(const failed_call &f, std::string_view source, std::string_view within)
{
    const std::vector<int> calling = lines_that_call(f.name, source, within);
    std::string where;
    if (calling.size() == 1)
        where = fmt::format(" on line {}", calling[0]);
    else if (!calling.empty() && calling.size() <= max_lines_named)
        where = fmt::format(" (on one of the lines {})", fmt::join(calling, ", "));
    const std::string what = f.name == "cudaLaunchKernel" ? "a kernel's launch" : f.name;
    const std::string why = f.why.empty() ? "" : ": " + f.why;
    return fmt::format("{}{} failed with {}{}.", what, where, f.error, why);
}

} // namespace grading
