// The typed arguments of a call.
//
// The grader does not link contract functions; it knows their types. `remote<F>::arguments(a...)`
// describes each argument of a call of type F for the worker. It does not compile if an element
// type or the number of arguments differs from the contract.
#pragma once

#include "argument.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace grading {

// Returns 64 bits that no submission can predict: for poison, guards, nonces, and the choice of
// elements to check.
std::uint64_t unforeseen();

// Shows an element in messages: numbers as numbers, anything else as its bytes.
template <class T> std::string show_element(const T &value)
{
    if constexpr (std::is_integral_v<T>) return std::to_string(value);
    char text[48];
    if constexpr (std::is_floating_point_v<T>) {
        std::snprintf(text, sizeof text, "%.9g", double(value));
        return text;
    }
    std::string bytes = "bytes";
    for (std::size_t i = 0; i < sizeof value && i < 8; ++i) {
        std::snprintf(text, sizeof text, " %02x",
                      reinterpret_cast<const unsigned char *>(&value)[i]);
        bytes += text;
    }
    return bytes;
}

// An array that the student must write. It holds poison until the call. The contract asks for
// elements `first` to `first + count - 1` (by default all); the others must keep their poison.
template <class T> struct output {
    std::vector<T> values;
    std::vector<T> again; // result of a second, equal call, if it differs
    std::size_t first = 0, count;
    bool in_place = false; // the call gets `values`, not poison
    std::size_t row = 0;   // elements per row of a matrix, so that messages name rows; 0: no matrix
    explicit output(std::size_t n) : values(n), count(n) {}
    output(std::size_t n, std::size_t first, std::size_t count)
        : values(n), first(first), count(count)
    {
    }
    std::size_t size() const { return values.size(); }
    const T &operator[](std::size_t i) const { return values[i]; }
};

// An array that the student must change: `before` goes in, all of it is judged.
template <class T> output<T> changed_in_place(std::vector<T> before)
{
    output<T> o(0); // it must not make, and clear, an array of its own first
    o.count = before.size();
    o.values = std::move(before);
    o.in_place = true;
    return o;
}

// An argument with properties that a signature cannot express: an output, or a vector or span.
template <class A> struct placed {
    A &array;
    argument_memory where = argument_memory::device;
    int misalign = 0; // elements past a 256-byte boundary, to which cudaMalloc aligns
    int parts = 1;    // buffers, one per device
};
template <class A> placed<A> host(A &a) { return {a, argument_memory::host}; }
template <class A> placed<A> pinned(A &a) { return {a, argument_memory::pinned}; }
template <class A> placed<A> mapped(A &a) { return {a, argument_memory::mapped}; }
template <class A> placed<A> managed(A &a) { return {a, argument_memory::managed}; }
template <class A> placed<A> acquired(A &a) { return {a, argument_memory::acquired}; }
template <class A> placed<A> misaligned(A &a, int elements)
{
    return {a, argument_memory::device, elements};
}
// One buffer for each of n devices. An output must be changed_in_place: these hold no poison.
template <class A> placed<A> per_device(A &a, int n)
{
    return {a, argument_memory::per_device, 0, n};
}

// An input of `count` elements, in one buffer, that repeats a piece. The piece alone lies in the
// grader's memory, and only there it is seen if a call writes to it. Not for timed cases.
template <class T> struct repeated {
    const std::vector<T> &piece;
    std::size_t count;
};

// The argument for `void *scratch` of a contract function NAME: device memory at a 256-byte
// boundary, poisoned before every call. The worker calls NAME_scratch with the arguments of the
// same names and allocates as many bytes as it returns.
struct scratch_memory {};
inline constexpr scratch_memory scratch;

