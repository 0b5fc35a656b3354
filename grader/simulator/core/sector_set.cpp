// Keeps the set of sectors that a launch touched.
#include "core.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace simulator::core {

std::uint64_t *sector_set::page(std::uint64_t sector)
{
    // One more word is allocated: nonzero if the page is listed in touched_.
    constexpr std::uint64_t words = page_sectors / 64;
    std::uint64_t number = sector >> page_shift;
    if (number >= pages_.size()) pages_.resize(number + 1, nullptr);
    if (pages_[number] == nullptr) {
        storage_.emplace_back(words + 1, 0);
        pages_[number] = storage_.back().data();
    }
    last_page_ = number;
    last_ = pages_[number];
    if (std::exchange(last_[words], 1) == 0) touched_.push_back(number);
    return last_;
}

std::vector<std::uint64_t> sector_set::touched_ranges() const
{
    constexpr std::uint64_t words = 4096 / 32 / 64;
    std::vector<std::uint64_t> all;
    for (auto number : touched_)
        for (std::uint64_t k = 0; k < page_sectors / 64; k += words)
            if (std::any_of(pages_[number] + k, pages_[number] + k + words,
                            [](std::uint64_t word) { return word != 0; }))
                all.push_back((number << page_shift) + 64 * k);
    return all;
}

void sector_set::clear()
{
    for (auto number : touched_) std::memset(pages_[number], 0, page_sectors / 8 + 8);
    touched_.clear();
    last_page_ = ~std::uint64_t{0};
    count_ = 0;
}

} // namespace simulator::core
