// The verdicts' names as in result.json.
#include "verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace grading {

namespace {
#define GRADING_NAME(name) #name,
constexpr std::string_view names[] = {GRADING_VERDICTS(GRADING_NAME)};
#undef GRADING_NAME
} // namespace

std::string_view name(verdict v) { return names[static_cast<std::size_t>(v)]; }

bool parse(std::string_view text, verdict &v)
{
    const auto at = std::find(std::begin(names), std::end(names), text);
    if (at == std::end(names)) return false;
    v = static_cast<verdict>(at - std::begin(names));
    return true;
}

} // namespace grading
