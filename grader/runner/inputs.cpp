// Random inputs, the same for a case alone as in a full run, and pictures.
#include "api/inputs.hpp"
#include "api/compare.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "run_options.hpp"
#include "text/splitmix64.hpp"
#include "text/unwritable.hpp"
#include "text/verdict.hpp"
#include "whole_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace grading {

namespace {

// Calls use(i, z) for every `each`-th i < n with 64 random bits, on all cores. The bits depend on
// the draw's number alone, so they are the same for any number of cores.
template <class F> void draw_words(std::size_t n, std::size_t each, std::mt19937_64 &random, F use)
{
    const std::uint64_t seed = random();
    in_ranges((n + each - 1) / each, [&](std::size_t first, std::size_t last) {
        std::uint64_t state = splitmix64_state(seed, first);
        for (std::size_t k = first; k < last; ++k) use(k * each, splitmix64(state));
        return true;
    });
}

} // namespace

std::mt19937_64 &random_source()
{
    // Called for each number: the case's seed, which takes a hash of its name, is asked for once.
    static std::optional<std::pair<unsigned, std::uint64_t>> begun; // the case, and the run's seed
    static std::mt19937_64 random;
    const std::pair now(cases_begun(), options().seed);
    if (begun != now) random.seed(case_seed());
    begun = now;
    return random;
}

std::vector<float> random_floats(std::size_t n, float low, float high)
{
    std::vector<float> values(n);
    auto &random = random_source();
    // 24 random bits, as many as a float's significand holds. In [-1, 1) every value is exact; in
    // other ranges rounding may yield `high`.
    for (float &v : values)
        v = low + (high - low) * (static_cast<float>(random() >> 40) * (1.0f / 16777216.0f));
    return values;
}

void fill_random(std::span<float> values, std::mt19937_64 &random)
{
    auto unit = [](std::uint32_t bits) { // of the upper 24 bits, as a signed fraction
        return static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * 0x1p-23f;
    };
    const std::size_t n = values.size();
    draw_words(n, 2, random, [&](std::size_t i, std::uint64_t z) { // one draw for two values
        values[i] = unit(static_cast<std::uint32_t>(z));
        if (i + 1 < n) values[i + 1] = unit(static_cast<std::uint32_t>(z >> 32));
    });
}

void fill_random(std::span<unsigned char> values, std::mt19937_64 &random)
{
    const std::size_t n = values.size();
    draw_words(n, 8, random, [&](std::size_t i, std::uint64_t z) {
        std::memcpy(values.data() + i, &z, std::min<std::size_t>(8, n - i));
    });
}

std::vector<int> random_ints(std::size_t n, int low, int high)
{
    std::vector<int> values(n);
    std::uniform_int_distribution<int> draw(low, high);
    for (int &v : values) v = draw(random_source());
    return values;
}

int random_between(int low, int high)
{
    return std::uniform_int_distribution<int>(low, high)(random_source());
}

std::vector<unsigned char> random_bytes(std::size_t n)
{
    std::vector<unsigned char> values(n);
    fill_random(values, random_source());
    return values;
}

std::vector<float> whole_numbers(std::size_t n, int max)
{
    const std::vector<int> drawn = random_ints(n, -max, max);
    return {drawn.begin(), drawn.end()};
}

picture read_picture(const std::string &name)
{
    std::string path = std::string(WORKBOOK_DATA) + "/" + name, kind;
    std::ifstream file(path, std::ios::binary);
    picture p;
    int max_value = 0;
    file >> kind >> p.width >> p.height >> max_value;
    file.get(); // one byte of space ends the header
    p.pixels.assign(std::istreambuf_iterator<char>(file), {});
    bool whole = kind == "P5" && max_value == 255 && p.width > 0 && p.height > 0 &&
                 p.pixels.size() == static_cast<std::size_t>(p.width) * p.height;
    if (!whole)
        end_case(verdict::INFRA_ERROR,
                 path + " is missing, or is no binary PGM of 8 bits a pixel without comments.",
                 "Restore it: git checkout -- data");
    return p;
}

void keep_picture(const std::string &name, int width, int height, std::span<const float> values)
{
    if (options().picture_folder.empty()) return;
    std::string pixels, path = options().picture_folder + "/" + name + ".pgm";
    for (float v : values)
        pixels +=
            static_cast<char>(std::lround(255 * (std::isnan(v) ? 1 : std::clamp(v, 0.0f, 1.0f))));
    int problem = write_whole(path, [&](std::ostream &file) {
        file << "P5\n" << width << " " << height << "\n255\n" << pixels;
    });
    if (problem != 0)
        end_case(verdict::INFRA_ERROR, "The grader " + cannot_write(path, problem) + ".");
}

} // namespace grading
