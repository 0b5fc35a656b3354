// Grades the lab of scratch memory.
#include "grader/grading.hpp"
#include "lab.hpp"

#include <algorithm>
#include <memory>

using namespace grading;
using ints = std::vector<int>;

static ints reversed(const ints &x)
{
    ints y(x.rbegin(), x.rend());
    for (int &v : y) ++v;
    return y;
}

CORRECTNESS_CASE("reverse: as much scratch as it asks for", 1)
{
    for (int n : {1000, 1, 0, 3000}) {
        ints x = random_ints(n, -1000, 1000);
        output<int> y(n);
        CALL(reverse, x, y, n, scratch);
        expect_equal(y, reversed(x));
    }
}

CORRECTNESS_CASE("reverse_scratch: called by itself", 1)
{
    expect(CALL(reverse_scratch, 10) >= 40, verdict::WRONG_ANSWER,
           "Ten elements need a place each.");
}

namespace {

class reversing : public workload {
public:
    explicit reversing(std::mt19937_64 &random) : x_(simulated() ? 5000 : 1 << 24), y_(x_.size())
    {
        for (int &v : x_) v = static_cast<int>(random() % 1000);
    }
    const char *function() const override { return "reverse"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(reverse)>::arguments(x_, y_, static_cast<int>(x_.size()), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        x_[random() % x_.size()] ^= 1;
        return {std::as_writable_bytes(std::span(x_))};
    }
    void check() override { expect_equal(y_, reversed(x_)); }

private:
    ints x_;
    output<int> y_;
};

} // namespace

SPEED_CASE("reverse: each contestant has scratch of its own size", 1, 1)
{
    speed_gates gates;
    gates.speedup = 0.1; // the time does not matter
    race([](std::mt19937_64 &random) { return std::make_unique<reversing>(random); }, gates);
}
