// The CUDA device runtime, which kernels call while they run: launches (dynamic parallelism,
// version 2), their streams and events, memory, errors and device attributes.
//
// A child runs after its parent has ended, see launch_tree.hpp: CUDA guarantees no earlier start,
// and a parent that waits for its child waits for ever, as it may on hardware. Errors in a child
// become errors of the launch by the host.
#pragma once

#include "builtins.hpp"
#include "launch_tree.hpp"
#include "simulator/runtime/work.hpp"

#include <map>
#include <tuple>

namespace simulator::core {

class device_runtime {
public:
    struct kernels { // of the module
        // Finds a kernel by its address in device code; null if there is none. Throws
        // std::runtime_error for code that cannot be decoded.
        std::function<program *(std::uint64_t)> find;
        std::function<outcome(program &, const launch &, device_runtime &, launch_node &)> run;
        // A kernel that copies or fills units of 4 bytes (`words`) or 1; its 64-bit arguments are
        // destination, source and number of units.
        std::function<program &(bool fill, bool words)> transfer;
    };
    explicit device_runtime(kernels);
    ~device_runtime();
    device_runtime(const device_runtime &) = delete;
    device_runtime &operator=(const device_runtime &) = delete;

    // Runs a grid that the host launches, and all its descendants.
    outcome run(program &, const launch &);

    static bool implements(std::string_view function); // "__cudaCDP2Malloc"
    void call(const thread_call &);                    // of a function that it implements

private:
    struct prepared_launch { // by cudaGetParameterBuffer
        program *kernel;
        launch config;
        std::uint64_t parameter_bytes;
    };
    using thread_key = std::tuple<const launch_node *, std::uint64_t, std::uint32_t>;
    using function = std::function<void(device_runtime &, const thread_call &)>;
    static const std::map<std::string_view, function> &functions();

    static thread_key key_of(const thread_call &);
    void result(const thread_call &, cudaError_t); // returns the error, and sets the last error
    void done(const thread_call &, bool success,
              cudaError_t otherwise = cudaErrorInvalidResourceHandle);
    template <class T> void result(const thread_call &, std::size_t which, const T &);
    address allocate_parameter_buffer(const thread_call &, std::uint64_t bytes);
    cudaError_t check_launch(const thread_call &, program *, const launch &);
    cudaError_t reserve_slot(const thread_call &, const std::string &what);
    cudaError_t add_launch(const thread_call &, std::uint64_t stream,
                           std::function<outcome(launch_node &)>);
    struct transfer_range { // the memory that a copy or fill accesses
        address to, from;   // from 0: a fill
        std::uint64_t bytes;
        int device;
        std::uint8_t closed;
    };
    void queue_transfer(const thread_call &, std::uint64_t stream, cudaError_t checked,
                        const runtime::task &, const transfer_range &);
    outcome check_transfer_races(const transfer_range &, launch_node &);

    void get_parameter_buffer(const thread_call &);
    void launch_device(const thread_call &);
    void last_error(const thread_call &);
    void error_text(const thread_call &);
    void create_stream(const thread_call &);
    void create_event(const thread_call &);
    void record_event(const thread_call &);
    void wait_event(const thread_call &);
    void allocate(const thread_call &);
    void copy(const thread_call &);
    void fill(const thread_call &);
    void attribute(const thread_call &);

    kernels kernels_;
    launch_tree tree_;
    std::map<address, prepared_launch> prepared_; // by address of the parameter buffer
    std::map<thread_key, cudaError_t> errors_;    // the last error of each thread
    std::vector<address> chunks_;                 // buffers of launch parameters
    std::uint64_t left_in_chunk_ = 0;
};

} // namespace simulator::core
