// SHA-256, by which a result names the file that was graded.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Returns the digest of FIPS 180-4 as 64 hexadecimal digits, like sha256sum.
std::string sha256(std::string_view bytes);

} // namespace cli
