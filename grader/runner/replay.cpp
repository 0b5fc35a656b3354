// Writes both requests of a call, then its images with offsets relative to the first image.
#include "replay.hpp"

#include "case_record.hpp"
#include "case_run.hpp"
#include "whole_file.hpp"

#include <filesystem>
#include <ostream>

namespace grading {

namespace {
struct {
    request load, run;
    std::uint64_t from = 0, to = 0; // equal: no call
} last;

constexpr std::uint64_t max_kept_bytes = 1 << 30; // so that a disk does not fill up
} // namespace

void remember_call(const request &load, const request &run, std::uint64_t from, std::uint64_t to)
{
    last = {load, run, from, to};
}

void forget_call() { last.to = last.from; }

std::string keep_call()
{
    const std::uint64_t bytes = last.to - last.from;
    if (options().replay_folder.empty() || bytes == 0 || bytes > max_kept_bytes) return {};
    std::string name = lab_name() + "." + current_case().name;
    for (char &c : name)
        if (!is_name_char(c) && c != '.') c = '-';
    const auto path = std::filesystem::path(options().replay_folder) / (name + ".replay");
    // A verdict does not depend on its replay, so errors are ignored.
    std::error_code unwritable;
    std::filesystem::create_directories(path.parent_path(), unwritable);
    request load = last.load;
    for (std::uint32_t i = 0; i < load.argument_count; ++i) load.arguments[i].input -= last.from;
    int problem = write_whole(path.string(), [&](std::ostream &file) {
        file.write(reinterpret_cast<const char *>(&load), sizeof load);
        file.write(reinterpret_cast<const char *>(&last.run), sizeof last.run);
        file.write(reinterpret_cast<const char *>(inputs().data() + last.from),
                   static_cast<std::streamsize>(bytes));
    });
    return problem == 0 ? path.string() : std::string();
}

} // namespace grading
