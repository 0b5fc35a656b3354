// The host's end of the connection.
#pragma once

#include "wire.hpp"

#include <cstddef>
#include <vector>

namespace simulator::remote {

// Makes one call and returns its result. Ends the process if the device is gone.
std::vector<std::byte> make_call(call_number what, const writer &arguments);

// Registrations before main are sent with the first call. A program that makes no call, for
// example one that only starts others, needs no device.
void send_with_first_call(call_number what, writer arguments);

[[noreturn]] void give_up(const char *why); // ends the process with status_without_device

// A stream calls a function of the program, which may not call the runtime.
struct host_function_state {
    bool running = false, called_runtime = false;
};
host_function_state &host_function(); // of this thread

template <typename... T> std::vector<std::byte> make_call_with(call_number what, const T &...rest)
{
    return make_call(what, with(rest...));
}

} // namespace simulator::remote
