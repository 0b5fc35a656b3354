// The wire between the trusted parent and a worker: fixed frames over a SOCK_SEQPACKET pair, bytes
// in sealed memory.
//
// A worker gets five descriptors: 3 the socket, 4 the input region (read only), 5 the output
// region, both closed once they are mapped, 6 its /proc/self/status, and stdout/stderr as one pipe.
// It answers each request with one reply that repeats the request's nonce. A reply carries no
// verdict: the parent judges the bytes in the output region.
//
// Where devices are simulated, a worker is two processes: one with the submission's host code, and
// one with the devices and nothing of the submission's but its PTX. Each is asked for its part of
// the arguments; descriptor 7 connects them.
#pragma once

#include "simulator/remote/connection.hpp"

#include <cstdint>

namespace grading {

constexpr std::uint32_t protocol_magic = 0x31574b43; // "CKW1"
constexpr int max_slots = 16, max_calls = 64, max_devices = 16, most_ranks = 16;
constexpr int max_buffers = 64; // of all arguments together that one process gives another
constexpr int socket_fd = 3, input_fd = 4, output_fd = 5,
              device_fd = simulator::remote::given_connection;

// The exit status of a process with devices to which the host's code sent what it may not.
constexpr int disturbed_by_host = 3;

enum class place : std::uint8_t {
    value,
    device,
    host,
    pinned,
    mapped,
    managed,
    per_device,
    absent,   // nowhere, a null pointer: what rank 0 of several has, as the others see it
    acquired, // on the host, from the contract's own acquire, for its release
};

// Whether a worker's kernels can poison what lies there.
constexpr bool poisoned(place where) { return where == place::device || where == place::pinned; }

// Whether it lies in the process with the host's code where devices are another process.
constexpr bool with_host_code(place where)
{
    return where == place::value || where == place::host || where == place::acquired ||
           where == place::absent;
}

// One argument of a call. Its image in the regions: guard bytes, payload, guard bytes; values have
// no guards.
struct slot {
    place where = place::device;
    std::uint8_t read_only =
        0;                   // a pointer to const: the worker copies it back, the parent compares
    std::uint8_t output = 0; // holds poison, not a value, before the call
    std::uint8_t parts = 1;  // buffers, one a device, for per_device
    std::uint16_t misalign = 0; // elements that the payload starts past a 256-byte boundary
    std::uint8_t scratch = 0;   // sized by the worker; the image holds its guards alone
    std::uint8_t last = 0; // allocated after the others: on the simulator nothing lies behind it
    std::uint32_t element = 1;   // bytes an element
    std::uint64_t bytes = 0;     // of the payload
    std::uint64_t guard = 0;     // bytes of each guard zone; a multiple of 256
    std::uint64_t input = 0;     // where the image starts in the input region
    std::uint64_t output_at = 0; // and in the output region
    char name[24] = {};          // the contract's name for the argument
};

enum class command : std::uint32_t {
    facts, // device_facts into the output region at `offset`
    load, // allocate set `set` as `slots` say, copy the images in; `function`, where an argument is
          // scratch: whose
    patch,  // copy `bytes` from the input region at `offset` to byte `at` of slot `index` of set
            // `set`
    poison, // fill the output slots of set `set` with the 4-byte `pattern`
    wake,   // a null kernel, synchronised
    run,    // call `function` on each of `calls` sets, in order; time them together
    store,  // copy the images of set `set` back into the output region
    drop,   // free set `set`
    try_sandbox, // what this process can do that it must not: a word of `escape` bits in the
                 // result; the input region names a file at `offset`, and `at` is a process
    scratch,     // how many bytes of it `function` asks for, in the reply's `bytes`; slots: values
    begin,       // simulated devices: a run of set `sets[0]` comes, with its flags
    end,         // and has been; waits for what it left, and counts no more
    report, // simulator only: findings and counters into the output region at `offset`, at most
            // `bytes`
};

// What a submission's process must not be able to do.
enum escape : std::uint64_t {
    reads_files = 1, // of the machine, but for the system's libraries
    writes_files = 2,
    starts_processes = 4,
    opens_sockets = 8,
    signals_processes = 16,
};

enum run_flags : std::uint32_t {
    flush_l2 = 1,          // read twice the L2 and reset persisting lines before the first call
    begin_counting = 2,    // simulator only: forget findings and counters first
    writable_only = 4,     // store: leave out what is read only
    another_order = 8,     // simulator only: blocks and warps take turns by the seed in `pattern`
    late_streams = 16,     // simulator only: streams' work runs as late as waits allow
    shuffled_streams = 32, // simulator only: at any time until then, by the seed in `pattern`
    any_blocks_first = 64, // simulator only: blocks begin in an order by the seed in `pattern`, few
                           // at a time
    of_any_size = 128,     // scratch: also more than the device has
    others_launch = 256,   // simulator only: others hold places for launches, too, by the seed
};

struct request {
    std::uint32_t magic = protocol_magic;
    command what{};
    std::uint64_t nonce[2] = {};
    std::uint32_t set = 0, index = 0, flags = 0, pattern = 0;
    std::uint64_t offset = 0, at = 0, bytes = 0;
    std::uint64_t closed_peers = 0; // run, simulator only: as in simulator_close_peers
    char function[64] = {};
    std::uint32_t slots = 0, calls = 0;
    std::uint32_t limit_ms = 0;       // ranks: after which those that have not answered are named
    std::uint32_t launch_places = 0;  // run: for launches by kernels; 0: as many as usual
    std::int32_t multiprocessors = 0; // run, simulator only: of each device; 0: as many as usual
    std::uint32_t sets[max_calls] = {};
    slot arguments[max_slots];
    std::uint64_t scratch_bytes = 0; // load, where the devices are another process
    // Load: where the buffers are that the process with the devices has made, by slot and part.
    std::uint64_t buffers[max_buffers] = {};
};

enum class reply_status : std::uint32_t {
    done,
    cuda_error, // `error` was returned by the step named in `step`
    exception,  // the contract function threw; `text` holds what()
    unknown_function,
    out_of_memory, // the worker could not allocate the set; whose doing, other workers show
    malformed,     // the worker did not understand the request
    rank_ended, // `rank` did: `error` is its status as of waitpid, `text` what MPI had against it
    ranks_waiting, // those of `waiting` have not answered in time
    disturbed,     // `rank` sent what is no reply to this request
    no_ranks,      // `text` is what mpirun said
    left_work,     // what was left in streams needs the host, which has returned; ends the process
    overcounted,   // what the simulator counted in a run is larger than the report's place
    misacquired,   // what acquire or release did wrong: an `acquire_fault` in `error`
};

enum class acquire_fault : std::int32_t { nothing, too_little, not_released };

enum class run_step : std::uint32_t {
    none,
    before,      // an error was pending before the call: a leftover of an earlier one
    last_error,  // cudaGetLastError right after the call: usually a launch that failed unchecked
    synchronise, // cudaDeviceSynchronize after the call: a kernel that failed while running
    copy_out,
};

// Of one rank's run: the first bytes of what it returned, and what it gave MPI for other ranks.
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
    // The submission's that ran after a run, or before it as well; where devices are simulated,
    // those beyond the ones that ran before it.
    std::int32_t threads_left = 0;
    // Run with late_streams: the argument in host memory that still changed when the call had
    // returned, plus 1; 0: none. The first store after a run that counted: the argument that is not
    // as it was when counting ended.
    std::uint32_t changed_late = 0;
    std::int32_t rank = -1;                  // whose reply it is; -1: of rank 0, or of no rank
    std::uint32_t waiting = 0;               // a bit a rank
    std::uint32_t returned_bytes = 0;        // of the contract function's result, if it has one
    double event_ms = 0, host_ms = 0;        // all `calls` together; 0 on the simulator
    std::uint64_t bytes = 0;                 // report: bytes written; load: bytes of scratch
    std::uint64_t result[8] = {};            // the result's bytes
    std::uint64_t buffers[max_buffers] = {}; // load, of simulated devices
    // Begin, store: the call that was made for work since it was last asked, when no function was
    // called; it was refused.
    char refused[48] = {};
    rank_outcome of_rank[most_ranks]; // run on several ranks; as a rank itself says it: the first
    char error_name[64] = {};         // "cudaErrorInvalidConfiguration"
    char text[256] = {};
};

struct device_facts {
    std::uint8_t present = 0, simulated = 0;
    std::int32_t error = 0; // why no device could be used
    char error_text[128] = {};
    char name[128] = {};
    std::int32_t major = 0, minor = 0, multiprocessors = 0, devices = 0;
    std::int32_t driver = 0, runtime = 0; // 13000 is 13.0
    std::int32_t clock_khz = 0;           // the highest the multiprocessors run at
    std::int32_t threads_a_block = 0, threads_a_multiprocessor = 0, warp = 0, copy_engines = 0;
    std::int32_t pages_on_demand = 0; // whether kernels can fetch managed memory page by page
    std::uint64_t shared_a_block = 0, shared_a_multiprocessor = 0, constant_bytes = 0;
    std::uint64_t l2_bytes = 0, memory_bytes = 0, memory_free = 0;
    std::uint16_t peers[max_devices] = {}; // bit p of entry d: device d can reach p's memory
};

} // namespace grading
