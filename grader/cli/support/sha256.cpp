// Computes SHA-256 as FIPS 180-4 defines it.
#include "sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace cli {

namespace {

using std::rotr;
using word = std::uint32_t;

// The standard's constants: the first 32 bits behind the point of the square roots (of the first 8
// primes) and of the cube roots (of the first 64), which a double holds.
struct constants {
    std::array<word, 8> start;
    std::array<word, 64> rounds;

    constants()
    {
        auto behind_point = [](double root) {
            return static_cast<word>(std::ldexp(root - std::floor(root), 32));
        };
        std::size_t count = 0;
        for (int n = 2; count < rounds.size(); ++n) {
            bool prime = true;
            for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
            if (!prime) continue;
            if (count < start.size()) start[count] = behind_point(std::sqrt(n));
            rounds[count++] = behind_point(std::cbrt(n));
        }
    }
};

void add_block(std::array<word, 8> &sum, std::string_view block, const std::array<word, 64> &k)
{
    std::array<word, 64> w;
    for (std::size_t i = 0; i < 64; ++i) {
        if (i < 16) {
            w[i] = 0;
            for (std::size_t b = 0; b < 4; ++b)
                w[i] = w[i] << 8 | static_cast<unsigned char>(block[4 * i + b]);
            continue;
        }
        const word x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[i - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = sum;
    for (std::size_t i = 0; i < 64; ++i) {
        const word chosen = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
        const word first = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + chosen + k[i] + w[i];
        const word second = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + majority;
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<word, 8> more = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) sum[i] += more[i];
}

} // namespace

std::string sha256(std::string_view bytes)
{
    static const constants the;
    // The message ends with a 1 bit, zeros up to a whole block, and its length in bits.
    std::string message(bytes);
    message += '\x80';
    message.resize((message.size() + 8 + 63) / 64 * 64 - 8);
    for (int shift = 56; shift >= 0; shift -= 8)
        message += static_cast<char>(std::uint64_t{bytes.size()} * 8 >> shift);
    std::array<word, 8> sum = the.start;
    for (std::size_t at = 0; at < message.size(); at += 64)
        add_block(sum, std::string_view(message).substr(at, 64), the.rounds);
    std::string digits;
    for (word part : sum) digits += fmt::format("{:08x}", part);
    return digits;
}

} // namespace cli
