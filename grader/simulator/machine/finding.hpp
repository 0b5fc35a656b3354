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
    step_budget,         // a kernel exceeded the simulator's time or step limit
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

struct finding {
    finding_kind kind{};
    std::string kernel;     // demangled, without parameters: "scale_columns_rows"
    bool host_call = false; // `kernel` is a runtime function that the host called
    std::string file;       // from the compiler's line table; empty if unknown
    int line = 0;
    dim block, thread; // the first offender
    bool write = false;
    bool other_grid = false;  // for a race: the earlier access was by another grid
    bool other_block = false; // or by another block of this grid
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;   // size of one access
    std::uint64_t threads = 1; // number of thread accesses with this finding at this place
    std::string where;         // memory::describe, or "shared memory, ..."
    std::string detail;        // one plain sentence
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
