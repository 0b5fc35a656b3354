// The connection to the process that simulates the devices, and the requests that it sends back.
//
// One call is in progress at a time, as in the runtime itself. The connection is descriptor 7,
// which a grader gives its workers. A program without it starts its own device process: the
// program named by CUDASIM_DEVICE, or cudasim-device beside it.
#include "client.hpp"

#include "process/device_connection.hpp"
#include "simulator/machine/host.hpp"

#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace simulator::remote {

namespace {

pid_t own_device = -1;
int own_connection = -1;

// The device prints its final output before this program exits.
void wait_for_own_device()
{
    shutdown(own_connection, SHUT_WR);
    waitpid(own_device, nullptr, 0);
}

int start_own_device()
{
    std::error_code unknown;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
    const char *named = std::getenv("CUDASIM_DEVICE");
    const std::string program = named ? named : (beside / "cudasim-device").string();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        give_up("cannot make a connection to a simulated device");
    own_device = fork();
    if (own_device == 0) {
        const std::string number = std::to_string(fcntl(ends[1], F_DUPFD, 3));
        execl(program.c_str(), program.c_str(), "--alone", number.c_str(), nullptr);
        std::fprintf(stderr, "simulator: cannot start %s; name it in CUDASIM_DEVICE\n",
                     program.c_str());
        _exit(127);
    }
    close(ends[1]);
    own_connection = ends[0];
    std::atexit(wait_for_own_device);
    return ends[0];
}

int connection()
{
    struct stat s {};
    const bool given = fstat(connection_fd, &s) == 0 && S_ISSOCK(s.st_mode);
    return given ? connection_fd : start_own_device();
}

class device_link {
public:
    // Never destroyed: objects that outlive main may still make calls.
    static device_link &instance()
    {
        static auto *const one = new device_link;
        return *one;
    }

    std::vector<std::byte> call(call_number what, const writer &arguments)
    {
        std::lock_guard guard(mutex_);
        header h{.kind = message::call,
                 .what = static_cast<std::uint32_t>(what),
                 .thread = static_cast<std::uint32_t>(calling_thread())};
        std::fflush(stdout); // the program's output precedes that of its kernels
        if (!wire_.send(h, arguments.bytes())) give_up("the simulated device is gone");
        while (true) {
            std::vector<std::byte> bytes;
            if (!wire_.receive(h, bytes, ~std::uint64_t{0}))
                give_up("the simulated device is gone");
            if (h.kind == message::result) return bytes;
            reader from(bytes);
            serve(static_cast<host_request>(h.what), from);
        }
    }

private:
    device_link() : wire_(connection())
    {
        greeting g;
        int file = -1;
        if (!wire_.receive_greeting(g, file)) give_up("no simulated device answers");
        // Move the descriptor out of the range that programs use.
        const int high = fcntl(file, F_DUPFD_CLOEXEC, 100);
        close(std::exchange(file, high));
        // Device memory is inaccessible here, so that host code that touches it faults.
        void *base = reinterpret_cast<void *>(g.base);
        const std::uint64_t half = g.reserved / 2;
        auto *shared = static_cast<std::byte *>(base) + half;
        const bool mapped = mmap(base, g.reserved, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                 -1, 0) == base &&
                            mmap(shared, half, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                                 file, 0) == shared;
        if (!mapped) give_up("the addresses of device memory are taken in this process");
        madvise(base, g.reserved, MADV_DONTDUMP);
        here_ = std::make_unique<this_process>(file, g.base + half, half);
    }

    // Handles a request of the device's process that only this process can fulfil.
    void serve(host_request what, reader &from)
    {
        writer to;
        switch (what) {
        case host_request::read: {
            const auto *at = from.take<const void *>();
            const auto rows = from.take<host_rows>();
            std::vector<std::byte> bytes(rows.bytes());
            here_->read(at, rows, bytes.data());
            to.put(bytes.data(), bytes.size());
            break;
        }
        case host_request::write: {
            auto *at = from.take<void *>();
            const auto rows = from.take<host_rows>();
            here_->write(at, rows, from.take(rows.bytes()).data());
            break;
        }
        case host_request::call_function: {
            const auto function = from.take<cudaHostFn_t>();
            auto *data = from.take<void *>();
            to.put(run_host_function([&] { here_->call(function, data); }));
            break;
        }
        case host_request::call_stream_callback: {
            const auto function = from.take<cudaStreamCallback_t>();
            const auto stream = from.take<cudaStream_t>();
            const auto status = from.take<cudaError_t>();
            auto *data = from.take<void *>();
            to.put(run_host_function([&] { here_->call(function, stream, status, data); }));
            break;
        }
        case host_request::make_accessible:
            make(&this_process::make_accessible, from, to);
            break;
        case host_request::make_inaccessible:
            make(&this_process::make_inaccessible, from, to);
            break;
        case host_request::share_pages:
            make(&this_process::share_pages, from, to);
            break;
        case host_request::unshare_pages:
            make(&this_process::unshare_pages, from, to);
            break;
        case host_request::has_other_threads:
            make(&this_process::has_other_threads, from, to);
            break;
        }
        if (!wire_.send({.kind = message::done}, to.bytes()))
            give_up("the simulated device is gone");
    }

    // Takes the operation's arguments from the message and puts its result.
    template <typename R, typename... A>
    void make(R (this_process::*operation)(A...), reader &from, writer &to)
    {
        const std::tuple<A...> all{from.take<A>()...}; // braces guarantee left-to-right evaluation
        auto call = [&](A... values) { return ((*here_).*operation)(values...); };
        if constexpr (std::is_void_v<R>)
            std::apply(call, all);
        else
            to.put(std::apply(call, all));
    }

    // Returns true if the function called the runtime, which is not allowed.
    template <typename function> static bool run_host_function(function body)
    {
        host_function_state &state = host_function();
        state = {true, false};
        body();
        state.running = false;
        return state.called_runtime;
    }

    std::mutex mutex_;
    channel wire_;
    std::unique_ptr<this_process> here_;
};

std::vector<std::pair<call_number, writer>> &registrations()
{
    static auto *const all = new std::vector<std::pair<call_number, writer>>;
    return *all;
}

} // namespace

[[noreturn]] void give_up(const char *why)
{
    std::fprintf(stderr, "simulator: %s\n", why);
    _exit(status_without_device);
}

host_function_state &host_function()
{
    thread_local host_function_state state;
    return state;
}

void send_with_first_call(call_number what, writer arguments)
{
    registrations().emplace_back(what, std::move(arguments));
}

std::vector<std::byte> make_call(call_number what, const writer &arguments)
{
    device_link &link = device_link::instance();
    {
        static std::mutex registration_mutex;
        std::lock_guard guard(registration_mutex);
        for (const auto &[number, message] : std::exchange(registrations(), {}))
            link.call(number, message);
    }
    return link.call(what, arguments);
}

} // namespace simulator::remote
