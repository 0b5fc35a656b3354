// Seeded inputs of a case, and what it runs on.
#pragma once

#include "process/protocol.hpp"

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace grading {

bool simulated();             // true if the case runs on the simulator
const device_facts &device(); // of the case; asked for once, so memory_free is of then

// Inputs. The generator is seeded from the run's seed and the case's name, so a case that runs
// alone sees the same inputs as in a full run.
std::mt19937_64 &random_source();
std::vector<float> random_floats(std::size_t n, float low = -1, float high = 1);
// Fills with multiples of 2^-23 in [-1, 1); fast enough for a hundred million elements.
void fill_random(std::span<float> values, std::mt19937_64 &random);
void fill_random(std::span<unsigned char> values, std::mt19937_64 &random);
std::vector<int> random_ints(std::size_t n, int low, int high); // both ends included
int random_between(int low, int high);
std::vector<unsigned char> random_bytes(std::size_t n);
// Whole numbers from -max to max: sums of them that stay below 2^24 are exact in any order.
std::vector<float> whole_numbers(std::size_t n, int max);
// An image of data/, read by its file name: binary PGM, 8 bits per pixel, row-major.
struct picture {
    int width = 0, height = 0;
    std::vector<unsigned char> pixels;
};
picture read_picture(const std::string &name);
// Writes NAME.pgm to the folder of --pictures, if one was given: row-major, 0 is black and 1
// white. Values beyond are clamped; NaN is white.
void keep_picture(const std::string &name, int width, int height, std::span<const float> values);

} // namespace grading
