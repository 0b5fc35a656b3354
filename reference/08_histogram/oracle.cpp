// The right results of lab 08, one element after the other.
#include "oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace oracle {

std::vector<long long> sum(const std::vector<int> &in)
{
    return {std::accumulate(in.begin(), in.end(), 0LL)};
}

std::vector<unsigned> histogram(const std::vector<unsigned char> &in)
{
    std::vector<unsigned> bins(256);
    for (unsigned char v : in) ++bins[v];
    return bins;
}

std::vector<unsigned> histogram_tiles(const std::vector<unsigned char> &image, int width,
                                      int height, int tile)
{
    if (image.empty()) return {};
    std::size_t across = std::size_t((width - 1) / tile + 1), down = (height - 1) / tile + 1;
    std::vector<unsigned> bins(down * across * 256);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            ++bins[(y / tile * across + x / tile) * 256 + image[std::size_t(y) * width + x]];
    return bins;
}

std::vector<unsigned> histogram_range(const std::vector<float> &in, float low, float high,
                                      int bin_count)
{
    std::vector<float> bounds; // of each bin but the last, the upper one
    float width = (high - low) / static_cast<float>(bin_count);
    for (int b = 1; b < bin_count; ++b) bounds.push_back(low + static_cast<float>(b) * width);
    std::vector<unsigned> bins(static_cast<std::size_t>(bin_count));
    for (float x : in) {
        if (!(x >= low && x < high)) continue;
        // The division is near the bin, whose bounds decide; no width is 0 or infinite here.
        std::size_t bin = std::min(static_cast<std::size_t>((x - low) / width), bounds.size());
        while (bin > 0 && x < bounds[bin - 1]) --bin;
        while (bin < bounds.size() && x >= bounds[bin]) ++bin;
        ++bins[bin];
    }
    return bins;
}

} // namespace oracle
