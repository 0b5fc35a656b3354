// A cache of compiled objects and linked workers, keyed by the content they were built from.
#include "object_cache.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "text/fnv1a.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_kept = 200;

// True for a temporary folder of make(); an old one was left by a program that was killed.
bool unfinished(const fs::path &entry) { return entry.filename().string().starts_with(".new."); }

} // namespace

std::string hashed(std::string_view text) { return fmt::format("{:016x}", grading::fnv1a(text)); }

std::string stamp(const std::string &path)
{
    struct stat s {};
    if (stat(path.c_str(), &s) != 0) return path + " is not there\n";
    return fmt::format("{} {} {}.{:09}\n", path, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

object_cache::object_cache(std::string folder) : folder_(std::move(folder))
{
    fs::create_directories(folder_);
}

// Returns the folder of an equal key, or the unused path for it. Hashes may collide.
std::string object_cache::entry_of(const std::string &key) const
{
    for (int i = 0;; ++i) { // a different key with the same hash takes the next number
        std::string at =
            fmt::format("{}/{}{}", folder_, hashed(key), i ? fmt::format("-{}", i) : "");
        if (!fs::exists(at + "/key") || read_text(at + "/key") == key) return at;
    }
}

std::optional<std::string> object_cache::find(const std::string &key) const
{
    std::string at = entry_of(key);
    if (!fs::exists(at + "/key")) return {};
    std::error_code ignored; // the time only marks the entry as recently used
    fs::last_write_time(at, fs::file_time_type::clock::now(), ignored);
    return at;
}

std::string object_cache::make(const std::string &key,
                               const std::function<void(const std::string &folder)> &fill) const
{
    std::string fresh = folder_ + "/.new.XXXXXX";
    if (!mkdtemp(fresh.data())) throw machine_error(cannot_write(folder_, errno));
    std::error_code error, ignored;
    try {
        write_atomically(fresh + "/key", key);
        fill(fresh);
    } catch (...) {
        fs::remove_all(fresh, ignored);
        throw;
    }
    const std::string at = entry_of(key);
    fs::rename(fresh, at, error);
    if (error) fs::remove_all(fresh, ignored);
    if (!fs::exists(at + "/key")) throw machine_error(cannot_write(at, error.value()));
    evict_least_recent();
    return at;
}

void object_cache::evict_least_recent() const
{
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    std::error_code ignored; // another process may be tidying too
    for (fs::directory_iterator e(folder_, ignored), end; e != end; e.increment(ignored))
        entries.emplace_back(e->last_write_time(ignored), e->path());
    std::sort(entries.begin(), entries.end());
    auto one_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (std::size_t i = 0; i < entries.size() && entries[i].first < one_hour_ago; ++i)
        if (i + max_kept < entries.size() || unfinished(entries[i].second))
            fs::remove_all(entries[i].second, ignored);
}

} // namespace cli
