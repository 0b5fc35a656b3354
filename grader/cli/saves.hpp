// Notices that files were saved, whatever an editor does to save.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

// What files hold, by path; none: not there. Files that cannot be read count as not there.
using contents = std::map<std::string, std::optional<std::string>>;
contents look_at(const std::vector<std::string> &paths);

// Told again and again what the files hold, says once for each change that it is complete. It is
// the text that counts, not its time: a network folder's clock, a time too coarse to tell two saves
// apart, or a touch do no harm, and reading a file makes a network folder ask for the newest.
// Events of the kernel would say nothing of what another machine writes to a network folder.
class save_detector {
public:
    // `graded`: what is known already.
    explicit save_detector(contents graded) : known_(std::move(graded)) {}
    // True: `now` is new, and has been so for a while. An editor may truncate a file, or move it
    // away, before it writes it; a file that is empty or gone is given longer.
    bool look(const contents &now);
    const contents &known() const { return known_; }

private:
    contents known_, candidate_;
    int seen_ = 0; // looks in a row that found the candidate
};

} // namespace cli
