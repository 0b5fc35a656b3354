// Serialises the arguments of a call by their types, for both ends.
//
// Values, handles and addresses (void *) are sent unchanged. The target of a pointer to a complete
// type is sent with the call, and sent back unless it is const; `const char *` is a string.
#pragma once

#include "wire.hpp"

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>

// Declared here because their header, cuda_profiler_api.h, is a package of its own in CUDA's
// wheels.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

namespace simulator::remote {

// Argument `array` points to as many elements as argument `count` gives or points to; elements of
// void are bytes.
template <std::size_t array, std::size_t count> struct elements {
    static constexpr std::size_t array_index = array, count_index = count;
};

template <typename T, typename = void> constexpr bool is_complete = false;
template <typename T> constexpr bool is_complete<T, std::void_t<decltype(sizeof(T))>> = true;

template <typename T> struct pointed {
    using type = std::remove_pointer_t<T>;
    static constexpr bool is_pointer = std::is_pointer_v<T>;
    static constexpr bool is_address =
        is_pointer && (std::is_void_v<type> || std::is_function_v<type> || !is_complete<type>);
    static constexpr bool is_text = std::is_same_v<T, const char *>;
    static constexpr bool is_object = is_pointer && !is_address && !is_text;
    static constexpr bool is_result = is_object && !std::is_const_v<type>;
};

template <typename T> using element_of =
    std::conditional_t<std::is_void_v<std::remove_pointer_t<T>>, std::byte,
                       std::remove_cv_t<std::remove_pointer_t<T>>>;

// The annotation of argument I, or void.
template <std::size_t I, typename... sized> struct annotation {
    using type = void;
};
template <std::size_t I, typename first, typename... rest> struct annotation<I, first, rest...> {
    using type =
        std::conditional_t<first::array_index == I, first, typename annotation<I, rest...>::type>;
};

template <typename T> std::uint64_t element_count(const T &count)
{
    if constexpr (std::is_pointer_v<T>)
        return count ? element_count(*count) : 0;
    else
        return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

// Calls f with each index of N arguments, as a constant.
template <std::size_t N, typename F> void each_index(F f)
{
    [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        (f(std::integral_constant<std::size_t, I>()), ...);
    }
    (std::make_index_sequence<N>());
}

// The host's end: writes arguments to a message, and results to their targets.
template <typename... sized, typename... A>
void put_arguments(writer &to, const std::tuple<A...> &all)
{
    each_index<sizeof...(A)>([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        using T = std::tuple_element_t<I, std::tuple<A...>>;
        using sizing = typename annotation<I, sized...>::type;
        const T &a = std::get<I>(all);
        if constexpr (!std::is_void_v<sizing>) {
            const std::uint64_t n = element_count(std::get<sizing::count_index>(all));
            to.put(a != nullptr);
            to.put(n);
            if (a) to.put(a, n * sizeof(element_of<T>));
        } else if constexpr (pointed<T>::is_text) {
            const std::uint64_t n = a ? std::strlen(a) : 0;
            to.put(a != nullptr);
            to.put(n);
            to.put(a, n);
        } else if constexpr (pointed<T>::is_object) {
            to.put(a != nullptr);
            if (a) to.put(static_cast<const void *>(a), sizeof *a);
        } else {
            to.put(a);
        }
    });
}

template <typename... sized, typename... A>
void take_results(reader &from, const std::tuple<A...> &all)
{
    each_index<sizeof...(A)>([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        using T = std::tuple_element_t<I, std::tuple<A...>>;
        using sizing = typename annotation<I, sized...>::type;
        const T &a = std::get<I>(all);
        constexpr bool back = !std::is_void_v<sizing> ? !std::is_const_v<std::remove_pointer_t<T>>
                                                      : pointed<T>::is_result;
        if constexpr (back) {
            if (!a) return;
            // Use the number of elements that was sent, because the call may change the count
            // argument.
            const auto bytes = from.take(from.take<std::uint64_t>());
            std::memcpy(static_cast<void *>(a), bytes.data(), bytes.size());
        }
    });
}

// The device's end: holds one argument during the call.
template <typename T, typename sizing> class received {
public:
    explicit received(reader &from)
    {
        if constexpr (!std::is_void_v<sizing>) {
            present_ = from.take<bool>();
            count_ = from.take<std::uint64_t>();
            if (!present_) return;
            if (count_ > from.left() / sizeof(element_of<T>))
                throw wire_error("a list is longer than its message");
            const auto bytes = from.take(count_ * sizeof(element_of<T>));
            list_.resize(count_ + 1); // one more, so that an empty list has a non-null pointer
            if (!bytes.empty())
                std::memcpy(static_cast<void *>(list_.data()), bytes.data(), bytes.size());
        } else if constexpr (pointed<T>::is_text) {
            present_ = from.take<bool>();
            const auto bytes = from.take(from.take<std::uint64_t>());
            text_.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        } else if constexpr (pointed<T>::is_object) {
            if (from.take<bool>()) object_ = from.take<object>();
        } else {
            value_ = from.take<T>();
        }
    }
    T value()
    {
        if constexpr (!std::is_void_v<sizing>)
            return present_ ? reinterpret_cast<T>(list_.data()) : nullptr;
        else if constexpr (pointed<T>::is_text)
            return present_ ? text_.c_str() : nullptr;
        else if constexpr (pointed<T>::is_object)
            return object_ ? &*object_ : nullptr;
        else
            return value_;
    }
    // Throws wire_error unless the number of elements matches the count argument.
    template <typename C> void check_count(const C &count) const
    {
        if constexpr (!std::is_void_v<sizing>)
            if (present_ && count_ != element_count(count))
                throw wire_error("a list has another length");
    }
    void put_back(writer &to) const
    {
        if constexpr (!std::is_void_v<sizing>) {
            if constexpr (!std::is_const_v<std::remove_pointer_t<T>>)
                if (present_) put(to, list_.data(), count_ * sizeof(element_of<T>));
        } else if constexpr (pointed<T>::is_result) {
            if (object_) put(to, &*object_, sizeof *object_);
        }
    }

private:
    static void put(writer &to, const void *from, std::uint64_t bytes)
    {
        to.put(bytes);
        to.put(from, bytes);
    }
    struct nothing {};
    static constexpr bool is_object = std::is_void_v<sizing> && pointed<T>::is_object;
    using object = std::conditional_t<is_object, element_of<T>, nothing>;
    bool present_ = false;
    std::uint64_t count_ = 0;
    std::vector<std::conditional_t<std::is_void_v<sizing>, nothing, element_of<T>>> list_;
    std::string text_;
    std::optional<object> object_;
    std::conditional_t<std::is_void_v<sizing> && !is_object, T, nothing> value_{};
};

// Makes the call that a message describes.
template <auto function, typename... sized> struct served {
    template <typename R, typename... A> static void make(R (*)(A...), reader &from, writer &to)
    {
        [&]<std::size_t... I>(std::index_sequence<I...>)
        {
            // Braces guarantee left-to-right evaluation.
            std::tuple<received<A, typename annotation<I, sized...>::type>...> all{
                received<A, typename annotation<I, sized...>::type>(from)...};
            const std::tuple<A...> values{std::get<I>(all).value()...};
            [[maybe_unused]] auto check = [&](auto s) {
                std::get<s.array_index>(all).check_count(std::get<s.count_index>(values));
            };
            (check(sized()), ...);
            to.put(std::apply(function, values));
            (std::get<I>(all).put_back(to), ...);
        }
        (std::index_sequence_for<A...>());
    }
    static void call(reader &from, writer &to) { make(function, from, to); }
};

} // namespace simulator::remote
