// Runs the grading command in a child process, and reports its steps and its end.
#include "background_grade.hpp"

#include "cli/support/errors.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace cli {

background_grade::background_grade(std::vector<std::string> command, std::string json_file)
    : json_file_(std::move(json_file))
{
    remove_files(); // a stale file must not pass for our result
    command_.arguments = std::move(command);
    command_.arguments.insert(command_.arguments.end(),
                              {"--json", json_file_, "--simulator-json", simulator_file()});
    command_.wall = std::chrono::seconds(1800);
    command_.cancel_fd = cancel_.descriptor();
    command_.each_line = [this](std::string_view line) { take_line(line); };
    thread_ = std::thread([this] { work(); });
}

background_grade::~background_grade()
{
    cancel_.set();
    thread_.join();
    remove_files();
}

void background_grade::remove_files() const
{
    for (const std::string &file : {json_file_, simulator_file()}) unlink(file.c_str());
}

std::string background_grade::step()
{
    if (!done_) news_.clear();
    std::lock_guard lock(mutex_);
    return step_;
}

void background_grade::work()
{
    try {
        end_ = run(command_);
    } catch (const stop_requested &) { // the loop sees it too
        end_.what = exit_result::cancelled;
    }
    done_ = true;
    news_.set();
}

void background_grade::take_line(std::string_view line)
{
    for (std::string_view known : {"building the grader", "waiting for another build"})
        if (line.starts_with(known)) {
            std::lock_guard lock(mutex_);
            step_ = line;
            news_.set();
        }
}

} // namespace cli
