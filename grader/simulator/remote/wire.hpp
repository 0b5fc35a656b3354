// Messages between a process whose host code calls the CUDA runtime (client.cpp) and the process
// that simulates its devices (server.cpp), over a stream socket.
//
// A host thread sends a `call` and waits for its `result`. Meanwhile the device's process may send
// it `request`s for operations that only the host can do, one at a time, each answered by `done`.
// Messages from the host are untrusted: every value is copied out with bounds checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace simulator::remote {

enum class message : std::uint32_t { hello, call, result, request, done };

enum class host_request : std::uint32_t {
    read,
    write,
    call_function,
    call_stream_callback,
    make_accessible,
    make_inaccessible,
    share_pages,
    unshare_pages,
    has_other_threads,
};

// The numbers of the calls that a `call` message can ask for.
enum class call_number : std::uint32_t {
#define CALL(count, name, ...) name,
#include "calls.hpp"
#undef CALL
    first_special,
    register_binary = first_special,
    register_function,
    register_variable,
    register_managed_variable,
    load_binary,
    unsupported,   // a call that the simulator does not offer, identified by name
    parameters_of, // size in bytes of each kernel parameter
    launch,
    launch_cooperative,
    launch_with, // with attributes
    add_kernel_node,
    set_kernel_node,
    set_kernel_step, // for an executable graph
    set_pool_attribute,
    get_pool_attribute,
    function_name,
    capture_info,
    record_error, // sets the error that cudaGetLastError returns to the calling thread
    // The calls of harness.h that can only make a verdict worse.
    forbid,
    forget,
    label,
    allow, // for host memory alone, which the program may free
    // The other calls of harness.h, for a program with its own device.
    first_of_harness,
    begin = first_of_harness,
    schedule,
    streams,
    close_peers,
    multiprocessors,
    limit_work,
    check_races,
    findings,
    counters,
};

struct header {
    static constexpr std::uint32_t right_magic = 0x31576443; // "CdW1"
    std::uint32_t magic = right_magic;
    message kind{};
    std::uint32_t what = 0; // call: a call_number; request: a host_request
    std::uint32_t thread = 0;
    std::uint64_t bytes = 0; // length of the following data
};

// The first message, sent by the device's process with the descriptor of the shared memory.
struct greeting {
    std::uint64_t base = 0, reserved = 0; // device addresses; the upper half is shared
};

// Sufficient for every call: arguments, the code of a program, or a list.
constexpr std::uint64_t max_call_bytes = std::uint64_t{256} << 20;

struct wire_error : std::runtime_error {
    using runtime_error::runtime_error;
};

class writer {
public:
    template <typename T> void put(const T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        put(&value, sizeof value);
    }
    void put(const void *from, std::size_t bytes)
    {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + bytes);
        if (bytes) std::memcpy(bytes_.data() + at, from, bytes);
    }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

template <typename... T> writer with(const T &...values)
{
    writer w;
    (w.put(values), ...);
    return w;
}

// Throws wire_error if fewer bytes are left than requested.
class reader {
public:
    explicit reader(std::span<const std::byte> bytes) : left_(bytes) {}
    template <typename T> T take()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        if constexpr (std::is_same_v<T, bool>) {
            return take<std::uint8_t>() != 0; // any nonzero byte is true
        } else {
            T value;
            std::memcpy(&value, take(sizeof value).data(), sizeof value);
            return value;
        }
    }
    std::span<const std::byte> take(std::uint64_t bytes)
    {
        if (bytes > left_.size()) throw wire_error("a message is cut short");
        const auto taken = left_.first(bytes);
        left_ = left_.subspan(bytes);
        return taken;
    }
    std::uint64_t left() const { return left_.size(); }

private:
    std::span<const std::byte> left_;
};

// One end of the connection; does not own the descriptor.
class channel {
public:
    explicit channel(int fd) : fd_(fd) {}
    // Returns false once the other end is gone. Throws wire_error if the data is no message or
    // longer than `max_bytes`.
    bool receive(header &h, std::vector<std::byte> &bytes, std::uint64_t max_bytes) const;
    bool send(header h, std::span<const std::byte> bytes) const;
    bool send_greeting(const greeting &g, int file) const;
    bool receive_greeting(greeting &g, int &file) const;

private:
    bool read_all(void *to, std::size_t bytes) const;
    int fd_;
};

} // namespace simulator::remote
