// Grades lab 13, bodies that attract each other.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_accelerations(const std::vector<body> &bodies, float softening, int bodies_at = 0,
                              int out_at = 0)
{
    output<float4> out(bodies.size());
    hint_past_the_end("n is no multiple of a block or a tile: which threads have no body to load, "
                      "and which have none to store?");
    CALL(accelerations, misaligned(bodies, bodies_at), misaligned(out, out_at), int(bodies.size()),
         softening, scratch);
    expect_accelerations(out, oracle::points(bodies), softening);
}

static void try_step(const std::vector<body> &bodies, float softening, float dt, int steps,
                     int at = 0)
{
    const step_call call = call_with(bodies, softening, dt, steps);
    output<float4> position_mass = changed_in_place(call.position_mass);
    output<float4> velocity = changed_in_place(call.velocity);
    CALL(step, misaligned(position_mass, at), misaligned(velocity, 2 * at), int(bodies.size()),
         softening, dt, steps, scratch);
    expect_moved(call, position_mass, velocity);
    expect_stepped(call, position_mass, velocity, true);
}

// A call's work, and gates per interaction.
struct interactions {
    explicit interactions(motion_of what)
        : stepping(what == motion_of::steps),
          bodies(raced_bodies(what)),
          all((stepping ? raced_steps() + 1 : 1) * bodies * bodies)
    {
    }
    bool stepping;
    double bodies, all;

    // An access per interaction is one too many where too many threads have a part in it.
    counted_gate few(counted_gate gate) const
    {
        gate.cause = [n = bodies](const counted &c) -> std::string {
            double each = double(c.threads) / double(std::max<std::uint64_t>(c.launches, 1));
            if (each < 2 * n) return {};
            return "A launch has " + std::to_string(std::llround(each)) +
                   " threads on average, and there are " + std::to_string(std::llround(n)) +
                   " bodies: is the grid's size computed from n, and do blocks without a body "
                   "work, too?";
        };
        return gate;
    }
    counted_gate sectors(const steps &limit, std::string meaning) const
    {
        return few(at_most("sectors per interaction", limit, "", std::move(meaning),
                           per(all, moved_sectors)));
    }
    // The two bodies of a pair may share common terms.
    counted_gate by_kernels() const
    {
        return at_least("multiplications by kernels per interaction", {4}, "",
                        "Let kernels compute every pull, and the host none.",
                        per(all, &counted::multiplications));
    }
};

static const char *const share_bodies =
    "Every thread reads all bodies from global memory for itself. Let the threads of a block load "
    "a tile of them into shared memory together, and read them from there.";

// Two blocks of 1024 bodies. With 2048 there are 49 on a GPU, for 132 multiprocessors.
constexpr double share_of_others = 1.5;

// Counted only. Packing has 0.034, of which a sector per warp and body is 0.031; a tile of 128 has
// 0.0039, and packing has 0.002 in any case. Four bodies per thread without packing read as little
// as packing: each body that is read serves four, which is as sound a way to the first step.
static void count_loads_of_bodies()
{
    const interactions work(motion_of::accelerations);
    speed_gates gates;
    gates.counted = {
        work.sectors({0.05, 0.0075},
                     "Position and mass are four of a body's seven floats: read by four loads, "
                     "they take four sectors, packed as one float4 a single one. A thread with "
                     "several bodies of its own reads as little. Then let the threads of a block "
                     "load a tile of bodies into shared memory together."),
        work.by_kernels(), blocks_share(share_of_others), lanes_at_work()};
    race(many_bodies_of(motion_of::accelerations), gates);
}

static void race_bodies(motion_of what)
{
    const interactions work(what);
    speed_gates gates;
    // On an H200 a tile alone reaches 1.8 and 30 %, several bodies per thread, too few blocks, 2.6
    // and 45 %; with the fewer bodies of a step 1.4 and 21 %, 2.0 and 31 %.
    gates.speedup = work.stepping ? 1.7 : 2.1;
    gates.fma = {work.stepping ? 0.26 : 0.36, 0.65, 0.75};
    gates.fma_needed = 0.5; // terms that a pair have in common may be computed once for both
    gates.counted = {
        work.sectors({0.0075}, share_bodies),
        at_most(
            "exact divisions and roots per interaction", {0.05}, "",
            "An exact division takes about ten instructions, an exact square root as many, and a "
            "whole interaction needs no more than thirteen. Use rsqrtf, which is one over a root.",
            per(work.all,
                [](const counted &c) { return c.exact_divisions + c.exact_square_roots; })),
        // An occasional sum in double, such as one per tile, is a small part of an interaction.
        at_most("operations in double per interaction", {0.2}, "",
                "Most GPUs have one unit for double to every 64 for float. The contract asks for "
                "float: are all constants floats (0.5f), and the functions (rsqrtf, not rsqrt)?",
                per(work.all, &counted::double_operations)),
        work.few(at_most("accesses per interaction", {0.07, 0.04, 0.02}, "",
                         "Each body that a thread reads serves only one interaction. Let the "
                         "thread have several bodies of its own, and use each body it reads for "
                         "all of them.",
                         per(work.all, accesses))),
        blocks_share(share_of_others), lanes_at_work(), work.by_kernels()};
    // If missed, it also explains the other gates. Blocks of 384 bodies, the last of which has few
    // of its own, have 10.5 and those of 640 have 11.3; computing the pull anew before each step
    // makes 12.
    if (work.stepping) {
        gates.counted.insert(
            gates.counted.begin(),
            at_most("multiplications per interaction", {11.7}, "",
                    "The pull was computed more than steps + 1 times (TODO 4): the pull after one "
                    "step is the pull before the next. An interaction takes nine.",
                    per(work.all, &counted::multiplications)));
        gates.counted.front().about = "step";
    }
    gates.too_slow =
        "An interaction needs no more than thirteen instructions: no exact root, no division. Then "
        "let each thread have several bodies, so that each body it reads serves several "
        "interactions; and make sure that there are enough blocks for all multiprocessors.";
    race(many_bodies_of(what), gates);
}

