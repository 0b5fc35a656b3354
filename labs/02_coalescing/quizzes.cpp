// Asks the quizzes of lab 02, and tells wrong answers from their causes.
#include "quizzes.hpp"
#include "grader/grading.hpp"
#include "oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// --- predict ---

static const char *name_of(pattern_kind kind)
{
    static const char *const names[] = {"contiguous", "reversed",  "shuffled",    "one_address",
                                        "strided",    "scattered", "two_rows",    "first_lanes",
                                        "even_lanes", "bytes",     "float2_each", "float4_each"};
    return names[static_cast<int>(kind)];
}

static const char *hint_for(pattern_kind kind)
{
    switch (kind) {
    case pattern_kind::reversed:
    case pattern_kind::shuffled:
        return "Does it matter which lane reads which address?";
    case pattern_kind::one_address:
        return "How many different addresses are there?";
    case pattern_kind::strided:
        return "Up to a stride of one sector, or line, none in between is skipped; with longer "
               "strides, how many lanes share one?";
    case pattern_kind::first_lanes:
    case pattern_kind::even_lanes:
        return "Only lanes that read count; but a sector, or line, counts whole.";
    case pattern_kind::two_rows:
        return "There are two runs of 64 bytes. Can they share a sector or a line?";
    case pattern_kind::scattered:
        return "How far apart are the addresses of two lanes? Can two of them share a sector, or a "
               "line?";
    default:
        return "Where do the first and the last byte lie? Divide both by the size of a sector, or "
               "of a line.";
    }
}

// Neighbours that read so many bytes together, from byte `first` on.
static prediction of_neighbours(int first, int bytes)
{
    auto pieces = [=](int size) { return (first + bytes - 1) / size - first / size + 1; };
    return {pieces(32), pieces(128)};
}

// Returns the unit of p for which every answer for a kind of neighbours would be right; empty if it
// is p's own, or if there are none or several.
static std::string unit_taken(pattern_kind kind, const std::vector<access_pattern> &patterns,
                              const output<prediction> &answers)
{
    struct {
        const char *name;
        int bytes;
    } constexpr units[] = {{"bytes", 1}, {"floats", 4}, {"float2", 8}, {"float4", 16}};
    int size = kind == pattern_kind::bytes         ? 1
               : kind == pattern_kind::contiguous  ? 4
               : kind == pattern_kind::float2_each ? 8
               : kind == pattern_kind::float4_each ? 16
                                                   : 0;
    std::string only;
    for (const auto &unit : units) {
        if (size == 0 || unit.bytes == size) continue;
        bool all = true;
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            if (patterns[i].kind != kind) continue;
            prediction like = of_neighbours(unit.bytes * patterns[i].parameter, 32 * size);
            all &= answers[i].sectors == like.sectors && answers[i].lines == like.lines;
        }
        if (!all) continue;
        if (!only.empty()) return {};
        only = unit.name;
    }
    return only;
}

// True if a kind has one answer for every p above 0, where more than one would be right.
static bool one_for_all(pattern_kind kind, const std::vector<access_pattern> &patterns,
                        const output<prediction> &answers)
{
    std::set<std::pair<int, int>> given, right;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (patterns[i].kind != kind || patterns[i].parameter == 0) continue;
        prediction of_p = oracle::predict(patterns[i]);
        given.insert({answers[i].sectors, answers[i].lines});
        right.insert({of_p.sectors, of_p.lines});
    }
    return given.size() == 1 && right.size() > 1;
}

