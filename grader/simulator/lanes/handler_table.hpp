// Defines the selectors that decoder and handlers share, and how files compiled once per
// instruction set list their handlers.
#pragma once

#include "context.hpp"

namespace simulator::core {

// Selectors that the decoder puts into instruction::extra.
enum compare_flags : std::uint32_t { // of setp and set
    combine_none = 0,
    combine_and = 1,
    combine_or = 2,
    combine_xor = 3,
    combine_mask = 3,
    combine_second = 4, // setp p|q: operand q is in instruction::offset
    combine_ftz = 8,
};
enum convert_flags : std::uint32_t { // of cvt
    convert_exact = 0,
    convert_nearest = 1,
    convert_zero = 2,
    convert_down = 3,
    convert_up = 4,
    convert_mode_mask = 7,
    convert_saturate = 8,
    convert_ftz = 16,
};

// An mbarrier object counts completed phases from this bit on.
inline constexpr unsigned mbarrier_phase_bit = 40;
enum half_flags : std::uint32_t { // of arithmetic on f16 and bf16
    half_ftz = 1,
    half_saturate = 2,
    half_relu = 4,
    half_nan = 8,
};
// Comparisons of f16 and bf16, above the compare_flags.
inline constexpr std::uint32_t half_comparison_shift = 8;
enum half_comparison : std::uint32_t {
    half_eq,
    half_ne,
    half_lt,
    half_le,
    half_gt,
    half_ge,
    half_equ, // from here to half_geu: in the order of half_eq to half_ge
    half_neu,
    half_ltu,
    half_leu,
    half_gtu,
    half_geu,
    half_num,
    half_nan_test,
};

// Receives the rows of the opcode table; the parts of a name are joined with dots.
class handler_sink {
public:
    virtual ~handler_sink() = default;
    virtual void add(const char *op, const char *type, handler) = 0;
    virtual void add(const char *op, const char *a, const char *b, handler) = 0;
    virtual void add(const char *op, const char *a, const char *b, const char *c, handler) = 0;
};

// Each lists the handlers compiled for one instruction set of the CPU.
#if defined(__x86_64__)
namespace x86_64_v2 {
void list_handlers(handler_sink &);
}
namespace x86_64_v3 {
void list_handlers(handler_sink &);
}
#endif
namespace baseline {
void list_handlers(handler_sink &);
}

} // namespace simulator::core