static const char *const use_scratch = "Free all memory that a call allocates, or use the scratch "
                                       "memory that the contract provides.";

CORRECTNESS_CASE("accelerations: a few bodies", 2) { try_accelerations(random_bodies(5), 0.3f); }

CORRECTNESS_CASE("accelerations: sizes around a tile and a block", 3.5)
{
    try_accelerations({}, 1);
    for (std::size_t n : {1, 2, 31, 32, 33, 63, 65, 127, 128, 129, 255, 256, 257, 511, 513, 700})
        try_accelerations(random_bodies(n), 0.1f);
}

CORRECTNESS_CASE("accelerations: more than one block of any size", 1)
{
    try_accelerations(random_bodies(1031), 0.05f);
}

CORRECTNESS_CASE("accelerations: near, far, and at the same place", 2)
{
    std::vector<body> bodies = random_bodies(90);
    for (std::size_t i = 0; i < 30; ++i) { // thirty in one place, thirty far from all
        bodies[i].x = 0.5f, bodies[i].y = -0.25f, bodies[i].z = 0.125f;
        bodies[30 + i].x *= 1e5f, bodies[30 + i].y *= 1e5f, bodies[30 + i].z *= 1e5f;
    }
    bodies[40].mass = bodies[70].mass = 0;
    for (float softening : {1e-4f, 1.0f, 1e3f}) try_accelerations(bodies, softening);
    // Two that are near each other, and one as far from them as the contract allows.
    std::vector<body> corners = random_bodies(3);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const float at = i == 2 ? -1e6f : 1e6f - 100 * float(i);
        corners[i].x = corners[i].y = corners[i].z = at;
        corners[i].mass *= 1e5f;
    }
    try_accelerations(corners, 1);
}

CORRECTNESS_CASE("accelerations: a cluster far from the origin", 1)
{
    try_accelerations(random_bodies(150, 1, {30, -10, 20}), 0.5f);
}

CORRECTNESS_CASE("accelerations: arrays that begin anywhere", 1)
{
    for (int at : {1, 2, 3, 5}) try_accelerations(random_bodies(70), 0.2f, at, 1);
    expect_nothing_kept(
        "accelerations", [] { try_accelerations(random_bodies(70), 0.2f); }, use_scratch);
    run_streams(stream_work::late);
    try_accelerations(random_bodies(70), 0.2f);
}

SPEED_CASE("accelerations: loads from global memory", 5, 0) { count_loads_of_bodies(); }

SPEED_CASE("accelerations: speed", 8.5, 5) { race_bodies(motion_of::accelerations); }

CORRECTNESS_CASE("step: one step of a few bodies", 1.5)
{
    try_step(random_bodies(5), 0.5f, 0.125f, 1);
}

CORRECTNESS_CASE("step: several steps, one, and none", 3)
{
    try_step(random_bodies(33), 0.5f, 0.02f, 2);
    try_step(random_bodies(300), 0.5f, 0.004f, 4);
    try_step(random_bodies(700), 0.5f, 0.002f, 1);
    try_step(random_bodies(64), 0.5f, 0.02f, 3, 1);
    try_step(random_bodies(40), 0.5f, 0.1f, 0);
    try_step({}, 0.5f, 0.1f, 3);
    expect_nothing_kept(
        "step", [] { try_step(random_bodies(33), 0.5f, 0.02f, 2); }, use_scratch);
    run_streams(stream_work::late);
    try_step(random_bodies(33), 0.5f, 0.02f, 2);
}

CORRECTNESS_CASE("step: the energy of two clusters over 100 steps", 3)
{
    expect_energy_kept(simulated() ? 160 : 2048);
}

SPEED_CASE("step: speed", 8.5, 5) { race_bodies(motion_of::steps); }
