// The protocol between the trusted parent and a worker: fixed frames, and bytes in sealed memory.
//
// The frames go over a SOCK_SEQPACKET pair. A worker gets five descriptors: 3 the socket, 4 the
// input memory (read only), 5 the output memory, both closed once they are mapped, 6 its
// /proc/self/status, and one pipe as stdout and stderr. It answers each request with one reply
// that repeats the request's nonce. A reply carries no verdict: the parent judges the bytes in the
// output memory.
//
// If devices are simulated, a worker is two processes: one with the submission's host code, and
// one with the devices and nothing of the submission but its PTX. Each is asked for its part of
// the arguments; descriptor 7 connects them.
#pragma once

#include "device_connection.hpp"

#include <cstdint>

namespace grading {

constexpr std::uint32_t protocol_magic = 0x31574b43; // "CKW1"
constexpr int max_arguments = 16, max_calls = 64, max_devices = 16, max_ranks = 16;
constexpr int max_buffers = 64; // of all arguments together, passed from one process to another
constexpr int socket_fd = 3, input_fd = 4, output_fd = 5, device_fd = simulator::connection_fd;

// Exit status of a device process to which the host code sent an invalid message.
constexpr int disturbed_by_host = 3;

enum class argument_memory : std::uint8_t {
    value,      // passed by value, in no memory
    device,     // cudaMalloc
    host,       // pageable
    pinned,     // cudaMallocHost
    mapped,     // cudaHostAlloc with cudaHostAllocMapped
    managed,    // cudaMallocManaged
    per_device, // an array of device pointers, one buffer on each device
    absent,     // a null pointer: an argument that only rank 0 has, as the other ranks see it
    acquired,   // host memory from the contract's acquire, which its release frees
};

// True if a worker's kernels can poison such memory.
constexpr bool poisoned(argument_memory where)
{
    return where == argument_memory::device || where == argument_memory::pinned;
}

// True if the argument lies in the process with the host code, where devices are another process.
constexpr bool with_host_code(argument_memory where)
{
    return where == argument_memory::value || where == argument_memory::host ||
           where == argument_memory::acquired || where == argument_memory::absent;
}

// One argument of a call. Its image in shared memory: guard bytes, payload, guard bytes; values
// have no guards.
struct argument_descriptor {
    argument_memory where = argument_memory::device;
    // A pointer to const. The worker copies it back, and the parent checks that it is unchanged.
    std::uint8_t read_only = 0;
    std::uint8_t output = 0;    // holds poison, not a value, before the call
    std::uint8_t parts = 1;     // number of buffers, one per device, for per_device
    std::uint16_t misalign = 0; // elements that the payload starts past a 256-byte boundary
    std::uint8_t scratch = 0; // temporary storage that FUNCTION_scratch sizes; no payload in images
    std::uint8_t last = 0;    // allocated last: on the simulator no other buffer follows it
    std::uint32_t element = 1;     // bytes per element
    std::uint64_t bytes = 0;       // of the payload in an image
    std::uint64_t repeated_to = 0; // bytes of the buffer, which repeats the payload; 0: it does not
    std::uint64_t guard = 0;       // bytes of each guard zone; a multiple of 256
    std::uint64_t input = 0;       // offset of the image in the input memory
    std::uint64_t output_at = 0;   // offset of the image in the output memory
    char name[24] = {};            // the contract's name for the argument

