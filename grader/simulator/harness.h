// What a harness may ask of the simulator, in C. On a real GPU none of these exist: declare them
// weak, as here, and test the address. All are no-ops on memory the simulator did not allocate.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// There where the simulator is another process: most of what follows is then for that one to call.
// Calling this tells it what the program has registered.
__attribute__((weak)) void simulator_is_elsewhere(void);

// Guard zones: bytes inside an allocation that kernels must not touch, or may again.
__attribute__((weak)) void simulator_forbid(const void *at, size_t bytes);
__attribute__((weak)) void simulator_allow(const void *at, size_t bytes);
// Bytes that hold no value yet: reading them in a kernel is a finding.
__attribute__((weak)) void simulator_forget(const void *at, size_t bytes);
// What messages call this range: the name of the contract's argument.
__attribute__((weak)) void simulator_label(const void *at, size_t bytes, const char *name);

// Before a call under test: forget findings and counts.
__attribute__((weak)) void simulator_begin(void);

// How the kernels launched from now on are run. By default blocks and warps take turns in order; a
// random schedule gives them turns of random length in random order, the same for the same seed.
// Then blocks may also begin in such an order, no more than eight before others have ended; and
// other kernels may hold places for launches by kernels for a moment.
enum { schedule_random = 1, schedule_any_blocks_first = 2, schedule_others_launch = 4 };
__attribute__((weak)) void simulator_schedule(int how, uint64_t seed);
// When work in streams runs: 0: as it is queued; 1: only when the program waits for it, so that a
// missing wait or event shows; 2: any time from its queueing to that wait, the same for the same
// seed of the schedule.
__attribute__((weak)) void simulator_streams(int order);
// Pairs of devices without access to each other's memory, until told otherwise: bit 8 * device +
// peer. Those of which access is enabled lose it. Copies between them go by way of the host.
__attribute__((weak)) void simulator_close_peers(uint64_t pairs);
// Multiprocessors that each device has from now on; 0: as many as at the start.
__attribute__((weak)) void simulator_multiprocessors(int count);
// Warp instructions after which a kernel counts as endless: a finding of kind step_budget.
__attribute__((weak)) void simulator_step_budget(uint64_t warp_instructions);
// And seconds of one core, after which it does as well; 0, at the start: never.
__attribute__((weak)) void simulator_grid_seconds(double seconds);
// Whether races are looked for (1 at the start): not where only counts are wanted.
__attribute__((weak)) void simulator_check_races(int wanted);

struct simulator_finding {
    uint8_t kind; // simulator::finding_kind
    uint8_t write;
    uint8_t host_call;   // `kernel` is the runtime's function that the host called
    uint8_t other_grid;  // a race: with an access of another grid,
    uint8_t other_block; // or of another block of this one
    char kernel[96], file[160], where[160], detail[240]; // null-terminated, cut to fit
    int32_t line;
    uint32_t block[3], thread[3];
    uint32_t bytes;
    uint64_t threads;
};
// Fills at most `room` records and returns how many there are.
__attribute__((weak)) size_t simulator_findings(struct simulator_finding *out, size_t room);
// Counters since simulator_begin as JSON text (simulator::counters::json), null-terminated when it
// fits in `room`; returns its length without the null.
__attribute__((weak)) size_t simulator_counters(char *out, size_t room);

// Copies to or from memory of the simulator, at once and whatever streams have before them, without
// the checks and counts of the runtime. 0: that is not all in one live allocation.
__attribute__((weak)) int simulator_put(void *to, const void *from, size_t bytes);
__attribute__((weak)) int simulator_get(void *to, const void *from, size_t bytes);

// A number that is another for nearly any other bytes there, also in memory of a device.
__attribute__((weak)) uint64_t simulator_digest(const void *at, size_t bytes);

#ifdef __cplusplus
}
#endif
