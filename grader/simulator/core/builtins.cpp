// Implements functions that the toolkit provides to device code: printf, assert, malloc and free.
// The others belong to the device runtime.
#include "builtins.hpp"
#include "device_runtime.hpp"

#include <cstdio>
#include <set>
#include <string_view>

namespace simulator::core {
namespace {

// One conversion specification of a format string, from its % to its conversion specifier.
struct conversion {
    std::string spec;
    char letter = 0;
    bool is_long = false; // its integer has 64 bits
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
        c.is_long |= std::strchr("ljzt", format[at]) != nullptr;
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
    const auto print = [&](auto... all) {
        return std::snprintf(text, sizeof text, c.spec.c_str(), all...);
    };
    int n = c.stars == 0   ? print(value)
            : c.stars == 1 ? print(stars[0], value)
                           : print(stars[0], stars[1], value);
    return n < 0 ? std::string() : std::string(text, std::min<std::size_t>(n, sizeof text - 1));
}

std::string convert(conversion c, const thread_memory &memory, argument_list &arguments)
{
    int stars[2] = {};
    for (int k = 0; k < c.stars && k < 2; ++k) stars[k] = arguments.next<int>();
    const auto is_one_of = [&](std::string_view all) { return all.find(c.letter) != all.npos; };
    const bool is_long = c.is_long && is_one_of("diouxX");
    c.spec += is_long ? "ll" : "";
    c.spec += c.letter;
    if (c.letter == '%') return "%";
    if (is_long) return formatted(c, stars, arguments.next<long long>());
    if (is_one_of("diouxXc")) return formatted(c, stars, arguments.next<int>());
    if (is_one_of("fFeEgGaA")) return formatted(c, stars, arguments.next<double>());
    if (c.letter == 'p') return formatted(c, stars, arguments.next<const void *>());
    if (c.letter == 's')
        return formatted(c, stars, memory.text(arguments.next<std::uint64_t>()).c_str());
    return c.spec; // not a conversion: printed unchanged
}

// The process's initial standard output. A program may point `stdout` at another file, for example
// one that it reads itself.
FILE *original_stdout = nullptr;
[[gnu::constructor(101)]] void keep_original_stdout() { original_stdout = stdout; }

void print(const thread_call &c)
{
    const thread_memory &memory = c.memory;
    std::string format = memory.text(c.argument<std::uint64_t>(0)), out;
    argument_list arguments(memory, c.argument<std::uint64_t>(1));
    for (std::size_t at = 0; at < format.size();) {
        if (format[at] == '%')
            out += convert(take_conversion(format, at), memory, arguments);
        else
            out += format[at++];
    }
    std::fwrite(out.data(), 1, out.size(), original_stdout);
    if (c.g.ctx.count) c.g.ctx.counted[c.i.statement].printed_bytes += out.size();
    c.return_value(arguments.taken());
}

void fail_assert(const thread_call &c)
{
    auto text = [&](std::size_t k) { return c.memory.text(c.argument<std::uint64_t>(k)); };
    const std::string condition = text(0);
    dim t = thread_of(c.g, c.w, c.lane), b = c.w.block->index;
    std::fprintf(stderr,
                 "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                 text(1).c_str(), c.argument<std::uint32_t>(2), text(3).c_str(), b.x, b.y, b.z, t.x,
                 t.y, t.z, condition.c_str());
    stop_grid(c.g.ctx, c.i, finding_kind::trap, cudaErrorAssert, c.lane,
              "the assertion `" + condition + "` failed");
}

} // namespace

address heap_allocate(std::uint64_t bytes, int device)
{
    memory &m = memory::instance();
    const std::uint64_t used = m.heap_used(device), limit = settings().heap_bytes;
    if (used > limit || bytes > limit - used) return 0;
    return m.allocate(bytes, memory_kind::heap, device).value_or(0);
}

bool heap_free(address at)
{
    if (at == 0) return true;
    memory &m = memory::instance();
    const allocation *a = m.contains(at) ? m.find(at) : nullptr;
    const bool allocated = a && a->start == at && a->live && a->kind == memory_kind::heap;
    return allocated && m.release(at);
}

bool is_builtin(std::string_view name)
{
    static const std::set<std::string_view> own = {"vprintf", "__assertfail", "malloc", "free"};
    return own.contains(name) || device_runtime::implements(name);
}

void call_builtin(grid &g, warp &w, const instruction &i, const call_site &s, lane_mask mask)
{
    for (; mask != 0 && !g.ctx.stop; mask &= mask - 1) {
        const thread_call c(g, w, i, s, __builtin_ctz(mask));
        if (s.builtin == "vprintf") {
            print(c);
        } else if (s.builtin == "__assertfail") {
            fail_assert(c);
        } else if (s.builtin == "malloc") {
            c.return_value(heap_allocate(c.argument<std::uint64_t>(0), g.config->device));
        } else if (s.builtin != "free") {
            g.runtime->call(c);
        } else if (!heap_free(c.argument<std::uint64_t>(0))) {
            stop_grid(g.ctx, i, finding_kind::trap, cudaErrorLaunchFailure, c.lane,
                      "free of an address that malloc did not return, or a second time");
        }
    }
}

} // namespace simulator::core
