// A root of bind mounts on a small tmpfs, entered with pivot_root so that nothing stands behind it.
#include "worker_root.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace grading {

namespace fs = std::filesystem;

namespace {

constexpr const char *base = "/tmp";  // every Linux has it; covered in the worker's namespace only
constexpr int first_descriptor = 400; // above all that a grader has open

std::vector<std::string> split(const char *list)
{
    std::vector<std::string> result;
    std::string rest = list ? list : "";
    for (std::size_t colon; !rest.empty(); rest.erase(0, colon + 1)) {
        colon = std::min(rest.find(':'), rest.size() - 1);
        std::string one = rest.substr(0, rest[colon] == ':' ? colon : colon + 1);
        if (one.starts_with("/")) result.push_back(one);
    }
    return result;
}

// Where this process's own libraries came from: a worker is linked by the same compiler.
std::vector<std::string> library_folders()
{
    std::vector<std::string> result{"/usr/lib",
                                    "/usr/lib64",
                                    "/lib",
                                    "/lib64",
                                    "/usr/local/nvidia",
                                    "/nix/store",
                                    "/run/opengl-driver",
                                    "/etc/alternatives"};
    auto add = [](dl_phdr_info *info, std::size_t, void *to) {
        fs::path path = info->dlpi_name;
        if (path.is_absolute())
            static_cast<std::vector<std::string> *>(to)->push_back(path.parent_path().string());
        return 0;
    };
    dl_iterate_phdr(add, &result);
    for (std::string &folder : split(getenv("LD_LIBRARY_PATH"))) result.push_back(folder);
    return result;
}

bool make_read_only(const char *path, bool with_below)
{
    mount_attr wanted{};
    wanted.attr_set = MOUNT_ATTR_RDONLY;
    return syscall(SYS_mount_setattr, AT_FDCWD, path, with_below ? AT_RECURSIVE : 0, &wanted,
                   sizeof wanted) == 0;
}

} // namespace

worker_root::worker_root(const std::string &program, const std::string &mpirun)
{
    for (const std::string &folder : library_folders()) show(folder, folder, true);
    show("/etc/ld.so.cache", "/etc/ld.so.cache", true);
    show("/sys", "/sys", true);
    for (const char *device : {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/dxg"})
        show(device, device, false);
    std::error_code nothing_there;
    for (const fs::directory_entry &e : fs::directory_iterator("/dev", nothing_there))
        if (e.path().filename().string().starts_with("nvidia"))
            show(e.path().string(), e.path().string(), false);
    std::error_code gone; // then the worker fails to start, and its answer says so
    show(fs::canonical(program, gone).string(), program_path, true);
    if (!mpirun.empty()) {
        show(fs::canonical(mpirun, gone).string(), mpirun, true);
        show("/etc/openmpi", "/etc/openmpi", true);
        show("/usr/share/openmpi", "/usr/share/openmpi", true);
    }
    for (const char *own : {"/proc", "/tmp", "/dev/shm", "/.before"})
        make_parents(own + std::string("/x"));
}

void worker_root::make_parents(const std::string &to)
{
    for (std::size_t at = 1; (at = to.find('/', at)) != to.npos; ++at) {
        std::string folder = base + to.substr(0, at);
        if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end())
            folders_.push_back(folder);
    }
}

void worker_root::show(const std::string &from, const std::string &to, bool read_only)
{
    // Below one that is shown already, or the same again.
    for (const part &p : parts_)
        if (p.folder && (base + to + "/").starts_with(p.to + "/")) return;
    struct stat s {};
    if (stat(from.c_str(), &s) != 0) return; // not on this machine
    int descriptor = first_descriptor + static_cast<int>(parts_.size());
    bool folder = S_ISDIR(s.st_mode);
    make_parents(folder ? to + "/x" : to);
    parts_.push_back({from, base + to, descriptor, "/proc/self/fd/" + std::to_string(descriptor),
                      folder, read_only});
}

bool worker_root::enter() const
{
    constexpr unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    // The mount below covers what may stand under /tmp; a descriptor still leads there.
    for (const part &p : parts_) {
        int fd = open(p.from.c_str(), O_PATH | O_CLOEXEC);
        if (fd < 0 || dup3(fd, p.descriptor, O_CLOEXEC) < 0) return false;
        close(fd);
    }
    if (mount("none", base, "tmpfs", MS_NOSUID, "size=1m,mode=0755") != 0) return false;
    for (const std::string &folder : folders_) mkdir(folder.c_str(), 0755);
    for (const part &p : parts_) {
        if (!p.folder) {
            int fd = open(p.to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
            if (fd < 0) return false;
            close(fd);
        }
        if (mount(p.opened.c_str(), p.to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return false;
        // A kernel before 5.12 cannot; its file permissions still hold.
        if (p.read_only) make_read_only(p.to.c_str(), true);
    }
    // The CUDA driver needs to see itself in /proc, and NCCL shares memory by name.
    if (mount("proc", "/tmp/proc", "proc", plain, nullptr) != 0) return false;
    if (mount("none", "/tmp/tmp", "tmpfs", plain, "size=64m,mode=1777") != 0) return false;
    if (mount("none", "/tmp/dev/shm", "tmpfs", plain, "size=256m,mode=1777") != 0) return false;
    if (syscall(SYS_pivot_root, base, "/tmp/.before") != 0) return false;
    if (chdir("/") != 0 || umount2("/.before", MNT_DETACH) != 0) return false;
    rmdir("/.before");
    make_read_only("/", false);
    return true;
}

void drop_privileges()
{
    if (int fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC); fd >= 0) {
        if (write(fd, "0", 1) != 1) _exit(126);
        close(fd);
    }
    // With an empty bounding set, execve gives nobody a capability, not even user 0.
    for (int capability = 0; capability < 64; ++capability)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

} // namespace grading
