// A run of the grading command beside the loop of `watch`.
#pragma once

#include "cli/support/subprocess.hpp"
#include "cli/support/waitable_flag.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cli {

// One run of the grading command, and a thread that waits for it. The destructor ends the command.
class background_grade {
public:
    background_grade(std::vector<std::string> command, std::string json_file);
    ~background_grade();
    background_grade(const background_grade &) = delete;

    int descriptor() const { return news_.descriptor(); } // readable when step() or done() changes
    bool done() const { return done_; }
    std::string step();
    // Valid after done().
    const exit_result &end() const { return end_; }
    const std::string &json_file() const { return json_file_; }
    std::string simulator_file() const { return json_file_ + ".simulator"; } // comes before it

private:
    void remove_files() const;
    void work();
    void take_line(std::string_view line);

    child command_;
    std::string json_file_;
    waitable_flag cancel_, news_;
    std::mutex mutex_;
    std::string step_;
    exit_result end_;
    std::atomic<bool> done_ = false;
    std::thread thread_;
};

} // namespace cli
