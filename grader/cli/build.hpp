// Has ninja build exactly what a command needs.
#pragma once

#include "text.hpp"
#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

// A line that says what is going on; on a terminal it rewrites itself and goes away.
class progress_line {
public:
    explicit progress_line(bool wanted = true);
    ~progress_line();
    void say(const std::string &text); // shown at once
    void clear();

private:
    terminal terminal_;
    bool wanted_;
    int shown_ = 0; // columns of it on the terminal
    std::string last_;
};

// Files to build, absolute or relative to the build folder. One ninja at a time a build folder: a
// second process waits. Throws machine_error with the first failing command's output.
void build_targets(const toolchain &t, const std::vector<std::string> &targets,
                   progress_line &progress);

// What grading an implementation of ours, or any submission, of a lab takes.
std::vector<std::string> grading_targets(const toolchain &t, const lab &l,
                                         const std::string &backend);
std::vector<std::string> submission_targets(const toolchain &t, const lab &l);
// The backends that a worker is linked for: beside a GPU, the simulator does what is counted.
std::vector<std::string> linked_with(const std::string &backend);

} // namespace cli
