// Finds functions in a file that its lab no longer asks for, because they moved to another lab.
#include "moved_functions.hpp"

#include "text/source_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace cli {

namespace {

// "a", "a and b", "a, b and c"
std::string joined_words(const std::vector<std::string> &words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return text;
}

} // namespace

std::string moved_words(const toolchain &t, const lab &l, const std::string &source)
{
    if (l.moved.empty()) return {};
    const std::vector<grading::line_range> written = grading::functions_of(source);
    std::map<std::string, std::vector<std::string>> by_lab;
    for (const auto &[function, to] : l.moved)
        if (std::ranges::find(written, function, &grading::line_range::name) != written.end())
            by_lab[to].push_back(function);
    std::string text;
    std::vector<std::string> stubs;
    std::size_t moved = 0;
    for (const auto &[to, functions] : by_lab) {
        const bool one = functions.size() == 1;
        moved += functions.size();
        text += fmt::format("{} {} lab {} now. ", joined_words(functions),
                            one ? "is a function of" : "are functions of", number_of(to));
        lab other;
        other.name = to;
        stubs.push_back(t.shown(t.stub(other)));
    }
    if (text.empty()) return {};
    return text + fmt::format("Here {} not count: copy what you wrote to {}.",
                              moved == 1 ? "it does" : "they do", joined_words(stubs));
}

} // namespace cli
