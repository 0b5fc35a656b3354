// Tests of device memory, findings and counters.
#include <doctest/doctest.h>

#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/machine.hpp"
#include "simulator/machine/memory.hpp"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace simulator;

namespace {

sigjmp_buf back;

bool host_can_read(address a)
{
    struct sigaction on = {}, old = {};
    on.sa_handler = [](int) { siglongjmp(back, 1); };
    sigaction(SIGSEGV, &on, &old);
    const bool fine = sigsetjmp(back, 1) == 0;
    if (fine) [[maybe_unused]]
        volatile char c = *reinterpret_cast<volatile char *>(a);
    sigaction(SIGSEGV, &old, nullptr);
    return fine;
}

// Runs another test case of this program with a limit on its address space.
bool limited(const char *test_case, rlim_t addresses)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {addresses, addresses};
        setrlimit(RLIMIT_AS, &limit);
        const std::string filter = std::string("--test-case=") + test_case;
        execl("/proc/self/exe", "memory_test", filter.c_str(), "--no-skip", "-m",
              static_cast<char *>(nullptr));
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

address get(std::uint64_t bytes, memory_kind kind = memory_kind::device)
{
    auto a = memory::instance().allocate(bytes, kind, 0);
    REQUIRE(a.has_value());
    return *a;
}

} // namespace

TEST_CASE("a large allocation costs what is touched of it")
{
    const auto resident = [] {
        std::ifstream status("/proc/self/statm");
        std::uint64_t total = 0, pages = 0;
        status >> total >> pages;
        return pages * 4096;
    };
    memory &m = memory::instance();
    const std::uint64_t bytes = (std::uint64_t{2} << 30) + 123;
    const auto before = resident();
    const address a = get(bytes), b = get(bytes, memory_kind::managed);
    CHECK(resident() - before < 100 << 20);
    for (const std::uint64_t at : {std::uint64_t{0}, bytes / 2, bytes - 1}) {
        CHECK(*m.shadow_at(a + at) == addressable);
        CHECK(*m.shadow_at(b + at) == (addressable | initialised));
        m.mark(a + at, 1, initialised, 0);
        CHECK(*m.shadow_at(a + at) == (addressable | initialised));
    }
    CHECK(*m.shadow_at(a + 1) == addressable);
    CHECK(*m.shadow_at(a + bytes) == 0);
    CHECK(m.release(a));
    CHECK(m.release(b));
    for (const std::uint64_t at : {std::uint64_t{0}, bytes / 2, bytes - 1})
        CHECK(*m.shadow_at(a + at) == 0);
}

TEST_CASE("allocations are aligned, apart from each other and addressable to the byte")
{
    memory &m = memory::instance();
    const address a = get(100), b = get(4096), c = get(1);
    CHECK(a % 256 == 0);
    CHECK(b % 256 == 0);
    CHECK(b >= a + 100 + 256);
    CHECK(c >= b + 4096 + 256);
    CHECK(*m.shadow_at(a - 1) == 0);
    CHECK(*m.shadow_at(a) == addressable);
    CHECK(*m.shadow_at(a + 99) == addressable);
    CHECK(*m.shadow_at(a + 100) == 0);
    CHECK(m.contains(a));
    CHECK(!m.contains(m.base() - 1));
    CHECK(!m.contains(m.base() + m.reserved()));
}

TEST_CASE("host code cannot read device memory, but pinned and managed memory at the same address")
{
    memory &m = memory::instance();
    CHECK(!host_can_read(get(64)));
    for (auto kind : {memory_kind::pinned, memory_kind::managed}) {
        const address p = get(8192, kind);
        CHECK(host_can_read(p));
        std::memset(reinterpret_cast<void *>(p), 0x5a, 8192);
        CHECK(m.at(p)[8191] == std::byte{0x5a});
        m.at(p)[1] = std::byte{7};
        CHECK(reinterpret_cast<unsigned char *>(p)[1] == 7);
        CHECK(*m.shadow_at(p) ==
              (addressable | initialised | (kind == memory_kind::pinned ? on_host : 0)));
        CHECK(m.release(p));
        CHECK(!host_can_read(p));
    }
}

TEST_CASE("released memory is known, not addressable and never given out again")
{
    memory &m = memory::instance();
    const address a = get(1000);
    m.at(a)[0] = std::byte{1};
    CHECK(!m.release(a + 1));
    CHECK(m.release(a));
    CHECK(!m.release(a));
    CHECK(*m.shadow_at(a) == 0);
    CHECK(get(1000) != a);
    REQUIRE(m.find(a + 10));
    CHECK(!m.find(a + 10)->live);
    CHECK(m.find(a + 10)->start == a);
}

