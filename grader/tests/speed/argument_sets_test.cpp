// Tests which arguments of a benchmark make its times depend on the host's memory.
#include "speed/argument_sets.hpp"

#include <doctest/doctest.h>

using namespace grading;

namespace {

constexpr std::size_t large = (1 << 20) + 1, small = 1 << 20; // bytes

using copy_function = void(const char *in, char *out, int n);

// A call with one input and one output.
class copying : public workload {
public:
    copying(std::size_t bytes_in, argument_memory in, std::size_t bytes_out, argument_memory out)
        : in_(bytes_in), out_(bytes_out), where_in_(in), where_out_(out)
    {
    }
    // The name of no contract's function.
    const char *function() const override { return "yardstick_copy"; }
    std::vector<argument> arguments() override
    {
        return remote<copy_function>::arguments(placed<std::vector<char>>{in_, where_in_},
                                                placed<output<char>>{out_, where_out_}, 1);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &) override { return {}; }
    void check() override {}

private:
    std::vector<char> in_;
    output<char> out_;
    argument_memory where_in_, where_out_;
};

bool uses_host_memory(std::size_t bytes_in, argument_memory in, std::size_t bytes_out,
                      argument_memory out)
{
    shared_memory images(16 << 20, false);
    return benchmark_set(std::make_unique<copying>(bytes_in, in, bytes_out, out), images, 0, 0)
        .uses_host_memory();
}

} // namespace

TEST_CASE("a call uses the host's memory where a large input or output is not on one device")
{
    using enum argument_memory;
    for (argument_memory where : {host, pinned, mapped, managed, acquired, per_device}) {
        CAPTURE(static_cast<int>(where));
        CHECK(uses_host_memory(large, where, small, device));
        CHECK(uses_host_memory(small, device, large, where));
        CHECK_FALSE(uses_host_memory(small, where, small, where)); // a filter, say
        CHECK_FALSE(uses_host_memory(small, where, large, device));
    }
    CHECK_FALSE(uses_host_memory(large, device, large, device));
}
