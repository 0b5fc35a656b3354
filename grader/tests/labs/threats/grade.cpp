// Grades the lab of threats: sizes, new values in the same memory, and one speed case.
#include "grader/grading.hpp"
#include "lab.hpp"

#include <memory>

using namespace grading;

static std::vector<float> doubled(const std::vector<float> &x)
{
    std::vector<float> y;
    for (float v : x) y.push_back(2 * v);
    return y;
}

static void check_twice(int n)
{
    auto x = random_floats(n);
    output<float> y(n);
    CALL(twice, x, y, n);
    expect_equal(y, doubled(x));
}

CORRECTNESS_CASE("twice: 1000 elements", 2) { check_twice(1000); }

CORRECTNESS_CASE("twice: other sizes", 1)
{
    for (int n : {0, 1, 31, 257, 4096}) check_twice(n);
}

CORRECTNESS_CASE("twice: again and again", 1)
{
    for (int call = 0; call < 4; ++call) check_twice(5000);
}

namespace {

class doubling : public workload {
public:
    explicit doubling(std::mt19937_64 &random) : x_(simulated() ? 1 << 15 : 1 << 24), y_(x_.size())
    {
        for (float &v : x_) v = static_cast<float>(random() % 4096) - 2048;
    }
    const char *function() const override { return "twice"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(twice)>::arguments(x_, y_, static_cast<int>(x_.size()));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        float &v = x_[random() % x_.size()];
        v = static_cast<float>(random() % 4096) - 2048;
        return {std::as_writable_bytes(std::span(&v, 1))};
    }
    void check() override { expect_equal(y_, doubled(x_)); }
    double bytes() const override { return 8.0 * static_cast<double>(x_.size()); }

private:
    std::vector<float> x_;
    output<float> y_;
};

} // namespace

SPEED_CASE("twice: coalesced", 4, 1)
{
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {used_by_loads(0.95)};
    gates.too_slow = "Neighbouring threads read addresses far apart.";
    race([](std::mt19937_64 &random) { return std::make_unique<doubling>(random); }, gates);
}
