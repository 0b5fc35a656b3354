// What device code may call without defining it: printf, assert, malloc and free.
#include "core_grid.hpp"

#include <cstdio>
#include <cstring>

namespace simulator::core {
namespace {

// One thread's view of memory through generic addresses.
class thread_memory {
public:
    thread_memory(context &c, int lane) : c_(c), lane_(static_cast<std::uint64_t>(lane)) {}

    // The byte there, or nullptr when the thread may not read it.
    const std::byte *at(std::uint64_t address) const
    {
        std::uint64_t device = address - c_.base;
        if (device < c_.reserved)
            return (c_.shadow[device] & addressable) != 0 ? c_.data + device : nullptr;
        std::uint64_t offset = address & (window_bytes - 1);
        if (address >> 56 == 1) return offset < c_.shared_bytes ? c_.shared + offset : nullptr;
        if (address >> 56 == 2 && offset < c_.local_bytes)
            return c_.local + (offset >> 2) * 128 + lane_ * 4 + (offset & 3);
        return nullptr;
    }
    template <class T> bool read(std::uint64_t address, T &value) const
    {
        std::byte bytes[sizeof(T)];
        for (std::size_t k = 0; k < sizeof(T); ++k) {
            const std::byte *p = at(address + k);
            if (p == nullptr) return false;
            bytes[k] = *p;
        }
        std::memcpy(&value, bytes, sizeof(T));
        return true;
    }
    // A null-terminated string of at most 4096 characters.
    std::string text(std::uint64_t address) const
    {
        std::string s;
        for (char ch = 0; s.size() < 4096 && read(address + s.size(), ch) && ch != 0;) s += ch;
        return s;
    }

private:
    context &c_;
    std::uint64_t lane_;
};

// One conversion of a format, from its % to its letter.
struct conversion {
    std::string spec;
    char letter = 0;
    int longs = 0;
    int stars = 0;
};

conversion take_conversion(const std::string &format, std::size_t &at)
{
    conversion c;
    c.spec = format[at++];
    while (at < format.size() && std::strchr("-+ #0123456789.*", format[at]) != nullptr) {
        c.stars += format[at] == '*';
        c.spec += format[at++];
    }
    while (at < format.size() && std::strchr("hljztL", format[at]) != nullptr) {
        c.longs += format[at] == 'l' || format[at] == 'j' || format[at] == 'z' || format[at] == 't'
                       ? 1
                       : 0;
        if (format[at] == 'h') c.spec += 'h';
        ++at;
    }
    if (at < format.size()) c.letter = format[at++];
    return c;
}

class argument_list {
public:
    argument_list(const thread_memory &m, std::uint64_t at) : memory_(m), at_(at) {}
    template <class T> T next()
    {
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T v{};
        memory_.read(at_, v);
        at_ += sizeof(T);
        ++taken_;
        return v;
    }
    int taken() const { return taken_; }

private:
    const thread_memory &memory_;
    std::uint64_t at_;
    int taken_ = 0;
};

template <class T> std::string formatted(const conversion &c, const int *stars, T value)
{
    char text[4200];
    int n = c.stars == 0 ? std::snprintf(text, sizeof text, c.spec.c_str(), value)
            : c.stars == 1
                ? std::snprintf(text, sizeof text, c.spec.c_str(), stars[0], value)
                : std::snprintf(text, sizeof text, c.spec.c_str(), stars[0], stars[1], value);
    return n < 0 ? std::string() : std::string(text, std::min<std::size_t>(n, sizeof text - 1));
}

std::string convert(conversion c, const thread_memory &memory, argument_list &arguments)
{
    int stars[2] = {};
    for (int k = 0; k < c.stars && k < 2; ++k) stars[k] = arguments.next<int>();
    if (c.letter == '%') return "%";
    if (std::strchr("diouxXc", c.letter) != nullptr && c.letter != 0) {
        if (c.longs > 0 && c.letter != 'c') {
            c.spec += "ll";
            c.spec += c.letter;
            return formatted(c, stars, arguments.next<long long>());
        }
        c.spec += c.letter;
        return formatted(c, stars, arguments.next<int>());
    }
    c.spec += c.letter;
    if (std::strchr("fFeEgGaA", c.letter) != nullptr && c.letter != 0)
        return formatted(c, stars, arguments.next<double>());
    if (c.letter == 's') {
        std::string s = memory.text(arguments.next<std::uint64_t>());
        return formatted(c, stars, s.c_str());
    }
    if (c.letter == 'p') {
        auto v = arguments.next<std::uint64_t>();
        return formatted(c, stars, reinterpret_cast<const void *>(v));
    }
    return c.spec; // not a conversion: printed as it stands
}

int print(const thread_memory &memory, std::uint64_t format_at, std::uint64_t arguments_at)
{
    std::string format = memory.text(format_at), out;
    argument_list arguments(memory, arguments_at);
    for (std::size_t at = 0; at < format.size();) {
        if (format[at] == '%')
            out += convert(take_conversion(format, at), memory, arguments);
        else
            out += format[at++];
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return arguments.taken();
}

template <class T> T argument(const frame &f, const call_site &s, std::size_t which, int lane)
{
    T v{};
    if (which < s.in.size())
        std::memcpy(&v,
                    f.arguments.data() + static_cast<std::size_t>(lane) * f.of->argument_bytes +
                        s.in[which],
                    std::min<std::size_t>(sizeof v, s.in_bytes[which]));
    return v;
}

template <class T> void give(frame &f, const call_site &s, int lane, T v)
{
    if (s.out.empty()) return;
    std::memcpy(f.arguments.data() + static_cast<std::size_t>(lane) * f.of->argument_bytes +
                    s.out[0],
                &v, std::min<std::size_t>(sizeof v, s.out_bytes[0]));
}

void fail_assert(grid &g, warp &w, const instruction &i, const call_site &s, const frame &f,
                 int lane)
{
    thread_memory memory(g.seen, lane);
    auto text = [&](std::size_t k) { return memory.text(argument<std::uint64_t>(f, s, k, lane)); };
    std::string condition = text(0);
    dim t = thread_of(g, w, lane), b = w.block->index;
    std::fprintf(stderr,
                 "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                 text(1).c_str(), argument<std::uint32_t>(f, s, 2, lane), text(3).c_str(), b.x, b.y,
                 b.z, t.x, t.y, t.z, condition.c_str());
    stop_grid(g.seen, i, finding_kind::trap, 710, lane, "the assertion `" + condition + "` failed");
}

// 0: the heap is used up.
address from_heap(std::uint64_t bytes, int device)
{
    memory &m = memory::instance();
    const std::uint64_t used = m.heap_used(device), most = settings().heap_bytes;
    if (used > most || bytes > most - used) return 0;
    return m.allocate(bytes, memory_kind::heap, device).value_or(0);
}

// False: malloc did not give this address out, or it was freed before.
bool back_to_heap(address at)
{
    if (at == 0) return true;
    memory &m = memory::instance();
    const allocation *a = m.contains(at) ? m.find(at) : nullptr;
    const bool given = a && a->start == at && a->live && a->kind == memory_kind::heap;
    return given && m.release(at);
}

} // namespace

void call_builtin(grid &g, warp &w, const instruction &i, const call_site &s, lane_mask mask)
{
    frame &f = w.frames[w.paths[w.current].in];
    for (; mask != 0 && !g.seen.stop; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        if (s.builtin == "vprintf") {
            give(f, s, lane,
                 print(thread_memory(g.seen, lane), argument<std::uint64_t>(f, s, 0, lane),
                       argument<std::uint64_t>(f, s, 1, lane)));
        } else if (s.builtin == "__assertfail") {
            fail_assert(g, w, i, s, f, lane);
        } else if (s.builtin == "malloc") {
            give(f, s, lane, from_heap(argument<std::uint64_t>(f, s, 0, lane), g.how->device));
        } else if (auto at = argument<std::uint64_t>(f, s, 0, lane); !back_to_heap(at)) {
            stop_grid(g.seen, i, finding_kind::trap, 719, lane,
                      "free of an address that malloc did not return, or a second time");
        }
    }
}

} // namespace simulator::core