TEST_CASE("a limited process gets fewer addresses, or an error that says what to do")
{
    CHECK(limited("a range of 128 GiB", std::uint64_t{500} << 30));
    CHECK(limited("no range at all", std::uint64_t{100} << 30));
}

TEST_CASE("a range of 128 GiB" * doctest::skip())
{
    memory &m = memory::instance();
    CHECK(m.reserved() == std::uint64_t{128} << 30);
    const address a = get(1000);
    m.at(a)[999] = std::byte{1};
    CHECK(*m.shadow_at(a + 999) == addressable);
    CHECK(!m.contains(m.base() + m.reserved()));
}

TEST_CASE("no range at all" * doctest::skip())
{
    CHECK_THROWS_WITH_AS(memory::instance(), doctest::Contains("ulimit -v unlimited"),
                         std::runtime_error);
}

TEST_CASE("find prefers the holder, then the nearest within a red zone")
{
    memory &m = memory::instance();
    const address a = get(1000), b = get(5000);
    CHECK(m.find(a)->start == a);
    CHECK(m.find(a + 1000)->start == a);
    CHECK(m.find(a + 1001)->start == a);
    CHECK(m.find(b - 1)->start == b);
    CHECK(m.find(b + 4999)->start == b);
    CHECK(m.find(b + 5000)->start == b);
    CHECK(m.find(m.base() + m.reserved() - 1) == nullptr);
    const address empty = get(0);
    CHECK(m.find(empty)->start == empty);
    CHECK(*m.shadow_at(empty) == 0);
    CHECK(get(0) != empty);
}

TEST_CASE("use is counted a device and its capacity is a limit")
{
    memory &m = memory::instance();
    const auto before = m.used(5);
    CHECK(before == 0);
    auto a = m.allocate(1000, memory_kind::device, 5);
    CHECK(m.used(5) == 1000);
    CHECK(!m.allocate(profile().global_bytes, memory_kind::device, 5));
    CHECK(!m.allocate(~std::uint64_t{0}, memory_kind::device, 5));
    CHECK(!m.allocate(~std::uint64_t{0} - 5000, memory_kind::pinned, 5));
    CHECK(m.release(*a));
    CHECK(m.used(5) == 0);
}

TEST_CASE("mark sets and clears, clipped to the range")
{
    memory &m = memory::instance();
    const address a = get(16);
    m.mark(a + 4, 8, initialised, 0);
    CHECK(*m.shadow_at(a + 3) == addressable);
    CHECK(*m.shadow_at(a + 4) == (addressable | initialised));
    m.mark(a + 5, 1, read_only, initialised | addressable);
    CHECK(*m.shadow_at(a + 5) == read_only);
    CHECK(*m.shadow_at(a + 6) == (addressable | initialised));
    m.mark(m.base() - 100, 100, initialised, 0);
    m.mark(m.base() - 1, 2, initialised, 0);
    CHECK(*m.shadow() == initialised);
    m.mark(m.base(), 1, 0, 0xff);
    m.mark(m.base() + m.reserved() - 1, 100, initialised, 0);
    m.mark(m.base() + m.reserved(), ~std::uint64_t{0}, initialised, 0);
    CHECK(m.shadow()[m.reserved() - 1] == initialised);
    m.mark(m.base() + m.reserved() - 1, 1, 0, 0xff);
}

TEST_CASE("describe names the place as a person would")
{
    memory &m = memory::instance();
    const address a = get(4000);
    CHECK(m.describe(a + 8, 4) == "byte 8 of an allocation of 4000 bytes");
    m.label(a, 4000, "out");
    CHECK(m.find(a)->name == "out");
    CHECK(m.describe(a + 4000, 4) == "just past the end of `out` (4000 bytes)");
    CHECK(m.describe(a + 4004, 4) == "4 bytes past the end of `out` (4000 bytes)");
    CHECK(m.describe(a + 3998, 4) == "across the end of `out` (4000 bytes)");
    CHECK(m.describe(a - 4, 4) == "4 bytes before the start of `out` (4000 bytes)");
    CHECK(m.describe(a + 4, 4) == "byte 4 of `out` (4000 bytes)");
    m.release(a);
    CHECK(m.describe(a + 4, 4) == "byte 4 of `out` (4000 bytes), already freed");
    CHECK(m.describe(8, 4) == "null pointer (address 0x8)");
    int local = 0;
    CHECK(m.describe(reinterpret_cast<address>(&local), 4).find("host memory") == 0);
    CHECK(m.describe(m.base() + m.reserved() - 8, 4).find("never allocated") != std::string::npos);
}

