// Maps a word on the command line to the lab that it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

// `word` is a number ("2", "02"), any part of one name, or a path into a lab's folder
// ("labs/02_coalescing/stub.cu"). Throws usage_error with the candidates if it matches no lab or
// several.
std::string find_lab(std::string_view word, const std::vector<std::string> &names);

// Returns the labs that `words` name, each once, in the order of `names`; all of `names` if there
// are no words.
std::vector<std::string> find_labs(const std::vector<std::string> &words,
                                   const std::vector<std::string> &names);

} // namespace cli
