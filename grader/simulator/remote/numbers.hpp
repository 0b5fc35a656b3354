// Numbers of the calls that a message of kind `call` can request.
#pragma once

#include <cstdint>

namespace simulator::remote {

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
    // The other calls of harness.h, for a program with its own device.
    first_of_harness,
    allow = first_of_harness,
    begin,
    schedule,
    streams,
    close_peers,
    multiprocessors,
    step_budget,
    check_races,
    findings,
    counters,
    digest,
};

} // namespace simulator::remote
