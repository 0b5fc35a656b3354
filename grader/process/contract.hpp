// The table of a lab's contract functions, generated from lab.hpp for the parent and for the
// worker.
//
// The parent's table has no addresses. The worker's has `local<f>::run`, which calls f in this
// process: with the values that `arguments` point to, as for cudaLaunchKernel, except that an
// argument of pointer type is the pointer itself.
#pragma once

#include "protocol.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace grading {

// One row of the table.
struct entry {
    const char *name;
    const char *parameters; // "in,out,rows,cols,factor"
    void (*run)(void *const *arguments, void *result);
    std::uint32_t result_bytes;
};

template <auto F> struct local;
template <class R, class... P, R (*F)(P...)> struct local<F> {
    static constexpr std::uint32_t result_bytes = [] {
        if constexpr (std::is_void_v<R>)
            return 0u;
        else
            return static_cast<std::uint32_t>(sizeof(R));
    }();
    static_assert(result_bytes <= sizeof(reply::result));

    static void run(void *const *arguments, void *result)
    {
        [&]<std::size_t... I>(std::index_sequence<I...>)
        {
            if constexpr (std::is_void_v<R>)
                F(get<P>(arguments[I])...);
            else {
                R r = F(get<P>(arguments[I])...);
                std::memcpy(result, &r, sizeof r);
            }
        }
        (std::index_sequence_for<P...>{});
    }

private:
    template <class Q> static Q get(void *p)
    {
        if constexpr (std::is_pointer_v<Q>)
            return Q(p);
        else {
            Q q;
            std::memcpy(&q, p, sizeof q);
            return q;
        }
    }
};

} // namespace grading
