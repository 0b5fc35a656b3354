// Reads and writes whole files, makes temporary ones, and locks files between processes.
#include "files.hpp"

#include "errors.hpp"
#include "process/descriptor.hpp"
#include "process/kept_process.hpp"
#include "subprocess.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Makes a rename in the folder survive a power cut. Network folders that cannot do it lose
// nothing.
void sync_folder(const fs::path &folder)
{
    const grading::owned_fd fd(
        open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() >= 0) fsync(fd.get());
}

} // namespace

std::string read_text(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        if (file && fs::is_regular_file(path) && fs::file_size(path) == 0) return {};
        throw machine_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    return text.str();
}

bool write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        ssize_t n = write(fd, text.data(), text.size());
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// Read before there are threads, since the umask can only be read by setting it for all of them.
static const mode_t process_umask = [] {
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}();

// Returns the mode of the file that is replaced, or else of a new file under the user's umask.
static mode_t mode_for(const std::string &path)
{
    struct stat there {};
    if (stat(path.c_str(), &there) == 0) return there.st_mode & 0777;
    return 0666 & ~process_umask;
}

void write_atomically(const std::string &path, const std::string &text, durability how)
{
    std::string name = path + ".XXXXXX";
    int fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) throw machine_error(cannot_write(path, errno));
    bool right = write_all(fd, text) && fchmod(fd, mode_for(path)) == 0;
    right = right && (how == durability::usual || fsync(fd) == 0);
    right = close(fd) == 0 && right;
    if (right && rename(name.c_str(), path.c_str()) == 0) {
        if (how == durability::durable) sync_folder(fs::path(path).parent_path());
        return;
    }
    int reason = errno;
    unlink(name.c_str());
    throw machine_error(cannot_write(path, reason));
}

void make_folder(const std::string &folder)
{
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) throw machine_error(cannot_write(folder, problem.value()));
}

void require_room(const std::string &folder)
{
    constexpr off_t room = 16 << 20;
    std::string name = folder + "/.room.XXXXXX";
    const grading::owned_fd fd(mkostemp(name.data(), O_CLOEXEC));
    if (fd.get() < 0) throw machine_error(cannot_write(folder, errno));
    int problem = posix_fallocate(fd.get(), 0, room);
    unlink(name.c_str());
    if (problem != 0) throw machine_error(cannot_write(folder, problem));
}

void require_writable(const std::string &option, const std::string &path)
{
    if (path.empty()) return;
    fs::path folder = fs::absolute(path).parent_path();
    if (fs::is_directory(path) || !fs::is_directory(folder))
        throw usage_error(fmt::format("{} {}: no file can be written there", option, path));
    if (access(folder.c_str(), W_OK) != 0)
        throw machine_error(fmt::format("{} {}", option, cannot_write(path, errno)));
}

std::string temporary_folder()
{
    const char *named = std::getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

namespace {

// One folder for all temporary files of this program, and a process that removes it when the
// program has ended in any way.
class program_folder {
public:
    program_folder()
    {
        path_ = temporary_folder() + "/cuda-workbook.XXXXXX";
        if (!mkdtemp(path_.data())) throw machine_error(cannot_write(temporary_folder(), errno));
        const std::string rm = find_program("rm");
        try {
            grading::pipe_ends alive = grading::make_pipe();
            // Without this process only ~program_folder removes the folder.
            if (fork() == 0) remove_after(alive.out.get(), rm.c_str());
            // The keepers hold it, too: processes that they still have to end may write there.
            grading::let_keepers_hold(std::move(alive.in));
        } catch (const std::system_error &e) {
            rmdir(path_.c_str());
            throw machine_error(fmt::format("cannot make a pipe: {}", e.code().message()));
        }
    }
    ~program_folder()
    {
        std::error_code ignored; // a leftover in /tmp is harmless
        fs::remove_all(path_, ignored);
    }
    const std::string &path() const { return path_; }

private:
    // Runs in a fork of a program with threads, so makes only system calls. The program and the
    // keepers of its children hold the other end of the pipe.
    [[noreturn]] void remove_after(int alive, const char *rm)
    {
        setsid();
        dup2(alive, 0);
        grading::close_from(1, 0);
        prctl(PR_SET_NAME, "workbook-tidy");
        char byte;
        while (read(0, &byte, 1) < 0 && errno == EINTR) {
        }
        execl(rm, "rm", "-rf", "--", path_.c_str(), nullptr);
        _exit(127);
    }

    std::string path_;
};

} // namespace

scratch_folder::scratch_folder()
{
    static const program_folder ours;
    path_ = ours.path() + "/XXXXXX";
    if (!mkdtemp(path_.data())) throw machine_error(cannot_write(temporary_folder(), errno));
}

scratch_folder::~scratch_folder()
{
    std::error_code ignored; // leftovers go with the program's folder
    fs::remove_all(path_, ignored);
}

file_lock::file_lock(const std::string &path, const std::function<void()> &waiting, bool shared)
    : fd_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644))
{
    if (fd_.get() < 0) throw machine_error(cannot_write(path, errno));
    const int how = shared ? LOCK_SH : LOCK_EX;
    if (flock(fd_.get(), how | LOCK_NB) == 0) return;
    if (waiting && errno == EWOULDBLOCK) waiting();
    while (flock(fd_.get(), how) != 0) { // Ctrl-C interrupts the wait
        int error = errno;
        if (error == EINTR && !stop_was_requested()) continue;
        if (error == EINTR) throw stop_requested();
        throw machine_error(fmt::format("cannot lock {}: {}. Does its file system have locks?",
                                        path, std::strerror(error)));
    }
}

} // namespace cli
