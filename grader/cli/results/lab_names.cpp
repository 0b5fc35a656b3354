// Maps a word on the command line to the lab that it names.
#include "lab_names.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace cli {

namespace {

std::string_view leading_digits(std::string_view name)
{
    return name.substr(0, name.find_first_not_of("0123456789"));
}

bool is_number(std::string_view s) { return !s.empty() && s.size() < 9 && leading_digits(s) == s; }

std::string listed(const std::vector<std::string> &names)
{
    return fmt::format("\n    {}", fmt::join(names, "\n    "));
}

// Returns the part of "labs/02_coalescing/stub.cu" that is a lab's name, else the word itself.
std::string without_path(std::string_view word, const std::vector<std::string> &names)
{
    for (const std::filesystem::path &part : std::filesystem::path(word))
        if (std::ranges::find(names, part.string()) != names.end()) return part;
    return std::string(word);
}

std::vector<std::string> matches(const std::string &word, const std::vector<std::string> &names)
{
    std::vector<std::string> found;
    for (const std::string &name : names) {
        if (name == word) return {name};
        std::string_view digits = leading_digits(name);
        bool hit = is_number(word)
                       ? is_number(digits) && std::stoi(std::string(digits)) == std::stoi(word)
                       : lower(name).find(lower(word)) != name.npos;
        if (hit) found.push_back(name);
    }
    return found;
}

// Compares with each name with and without its number, so that "colaescing" finds "02_coalescing".
std::string suggestion(const std::string &word, const std::vector<std::string> &names)
{
    for (const std::string &name : names) {
        std::string_view digits = leading_digits(name);
        std::string bare = name.substr(std::min(name.size(), digits.size() + !digits.empty()));
        if (!nearest(lower(word), {lower(name), lower(bare)}).empty()) return name;
    }
    return {};
}

} // namespace

std::string find_lab(std::string_view word, const std::vector<std::string> &names)
{
    const std::filesystem::path file(word);
    if (file.extension() == ".cu" && file.filename() != "stub.cu")
        throw usage_error(
            fmt::format("\"{}\" is a file, not a lab. To grade it, name its lab, too: "
                        "./workbook grade LAB --submission {}",
                        word, grading::shell_word(word)));
    std::string meant = without_path(word, names);
    std::vector<std::string> found = meant.empty() ? names : matches(meant, names);
    if (found.size() == 1) return found[0];
    if (!found.empty())
        throw usage_error(fmt::format("\"{}\" means {} labs. Say which one:{}", word, found.size(),
                                      listed(found)));
    std::string near = suggestion(meant, names);
    throw usage_error(fmt::format("no lab is called \"{}\".{} The labs:{}", word,
                                  near.empty() ? "" : fmt::format(" Did you mean {}?", near),
                                  listed(names)));
}

std::vector<std::string> find_labs(const std::vector<std::string> &words,
                                   const std::vector<std::string> &names)
{
    if (words.empty()) return names;
    std::vector<std::string> wanted, result;
    for (const std::string &word : words) wanted.push_back(find_lab(word, names));
    for (const std::string &name : names)
        if (std::ranges::find(wanted, name) != wanted.end()) result.push_back(name);
    return result;
}

} // namespace cli
