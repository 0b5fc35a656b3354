// Atomics and mbarriers: lane after lane.
#include "access_counts.hpp"
#include "handler_list.hpp"
#include "values.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

struct half_pair { // f16x2
    half low, high;
};

struct atomic_add {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T)
    {
        if constexpr (T(1) / T(2) == T(0))
            return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(b));
        else
            return old + b;
    }
    static half of(half old, half b, half) { return narrow(double{widen(old)} + widen(b)); }
    static half_pair of(half_pair old, half_pair b, half_pair)
    {
        return {of(old.low, b.low, {}), of(old.high, b.high, {})};
    }
};
struct atomic_min {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return b < old ? b : old; }
};
struct atomic_max {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old < b ? b : old; }
};
struct atomic_and {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old & b; }
};
struct atomic_or {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old | b; }
};
struct atomic_xor {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old ^ b; }
};
struct atomic_exchange { // does not need the old value
    static constexpr bool blind = true;
    template <class T> static T of(T, T b, T) { return b; }
};
struct atomic_compare {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T c) { return old == b ? c : old; }
};
struct atomic_inc {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old >= b ? T(0) : old + 1; }
};
struct atomic_dec {
    static constexpr bool blind = false;
    template <class T> static T of(T old, T b, T) { return old == 0 || old > b ? b : old - 1; }
};

// An mbarrier's word: threads pending in this phase, threads per phase, number of completed
// phases.
u64 barrier_of(u64 left, u64 all, u64 ended)
{
    return (left & 0xfffff) | (all & 0xfffff) << 20 | ended << mbarrier_phase_bit;
}
u64 barrier_after(u64 old, u64 came, u64 all)
{
    u64 left = (old & 0xfffff) - came, ended = old >> mbarrier_phase_bit;
    return left == 0 ? barrier_of(all, all, ended + 1) : barrier_of(left, all, ended);
}
struct mbarrier_init {
    static constexpr bool blind = true;
    static u64 of(u64, u64 threads, u64) { return barrier_of(threads, threads, 0); }
};
struct mbarrier_arrive {
    static constexpr bool blind = false;
    static u64 of(u64 old, u64 came, u64) { return barrier_after(old, came, old >> 20 & 0xfffff); }
};
struct mbarrier_drop {
    static constexpr bool blind = false;
    static u64 of(u64 old, u64 came, u64)
    {
        return barrier_after(old, came, (old >> 20 & 0xfffff) - came);
    }
};

template <class T> struct lane_bits {
    using type = u32;
};
template <> struct lane_bits<u64> {
    using type = u64;
};
template <> struct lane_bits<s64> {
    using type = u64;
};
template <> struct lane_bits<double> {
    using type = u64;
};

template <class Op, class T> inline T outcome_of(T old, T b, T e, ptx::space)
{
    return Op::of(old, b, e);
}
// f32 additions flush subnormal numbers in device memory, but not in shared memory.
template <> inline float outcome_of<atomic_add, float>(float old, float b, float, ptx::space s)
{
    return s == space::shared ? old + b : flushed(flushed(old) + flushed(b));
}

template <class Op, class T> void atomic_window(context &c, const instruction &i, lane_mask mask,
                                                const u64 *address, const window &w, ptx::space s)
{
    using R = typename lane_bits<T>::type;
    access how{s, true, sizeof(T)};
    bool reads = !Op::blind;
    if (!check_lanes(c, i, mask, address, w, how, reads)) return;
    if (c.races != nullptr)
        check_races(c, i, mask, address, s, sizeof(T), access_use::atomic, false);
    if (weakly_ordered(c, i, s)) note_atomic(c, i, mask, address);
    auto b = lanes_of<R>(c, i.b), e = i.c == no_operand ? b : lanes_of<R>(c, i.c);
    R *d = i.d == no_operand ? nullptr : lanes_of<R>(c, i.d);
    auto serve = [&](int l) {
        std::byte *at = w.data + (address[l] - w.base);
        T old = read_as<T>(at);
        T next = outcome_of<Op>(old, read_as<T>(&b[l]), read_as<T>(&e[l]), s);
        if (__builtin_memcmp(&old, &next, sizeof(T)) != 0) c.changed = true;
        write_as(at, next);
        if (d == nullptr) return;
        R bits = 0;
        __builtin_memcpy(&bits, &old, sizeof(T));
        d[l] = bits;
    };
    if (c.lanes_descend)
        descending(mask, serve);
    else
        active(mask, serve);
    active(mask, [&](int l) { fill_initialised(w.shadow + (address[l] - w.base), sizeof(T)); });
    count_atomic(c, i, mask, address, s, sizeof(T));
}

