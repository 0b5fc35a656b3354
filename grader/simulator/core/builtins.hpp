// Gives the implementations of functions that the CUDA toolkit provides to device code (printf,
// malloc, the device runtime) access to the calling thread.
#pragma once

#include "grid.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace simulator::core {

// The memory of one thread, by generic address.
class thread_memory {
public:
    thread_memory(context &c, int lane) : c_(c), lane_(lane) {}

    template <class T> bool read(std::uint64_t address, T &value) const
    {
        std::byte bytes[sizeof(T)];
        for (std::size_t k = 0; k < sizeof(T); ++k) {
            const std::byte *p = find(address + k).data;
            if (p == nullptr) return false;
            bytes[k] = *p;
        }
        std::memcpy(&value, bytes, sizeof(T));
        return true;
    }
    template <class T> bool write(std::uint64_t address, const T &value) const
    {
        for (std::size_t k = 0; k < sizeof(T); ++k)
            if (const location p = find(address + k); !p.data || (*p.shadow & read_only) != 0)
                return false;
        for (std::size_t k = 0; k < sizeof(T); ++k) {
            const location p = find(address + k);
            *p.data = reinterpret_cast<const std::byte *>(&value)[k];
            *p.shadow |= initialised;
        }
        c_.changed = true;
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
    struct location { // null: the thread may not access the address
        std::byte *data = nullptr;
        std::uint8_t *shadow = nullptr;
    };
    location find(std::uint64_t address) const
    {
        if (const std::uint64_t offset = address - c_.base;
            offset < c_.reserved && (c_.shadow[offset] & addressable) != 0)
            return {c_.data + offset, c_.shadow + offset};
        if (const std::uint64_t offset = address - shared_window; offset < c_.shared_bytes)
            return {c_.shared + offset, c_.shared_shadow + offset};
        if (const std::uint64_t byte = address - local_window; byte < c_.local_bytes) {
            const std::uint64_t offset = local_position(byte, lane_);
            return {c_.local + offset, c_.local_shadow + offset};
        }
        return {};
    }

    context &c_;
    int lane_;
};

// A call of such a function by one thread.
class thread_call {
public:
    thread_call(grid &g, warp &w, const instruction &i, const call_site &s, int lane)
        : g(g),
          w(w),
          i(i),
          lane(lane),
          memory(g.ctx, lane),
          site_(s),
          frame_(w.frames[w.paths[w.current].frame_index])
    {
    }
    template <class T> T argument(std::size_t index) const
    {
        T v{};
        if (index < site_.in.size())
            std::memcpy(&v, arguments() + site_.in[index],
                        std::min<std::size_t>(sizeof v, site_.in_bytes[index]));
        return v;
    }
    template <class T> void return_value(T v) const
    {
        if (!site_.out.empty())
            std::memcpy(arguments() + site_.out[0], &v,
                        std::min<std::size_t>(sizeof v, site_.out_bytes[0]));
    }
    const std::string &name() const { return site_.builtin; }

    grid &g;
    warp &w;
    const instruction &i;
    const int lane;
    const thread_memory memory;

private:
    std::byte *arguments() const
    {
        return frame_.arguments.data() + static_cast<std::size_t>(lane) * frame_.of->argument_bytes;
    }
    const call_site &site_;
    frame &frame_;
};

// malloc of device code, from the heap of a device. Returns 0 if it is exhausted.
address heap_allocate(std::uint64_t bytes, int device);
// free of device code. Returns false if malloc did not return this address, or it has been freed.
bool heap_free(address);

} // namespace simulator::core
