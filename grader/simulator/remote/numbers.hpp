// What each message of kind `call` asks for.
#pragma once

#include <cstdint>

namespace simulator::remote {

enum class call_number : std::uint32_t {
#define CALL(count, name, ...) name,
#include "calls.hpp"
#undef CALL
    first_with_a_form_of_its_own,
    register_binary = first_with_a_form_of_its_own,
    register_function,
    register_variable,
    register_managed_variable,
    load_binary,
    unsupported,   // a call that the simulator does not offer, by its name
    parameters_of, // how many bytes each parameter of a kernel has
    launch,
    launch_cooperative,
    launch_with, // attributes
    add_kernel_node,
    set_kernel_node,
    set_kernel_step, // of an executable graph
    set_pool_attribute,
    get_pool_attribute,
    function_name,
    capture_info,
    record_error, // for cudaGetLastError of the calling thread
    // Of harness.h: what can only make a verdict worse.
    forbid,
    forget,
    label,
    // The rest of it, for a program with a device of its own.
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
