// Removes comments and blanks from C++ code.
#include "bare_code.hpp"

#include <algorithm>
#include <cctype>

namespace grading {

std::string bare_code(const std::string &source)
{
    std::string result;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const char c = source[i];
        if (c == '"' || c == '\'') {
            const std::size_t start = i;
            // A quote also separates the digits of a number, as in 1'000.
            if (c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(source[i - 1]))) {
                result += c;
                continue;
            }
            for (++i; i < source.size() && source[i] != c; ++i)
                if (source[i] == '\\') ++i;
            result += source.substr(start, i - start + 1);
        } else if (source.compare(i, 2, "//") == 0) {
            i = std::min(source.find('\n', i), source.size());
        } else if (source.compare(i, 2, "/*") == 0) {
            const std::size_t end = source.find("*/", i + 2);
            i = end == source.npos ? source.size() : end + 1;
        } else if (!std::isspace(static_cast<unsigned char>(c))) {
            result += c;
        }
    }
    return result;
}

} // namespace grading