TEST_CASE("labels cut an allocation into parts, and later ones replace what they overlap")
{
    memory &m = memory::instance();
    const address a = get(10000);
    m.label(a + 1000, 400, "in");
    m.label(a + 3000, 400, "out");
    CHECK(m.describe(a + 1400, 4) == "just past the end of `in` (400 bytes)");
    CHECK(m.describe(a + 2996, 4) == "4 bytes before the start of `out` (400 bytes)");
    CHECK(m.describe(a + 1399, 1) == "byte 399 of `in` (400 bytes)");
    m.label(a + 1200, 2000, "whole");
    CHECK(m.describe(a + 1300, 4) == "byte 100 of `whole` (2000 bytes)");
    CHECK(m.describe(a + 3396, 4) == "196 bytes past the end of `whole` (2000 bytes)");
    m.label(a + 5000, 0, "empty");
    CHECK(m.describe(a + 5000, 4) == "just past the end of `empty` (0 bytes)");
}

TEST_CASE("a program's own pages are lent to devices and taken back with what they hold")
{
    memory &m = memory::instance();
    const address a = get(8192, memory_kind::pinned);
    std::vector<char> room(3 * 4096);
    char *pages = room.data() + (4096 - reinterpret_cast<address>(room.data()) % 4096);
    const auto at = reinterpret_cast<std::uintptr_t>(pages);
    pages[7] = 7;
    REQUIRE(host().share_pages(at, a, 4096) == host_process::share_result::shared);
    CHECK(m.at(a)[7] == std::byte{7});
    pages[5] = 42;
    CHECK(m.at(a)[5] == std::byte{42});
    CHECK(host().share_pages(at, a + 4096, 4096) == host_process::share_result::already_shared);
    REQUIRE(host().unshare_pages(at, 4096));
    CHECK(pages[5] == 42);
    pages[5] = 1;
    CHECK(m.at(a)[5] == std::byte{42});
    // Device memory cannot be shared.
    CHECK(host().share_pages(at, m.base(), 4096) == host_process::share_result::refused);
}

TEST_CASE("findings merge by kind and place")
{
    findings &f = findings::instance();
    f.clear();
    finding one;
    one.kind = finding_kind::out_of_bounds;
    one.kernel = "add";
    one.file = "add.cu";
    one.line = 12;
    one.thread = {7, 0, 0};
    f.add(one);
    one.thread = {8, 0, 0};
    one.threads = 3;
    f.add(one);
    one.line = 13;
    f.add(one);
    one.kind = finding_kind::uninitialised;
    f.add(one);
    const auto all = f.all();
    REQUIRE(all.size() == 3);
    CHECK(all[0].threads == 4);
    CHECK(all[0].thread.x == 7);
    CHECK(all[1].line == 13);
    f.clear();
    CHECK(f.empty());
}

TEST_CASE("counters add up and appear in json")
{
    counters &c = counters::instance();
    c.clear();
    site_counts site;
    site.global_load = {10, 40, 40, 1280, 320};
    site.shared_store = {4, 16, 4, 128};
    site.atomic_requests = 2, site.atomic_same_address = 20;
    kernel_counts k;
    k.kernel = "scale_columns_with_a_rather_long_name";
    k.launches = 1, k.sectors_read = 5;
    k.total = site;
    k.total += site;
    k.sites[{"with \"quotes\" and\n\\", 3}] = site;
    k.sites[{"a/rather/deep/folder/of/a/student/stub.cu", 17}] = site;
    CHECK(k.total.global_load.sectors == 80);
    CHECK(k.total.shared_store.wavefronts == 32);
    c.kernels.push_back(k);
    c.transfers.host_to_device = 1234567;

    const auto parsed = nlohmann::json::parse(c.json());
    CHECK(parsed["kernels"][0]["kernel"] == k.kernel);
    CHECK(parsed["kernels"][0]["sites"][0]["line"] == 17);
    CHECK(parsed["kernels"][0]["sites"][1]["file"] == "with \"quotes\" and\n\\");
    CHECK(parsed["kernels"][0]["sites"][0]["global_load"]["requests"] == 10);
    CHECK(parsed["transfers"]["host_to_device"] == 1234567);

    c.clear();
    CHECK(c.kernels.empty());
}