void quiz_patterns(const std::vector<pattern_questions> &questions)
{
    std::vector<access_pattern> patterns;
    for (const pattern_questions &of : questions) {
        for (int p : of.known) patterns.push_back({of.kind, p});
        for (int k = 0; k < 4; ++k) patterns.push_back({of.kind, random_between(of.low, of.high)});
    }
    output<prediction> answers(patterns.size());
    CALL(predict, host(patterns), host(answers), static_cast<int>(patterns.size()));
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const access_pattern &pattern = patterns[i];
        prediction got = answers[i], right = oracle::predict(pattern);
        if (got.sectors == right.sectors && got.lines == right.lines) continue;
        std::string unit = unit_taken(pattern.kind, patterns, answers);
        const bool same = one_for_all(pattern.kind, patterns, answers);
        expect(false, verdict::WRONG_ANSWER,
               std::string("predict says that ") + name_of(pattern.kind) + " with p = " +
                   std::to_string(pattern.parameter) + " touches " + std::to_string(got.sectors) +
                   " sectors and " + std::to_string(got.lines) + " lines; it touches " +
                   std::to_string(right.sectors) + " and " + std::to_string(right.lines) + "." +
                   (unit.empty() ? "" : " It would, if p counted " + unit + ".") +
                   (same ? " It says the same for every p above 0." : ""),
               unit.empty()
                   ? (same ? "Does your rule use p itself, or only whether it is 0? " : "") +
                         std::string(hint_for(pattern.kind))
                   : "lab.hpp names the unit of p beside each kind.");
    }
}

// --- resident_blocks ---

namespace {

template <class Rules> struct quiz_mistake {
    Rules rules;
    const char *cause, *next;
};

constexpr quiz_mistake<oracle::residency_rules> residency_mistakes[] = {
    {{.registers = false, .shared = false},
     "Only the warps and the number of blocks were checked.",
     "Registers and shared memory are limits, too: the smallest of all decides."},
    {{.registers = false},
     "The limit of registers was left out.",
     "For how many warps are there enough registers? The smallest limit decides."},
    {{.shared = false},
     "The limit of shared memory was left out.",
     "For how many blocks is there enough shared memory? The smallest limit decides."},
    {{.block_limit = false},
     "The limit of blocks was left out.",
     "At most limits.blocks are resident, however small they are."},
    {{.full_warps_only = true},
     "A warp with fewer than 32 threads was not counted.",
     "Round the number of a block's warps up: the last one takes the room of a whole one."},
    {{.whole_warps = false},
     "Threads were counted in place of warps.",
     "A block of 33 threads has two warps, and takes the room of 64 threads and their registers."},
    {{.register_unit = false, .partitions = false},
     "The registers were not rounded up, and taken as one piece.",
     "A warp gets registers in multiples of limits.register_unit, all in one partition. How many "
     "warps does a partition hold?"},
    {{.register_unit = false},
     "The registers of a warp were not rounded up.",
     "A warp gets registers in multiples of limits.register_unit."},
    {{.unit_per_warp = false},
     "The registers were rounded up for a block as a whole.",
     "Each warp gets a multiple of limits.register_unit of its own."},
    {{.partitions = false},
     "The registers were taken as one piece.",
     "A warp cannot use registers that are left over in another partition. How many warps does one "
     "partition hold?"},
    {{.shared_reserved = false},
     "The shared memory that the system takes for each block was left out.",
     "Each block costs limits.shared_reserved bytes in addition, also one that asks for none."},
    {{.shared_unit = false},
     "The shared memory of a block was not rounded up.",
     "A block gets shared memory in multiples of limits.shared_unit; the reserved bytes are part "
     "of what is rounded."},
    {{.rounded_down = false},
     "The blocks were rounded up where they should be rounded down.",
     "A block is not resident if only a part of its warps, registers or bytes is left."},
};

constexpr quiz_mistake<oracle::latency_rules> latency_mistakes[] = {
    {{.clock = false},
     "A cycle was taken for a nanosecond.",
     "Cycles times GB/s are not bytes: how long is a cycle at clock_mhz?"},
    {{.each_sm = false},
     "These are the warps of the whole device.",
     "The bytes in flight are divided among all multiprocessors."},
    {{.warps = false},
     "These are threads.",
     "A warp has 32 of them, each with its own bytes in flight."},
    {{.whole_bytes = true},
     "The bytes in flight were rounded down before the warps were computed.",
     "A part of a byte may need another warp. Multiply both sides by clock_mhz, so that there is "
     "one division, the last one."},
    {{.rounded_up = false},
     "The number of warps was rounded down.",
     "With one warp less than needed there are too few bytes in flight."},
};

// Returns the first mistake that explains all answers; null: none does.
template <class Mistakes, class Answer>
auto explaining(const Mistakes &mistakes, const output<int> &answers, const Answer &answer)
    -> decltype(&mistakes[0])
{
    for (const auto &mistake : mistakes) {
        bool all = true;
        for (std::size_t i = 0; i < answers.size(); ++i)
            all = all && answers[i] == answer(i, mistake.rules);
        if (all) return &mistake;
    }
    return nullptr;
}

// Ends the case at the first wrong answer. `answer(i, rules)` is the one to question i, and
// `words(i)` begins the sentence that says so.
template <class Mistakes, class Answer, class Words>
void judge_answers(const Mistakes &mistakes, const output<int> &answers, const Answer &answer,
                   const Words &words, const char *hint)
{
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const int right = answer(i, {});
        if (answers[i] == right) continue;
        const auto *mistake = explaining(mistakes, answers, answer);
        expect(false, verdict::WRONG_ANSWER,
               fmt::format("{}; the answer was {}, and {} is right.{}{}", words(i), answers[i],
                           right, mistake ? " " : "", mistake ? mistake->cause : ""),
               mistake ? mistake->next : hint);
    }
}

