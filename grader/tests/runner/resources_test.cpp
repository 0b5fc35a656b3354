// Tests what is read of a container's limit of memory.
#include "runner/resources.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using grading::granted_memory;

namespace {

// The folder of a control group.
class group {
public:
    group()
    {
        char name[] = "/tmp/cgroup-XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        folder = name;
    }
    ~group() { std::filesystem::remove_all(folder); }
    group(const group &) = delete;
    group &operator=(const group &) = delete;
    void put(const std::string &file, const std::string &text) const
    {
        std::ofstream(folder + "/" + file) << text;
    }
    std::string folder;
};

} // namespace

TEST_CASE("a container grants its limit less what is in use, but for cached files")
{
    const group g;
    CHECK_FALSE(granted_memory(g.folder)); // no container, or version 1
    g.put("memory.max", "max\n");
    g.put("memory.current", "5000\n");
    CHECK_FALSE(granted_memory(g.folder));
    g.put("memory.max", "8000\n");
    CHECK(granted_memory(g.folder) == 3000u);
    g.put("memory.stat", "anon 1000\ninactive_file 4000\nactive_file 7\n");
    CHECK(granted_memory(g.folder) == 7000u);
    g.put("memory.current", "90000\n");
    CHECK(granted_memory(g.folder) == 0u);
}
