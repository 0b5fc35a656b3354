// Sets the terminal up for reading single keys.
#include "key_reader.hpp"

#include "cli/support/errors.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace cli {

namespace {

volatile sig_atomic_t resized = 0, suspend_requested = 0;

void on_resize(int) { resized = 1; }
void on_stop(int) { suspend_requested = 1; }

void handle(int number, void (*what)(int))
{
    struct sigaction action {};
    action.sa_handler = what;
    sigaction(number, &action, nullptr);
}

} // namespace

std::string key_filter::plain(const std::string &bytes)
{
    std::string keys;
    for (unsigned char c : bytes) {
        if (c == 27)
            in_ = escape;
        else if (in_ == escape)
            in_ = c == '[' || c == 'O' ? sequence : text;
        else if (in_ == sequence)
            in_ = c >= 0x40 ? text : sequence;
        else if (c < 128)
            keys += static_cast<char>(c);
    }
    return keys;
}

key_reader::key_reader(int descriptor) : descriptor_(descriptor)
{
    if (tcgetattr(descriptor_, &before_) != 0)
        throw machine_error(fmt::format("the terminal cannot be read key by key: {}",
                                        std::generic_category().message(errno)));
    handle(SIGWINCH, on_resize);
    handle(SIGTSTP, on_stop);
    set_key_mode();
}

key_reader::~key_reader()
{
    restore();
    handle(SIGWINCH, SIG_DFL);
    handle(SIGTSTP, SIG_DFL);
}

void key_reader::set_key_mode()
{
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    keys.c_cc[VQUIT] = _POSIX_VDISABLE; // Ctrl-\ would leave the terminal like this
    tcsetattr(descriptor_, TCSADRAIN, &keys);
}

void key_reader::restore() { tcsetattr(descriptor_, TCSADRAIN, &before_); }

std::optional<std::string> key_reader::typed()
{
    pollfd wait{descriptor_, POLLIN, 0};
    if (poll(&wait, 1, 0) <= 0) return "";
    char bytes[64];
    ssize_t n = read(descriptor_, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return "";
    if (n <= 0) return {};
    return filter_.plain(std::string(bytes, static_cast<std::size_t>(n)));
}

bool key_reader::disturbed()
{
    if (std::exchange(suspend_requested, 0)) {
        restore();
        // Raise SIGTSTP, not SIGSTOP: it has no effect where no shell could continue us.
        handle(SIGTSTP, SIG_DFL);
        raise(SIGTSTP);
        handle(SIGTSTP, on_stop);
        set_key_mode();
        return true;
    }
    return std::exchange(resized, 0) != 0;
}

} // namespace cli
