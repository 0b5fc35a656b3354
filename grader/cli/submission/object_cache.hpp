// A cache of compiled objects and linked workers, keyed by the content they were built from.
#pragma once

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
    // Returns the folder of an equal key, or, with `found` false, the unused path for it.
    std::string find(const std::string &key, bool &found) const;
    // Creates a temporary folder in the cache, to be filled and passed to `keep`.
    std::string prepare(const std::string &key) const;
    // Moves the folder to `at`, unless another process was faster, and removes the oldest entries.
    void keep(const std::string &prepared, const std::string &at) const;

private:
    void forget_oldest() const;
    std::string folder_;
};

} // namespace cli