int random_of(const std::vector<int> &values)
{
    return values[std::size_t(random_between(0, int(values.size()) - 1))];
}

// A multiprocessor of which registers and shared memory suffice for as many warps and blocks as it
// holds if a thread has up to `free_registers` of them and a block has no shared memory.
struct asked_sm {
    sm_limits limits;
    int free_registers;
};

asked_sm any_sm()
{
    const int warps = random_between(16, 80), parts = 1 << random_between(0, 2);
    const int unit = 64 << random_between(0, 3), free_registers = random_between(16, 64);
    const int of_warp = (32 * free_registers + unit - 1) / unit * unit;
    const int of_part = (warps + parts - 1) / parts * of_warp + random_between(0, unit);
    return {{32 * warps, random_between(4, 40), parts * of_part, parts, unit,
             random_between(64, 256) * 1024, 64 << random_between(0, 3),
             random_of({0, 512, 1024, 1500})},
            free_registers};
}

// The same block with some shared memory, so that any limit may decide.
block_needs with_shared_memory(block_needs block, const asked_sm &sm)
{
    block.shared_bytes = random_between(0, sm.limits.shared_bytes >> random_between(0, 5));
    return block;
}

// A block of which, by its shared memory, some number only just fit or only just do not. Nothing
// else limits them to fewer.
block_needs filling(const asked_sm &sm)
{
    const sm_limits &l = sm.limits;
    const int blocks = random_between(1, std::min(l.blocks, l.threads / 32));
    const int max_threads = std::min(l.threads / 32 / blocks * 32, 1024);
    const int taken = random_between(0, 1) * l.shared_reserved;
    return {random_between(32, max_threads), random_between(16, sm.free_registers),
            std::max(0, l.shared_bytes / blocks - taken - random_between(0, l.shared_unit))};
}

