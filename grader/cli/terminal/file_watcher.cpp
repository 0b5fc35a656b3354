// Detects that files were saved by an editor.
#include "file_watcher.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <algorithm>
#include <filesystem>

namespace cli {

contents look_at(const std::vector<std::string> &paths)
{
    contents result;
    for (const std::string &path : paths) {
        result[path];
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) continue;
        try {
            result[path] = read_text(path);
        } catch (const machine_error &) { // removed in between, or not readable
        }
    }
    return result;
}

bool save_detector::look(const contents &now)
{
    constexpr int enough = 2, enough_of_nothing = 6;
    if (now == known_) {
        seen_ = 0;
        return false;
    }
    seen_ = seen_ > 0 && now == candidate_ ? seen_ + 1 : 1;
    candidate_ = now;
    bool nothing = std::ranges::any_of(
        now, [](const auto &file) { return !file.second || file.second->empty(); });
    if (seen_ < (nothing ? enough_of_nothing : enough)) return false;
    known_ = now;
    seen_ = 0;
    return true;
}

} // namespace cli
