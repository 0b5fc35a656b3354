// Tests inputs: random bytes from their generator alone, and the pictures of data/.
#include "grading.hpp"
#include "runner/case_run.hpp"
#include "runner/run_options.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <utility>
#include <vector>

using namespace grading;

TEST_CASE("random bytes: every value, the same for the same generator, any length")
{
    for (std::size_t n : {0, 1, 7, 8, 9, 20001}) {
        std::mt19937_64 random(5), same(5);
        std::vector<unsigned char> bytes(n + 1, 77), again(n);
        fill_random(std::span(bytes).first(n), random);
        fill_random(again, same);
        CHECK(bytes[n] == 77);
        CHECK(std::equal(again.begin(), again.end(), bytes.begin()));
    }
    std::mt19937_64 random(6);
    std::vector<unsigned char> bytes(20001);
    fill_random(bytes, random);
    for (int v = 0; v < 256; ++v) CHECK(std::count(bytes.begin(), bytes.end(), v) > 30);
}

TEST_CASE("whole numbers reach both ends and nothing between or beyond them")
{
    const std::vector<float> values = whole_numbers(2000, 9);
    CHECK(values.size() == 2000);
    for (float v : values) CHECK(v == std::trunc(v));
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    CHECK(*least == -9);
    CHECK(*most == 9);
    CHECK(random_bytes(77).size() == 77);
}

TEST_CASE("the same elements in any order: each as often, whatever the order")
{
    std::vector<unsigned> a(3 << 20), b;
    std::mt19937_64 random(7);
    for (unsigned &element : a) element = static_cast<unsigned>(random() % 1000);
    b = a;
    std::shuffle(b.begin(), b.end(), random);
    auto same = [&] {
        return same_in_any_order(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
    };
    CHECK(same());
    ++b[5], --b[6]; // keeps their sum
    CHECK_FALSE(same());
    b = a;
    b.back() = a.front() + 1000;
    CHECK_FALSE(same());
    b = a;
    b.pop_back();
    CHECK_FALSE(same());
}

TEST_CASE("a picture has as many pixels as it says")
{
    picture p = read_picture("harbour.pgm");
    CHECK(p.width == 509);
    CHECK(p.height == 383);
    CHECK(p.pixels.size() == 509 * 383);
    CHECK(*std::max_element(p.pixels.begin(), p.pixels.end()) > 200);
    CHECK(std::count_if(p.pixels.begin(), p.pixels.end(), [](int v) { return v < 32; }) > 150000);
}

TEST_CASE("a picture is kept where a folder was named, from black to white")
{
    std::string folder = (std::filesystem::temp_directory_path() / "picturesXXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    keep_picture("nowhere", 1, 1, std::vector<float>{1});
    options().picture_folder = folder;
    keep_picture("some", 3, 2, std::vector<float>{0, 0.2f, 1, -7, 7, std::nanf("")});
    options().picture_folder.clear();
    std::ifstream file(folder + "/some.pgm", std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    CHECK(text == std::string("P5\n3 2\n255\n\0\x33\xff\0\xff\xff", 17));
    CHECK(std::filesystem::remove_all(folder) == 2);
}

TEST_CASE("random values do not depend on how many cores draw them")
{
    std::vector<float> many((6 << 20) + 1), few(many.size());
    std::vector<unsigned char> bytes((20 << 20) + 5), same(bytes.size());
    std::mt19937_64 one(5), other(5);
    fill_random(many, one);
    fill_random(bytes, one);
    const int before = std::exchange(options().side_by_side, 1 << 20); // a core each
    fill_random(few, other);
    fill_random(same, other);
    options().side_by_side = before;
    CHECK(many == few);
    CHECK(bytes == same);
    CHECK(one == other);
}
