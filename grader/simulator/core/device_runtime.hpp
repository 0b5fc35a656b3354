// The CUDA device runtime, which kernels call while they run: launches (dynamic parallelism,
// version 2), their streams and events, memory, errors and device attributes.
//
// A child runs after its parent has ended, see launch_tree.hpp: CUDA allows a late start, and a
// parent that waits for its child waits for ever, as it may on hardware. Errors in a child become
// errors of the launch by the host.
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
        // A kernel that copies or fills units of 4 bytes or 1; its 64-bit arguments are to, from,
        // count.
        std::function<program &(bool fill, bool words)> transfer;
    };
    explicit device_runtime(kernels);
    ~device_runtime();
    device_runtime(const device_runtime &) = delete;
    device_runtime &operator=(const device_runtime &) = delete;

    // Runs a grid that the host launches, and all its descendants.
    outcome run(program &, const launch &);

    static bool knows(std::string_view function);
    void answer(const thread_call &); // for a function that knows() accepts

    std::uint64_t steps_left() const; // of the budget, for the next grid
    void count_steps(std::uint64_t);

private:
    struct parameters { // of a launch prepared by GetParameterBuffer
        program *what;
        launch how;
        std::uint64_t bytes;
    };
    using thread_name = std::tuple<const launch_node *, std::uint64_t, std::uint32_t>;
    using function = std::function<void(device_runtime &, const thread_call &)>;
    static const std::map<std::string_view, function> &functions();

    static thread_name name_of(const thread_call &);
    void result(const thread_call &, cudaError_t); // returns the error and remembers it
    void done(const thread_call &, bool success,
              cudaError_t otherwise = cudaErrorInvalidResourceHandle);
    template <class T> void result(const thread_call &, std::size_t which, const T &);
    address place_for(const thread_call &, std::uint64_t bytes);
    cudaError_t check(const thread_call &, program *, const launch &);
    cudaError_t reserve(const thread_call &, const std::string &what);
    cudaError_t add(const thread_call &, std::uint64_t stream,
                    std::function<outcome(launch_node &)>);
    struct moved {        // the memory that a copy or fill accesses
        address to, from; // from 0: a fill
        std::uint64_t bytes;
        int device;
        std::uint8_t closed;
    };
    void queue(const thread_call &, std::uint64_t stream, cudaError_t checked,
               const runtime::task &, const moved &);
    outcome watch(const moved &, launch_node &);

    void prepare(const thread_call &);
    void start(const thread_call &);
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
    std::map<address, parameters> prepared_;
    std::map<thread_name, cudaError_t> errors_;
    std::vector<address> chunks_; // buffers of launch parameters
    std::uint64_t left_in_chunk_ = 0, steps_ = 0;
};

} // namespace simulator::core
