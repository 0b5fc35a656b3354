// Seeded inputs, the same for a case alone as in a full run.
#include "grading.hpp"
#include "runner/case_run.hpp"
#include "runner/whole_file.hpp"
#include "text/unwritable.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

namespace grading {

namespace {
std::uint64_t splitmix64(std::uint64_t &state)
{
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
} // namespace

std::mt19937_64 &random_source()
{
    static std::uint64_t seed = 0;
    static std::mt19937_64 random(seed);
    if (seed != case_seed()) random.seed(seed = case_seed());
    return random;
}

std::vector<float> random_floats(std::size_t n, float low, float high)
{
    std::vector<float> values(n);
    auto &random = random_source();
    // Each draw gives 24 bits of mantissa: every value is exact and none equals `high`.
    for (float &v : values)
        v = low + (high - low) * (static_cast<float>(random() >> 40) * (1.0f / 16777216.0f));
    return values;
}

void fill_random(std::span<float> values, std::mt19937_64 &random)
{
    auto unit = [](std::uint32_t bits) { // the upper 24
        return static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * 0x1p-23f;
    };
    std::uint64_t state = random();
    std::size_t n = values.size();
    for (std::size_t i = 0; i < n; i += 2) { // one draw for two values
        std::uint64_t z = splitmix64(state);
        values[i] = unit(static_cast<std::uint32_t>(z));
        if (i + 1 < n) values[i + 1] = unit(static_cast<std::uint32_t>(z >> 32));
    }
}

void fill_random(std::span<unsigned char> values, std::mt19937_64 &random)
{
    std::uint64_t state = random();
    std::size_t n = values.size();
    for (std::size_t i = 0; i < n; i += 8) {
        std::uint64_t z = splitmix64(state);
        std::memcpy(values.data() + i, &z, std::min<std::size_t>(8, n - i));
    }
}

namespace {

// Adds the hashes of n elements of 4 bytes, so that their order does not matter.
std::uint64_t sum_of_hashes(const void *elements, std::size_t n, std::uint64_t salt)
{
    auto *from = static_cast<const std::byte *>(elements);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        std::memcpy(&bits, from + 4 * i, 4);
        std::uint64_t state = salt ^ bits;
        sum += splitmix64(state);
    }
    return sum;
}

template <class T>
bool each_run_sorted(const std::vector<T> &got, const std::vector<T> &given, int length)
{
    if (got.size() != given.size()) return false;
    const std::uint64_t salt = unforeseen();
    const std::size_t run = static_cast<std::size_t>(length), n = got.size();
    auto right = [&](std::size_t r) {
        std::size_t first = r * run, count = std::min(run, n - first);
        return std::is_sorted(&got[first], &got[first] + count) &&
               sum_of_hashes(&got[first], count, salt) == sum_of_hashes(&given[first], count, salt);
    };
    return for_all((n + run - 1) / run, right, std::max<std::size_t>(1, (1 << 20) / run));
}

} // namespace

bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b)
{
    if (a.size() != b.size()) return false;
    const std::uint64_t salt = unforeseen();
    std::atomic<std::uint64_t> balance = 0;
    in_ranges(a.size() / 4, [&](std::size_t first, std::size_t last) {
        balance += sum_of_hashes(&a[4 * first], last - first, salt) -
                   sum_of_hashes(&b[4 * first], last - first, salt);
        return true;
    });
    return balance == 0;
}

bool sorted_in_runs(const std::vector<float> &got, const std::vector<float> &given, int length)
{
    return each_run_sorted(got, given, length);
}
bool sorted_in_runs(const std::vector<unsigned> &got, const std::vector<unsigned> &given,
                    int length)
{
    return each_run_sorted(got, given, length);
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
