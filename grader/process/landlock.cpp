// Landlock by its system calls, for which the C library has no functions.
#include "landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace grading {

namespace {

// Rights that older kernels' headers lack: refer came with Linux 5.19, truncate with 6.2, TCP with
// 6.7, devices with 6.10, scopes with 6.12.
constexpr std::uint64_t refer = 1 << 13, truncate = 1 << 14, ioctl_device = 1 << 15;
constexpr std::uint64_t bind_tcp = 1 << 0, connect_tcp = 1 << 1;
constexpr std::uint64_t abstract_sockets = 1 << 0, sent_signals = 1 << 1;
struct attributes {
    std::uint64_t files, network, scoped;
};

constexpr std::uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t for_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                    LANDLOCK_ACCESS_FS_WRITE_FILE | truncate | ioctl_device;
constexpr std::uint64_t first_version = (1 << 13) - 1; // the rights of Linux 5.13

} // namespace

landlock_rules::landlock_rules()
{
    const long known =
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (known < 1) return;
    attributes all{first_version, 0, 0};
    if (known >= 2) all.files |= refer;
    if (known >= 3) all.files |= truncate;
    if (known >= 4) all.network = bind_tcp | connect_tcp;
    if (known >= 5) all.files |= ioctl_device;
    if (known >= 6) all.scoped = abstract_sockets | sent_signals;
    const std::size_t size = known >= 6   ? sizeof all
                             : known >= 4 ? offsetof(attributes, scoped)
                                          : offsetof(attributes, network);
    const owned_fd made(static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, size, 0)));
    // Use a number above the descriptors that are placed in a child.
    rules_ = owned_fd(fcntl(made.get(), F_DUPFD_CLOEXEC, 100));
    handled_ = all.files;
}

void landlock_rules::allow(const char *path, bool writable) const
{
    const owned_fd at(open(path, O_PATH | O_CLOEXEC));
    struct stat s {};
    if (fstat(at.get(), &s) != 0) return;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = writable ? handled_ : reading;
    if (!S_ISDIR(s.st_mode)) rule.allowed_access &= for_files & handled_;
    rule.parent_fd = at.get();
    syscall(SYS_landlock_add_rule, rules_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

bool landlock_rules::enforce() const
{
    return rules_.get() >= 0 && syscall(SYS_landlock_restrict_self, rules_.get(), 0) == 0;
}

} // namespace grading
