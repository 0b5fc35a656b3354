// Implements the set of sectors that a launch touched.
#include "sector_set.hpp"

#include <algorithm>
#include <utility>

namespace simulator::core {

std::uint64_t *sector_set::words_of(std::uint64_t sector)
{
    const std::uint64_t number = sector >> page_shift;
    if (number >= pages_.size()) pages_.resize(number + 1);
    if (!pages_[number]) pages_[number] = std::make_unique<page>();
    if (!std::exchange(pages_[number]->listed, true)) touched_.push_back(number);
    last_page_ = number;
    return last_ = pages_[number]->words;
}

std::vector<std::uint64_t> sector_set::touched_ranges() const
{
    constexpr std::uint64_t words = 4096 / 32 / 64;
    std::vector<std::uint64_t> all;
    for (auto number : touched_)
        for (std::uint64_t k = 0; k < page_sectors / 64; k += words)
            if (const std::uint64_t *range = pages_[number]->words + k;
                std::any_of(range, range + words, [](std::uint64_t word) { return word != 0; }))
                all.push_back((number << page_shift) + 64 * k);
    return all;
}

void sector_set::clear()
{
    for (auto number : touched_) *pages_[number] = {};
    touched_.clear();
    last_page_ = ~std::uint64_t{0};
    count_ = 0;
}

} // namespace simulator::core
