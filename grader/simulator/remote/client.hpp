// The host's end of the connection, for messages that are not CUDA calls.
#pragma once

#include "numbers.hpp"
#include "wire.hpp"

#include <cstddef>
#include <vector>

namespace simulator::remote {

// Makes one call and returns its result. Ends the process if the device is gone.
std::vector<std::byte> ask(call_number what, const writer &arguments);
void put_text(writer &to, const char *text);

template <typename... T> std::vector<std::byte> ask_with(call_number what, const T &...values)
{
    writer to;
    (to.put(values), ...);
    return ask(what, to);
}

} // namespace simulator::remote
