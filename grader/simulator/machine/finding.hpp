// Findings of the checks: one record per place, not per thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace simulator {

enum class finding_kind : std::uint8_t {
    out_of_bounds,
    use_after_free,
    host_pointer, // a kernel dereferenced a pointer to ordinary host memory
    null_pointer,
    misaligned,
    uninitialised,
    read_only, // a kernel wrote constant memory
    race,
    barrier,             // divergent, missing or mismatched arrivals
    endless,             // a kernel did more work than a call may do, or only waits
    trap,                // __trap or a failed device assert
    unsupported,         // an instruction or runtime call that the simulator does not know
    refused_launch,      // a grid or block beyond the limits; the program got an error code
    non_global_argument, // a kernel passed a pointer to shared or local memory to a child grid
    unwatched,           // not a fault: only part of the grid was checked for races
    failed_call,         // the first runtime call that returned an error to the program
    older_value,         // not a fault alone: a block saw two stores of another block out of order
};

// True if the finding makes the run wrong, whatever the program does about it.
constexpr bool is_fault(finding_kind k)
{
    return k != finding_kind::refused_launch && k != finding_kind::unwatched &&
           k != finding_kind::failed_call && k != finding_kind::older_value;
}

struct dim {
    std::uint32_t x = 0, y = 0, z = 0;
};

// Where an address lies: relative to the array that it is named after, or in shared memory.
enum class location : std::uint8_t {
    unknown,
    inside,
    before_start,
    just_past_end,
    past_end,
    across_end,
    never_allocated,
    wrapped_index,       // never allocated, and 2^32 elements past an allocation
    shared,              // inside the block's shared memory
    shared_below,        // at a negative byte
    shared_past_end,     // or below, if the kernel has no dynamic shared memory
    past_dynamic_shared, // beyond what the launch's third parameter asks for
    local,               // an array of a thread's own
};

// The barrier or fence that is missing between the two accesses of a race.
enum class missing_order : std::uint8_t { other, warp_barrier, fence };

// The pointer for which a copy was refused, and where it leads, if not where the direction says.
enum class wrong_pointer : std::uint8_t {
    none,
    null,
    device_variable, // the host's name of one
    destination_on_host,
    destination_on_device,
    source_on_host,
    source_on_device,
};

struct finding {
    finding_kind kind{};
    std::string kernel;     // demangled, without parameters: "scale_columns_rows"
    bool host_call = false; // `kernel` is a runtime function that the host called
    std::string file;       // from the compiler's line table; empty if unknown
    int line = 0;
    dim block, thread;         // the first offender
    dim grid_size, block_size; // of its launch; 0: none
    bool write = false;
    bool other_grid = false;  // for a race: the earlier access was by another grid
    bool other_block = false; // or by another block of this grid
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;   // size of one access
    std::uint64_t threads = 1; // number of thread accesses with this finding at this place
    location place = location::unknown;
    std::string array;             // its name; empty: none, or the address is too far from it
    std::uint64_t array_bytes = 0; // in device memory
    std::uint64_t distance = 0;    // bytes before its start, past its end, or inside from its start
    bool inaccessible_peer = false; // memory of another device, without peer access
    bool earlier_wrote = false;     // for a race: the earlier access was a write
    bool overwrites = false;        // for a race: a write over a value, which the earlier one read
    int earlier_line = 0;           // and its line; 0: unknown
    missing_order missing = missing_order::other;
    wrong_pointer pointer = wrong_pointer::none; // failed_call
    bool over_limit = false;       // endless: it did too much work, and did not only wait
    bool blocks_not_begun = false; // endless: it waits for blocks that have not begun
    std::string where;             // memory::describe, or "shared memory, ..."
    std::string detail;            // one plain sentence
};

// Demangles a linker name without parameters and return type: "void scale<int>(int*, int)" becomes
// "scale<int>". Long names are cut, because names of templates are unbounded.
std::string demangled_name(const std::string &mangled);

// The findings of this process; repeats of a kind at the same kernel and line are only counted.
// Thread-safe.
class findings {
public:
    static findings &instance();
    void add(finding f);
    void clear();
    // Removes a finding that turned out to be a consequence of another.
    void withdraw(finding_kind kind, const std::string &kernel, const std::string &file, int line);
    std::vector<finding> all() const;
    bool empty() const;

private:
    mutable std::mutex mutex_;
    std::vector<finding> found_;
};

} // namespace simulator
