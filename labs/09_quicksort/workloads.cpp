// Makes the inputs and workloads of lab 09.
#include "workloads.hpp"

#include "lab.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

using namespace grading;

// Makes each key larger than the one before, the first than `key`, by random steps; less than 2^31
// in all.
static void rise(std::span<unsigned> data, unsigned key, std::mt19937_64 &random)
{
    std::vector<unsigned char> steps(data.size());
    fill_random(steps, random);
    const std::uint64_t most = (1u << 31) / (data.size() + 1);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = key += 1 + static_cast<unsigned>((most - 1) * steps[i] / 255);
}

// More random keys than this are drawn on all cores.
constexpr std::size_t many_for_one_core = 1 << 22;

keys ordered(order o, std::size_t n, std::mt19937_64 &random)
{
    keys data(n);
    unsigned some[5];
    for (unsigned &key : some) key = static_cast<unsigned>(random());
    std::span<unsigned> all(data), up = all.first(o == order::organ_pipe ? n / 2 : n),
                                   down = all.subspan(up.size());
    switch (o) {
    case order::random:
        if (n > many_for_one_core)
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
        else
            for (unsigned &key : data) key = static_cast<unsigned>(random());
        break;
    case order::equal:
        std::fill(data.begin(), data.end(), some[0]);
        break;
    case order::few:
        if (n > many_for_one_core) {
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
            for_all(n, [&](std::size_t i) {
                data[i] = some[data[i] % 5];
                return true;
            });
        } else
            for (unsigned &key : data) key = some[random() % 5];
        break;
    case order::sorted:
    case order::reversed:
    case order::organ_pipe:
        // Where they fall again they end below the first, so that no key is in its place already.
        rise(down, some[0] / 4, random);
        rise(up, down.empty() ? some[0] / 4 : down[0], random);
        std::reverse(all.begin() + std::ptrdiff_t(o == order::reversed ? 0 : up.size()), all.end());
    }
    return data;
}

void call_sort(sort_function f, output<unsigned> &data, int at)
{
    const int n = int(data.size());
    if (f == sort_function::recursive)
        CALL(quicksort_recursive, misaligned(data, at), n, scratch);
    else
        CALL(quicksort, misaligned(data, at), n, scratch);
}

namespace {

class sorting : public workload {
public:
    sorting(std::mt19937_64 &random, sort_function f, order o, int n)
        : f_(f), order_(o), in_(ordered(o, std::size_t(n), random)), data_(0)
    {
        data_ = changed_in_place(in_);
    }
    const char *function() const override
    {
        return f_ == sort_function::recursive ? "quicksort_recursive" : "quicksort";
    }
    std::vector<argument> arguments() override
    {
        return remote<decltype(quicksort)>::arguments(data_, int(in_.size()), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (order_ == order::organ_pipe) {
            move_both_halves(random);
        } else { // as random, and as few, as they were
            auto bits = static_cast<unsigned>(random());
            for_all(in_.size(), [&](std::size_t i) {
                in_[i] ^= bits;
                return true;
            });
        }
        data_.values = in_;
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        const keys &out = data_.values;
        bool in_order =
            for_all(out.size(), [&](std::size_t i) { return i == 0 || out[i - 1] <= out[i]; });
        if (!in_order ||
            !same_in_any_order(std::as_bytes(std::span(in_)), std::as_bytes(std::span(out))))
            expect_sorted(data_, in_);
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    // By different distances, so that other keys of the two come to lie beside each other. The last
    // key stays below the first, and the largest below 2^32.
    void move_both_halves(std::mt19937_64 &random)
    {
        const auto low = static_cast<unsigned>(random() % (1u << 29));
        const auto first = low + 1 + static_cast<unsigned>(random() % (1u << 29));
        const std::size_t half = in_.size() / 2;
        const unsigned rising = first - in_.front(), falling = low - in_.back();
        for_all(in_.size(), [&](std::size_t i) {
            in_[i] += i < half ? rising : falling;
            return true;
        });
    }

    sort_function f_;
    order order_;
    keys in_;
    output<unsigned> data_;
};

} // namespace

make_workload sort_keys(sort_function f, order o, int n)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<sorting>(random, f, o, n); };
}
