// What the checks found: one record a place, not one a thread.
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
    host_pointer, // a kernel followed a pointer to ordinary host memory
    null_pointer,
    misaligned,
    uninitialised,
    read_only, // a kernel wrote constant memory
    race,
    barrier,        // divergent, missing or mismatched arrivals
    step_budget,    // a kernel ran longer than the simulator allows
    trap,           // __trap or a failed device assert
    unsupported,    // the simulator does not know an instruction or a runtime call
    refused_launch, // a grid or block beyond the limits; the program got an error code for it
    lent_memory,    // a kernel gave a child a pointer to its shared or local memory
    unwatched,      // no fault: races were looked for in a part of the grid only
    failed_call,    // the first call of the runtime that returned an error to the program
    older_value,    // no fault by itself: a block saw two stores of another in the other order
};

// Whether it makes the run wrong, whatever the program does about it.
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
    bool host_call = false; // no kernel: `kernel` is the runtime's function that the host called
    std::string file;       // as in the compiler's line table; empty when unknown
    int line = 0;
    dim block, thread; // the first offender
    bool write = false;
    bool other_grid = false;  // a race: the earlier access was another grid's,
    bool other_block = false; // or another block's of this one
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;   // size of one access
    std::uint64_t threads = 1; // how many thread accesses had this finding at this place
    std::string where;         // memory::describe, or "shared memory, ..."
    std::string detail;        // one plain sentence
};

// Of a linker's name, without parameters and return type: of "void scale<int>(int*, int)"
// "scale<int>". Cut where it is long: a template's name has no bound.
std::string demangled_name(const std::string &mangled);

// Collects findings of one process; the same kind at the same kernel and line is counted, not
// repeated. Safe to call from several threads.
class findings {
public:
    static findings &instance();
    void add(finding f);
    void clear();
    // Takes back what turned out to follow from something else.
    void withdraw(finding_kind kind, const std::string &kernel, const std::string &file, int line);
    std::vector<finding> all() const;
    bool empty() const;

private:
    mutable std::mutex mutex_;
    std::vector<finding> found_;
};

// While one lives, what its thread finds is not kept: only that there was something.
class finding_trap {
public:
    explicit finding_trap(std::atomic<bool> &found);
    ~finding_trap();
    finding_trap(const finding_trap &) = delete;
    finding_trap &operator=(const finding_trap &) = delete;
};

} // namespace simulator
