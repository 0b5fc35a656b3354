// Locates and describes the first call of the CUDA runtime that failed.
#include "failed_call.hpp"

#include "source_facts.hpp"
#include "text/source_view.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace grading {

namespace {

constexpr std::size_t max_lines_named = 3;

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
