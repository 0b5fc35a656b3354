// Plants one wrong element in a workload's right outputs, again after each change of its inputs.
#pragma once

#include "grader/grading.hpp"
#include "runner/case_record.hpp"
#include "runner/run_options.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace grading {

// The sizes are those of the simulator, from before the first workload is named.
inline const bool small = options().simulated = true;

using arguments = std::vector<argument>;

// The elements of an argument, and the value of one that is passed by value.
template <class T> std::span<T> elements(const argument &a)
{
    return {static_cast<T *>(a.data), a.wire.bytes / sizeof(T)};
}
template <class T> std::vector<T> copied(const argument &a)
{
    const std::span<T> all = elements<T>(a);
    return {all.begin(), all.end()};
}
template <class T> T value_in(const argument &a)
{
    T value;
    std::memcpy(&value, a.value, sizeof value);
    return value;
}
template <class From, class To> void fill(std::span<To> to, const From &from)
{
    REQUIRE(from.size() <= to.size());
    std::transform(from.begin(), from.end(), to.begin(), [](auto x) { return To(x); });
}

// True if the workload accepts its outputs. A child process asks: doctest takes a case that ends
// for a failed test.
inline bool accepts(workload &work)
{
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (!std::freopen("/dev/null", "w", stdout)) _exit(2);
        try {
            work.check();
        } catch (...) { // doctest's own, which end_case() throws
            _exit(current_case().result == verdict::INFRA_ERROR || !current_case().ended ? 2 : 1);
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) <= 1);
    return WEXITSTATUS(status) == 0;
}

// Where an element is most likely missed: at the ends, in what has changed and around it.
inline std::vector<std::size_t> places(const std::vector<std::span<std::byte>> &changed,
                                       const arguments &all, std::size_t n, std::mt19937_64 &random)
{
    std::vector<std::size_t> at = {0, n - 1};
    for (std::span<std::byte> bytes : changed)
        for (const argument &a : all) {
            const auto *data = static_cast<std::byte *>(a.data);
            if (!data || bytes.data() < data || bytes.data() >= data + a.wire.bytes) continue;
            const std::size_t first = std::size_t(bytes.data() - data) / a.wire.element,
                              end = first + bytes.size() / a.wire.element;
            for (std::size_t i : {first - 1, first, (first + end) / 2, end - 1, end})
                if (i < n) at.push_back(i);
        }
    for (int k = 0; k < 6; ++k) at.push_back(random() % n);
    return at;
}

// `answer` gives all outputs their right values, and `spoil` makes element i of the output, which
// is argument `out`, wrong.
inline void
find_one_wrong_element(const make_workload &make, std::size_t out,
                       const std::function<void(const arguments &)> &answer,
                       const std::function<void(const argument &, std::size_t i)> &spoil)
{
    std::mt19937_64 random(7);
    const std::unique_ptr<workload> work = make(random);
    for (int round = 0; round < 4; ++round) {
        CAPTURE(round);
        const std::vector<std::span<std::byte>> changed = work->change(random);
        const arguments all = work->arguments();
        answer(all);
        CHECK(accepts(*work));
        const std::vector<std::byte> right = copied<std::byte>(all[out]);
        const std::size_t n = all[out].written_count;
        for (std::size_t i : places(changed, all, n, random)) {
            CAPTURE(i);
            spoil(all[out], i);
            CHECK_FALSE(accepts(*work));
            std::ranges::copy(right, elements<std::byte>(all[out]).begin());
        }
    }
}

// Changes the lowest bit of an integer, or of a float's significand.
inline void flip_bit(const argument &a, std::size_t i)
{
    elements<std::byte>(a)[i * a.wire.element] ^= std::byte{1};
}

} // namespace grading
