// Tracks values loaded from uninitialised memory through registers to their use: as an address, in
// a condition, in a store, or as an operand that another thread or function receives. As in
// memcheck of Valgrind, only a use is reported; the finding names the load. A value that a select
// or a branch discards is not reported, because nvcc itself hoists loads and discards values that
// the program did not ask for. Copying a partly written structure within a thread's local memory is
// not reported either.
//
// Each warp has a list of the registers that hold such values. It is usually empty; while it is,
// instructions take the fast path, see context::slow_path.
#pragma once

#include "simulator/lanes/context.hpp"

namespace simulator::core {

class undefined_values {
public:
    bool empty() const { return held_.empty(); }

    // A load found uninitialised elements in these lanes; each element has a register of its own.
    void load(context &, const instruction &, const lane_mask *elements,
              const std::uint64_t *address, std::uint32_t bytes, ptx::space);
    // Call before an instruction runs for these lanes, or terminates their basic block. Reports the
    // undefined values that it uses, and propagates those of its operands to its results.
    void before(context &, const instruction &, const instruction_role &, lane_mask);
    // Call after the same instruction has run.
    void after(context &, const instruction &);
    // Reports an undefined guard predicate of the instruction in these lanes.
    void check_guard(context &, const instruction &, lane_mask);
    void forget_lanes(lane_mask exited);
    void forget_frame(const std::byte *registers);

private:
    struct origin { // a load of uninitialised memory
        const instruction *load;
        ptx::space space;
        std::uint32_t bytes;
        lane_mask lanes;           // whose value is neither reported nor overwritten
        std::uint64_t address[32]; // the first address, by lane
        std::uint32_t times[32];   // number of loads, by lane
    };
    struct holding { // a register that holds such a value in some lanes
        const std::byte *frame;
        operand reg;
        std::uint32_t origin;
        lane_mask lanes;
    };
    struct part { // the lanes of an operand whose value comes from a load
        std::uint32_t origin;
        lane_mask lanes;
    };
    using parts = std::vector<part>;
    // A store to local memory of a value that was only copied from there: it makes the bytes
    // uninitialised.
    struct undefined_store {
        std::uint32_t element;
        lane_mask lanes;
    };

    std::uint32_t origin_of(const instruction &, ptx::space, std::uint32_t bytes);
    void add(context &, operand, parts &, lane_mask) const;
    void add_sources(context &, const instruction &, const instruction_role &, parts &,
                     lane_mask) const;
    void add_absorbed(context &, const instruction &, parts &, lane_mask) const;
    void add_compared(context &, const instruction &, parts &, lane_mask) const;
    void add_stored(context &, const instruction &, parts &, lane_mask);
    void overwrite(context &, const instruction &, const instruction_role &, const parts &,
                   lane_mask);
    void set(context &, operand, const parts &, lane_mask);
    void report(context &, const parts &);
    void drop_empty();

    std::vector<origin> origins_;
    std::vector<holding> held_;
    std::vector<undefined_store> undefined_stores_; // of the instruction that runs
};

} // namespace simulator::core
