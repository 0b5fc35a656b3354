// Runs atomics and mbarrier operations, one lane after another.
#include "access.hpp"
#include "values.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

struct half_pair { // f16x2
    half low, high;
};

// Operations take the old value and operands b and c of the instruction, and return the new value.
struct adds {
    template <class T> T operator()(T old, T b, T) const
    {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(b));
        else
            return old + b;
    }
    half operator()(half old, half b, half) const { return narrow(double{widen(old)} + widen(b)); }
    half_pair operator()(half_pair old, half_pair b, half_pair) const
    {
        return {(*this)(old.low, b.low, {}), (*this)(old.high, b.high, {})};
    }
};
constexpr adds atomic_add;
constexpr auto atomic_min = [](auto old, auto b, auto) { return b < old ? b : old; };
constexpr auto atomic_max = [](auto old, auto b, auto) { return old < b ? b : old; };
constexpr auto atomic_and = [](auto old, auto b, auto) { return old & b; };
constexpr auto atomic_or = [](auto old, auto b, auto) { return old | b; };
constexpr auto atomic_xor = [](auto old, auto b, auto) { return old ^ b; };
constexpr auto atomic_exch = [](auto, auto b, auto) { return b; };
constexpr auto atomic_cas = [](auto old, auto b, auto c) { return old == b ? c : old; };
constexpr auto atomic_inc = [](u32 old, u32 b, u32) { return old >= b ? 0 : old + 1; };
constexpr auto atomic_dec = [](u32 old, u32 b, u32) { return old == 0 || old > b ? b : old - 1; };

// The simulator's layout of an mbarrier object: pending count (20 bits), expected arrival count
// (20 bits), number of completed phases.
u64 mbarrier_object(u64 pending, u64 expected, u64 phases)
{
    return (pending & 0xfffff) | (expected & 0xfffff) << 20 | phases << mbarrier_phase_bit;
}
u64 expected_arrivals(u64 object) { return object >> 20 & 0xfffff; }
// Arrives `count` times; the last pending arrival completes the phase.
u64 mbarrier_after(u64 old, u64 count, u64 expected)
{
    u64 pending = (old & 0xfffff) - count, phases = old >> mbarrier_phase_bit;
    return pending == 0 ? mbarrier_object(expected, expected, phases + 1)
                        : mbarrier_object(pending, expected, phases);
}
constexpr auto mbarrier_init = [](u64, u64 count, u64) { return mbarrier_object(count, count, 0); };
constexpr auto mbarrier_arrive = [](u64 old, u64 count, u64) {
    return mbarrier_after(old, count, expected_arrivals(old));
};
constexpr auto mbarrier_arrive_drop = [](u64 old, u64 count, u64) {
    return mbarrier_after(old, count, expected_arrivals(old) - count);
};

template <auto op> constexpr bool reads_old = true;
template <> constexpr bool reads_old<atomic_exch> = false;
template <> constexpr bool reads_old<mbarrier_init> = false;

template <auto op, class T> void atomic_region(context &c, const instruction &i, lane_mask mask,
                                               const u64 *address, const memory_region &region,
                                               ptx::space s)
{
    using R = storage<T>;
    access request{s, true, sizeof(T)};
    if (!check_lanes(c, i, mask, address, region, request, reads_old<op>)) return;
    if (c.races != nullptr)
        check_races(c, i, mask, address, s, sizeof(T), access_use::atomic, false);
    if (weakly_ordered(c, i, s)) note_atomic(c, i, mask, address);
    auto b = lanes_of<R>(c, i.b), e = i.c == no_operand ? b : lanes_of<R>(c, i.c);
    R *d = i.d == no_operand ? nullptr : lanes_of<R>(c, i.d);
    auto update = [&](int l) {
        std::byte *at = region.data + (address[l] - region.base);
        T old = read_as<T>(at);
        T value = read_as<T>(&b[l]), next;
        // atom.add.f32 flushes subnormal inputs and results in global memory, but not in shared.
        if constexpr (std::is_same_v<T, float>)
            next = s == space::shared ? old + value : flushed(flushed(old) + flushed(value));
        else
            next = op(old, value, read_as<T>(&e[l]));
        if (__builtin_memcmp(&old, &next, sizeof(T)) != 0) c.changed = true;
        write_as(at, next);
        if (d == nullptr) return;
        R bits = 0;
        __builtin_memcpy(&bits, &old, sizeof(T));
        d[l] = bits;
    };
    if (c.lanes_descend)
        descending(mask, update);
    else
        active(mask, update);
    active(mask,
           [&](int l) { fill_initialised(region.shadow + (address[l] - region.base), sizeof(T)); });
    count_atomic(c, i, mask, address, s, sizeof(T));
}

template <space s, auto op, class T>
void atomic_in(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    const memory_region region = s == space::shared ? shared_region(c, 0) : device_region(c);
    atomic_region<op, T>(c, i, mask, address, region, s);
}
template <auto op, class T> void atomic_generic(context &c, const instruction &i, lane_mask mask)
{
    u64 address[32];
    addresses_of(c, i, address);
    space_masks lanes = lanes_by_space(address, mask);
    lane_mask other = lanes.local | lanes.param;
    if (other != 0) {
        int l = __builtin_ctz(other);
        report(c, i, access_problem::outside, l, address[l], sizeof(T), space::local, true, 1);
        return;
    }
    if (lanes.device != 0)
        atomic_region<op, T>(c, i, lanes.device, address, device_region(c), space::global);
    if (lanes.shared != 0 && !c.stop)
        atomic_region<op, T>(c, i, lanes.shared, address, shared_region(c, shared_window),
                             space::shared);
}

template <auto op, class T> void atomic_row(handler_sink &out, const char *name, const char *type)
{
    out.add("atomic.global", name, type, atomic_in<space::global, op, T>);
    out.add("atomic.shared", name, type, atomic_in<space::shared, op, T>);
    out.add("atomic.generic", name, type, atomic_generic<op, T>);
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
    atomic_row<atomic_exch, u32>(out, "exch", "b32");
    atomic_row<atomic_exch, u64>(out, "exch", "b64");
    atomic_row<atomic_cas, u16>(out, "cas", "b16");
    atomic_row<atomic_cas, u32>(out, "cas", "b32");
    atomic_row<atomic_cas, u64>(out, "cas", "b64");
    atomic_row<mbarrier_init, u64>(out, "mbarrier_init", "b64");
    atomic_row<mbarrier_arrive, u64>(out, "mbarrier_arrive", "b64");
    atomic_row<mbarrier_arrive_drop, u64>(out, "mbarrier_arrive_drop", "b64");
    atomic_row<atomic_inc, u32>(out, "inc", "u32");
    atomic_row<atomic_dec, u32>(out, "dec", "u32");
}

} // namespace simulator::core::SIMULATOR_LEVEL
