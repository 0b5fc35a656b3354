// Which lab a word on the command line means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

// `word` is a number ("2", "02"), any part of one name, or a path into a lab's folder
// ("labs/02_coalescing/stub.cu"). Throws usage_error listing the candidates when it means no lab or
// several.
std::string find_lab(std::string_view word, const std::vector<std::string> &names);

// The labs that `words` mean, each once, in the order of `names`; all of `names` when there are no
// words.
std::vector<std::string> find_labs(const std::vector<std::string> &words,
                                   const std::vector<std::string> &names);

} // namespace cli