void ask_residency(const asked_sm &sm, limit last)
{
    const int max_registers = last == limit::threads ? sm.free_registers : 255;
    std::vector<block_needs> blocks;
    for (int threads : {256, 32, 33, 96, 1000, 1024})
        blocks.push_back({threads, std::min(40, max_registers), 0});
    blocks.push_back({256, std::min(33, max_registers), 0});
    // Of 11 * 62 registers and no rounding three blocks fit an H100, else two.
    blocks.push_back({352, std::min(62, max_registers), 0});
    for (int k = 0; k < 24; ++k) {
        blocks.push_back({random_between(32, k % 2 == 0 ? 1024 : 128),
                          random_between(std::min(16, max_registers), max_registers), 0});
        if (last == limit::shared_memory)
            blocks.back() = k % 3 == 0 ? with_shared_memory(blocks.back(), sm) : filling(sm);
    }
    output<int> answers(blocks.size());
    CALL(resident_blocks, host(blocks), host(answers), int(blocks.size()), sm.limits);
    judge_answers(
        residency_mistakes, answers,
        [&](std::size_t i, const oracle::residency_rules &rules) {
            return oracle::resident_blocks(blocks[i], sm.limits, rules);
        },
        [&](std::size_t i) {
            const sm_limits &l = sm.limits;
            return fmt::format(
                "resident_blocks was asked about blocks of {} threads with {} registers each and "
                "{} bytes of shared memory, where an SM has the limits {{{}, {}, {}, {}, {}, {}, "
                "{}, {}}}",
                blocks[i].threads, blocks[i].registers, blocks[i].shared_bytes, l.threads, l.blocks,
                l.registers, l.partitions, l.register_unit, l.shared_bytes, l.shared_unit,
                l.shared_reserved);
        },
        "lab.hpp has the rules. Work this one out on paper: how many blocks would each limit alone "
        "allow?");
}

} // namespace

void quiz_residency(limit last)
{
    ask_residency({{2048, 32, 65536, 4, 256, 233472, 128, 1024}, 32}, last); // H100, H200
    ask_residency({{1024, 16, 65536, 4, 256, 65536, 256, 0}, 64}, last);     // T4
    for (int k = 0; k < 4; ++k) ask_residency(any_sm(), last);
}

// --- warps_hiding_latency ---

// True if an answer computed in floating point can be rounded to another whole number.
static bool nearly_whole(const memory_demand &m)
{
    const double warps = 1000.0 * m.latency_cycles * m.gb_per_s /
                         (32.0 * m.bytes_per_thread * m.multiprocessors * m.clock_mhz);
    return std::abs(warps - std::round(warps)) < 1e-6 * warps;
}

// True if as many warps as hold the whole bytes in flight do not hold the part of a byte as well.
static bool needs_part_of_byte(const memory_demand &m)
{
    return oracle::warps_hiding_latency(m) !=
           oracle::warps_hiding_latency(m, {.whole_bytes = true});
}

static memory_demand any_demand(int max_multiprocessors, int max_doublings)
{
    return {random_between(200, 1200), random_between(900, 2500), random_between(200, 8000),
            random_between(8, max_multiprocessors), 4 << random_between(0, max_doublings)};
}

void quiz_latency()
{
    // The first three are exact in any order of computing: 32, 128 and 1.
    std::vector<memory_demand> demands = {
        {1024, 1024, 4096, 125, 32}, {1024, 1024, 4096, 125, 8}, {1, 2048, 64, 125, 128}};
    while (demands.size() < 6) {
        const memory_demand m = any_demand(16, 0);
        if (needs_part_of_byte(m) && !nearly_whole(m)) demands.push_back(m);
    }
    while (demands.size() < 40) {
        const memory_demand m = any_demand(160, 5);
        if (!nearly_whole(m)) demands.push_back(m);
    }
    output<int> answers(demands.size());
    CALL(warps_hiding_latency, host(demands), host(answers), int(demands.size()));
    judge_answers(
        latency_mistakes, answers,
        [&](std::size_t i, const oracle::latency_rules &rules) {
            return oracle::warps_hiding_latency(demands[i], rules);
        },
        [&](std::size_t i) {
            const memory_demand &m = demands[i];
            return fmt::format("warps_hiding_latency was asked about a latency of {} cycles at {} "
                               "MHz, {} GB/s for {} multiprocessors, and {} bytes in flight per "
                               "thread",
                               m.latency_cycles, m.clock_mhz, m.gb_per_s, m.multiprocessors,
                               m.bytes_per_thread);
        },
        "How long is the latency in nanoseconds? 1 GB/s is one byte per nanosecond. Do the "
        "products fit their type?");
}
