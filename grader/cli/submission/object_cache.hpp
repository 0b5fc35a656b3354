// A cache of compiled objects and linked workers, keyed by the content they were built from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

// FNV-1a, 16 digits. Only a name, never a proof of equality: collisions are easy to construct.
std::string hashed(std::string_view text);

// Identifies a version of a file by path, size and time. For files that only the build changes.
std::string stamp(const std::string &path);

// Keeps one folder per key, which appears complete by a rename and holds the file `key` beside the
// build products. Throws machine_error.
class object_cache {
public:
    explicit object_cache(std::string folder); // created if missing
    // Returns the folder of an equal key; empty: there is none.
    std::optional<std::string> find(const std::string &key) const;
    // Returns the folder of the key after `fill` has put the build products into a temporary one,
    // and evicts entries that have long not been used. Another process may have been faster; then
    // its folder stays. If `fill` throws, nothing is kept.
    std::string make(const std::string &key,
                     const std::function<void(const std::string &folder)> &fill) const;

private:
    std::string entry_of(const std::string &key) const;
    void evict_least_recent() const;
    std::string folder_;
};

} // namespace cli
