// Follows what was loaded from memory that nobody has written, register by register, to where it
// is used: as an address, in a condition, in what is stored or handed to another thread or
// function. Only there a finding is made, which names the load. What a select or a branch throws
// away is none: nvcc itself loads early where it may, and drops what the program did not ask for.
// Nor is a structure that is copied within a thread's local memory before all of it is written.
//
// A warp holds such values in a list that is empty as a rule: nothing is done for instructions
// while it is, see context::attend.
#pragma once

#include "core.hpp"

namespace simulator::core {

class undefined_values {
public:
    bool empty() const { return held_.empty(); }

    // A load of these lanes found nothing in its elements; they have a register of their own each.
    void load(context &, const instruction &, const lane_mask *elements,
              const std::uint64_t *address, std::uint32_t bytes, ptx::space);
    // An instruction is about to run for these lanes, or closes their basic block. Reports what it
    // uses, and notes what its results are made of.
    void run(context &, const instruction &, const instruction_role &, lane_mask);
    // The same instruction has run.
    void after(context &, const instruction &);
    // Whether a path runs the instruction, or where it goes, depends on what these lanes loaded.
    void decide(context &, const instruction &, lane_mask);
    void forget_lanes(lane_mask gone);
    void forget_frame(const std::byte *registers);

private:
    struct origin { // a load that found nothing, with what its lanes read first
        const instruction *by;
        ptx::space space;
        std::uint32_t bytes;
        lane_mask lanes; // whose value is neither used nor lost
        std::uint64_t address[32];
        std::uint32_t times[32];
    };
    struct holding { // some lanes of a register
        const std::byte *frame;
        operand reg;
        std::uint32_t origin;
        lane_mask lanes;
    };
    struct part {
        std::uint32_t origin;
        lane_mask lanes;
    };
    using parts = std::vector<part>;

    std::uint32_t origin_of(const instruction &, ptx::space, std::uint32_t bytes);
    void add(context &, operand, parts &, lane_mask) const;
    void add_sources(context &, const instruction &, const instruction_role &, parts &,
                     lane_mask) const;
    void add_absorbed(context &, const instruction &, parts &, lane_mask) const;
    void add_compared(context &, const instruction &, parts &, lane_mask) const;
    void overwrite(context &, const instruction &, const instruction_role &, const parts &,
                   lane_mask);
    void set(context &, operand, const parts &, lane_mask);
    void report(context &, const parts &);
    void drop_empty();

    // A store to local memory of what was only copied from there: the bytes stay undefined.
    struct copy_of_nothing {
        std::uint32_t element;
        lane_mask lanes;
    };
    void add_stored(context &, const instruction &, parts &, lane_mask);

    std::vector<origin> origins_;
    std::vector<holding> held_;
    std::vector<copy_of_nothing> copied_; // by the instruction that runs
};

} // namespace simulator::core
