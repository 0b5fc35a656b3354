// A substring check for tests of messages.
#pragma once

#include <string_view>

inline bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}