    // Bytes of the argument's buffer, or of all its buffers, without guards.
    constexpr std::uint64_t buffer_bytes() const
    {
        return repeated_to > bytes ? repeated_to : bytes;
    }
};

// The number of buffers that hold an argument.
constexpr unsigned parts_of(const argument_descriptor &s)
{
    return s.where == argument_memory::per_device ? s.parts : 1;
}

enum class command : std::uint32_t {
    facts, // write device_facts, the device's properties, to the output memory at `offset`
    load,  // allocate set `set` from `arguments` and copy the images in; `function` names the
           // contract function where an argument is scratch
    patch, // copy `bytes` from the input memory at `offset` to byte `at` of argument `index` of set
           // `set`
    poison,      // fill the outputs of set `set` with the 4-byte `pattern`
    wake,        // launch an empty kernel and synchronise
    run,         // call `function` on each of `calls` sets, in order; time them together
    store,       // copy the images of set `set` back into the output memory
    drop,        // free set `set`
    try_sandbox, // reply with the forbidden abilities of this process as `escape` bits in the
                 // result; the input memory names a file at `offset`, and `at` is a process
    scratch, // reply with the scratch bytes that `function` asks for, in `bytes`; arguments: values
    begin,   // simulated devices: announce a run of set `sets[0]`, with its flags
    end,     // simulated devices: the run is over; wait for work left behind, and stop counting
    report, // simulator only: write findings and counters to the output memory at `offset`, at most
            // `bytes`
};

// Abilities that a submission's process must not have.
enum escape : std::uint64_t {
    reads_files = 1, // of the machine, except the system's libraries
    writes_files = 2,
    starts_processes = 4,
    opens_sockets = 8,
    signals_processes = 16,
};

enum run_flags : std::uint32_t {
    flush_l2 = 1,       // evict the home device's L2, persisting lines too, before the first call
    begin_counting = 2, // simulator only: forget findings and counters first
    writable_only = 4,  // store: leave out read-only arguments
    another_order = 8,  // simulator only: random interleaving of blocks and warps, seed `pattern`
    late_streams = 16,  // simulator only: streams' work runs as late as waits allow
    shuffled_streams = 32, // simulator only: at random times until then, seed `pattern`
    any_blocks_first = 64, // simulator only: random order of blocks, few resident, seed `pattern`
    of_any_size = 128,     // scratch: also more than the device has
    others_launch = 256,   // simulator only: other kernels fill the pending launch buffer at times
    stay_awake = 512,      // wake: for some milliseconds neither side sleeps before the next answer
};

struct request {
    std::uint32_t magic = protocol_magic;
    command what{};
    std::uint64_t nonce[2] = {};
    std::uint32_t set = 0, index = 0, flags = 0, pattern = 0;
    std::uint64_t offset = 0, at = 0, bytes = 0;
    std::uint64_t closed_peers = 0; // run, simulator only: as in simulator_close_peers
    char function[64] = {};
    std::uint32_t argument_count = 0, calls = 0;
    std::uint32_t limit_ms = 0; // ranks: after which those that have not answered are reported
    std::uint32_t max_pending_launches = 0; // run: by kernels; 0: the default of the device
    std::int32_t multiprocessors = 0;       // run, simulator only: per device; 0: the default
    std::uint32_t work_percent = 100;       // run, simulator only: of the limit of kernels' work
    std::uint32_t sets[max_calls] = {};
    argument_descriptor arguments[max_arguments] = {};
    std::uint64_t scratch_bytes = 0; // load, if the devices are another process
    // Load: addresses of the buffers made by the process with the devices, by argument and part.
    std::uint64_t buffers[max_buffers] = {};
};

enum class reply_status : std::uint32_t {
    done,
    cuda_error, // `error` was returned by the step named in `step`
    exception,  // the contract function threw; `text` holds what()
    unknown_function,
    out_of_memory,   // the worker could not allocate the set; other workers show whose fault it is
    malformed,       // the worker did not understand the request
    rank_ended,      // `rank` ended: `error` is its status from waitpid, `text` is MPI's complaint
    ranks_waiting,   // the ranks in `waiting` have not answered in time
    protocol_broken, // `rank` sent something that is no reply to this request
    no_ranks,        // `text` is mpirun's output
    left_work,       // work left in streams needs the host, which has returned; ends the process
    counters_too_large, // the counters of a run exceed the bytes that the report may have
    acquire_failed,     // acquire or release failed: an `acquire_fault` in `error`
};

enum class acquire_fault : std::int32_t { nothing, too_little, not_released };

enum class run_step : std::uint32_t {
    none,
    last_error,  // cudaGetLastError right after the call: usually a launch that failed unchecked
    synchronise, // cudaDeviceSynchronize after the call: a kernel that failed while running
};

// Run of one rank: the first bytes of its return value, and the bytes that it gave MPI for other
// ranks.
struct rank_outcome {
    std::uint64_t result = 0, sent_bytes = 0;
};

struct reply {
    std::uint32_t magic = protocol_magic;
    command what{};
    std::uint64_t nonce[2] = {};
    reply_status status{};
    std::int32_t error = 0; // a cudaError_t
    run_step step{};
    // Threads of the submission that ran after a run, or before it as well; if devices are
    // simulated, only the threads that were not there before it.
    std::int32_t threads_left = 0;
    // Run with late_streams: 1 + the index of an argument in host memory that still changed after
    // the call had returned; 0: none. First store after a counted run: the same for an argument
    // that has changed since counting ended.
    std::uint32_t changed_late = 0;
    std::int32_t rank = -1;           // the rank that replied; -1: rank 0, or no rank
    std::uint32_t waiting = 0;        // one bit per rank
    std::uint32_t returned_bytes = 0; // size of the contract function's result, if it has one
    double event_ms = 0, host_ms = 0; // of all `calls` together; 0 on the simulator
    std::uint64_t bytes = 0;          // report: bytes written; load: bytes of scratch
    std::uint64_t result[8] = {};     // the result's bytes
    std::uint64_t buffers[max_buffers] = {}; // load, from simulated devices
    // Begin, store: a call that asked for work since the last request while no function was
    // called; it was refused.
    char refused[48] = {};
    rank_outcome of_rank[max_ranks]; // run on several ranks; a rank itself fills only the first
    char error_name[64] = {};        // "cudaErrorInvalidConfiguration"
    char text[256] = {};
};

struct device_facts {
    std::uint8_t present = 0;
    char error_text[128] = {}; // why no device could be used
    char name[128] = {};
    std::int32_t major = 0, minor = 0, multiprocessors = 0, devices = 0;
    std::int32_t driver = 0, runtime = 0; // 13000 is 13.0
    // Fields of cudaDeviceProp: maxThreadsPerBlock, maxThreadsPerMultiProcessor, warpSize,
    // asyncEngineCount.
    std::int32_t max_threads_per_block = 0, max_threads_per_multiprocessor = 0, warp = 0,
                 copy_engines = 0;
    // concurrentManagedAccess: managed memory moves page by page on demand, not whole at a launch.
    std::int32_t pages_on_demand = 0;
    // sharedMemPerBlock (without opt-in), sharedMemPerMultiprocessor, totalConstMem.
    std::uint64_t shared_per_block = 0, shared_per_multiprocessor = 0, constant_bytes = 0;
    std::uint64_t l2_bytes = 0;
    std::uint64_t peak_bytes_per_s = 0; // of its memory, by clock and width; 0: unknown
    std::uint64_t memory_bytes = 0, memory_free = 0; // of cudaMemGetInfo
    std::uint16_t peers[max_devices] = {}; // bit p of entry d: device d can reach p's memory
};

} // namespace grading