template <class> struct remote;
template <class R, class... P> struct remote<R(P...)> {
    using result = R;
    template <class... A> static std::vector<argument> arguments(A &&...a)
    {
        static_assert(sizeof...(A) == sizeof...(P),
                      "one argument for each parameter of the contract");
        static_assert(sizeof...(P) <= max_arguments);
        return {one<P>(a)...};
    }

private:
    template <class Q, class A> static argument one(A &a)
    {
        if constexpr (std::is_same_v<Q, void *>) {
            static_assert(std::is_same_v<std::remove_cv_t<A>, scratch_memory>,
                          "the argument for `void *` is grading::scratch");
            argument r;
            r.wire.scratch = r.wire.output = 1;
            return r;
        } else if constexpr (std::is_pointer_v<Q>)
            return pointer<std::remove_pointer_t<Q>>(a);
        else {
            static_assert(std::is_trivially_copyable_v<Q>);
            static_assert(std::is_convertible_v<A, Q>, "the contract's parameter has another type");
            static_assert(sizeof(Q) <= sizeof(argument::value));
            Q q = static_cast<Q>(a);
            argument r;
            std::memcpy(r.value, &q, sizeof q);
            r.wire.where = argument_memory::value;
            r.wire.read_only = 1;
            r.wire.element = sizeof(Q);
            r.wire.bytes = sizeof(Q);
            if constexpr (std::is_arithmetic_v<Q>)
                r.show = [](const void *value) {
                    Q v;
                    std::memcpy(&v, value, sizeof v);
                    return show_element(v);
                };
            return r;
        }
    }
    template <class E, class A> static argument pointer(A &a)
    {
        // T *const * is one buffer per device; T * is one buffer.
        using inner =
            std::conditional_t<std::is_pointer_v<E>, std::remove_pointer_t<std::remove_cv_t<E>>, E>;
        using T = std::remove_cv_t<inner>;
        static_assert(std::is_trivially_copyable_v<T>);
        static_assert(std::is_const_v<inner> || !(
                                                    requires { typename A::allocator_type; } ||
                                                    requires(A x) { x.piece; }),
                      "what a call may change is an output, or changed_in_place(values)");
        argument r;
        r.wire.read_only = std::is_const_v<inner>;
        r.wire.element = sizeof(T);
        r.show = [](const void *element) {
            T value;
            std::memcpy(&value, element, sizeof value);
            return show_element(value);
        };
        fill<T>(r, a);
        return r;
    }
    template <class T, class A> static void fill(argument &r, A &array)
    {
        const std::span values(array);
        using U = std::remove_cv_t<typename decltype(values)::element_type>;
        static_assert(std::is_same_v<T, U>, "element type of the contract");
        r.data = const_cast<U *>(values.data());
        r.wire.bytes = values.size_bytes();
    }
    template <class T, class U> static void fill(argument &r, output<U> &o)
    {
        fill<T>(r, o.values);
        r.wire.output = !o.in_place;
        r.written_first = o.first;
        r.written_count = o.count;
        r.row = o.row;
        r.second = &o.again;
        r.keep_second = [](void *vector, const void *bytes, std::size_t count) {
            auto *p = static_cast<const U *>(bytes);
            static_cast<std::vector<U> *>(vector)->assign(p, p + count);
        };
    }
    template <class T, class U> static void fill(argument &r, repeated<U> &a)
    {
        const std::span piece(a.piece.data(), std::min(a.piece.size(), a.count));
        fill<T>(r, piece);
        r.wire.repeated_to = a.count * sizeof(U);
    }
    template <class T, class A> static void fill(argument &r, placed<A> &p)
    {
        fill<T>(r, p.array);
        r.wire.where = p.where;
        r.wire.misalign = static_cast<std::uint16_t>(p.misalign);
        r.wire.parts = static_cast<std::uint8_t>(p.parts);
    }
};

// Implementation of `call`. `result` receives the function's return value.
void make_call(const char *function, std::vector<argument> arguments, void *result,
               std::size_t result_bytes);

// Makes a call in the student's worker, with arguments typed by the contract. Ends the case on a
// failure. Returns the function's result, if it has one.
template <class F, class... A> auto call(const char *function, A &&...a) ->
    typename remote<F>::result
{
    using R = typename remote<F>::result;
    if constexpr (std::is_void_v<R>)
        make_call(function, remote<F>::arguments(a...), nullptr, 0);
    else {
        R r{};
        make_call(function, remote<F>::arguments(a...), &r, sizeof r);
        return r;
    }
}
#define CALL(function, ...) grading::call<decltype(function)>(#function __VA_OPT__(, ) __VA_ARGS__)

} // namespace grading
