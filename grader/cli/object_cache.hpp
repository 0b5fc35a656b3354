// What was compiled and linked, kept by the content it was made from.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// FNV-1a, 16 digits. It names things, for files of ours: who wants equal hashes can make them.
std::string hashed(std::string_view text);

// Which file it is, for files of ours that only the build changes.
std::string stamp(const std::string &path);

// A folder a key, which appears whole by a rename, and holds the file `key` beside what was made
// from it. Throws machine_error.
class object_cache {
public:
    explicit object_cache(std::string folder); // made if it is not there
    // The folder of an equal key, or where to put it: with `found` false nothing is there.
    std::string find(const std::string &key, bool &found) const;
    // A folder beside the others, to be filled and handed to `keep`.
    std::string prepare(const std::string &key) const;
    // Another process may have kept the same meanwhile: then that one stays. The oldest go.
    void keep(const std::string &prepared, const std::string &at) const;

private:
    void forget_oldest() const;
    std::string folder_;
};

} // namespace cli
