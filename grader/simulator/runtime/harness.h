// C interface of the simulator for test harnesses. On a real GPU none of these functions exist:
// declare them weak, as here, and test the address. Those that take memory ignore memory that
// the simulator did not allocate, unless they mention host memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Defined only if the simulator runs in another process. This program then has only five of
// the following functions, forbid, allow, forget, label and counters, which send messages to that
// process; there allow is for host memory alone.
// A call registers the program's kernels and variables there.
__attribute__((weak)) void simulator_is_elsewhere(void);

// Guard zones: mark bytes of an allocation that kernels must not touch, or unmark them.
// The latter also makes the simulator forget the names of host arrays that begin there.
__attribute__((weak)) void simulator_forbid(const void *at, size_t bytes);
__attribute__((weak)) void simulator_allow(const void *at, size_t bytes);
// Marks bytes as uninitialised: a kernel that reads them gets a finding.
__attribute__((weak)) void simulator_forget(const void *at, size_t bytes);
// Sets the name that messages use for this range: the contract's argument. If that is in host
// memory, a copy that begins there and reads past its end gets a finding.
__attribute__((weak)) void simulator_label(const void *at, size_t bytes, const char *name);

// Call this before a call under test: it clears findings and counters.
__attribute__((weak)) void simulator_begin(void);

// Schedule of subsequent kernel launches. By default blocks and warps take turns in order. A
// random schedule gives them turns of random length in random order, reproducible by seed. Two
// more flags also let blocks begin in random order, at most eight before others have ended, and
// let other kernels count as pending launches for a moment.
enum { schedule_random = 1, schedule_any_blocks_first = 2, schedule_others_launch = 4 };
__attribute__((weak)) void simulator_schedule(int flags, uint64_t seed);
// When queued work runs: 0: as it is queued; 1: only when the program waits for it, so that a
// missing wait or event shows; 2: at any time from its queueing to that wait, reproducible by the
// seed of the schedule.
__attribute__((weak)) void simulator_streams(int order);
// Sets the pairs of devices without access to each other's memory: bit 8 * device + peer. Access
// that is already enabled is revoked. Copies between such devices are staged on the host.
__attribute__((weak)) void simulator_close_peers(uint64_t pairs);
// Sets the multiprocessors per device from now on; 0 restores the initial number.
__attribute__((weak)) void simulator_multiprocessors(int count);
// Sets the work, in units of simulator::work_meter, that all kernels from now on may do together;
// more is a finding of kind `endless`. A unit is at most about a nanosecond.
__attribute__((weak)) void simulator_limit_work(uint64_t units);
// Turns the race detector on (the default) or off, for runs in which only counters matter.
__attribute__((weak)) void simulator_check_races(int on);

struct simulator_finding {
    uint8_t kind; // simulator::finding_kind
    uint8_t write;
    uint8_t host_call;         // `kernel` is a runtime function that the host called
    uint8_t other_grid;        // for a race: the other access was by another grid,
    uint8_t other_block;       // or by another block of this grid
    uint8_t place;             // simulator::location
    uint8_t inaccessible_peer; // and further fields of simulator::finding
    uint8_t earlier_wrote;
    uint8_t overwrites;
    uint8_t missing; // simulator::missing_order
    uint8_t pointer; // simulator::wrong_pointer
    uint8_t over_limit;
    uint8_t blocks_not_begun;
    char kernel[96], file[160], where[160], detail[240]; // null-terminated, cut to fit
    char array[64];
    uint64_t array_bytes, distance;
    int32_t line, earlier_line;
    uint32_t block[3], thread[3], grid_size[3], block_size[3];
    uint32_t bytes;
    uint64_t threads;
};
// Fills at most `room` records and returns how many there are.
__attribute__((weak)) size_t simulator_findings(struct simulator_finding *out, size_t room);
// Counters since simulator_begin as JSON text (simulator::counters::json), null-terminated when it
// fits in `room`; returns its length without the null.
__attribute__((weak)) size_t simulator_counters(char *out, size_t room);

// Copies to or from simulated memory immediately, ahead of queued work and without the runtime's
// checks and counters. Returns 0 if the range is not inside one live allocation.
__attribute__((weak)) int simulator_put(void *to, const void *from, size_t bytes);
__attribute__((weak)) int simulator_get(void *to, const void *from, size_t bytes);

// A 64-bit hash of host or device memory.
__attribute__((weak)) uint64_t simulator_digest(const void *at, size_t bytes);

#ifdef __cplusplus
}
#endif