template <class Op, class T> void atomic_device(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    atomic_window<Op, T>(c, i, mask, address, device_window(c), space::global);
}
template <class Op, class T> void atomic_shared(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    atomic_window<Op, T>(c, i, mask, address, shared_at(c, 0), space::shared);
}
template <class Op, class T> void atomic_generic(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    by_space lanes = sort_lanes(address, mask);
    lane_mask other = lanes.local | lanes.param;
    if (other != 0) {
        int l = __builtin_ctz(other);
        report(c, i, access_problem::outside, l, address[l], sizeof(T), space::local, true, 1);
        return;
    }
    if (lanes.device != 0)
        atomic_window<Op, T>(c, i, lanes.device, address, device_window(c), space::global);
    if (lanes.shared != 0 && !c.stop)
        atomic_window<Op, T>(c, i, lanes.shared, address, shared_at(c, shared_window),
                             space::shared);
}

template <class Op, class T> void atomic_row(handler_sink &out, const char *op, const char *type)
{
    out.add_pair("atomic.global", op, type, atomic_device<Op, T>);
    out.add_pair("atomic.shared", op, type, atomic_shared<Op, T>);
    out.add_pair("atomic.generic", op, type, atomic_generic<Op, T>);
}

} // namespace

void list_atomics(handler_sink &out)
{
    atomic_row<atomic_add, u32>(out, "add", "u32");
    atomic_row<atomic_add, s32>(out, "add", "s32");
    atomic_row<atomic_add, u64>(out, "add", "u64");
    atomic_row<atomic_add, s64>(out, "add", "s64");
    atomic_row<atomic_add, float>(out, "add", "f32");
    atomic_row<atomic_add, double>(out, "add", "f64");
    atomic_row<atomic_add, half>(out, "add", "f16");
    atomic_row<atomic_add, half_pair>(out, "add", "f16x2");
    atomic_row<atomic_min, u32>(out, "min", "u32");
    atomic_row<atomic_min, s32>(out, "min", "s32");
    atomic_row<atomic_min, u64>(out, "min", "u64");
    atomic_row<atomic_min, s64>(out, "min", "s64");
    atomic_row<atomic_max, u32>(out, "max", "u32");
    atomic_row<atomic_max, s32>(out, "max", "s32");
    atomic_row<atomic_max, u64>(out, "max", "u64");
    atomic_row<atomic_max, s64>(out, "max", "s64");
    atomic_row<atomic_and, u32>(out, "and", "b32");
    atomic_row<atomic_and, u64>(out, "and", "b64");
    atomic_row<atomic_or, u32>(out, "or", "b32");
    atomic_row<atomic_or, u64>(out, "or", "b64");
    atomic_row<atomic_xor, u32>(out, "xor", "b32");
    atomic_row<atomic_xor, u64>(out, "xor", "b64");
    atomic_row<atomic_exchange, u32>(out, "exch", "b32");
    atomic_row<atomic_exchange, u64>(out, "exch", "b64");
    atomic_row<atomic_compare, u16>(out, "cas", "b16");
    atomic_row<atomic_compare, u32>(out, "cas", "b32");
    atomic_row<atomic_compare, u64>(out, "cas", "b64");
    atomic_row<mbarrier_init, u64>(out, "mbarrier_init", "b64");
    atomic_row<mbarrier_arrive, u64>(out, "mbarrier_arrive", "b64");
    atomic_row<mbarrier_drop, u64>(out, "mbarrier_arrive_drop", "b64");
    atomic_row<atomic_inc, u32>(out, "inc", "u32");
    atomic_row<atomic_dec, u32>(out, "dec", "u32");
}

} // namespace simulator::core::SIMULATOR_LEVEL
