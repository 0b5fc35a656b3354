// Large arrays of a grader.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <new>

namespace {

constexpr std::size_t many = std::size_t{64} << 20;

std::unique_ptr<volatile char[]> array_of(std::size_t bytes)
{
    return std::unique_ptr<volatile char[]>(static_cast<volatile char *>(operator new[](bytes)));
}

} // namespace

TEST_CASE("an array has the pages of the last one of its size that was freed, and no other")
{
    auto first = array_of(many);
    const volatile char *at = first.get();
    first[many / 2] = 42;
    first.reset();
    auto second = array_of(many);
    CHECK(bool(second.get() == at));
    CHECK(second[many / 2] == 42);
    CHECK(bool(array_of(many).get() != at));
    second.reset();
    auto smaller = array_of(many / 2);
    smaller[0] = 1;
    second = array_of(many);
    CHECK(second[many / 2] == 0); // the pages were given back
}
