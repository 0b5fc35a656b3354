// Detects that files were saved, in whatever way the editor saves them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

// The contents of files by path; nullopt if a file is missing or cannot be read.
using contents = std::map<std::string, std::optional<std::string>>;
contents look_at(const std::vector<std::string> &paths);

// Polled with the files' contents, reports each change once, when it is complete. Compares texts,
// not times: a network folder's clock, times too coarse to separate two saves, or a touch do no
// harm, and reading a file makes a network folder fetch the newest version. Kernel events (inotify)
// would miss what another machine writes to a network folder.
class save_detector {
public:
    // `graded`: the contents already known.
    explicit save_detector(contents graded) : known_(std::move(graded)) {}
    // Returns true once `now` is new and has stayed the same for several calls. An editor may
    // truncate or move a file before writing it, so an empty or missing file takes more calls.
    bool look(const contents &now);
    const contents &known() const { return known_; }

private:
    contents known_, candidate_;
    int seen_ = 0; // consecutive calls that found the candidate
};

} // namespace cli
