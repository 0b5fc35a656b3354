// Shared by the machine's tests: modules made from text, device buffers and launches.
#pragma once

#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/machine.hpp"
#include "simulator/machine/memory.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef SIMULATOR_TESTS
#define SIMULATOR_TESTS "grader/simulator/tests"
#endif

namespace simulator::tests {

inline std::string kernels_ptx()
{
    std::string path = SIMULATOR_TESTS "/kernels.ptx";
    std::ifstream in(path);
    if (!in)
        throw std::runtime_error("cannot read " + path + ": define SIMULATOR_TESTS as its folder");
    return {std::istreambuf_iterator<char>(in), {}};
}

// A device buffer with the elements of a vector, or uninitialised.
template <class T> class buffer {
public:
    explicit buffer(const std::vector<T> &values) : buffer(values.size())
    {
        auto &m = memory::instance();
        std::memcpy(m.at(at), values.data(), bytes());
        m.mark(at, bytes(), initialised, 0);
    }
    explicit buffer(std::size_t n) : count(n)
    {
        at = memory::instance().allocate(n * sizeof(T), memory_kind::device, 0).value();
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() { memory::instance().release(at); }

    std::size_t bytes() const { return count * sizeof(T); }
    std::vector<T> values() const
    {
        std::vector<T> v(count);
        std::memcpy(v.data(), memory::instance().at(at), bytes());
        return v;
    }

    address at = 0;
    std::size_t count;
};

template <class T> const buffer<T> &argument(const buffer<T> &b) { return b; }

// Lays out arguments as the kernel's parameters require.
class arguments {
public:
    template <class... T> explicit arguments(const kernel_info &k, const T &...values)
        : bytes_(k.parameter_bytes)
    {
        std::size_t index = 0;
        (put(k, index++, values), ...);
    }
    std::span<const std::byte> span() const { return bytes_; }

private:
    template <class T> void put(const kernel_info &k, std::size_t index, const buffer<T> &b)
    {
        put(k, index, b.at);
    }
    template <class T> void put(const kernel_info &k, std::size_t index, const T &v)
    {
        if (index >= k.parameters.size() || k.parameters[index].bytes != sizeof(T))
            throw std::logic_error("argument " + std::to_string(index) + " of " + k.name +
                                   " has another size");
        std::memcpy(bytes_.data() + k.parameters[index].offset, &v, sizeof(T));
    }
    std::vector<std::byte> bytes_;
};

// Afterwards only findings and counters of this launch remain.
template <class... T> outcome run(module &m, const char *kernel, dim grid, dim block,
                                  std::uint32_t shared, const T &...values)
{
    findings::instance().clear();
    counters::instance().clear();
    const kernel_info *k = m.find_kernel(kernel);
    if (k == nullptr) throw std::logic_error(std::string("no kernel ") + kernel);
    arguments a(*k, values...);
    launch how;
    how.grid = grid;
    how.block = block;
    how.dynamic_shared = shared;
    how.parameters = a.span();
    return m.run(*k, how);
}

inline module &kernels()
{
    static module m(kernels_ptx(), 0);
    return m;
}

} // namespace simulator::tests
